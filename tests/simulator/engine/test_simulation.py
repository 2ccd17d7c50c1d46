"""Time, links, queues and losses, in networks small enough to reckon by hand."""

from __future__ import annotations

from collections.abc import Callable, Container

import pytest

from tests.poisoned import POISONED
from tests.simulator.schedules import (
    FREE,
    NORTH_SOUTH,
    A,
    arrival_bytes,
    publishes,
    schedule,
    subscribes,
)
from twigcast.covering import Advertisement
from twigcast.errors import InternalError, UsageError
from twigcast.language import Document, Pattern
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Change,
)
from twigcast.routing.in_memory.traffic import message_bytes
from twigcast.routing.tables.route_table import LocalAnswer, RouteTable, Snapshot
from twigcast.simulator import CostModel, Results, Simulation, SimulationLimits
from twigcast.simulator.schedule import ClientEvent, TimedEvent

COSTS = CostModel(
    per_event=0.001,
    per_route=0.01,
    per_advertisement=0.1,
    per_document=0.002,
    per_byte=0.0001,
    per_table_route=0.003,
)


def test_a_document_takes_the_time_of_two_brokers_and_a_link() -> None:
    told = schedule(NORTH_SOUTH, [subscribes("south", 1, "//b")], [publishes("north", "d")])
    (delivery,) = Simulation(told, "covering", costs=COSTS).run().deliveries
    deciding = COSTS.per_document + len(A) * COSTS.per_byte
    brokers = 2 * (COSTS.per_event + deciding) + COSTS.per_table_route  # north alone has a route
    on_the_link = arrival_bytes("d") / 1000 + 0.020
    assert delivery[:4] == ("d", "south", "client 1", 1)
    assert delivery.seconds == pytest.approx(brokers + on_the_link, abs=1e-12)


def test_a_broker_does_one_thing_after_the_other() -> None:
    told = schedule(
        [["a", "b"]], [subscribes("a", 1, "//b")], [publishes("a", f"d{n}") for n in range(3)]
    )
    costs = CostModel(0, 0, 0, per_document=1.0, per_byte=0, per_table_route=0)
    results = Simulation(told, "covering", costs=costs).run()
    assert [each.seconds for each in results.deliveries] == pytest.approx([1.0, 2.0, 3.0])
    assert results.busy == {"a": 3.0, "b": 0.0}
    assert results.queue_longest == 2  # one is being taken in, the others wait


def test_a_burst_of_subscriptions_costs_one_message() -> None:
    texts = [f"/a{number}" for number in range(5)]
    told = schedule(
        [["a", "b"]], [subscribes("a", number, text) for number, text in enumerate(texts)]
    )
    simulation = Simulation(told, "covering", costs=COSTS)
    results = simulation.run()
    assert simulation.router("b").tables().routes[BrokerId("a")] == tuple(texts)
    burst = Change(1, 2, routes=tuple(map(Pattern.parse, texts)))
    assert results.bytes["a", "b"] == message_bytes(Change(1, 1)) + message_bytes(burst)
    assert results.bytes["b", "a"] == message_bytes(Change(1, 1))


def test_merging_happens_in_simulated_time() -> None:
    promise = Advertisement.of_expressions(["/a/b/c", "/a/d/c"])
    event = Advertise(AdvertisementId(1), "publisher", promise)
    clients = [subscribes("b", 1, "/a/b/c"), subscribes("b", 2, "/a/d/c")]
    told = schedule([["a", "b"]], [ClientEvent(0.0, BrokerId("a"), event), *clients])
    simulation = Simulation(told, "advertised(merging=perfect, merge_every=5)", costs=FREE)
    results = simulation.run()
    assert simulation.router("a").tables().routes[BrokerId("b")] == ("/a/*/c",)
    assert (results.total("subscribe"), results.total("unsubscribe")) == (3, 2)
    assert 5 <= results.simulated_seconds < 6


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (SimulationLimits(events_max=10), "10 events (events_max)"),
        (SimulationLimits(seconds_max=0.5), "0.5 simulated seconds (seconds_max)"),
        (SimulationLimits(queue_max=3), "4 events waiting at a (queue_max)"),
    ],
)
def test_a_run_that_reaches_a_bound_is_stopped_and_says_so(
    limits: SimulationLimits, reason: str
) -> None:
    then = [publishes("a", f"d{number}", 1.0) for number in range(6)]
    told = schedule([["a", "b"]], [subscribes("b", 1, "//b")], then)
    results = Simulation(told, costs=COSTS, limits=limits).run()
    assert results.stopped == reason
    assert results.delivered < 6


