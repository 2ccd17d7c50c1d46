"""Links in simulated time: waiting, directions, and what is lost with a link."""

from __future__ import annotations

import pytest

from tests.simulator.schedules import (
    FREE,
    NORTH_SOUTH,
    arrival_bytes,
    lost,
    publishes,
    returns,
    schedule,
    subscribes,
    unsubscribes,
)
from twigcast.simulator import CostModel, Simulation
from twigcast.simulator.schedule import TimedEvent


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
