"""Documents that are answered in parts: each part at its own time, and paid for by its own work."""

from __future__ import annotations

from tests.simulator.four_brokers import FOUR, LINKS, SECONDS_PER_CHECK, arrivals, play
from tests.simulator.schedules import publishes, schedule, subscribes
from twigcast.routing.strategy import piggyback
from twigcast.simulator import Simulation


def test_an_eager_broker_sends_at_the_first_match_and_stays_busy_until_the_end() -> None:
    eager = piggyback("eager", "", on="identity")
    results = play(eager, ("b", "//x"), ("a", "//missing"), ("a", "/r"))
    # At a, three patterns are compared with the first element and two with the second; then the
    # document leaves, and //missing is compared with the other two. At b, //x is compared twice.
    assert results.busy == {"a": 3 + 2 + 2, "b": 2, "c": 0}
    assert arrivals(results) == {"b": 3 + 2 + 2, "a": 7}


def test_a_lazy_broker_sends_when_everything_is_certain() -> None:
    results = play(
        piggyback("lazy", "", on="identity"), ("b", "//x"), ("a", "//missing"), ("a", "/r")
    )
    assert results.busy == {"a": 7, "b": 2, "c": 0}
    assert arrivals(results) == {"a": 7, "b": 9}


def test_an_adaptive_broker_is_eager_for_early_matches_alone() -> None:
    early = piggyback("adaptive", "", on="identity", threshold=0.5)
    late = piggyback("adaptive", "", on="identity", threshold=0.25)
    asked = ("b", "//x"), ("a", "//missing")
    assert arrivals(play(early, *asked)) == {"b": 2 + 2 + 2}
    assert arrivals(play(late, *asked)) == {"b": 2 + 4 + 2}


def test_the_bytes_of_annotations_are_traffic() -> None:
    asked = ("b", "//x"), ("b", "//q")
    plain = play(piggyback("lazy", "", on="identity"), *asked)
    told = play(piggyback("lazy", "-s", on="identity"), *asked)
    assert plain.carried is not None
    assert told.carried is not None
    assert plain.carried.bytes == 0 < told.carried.bytes
    difference = told.bytes["a", "b"] - plain.bytes["a", "b"]
    assert difference == told.carried.bytes


def test_a_stage_that_is_set_once_serves_several_protocols() -> None:
    then = (publishes("a", "d", content=FOUR),)
    clients = [subscribes("b", 1, "//x"), subscribes("a", 2, "//missing")]
    whole = piggyback("lazy", "+sd-sd", on="identity")
    simulation = Simulation(
        schedule(LINKS, clients), whole, costs=SECONDS_PER_CHECK, engine="streaming"
    )
    simulation.set_stage()
    for protocol, kinds in (("lazy", "-s"), ("eager", ""), ("lazy", "")):
        chosen = piggyback(protocol, kinds, on="identity")  # type: ignore[arg-type]
        results = simulation.play(then, chosen)
        fresh = play(chosen, ("b", "//x"), ("a", "//missing"))
        assert arrivals(results) == arrivals(fresh)
        assert results.carried is not None
        assert fresh.carried is not None
        assert results.carried.checks == fresh.carried.checks
        assert (results.publications, results.subscriptions) == (1, 2)
