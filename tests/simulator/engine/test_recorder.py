"""What is noted down of a run: usage, needless documents, refusals."""

from __future__ import annotations

import pytest

from tests.simulator.schedules import (
    FREE,
    A,
    publishes,
    schedule,
    subscribes,
    unsubscribes,
)
from twigcast.covering import Advertisement
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Publication,
    Publish,
)
from twigcast.simulator import Simulation
from twigcast.simulator.schedule import ClientEvent, TimedEvent


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
