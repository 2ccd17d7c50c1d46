"""Time, links, queues and losses, in networks small enough to reckon by hand."""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import count

import pytest

from tests.poisoned import POISONED
from tests.simulator.schedules import (
    A,
    lost,
    publishes,
    returns,
    schedule,
    subscribes,
    unsubscribes,
)
from twigcast.covering import Advertisement
from twigcast.errors import InternalError, UsageError
from twigcast.language import Document, Pattern
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    Publication,
    Publish,
    Unadvertise,
)
from twigcast.routing.in_memory.traffic import message_bytes
from twigcast.routing.tables.route_table import LocalAnswer, RouteTable, Snapshot
from twigcast.simulator import CostModel, Measured, Results, Simulation, SimulationLimits
from twigcast.simulator.schedule import ClientEvent, TimedEvent, unadvertised_publishers

FREE = CostModel(0, 0, 0, 0, 0, 0, 0, 0)
COSTS = CostModel(
    per_event=0.001,
    per_route=0.01,
    per_advertisement=0.1,
    per_document=0.002,
    per_byte=0.0001,
    per_table_route=0.003,
)
NORTH_SOUTH: list[object] = [
    {"between": ["north", "south"], "latency_ms": 20, "bandwidth_mbps": 0.008}
]
"""A thousand bytes a second."""


def arrival_bytes(name: str, content: bytes = A) -> int:
    return message_bytes(Arrive(Publication(name, BrokerId("north"), "publisher", content)))


def test_a_document_takes_the_time_of_two_brokers_and_a_link() -> None:
    told = schedule(NORTH_SOUTH, [subscribes("south", 1, "//b")], [publishes("north", "d")])
    (delivery,) = Simulation(told, "covering", costs=COSTS).run().deliveries
    deciding = COSTS.per_document + len(A) * COSTS.per_byte
    brokers = 2 * (COSTS.per_event + deciding) + COSTS.per_table_route  # north alone has a route
    on_the_link = arrival_bytes("d") / 1000 + 0.020
    assert delivery[:4] == ("d", "south", "client 1", 1)
    assert delivery.seconds == pytest.approx(brokers + on_the_link, abs=1e-12)


def test_a_document_behind_another_waits_until_the_link_is_free() -> None:
    both = [publishes("north", "d"), publishes("north", "e")]
    told = schedule(NORTH_SOUTH, [subscribes("south", 1, "//b")], both)
    first, second = Simulation(told, "flooding", costs=FREE).run().deliveries
    occupied = arrival_bytes("d") / 1000
    assert first.seconds == pytest.approx(occupied + 0.020)
    assert second.seconds == pytest.approx(2 * occupied + 0.020)


def test_the_directions_of_a_link_do_not_disturb_each_other() -> None:
    there_and_back = [publishes("north", "d"), publishes("south", "e")]
    clients = [subscribes("south", 1, "//b"), subscribes("north", 2, "//b")]
    results = Simulation(
        schedule(NORTH_SOUTH, clients, there_and_back), "flooding", costs=FREE
    ).run()
    crossed = {each.publication: each.seconds for each in results.deliveries if each.seconds}
    assert crossed["d"] == crossed["e"] == pytest.approx(arrival_bytes("d") / 1000 + 0.020)


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


def test_usage_is_the_latency_of_what_was_crossed() -> None:
    links: list[object] = [
        {"between": ["a", "b"], "latency_ms": 10},
        {"between": ["b", "c"], "latency_ms": 1},
    ]
    clients = [subscribes("c", 1, "//b"), subscribes("c", 2, "//zzz")]
    told = schedule(links, clients, [publishes("a", "d"), publishes("b", "e")])
    results = Simulation(told, "covering", costs=FREE).run()
    assert results.usage.per_subscription_ms == (2 * 11) / 2
    assert results.usage.per_publication_ms == ((10 + 1) + 1) / 2
    assert results.crossings == 3
    assert results.documents["a", "b"].crossings == 1
    assert results.documents["b", "a"].crossings == 0


def test_usage_counts_the_patterns_that_are_withdrawn_again() -> None:
    links: list[object] = [
        {"between": ["a", "b"], "latency_ms": 10},
        {"between": ["b", "c"], "latency_ms": 1},
    ]
    clients = [subscribes("c", 1, "//b"), subscribes("c", 2, "//zzz")]
    results = Simulation(
        schedule(links, clients, [unsubscribes("c", 2, 1.0)]), "covering", costs=FREE
    ).run()
    assert (results.total("subscribe"), results.total("unsubscribe")) == (4, 2)
    assert results.usage.per_subscription_ms == (2 * 11 + 11) / 2


def test_what_leads_to_no_match_is_needless() -> None:
    told = schedule([["a", "b"], ["b", "c"]], [subscribes("b", 1, "//b")], [publishes("a", "d")])
    flooded = Simulation(told, "flooding", costs=FREE).run()
    assert {link for link, each in flooded.documents.items() if each.needless} == {("b", "c")}
    assert (flooded.crossings, flooded.needless, flooded.flooded) == (2, 1, 0)
    covered = Simulation(told, "covering", costs=FREE).run()
    assert (covered.crossings, covered.needless) == (1, 0)