def test_a_schedule_may_begin_before_the_stage_is_set() -> None:
    links: list[object] = [{"between": ["a", "b"], "latency_ms": 1000}]
    told = schedule(links, [subscribes("b", 1, "//b")], [publishes("a", "d")], start=0.5)
    early = Simulation(told, "covering", costs=FREE).run()
    assert (early.delivered, early.missed) == (0, 1)
    told = schedule(links, [subscribes("b", 1, "//b")], [publishes("a", "d")], start=5.0)
    late = Simulation(told, "covering", costs=FREE).run()
    assert (late.delivered, late.missed, late.simulated_seconds) == (1, 0, 6.0)


def test_a_document_that_fails_at_a_broker_is_logged_and_the_others_arrive(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = RouteTable.locals_for

    def locals_for(table: RouteTable, document: Document, snapshot: Snapshot) -> LocalAnswer:
        if b"poison" in document.content:
            raise KeyError("nobody foresaw this")
        return whole(table, document, snapshot)

    monkeypatch.setattr(RouteTable, "locals_for", locals_for)
    both = [publishes("north", "d", content=b"<poison/>"), publishes("north", "e")]
    told = schedule(NORTH_SOUTH, [subscribes("south", 1, "//b")], both)
    results = Simulation(told, "flooding", costs=FREE).run()
    assert [each[0] for each in results.deliveries] == ["e"]
    assert {record.levelname for record in caplog.records} == {"ERROR"}
    assert "broker north: deciding a document failed: KeyError" in caplog.text


def test_only_our_own_errors_leave_a_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    told = schedule(NORTH_SOUTH, [subscribes("south", 1, "//b")], [publishes("north", "d")])
    simulation = Simulation(told, "flooding", costs=FREE)

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(simulation, "_play", fails)
    with pytest.raises(InternalError, match="failed: ZeroDivisionError"):
        simulation.run()


# Something fails that nobody foresaw.


class _Trap:
    """Makes a method raise at some of its calls."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, place: tuple[type, str], at: Container[int]
    ) -> None:
        kind, name = place
        whole: Callable[..., object] = getattr(kind, name)
        self.calls = 0

        def trapped(*arguments: object, **named: object) -> object:
            self.calls += 1
            if self.calls in at:
                raise KeyError("nobody foresaw this")
            return whole(*arguments, **named)

        monkeypatch.setattr(kind, name, trapped)


def _played(then: list[TimedEvent]) -> Results:
    first = [subscribes("south", 1, "//b"), subscribes("south", 2, "//c", at=1.0)]
    told = schedule([["north", "hub"], ["hub", "south"]], first, then, start=10.0)
    return Simulation(told, "covering", costs=FREE).run()


@pytest.mark.parametrize("call", range(1, 5))
@pytest.mark.parametrize("place", [(RouteTable, "add"), (RouteTable, "add_link")])
def test_a_link_is_begun_anew_when_a_change_has_failed(
    place: tuple[type, str], call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = _Trap(monkeypatch, place, at={call})
    documents = [publishes("north", "d1", content=b"<c/>"), publishes("north", "d2")]
    played = _played([subscribes("south", 3, "//d"), *documents])
    assert trap.calls >= call
    assert [(each.publication, each.subscription) for each in played.deliveries] == [
        ("d1", 2),
        ("d2", 1),
    ]
    assert (played.missed, played.unexpected) == (0, 0)


def test_a_document_that_fails_as_it_arrives_is_a_dead_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _Trap(monkeypatch, (RouteTable, "snapshot"), at={2})  # the first is at its origin
    played = _played([publishes("north", "d"), publishes("north", "e", at=1.0)])
    assert [each.publication for each in played.deliveries] == ["e"]
    assert [(each.publication, each.broker) for each in played.dead_letters] == [("d", "hub")]


def test_poisoned_documents_are_refused_alone_and_the_others_delivered() -> None:
    documents: list[TimedEvent] = []
    for name, content in POISONED.items():
        for broker in ("north", "south"):
            documents += [
                publishes(broker, f"{name} at {broker}", content=content),
                publishes(broker, f"after {name} at {broker}"),
            ]
    played = _played(documents)
    assert (played.missed, played.unexpected, played.dead_letters) == (0, 0, ())
    assert len(played.refusals) == played.delivered == 2 * len(POISONED)


def test_a_simulation_that_was_interrupted_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    told = schedule(NORTH_SOUTH, [subscribes("south", 1, "//b")], [publishes("north", "d")])
    simulation = Simulation(told, "covering", costs=COSTS)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RouteTable, "subscribe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulation.set_stage()
    with pytest.raises(UsageError, match="was interrupted, so it cannot go on"):
        simulation.play(told.then)


def test_what_fails_each_time_is_recorded_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    _Trap(monkeypatch, (RouteTable, "add"), at=range(10_000))
    played = _played([publishes("north", "d"), publishes("south", "e")])
    assert played.stopped is None
    assert any("nobody foresaw this" in each.reason for each in played.refusals)
    assert [each.publication for each in played.deliveries] == ["e"]