def test_publishers_without_a_standing_advertisement_are_known_beforehand() -> None:
    promise = Advertisement.of_expressions(["/a/b"])
    told = Advertise(AdvertisementId(1), "publisher", promise)
    advertises = ClientEvent(1.0, BrokerId("a"), told)
    takes_back = ClientEvent(3.0, BrokerId("a"), Unadvertise(AdvertisementId(1)))
    links: list[object] = [["a", "b"]]

    def found(*then: TimedEvent) -> tuple[tuple[str, str], ...]:
        return unadvertised_publishers(schedule(links, (), then))

    assert found(publishes("a", "d", 2.0)) == (("a", "publisher"),)
    assert found(advertises, publishes("a", "d", 2.0)) == ()
    assert found(advertises, publishes("b", "d", 2.0)) == (("b", "publisher"),)
    assert found(advertises, takes_back, publishes("a", "d", 4.0)) == (("a", "publisher"),)


def test_a_document_flooded_for_want_of_an_advertisement_is_not_needless() -> None:
    told = schedule([["a", "b"], ["b", "c"]], [subscribes("b", 1, "//b")], [publishes("a", "d")])
    results = Simulation(told, "advertised", costs=FREE).run()
    assert (results.crossings, results.needless, results.flooded) == (2, 0, 1)
    promise = Advertisement.of_expressions(["/a/b"])
    event = Advertise(AdvertisementId(1), "publisher", promise)
    promised = [ClientEvent(0.0, BrokerId("a"), event), subscribes("b", 1, "//b")]
    told = schedule([["a", "b"], ["b", "c"]], promised, [publishes("a", "d")])
    results = Simulation(told, "advertised", costs=FREE).run()
    assert (results.crossings, results.needless, results.flooded) == (1, 0, 0)
    assert results.total("advertise") == 2


def test_with_a_link_goes_what_is_on_its_way() -> None:
    links: list[object] = [{"between": ["a", "b"], "latency_ms": 1000}]
    then: list[TimedEvent] = [publishes("a", "d"), lost("a", "b", 0.5), returns("a", "b", 0.7)]
    results = Simulation(
        schedule(links, [subscribes("b", 1, "//b")], then), "covering", costs=FREE
    ).run()
    assert (results.lost, results.delivered, results.missed) == (1, 0, 1)


def test_after_a_link_returns_documents_cross_it_again() -> None:
    then: list[TimedEvent] = [
        lost("a", "b", 1),
        publishes("a", "during", 2),
        subscribes("b", 2, "/a", 3),
        unsubscribes("b", 1, 3),
        returns("a", "b", 4),
        publishes("a", "after", 5),
    ]
    told = schedule(
        [["a", "b"], ["b", "c"]], [subscribes("b", 1, "//b"), subscribes("a", 1, "//b")], then
    )
    for strategy in ("flooding", "identity", "prefix", "covering", "advertised", "best"):
        simulation = Simulation(told, strategy, costs=FREE)
        results = simulation.run()
        received = [each[:4] for each in results.deliveries]
        assert received == [
            ("during", "a", "client 1", 1),
            ("after", "a", "client 1", 1),
            ("after", "b", "client 2", 2),
        ]
        assert (results.missed, results.unexpected, results.refusals) == (1, 0, ())


def test_what_a_broker_sends_before_it_knows_of_a_loss_is_lost() -> None:
    # Broker a is busy with the document when the link goes and comes; it sends by the old session.
    costs = CostModel(0, 0, 0, per_document=1.0, per_byte=0, per_table_route=0)
    then: list[TimedEvent] = [
        publishes("a", "d"),
        lost("a", "b", 0.2),
        returns("a", "b", 0.4),
        publishes("a", "e", 3.0),
    ]
    results = Simulation(
        schedule([["a", "b"]], [subscribes("b", 1, "//b")], then), costs=costs
    ).run()
    assert results.refusals == ()
    assert (results.lost, [each.publication for each in results.deliveries]) == (1, ["e"])


def test_a_link_that_is_up_does_not_come_up_again() -> None:
    then: list[TimedEvent] = [returns("a", "b", 1), publishes("a", "d", 2)]
    results = Simulation(
        schedule([["a", "b"]], [subscribes("b", 1, "//b")], then), costs=FREE
    ).run()
    assert (results.delivered, results.refusals) == (1, ())


def test_refusals_and_dead_letters_are_noted_by_name() -> None:
    then: list[TimedEvent] = [
        publishes("a", "broken", content=b"<a>"),
        ClientEvent(1.0, BrokerId("a"), Publish(Publication("x", BrokerId("b"), "p", A))),
        subscribes("a", 1, "//b", 2.0),
    ]
    results = Simulation(
        schedule([["a", "b"]], [subscribes("a", 1, "//b")], then), costs=FREE
    ).run()
    told = [(each.broker, each.event) for each in results.refusals]
    assert told == [("a", "Publish"), ("a", "Publish"), ("a", "Subscribe")]
    times = [each.at - results.set_up_seconds for each in results.refusals]
    assert times == pytest.approx([0.0, 1.0, 2.0])
    assert "Premature end" in results.refusals[0].reason


def test_measured_time_comes_from_the_clock_that_was_handed_in() -> None:
    ticks = count()
    costs = Measured(clock=lambda: float(next(ticks)))
    told = schedule([["a", "b"]], [subscribes("a", 1, "//b")], [publishes("a", "d")])
    (delivery,) = Simulation(told, "covering", costs=costs).run().deliveries
    assert delivery.seconds == 2.0  # a second to take it in, and one to decide it


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


def test_what_fails_each_time_is_recorded_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    _Trap(monkeypatch, (RouteTable, "add"), at=range(10_000))
    played = _played([publishes("north", "d"), publishes("south", "e")])
    assert played.stopped is None
    assert any("nobody foresaw this" in each.reason for each in played.refusals)
    assert [each.publication for each in played.deliveries] == ["e"]


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
