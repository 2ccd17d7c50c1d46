"""Each bound of a router is hit: the event comes back, the reason names it, nothing has changed."""

from __future__ import annotations

from dataclasses import fields

import pytest

from twigcast.covering import Advertisement
from twigcast.language import DocumentLimits, Pattern, Schema
from twigcast.routing.broker.router import Router, RouterLimits
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    Decide,
    Event,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)

EAST, WEST = BrokerId("east"), BrokerId("west")
A, B, LONG = (Pattern.parse(text) for text in ("/a", "/b", "/a[b = 'a rather long text']"))
ONE, TWO = (
    Advertisement.of_schema(Schema.parse(f"<!ELEMENT {name} EMPTY>".encode())) for name in "ab"
)
DOCUMENT = Publication("p", BrokerId("here"), "press", b"<a/>")
AFAR = Publication("q", EAST, "press", b"<a/>")


def _subscribe(number: int, pattern: Pattern) -> Subscribe:
    return Subscribe(SubscriptionId(number), "ann", pattern)


HIT: dict[str, tuple[str, RouterLimits, list[Event], Event]] = {
    "links": ("links_max", RouterLimits(links_max=1), [], LinkUp(WEST)),
    "subscriptions": (
        "subscriptions_max",
        RouterLimits(subscriptions_max=1),
        [_subscribe(1, A)],
        _subscribe(2, A),
    ),
    "a first change": (
        "routes_max",
        RouterLimits(routes_max=1),
        [],
        Received(EAST, Change(1, 1, routes=(A, B))),
    ),
    "a later change": (
        "routes_max",
        RouterLimits(routes_max=1),
        [Received(EAST, Change(1, 1, routes=(A,)))],
        Received(EAST, Change(1, 2, routes=(B,))),
    ),
    "promises of clients": (
        "advertisements_max",
        RouterLimits(advertisements_max=1),
        [Advertise(AdvertisementId(1), "press", ONE)],
        Advertise(AdvertisementId(2), "press", TWO),
    ),
    "promises over a link": (
        "advertisements_max",
        RouterLimits(advertisements_max=1),
        [Received(EAST, Change(1, 1, advertisements=(ONE,)))],
        Received(EAST, Change(1, 2, advertisements=(TWO,))),
    ),
    "a long subscription": (
        "pattern_characters_max",
        RouterLimits(pattern_characters_max=10),
        [_subscribe(1, A)],
        _subscribe(2, LONG),
    ),
    "a long route": (
        "pattern_characters_max",
        RouterLimits(pattern_characters_max=10),
        [Received(EAST, Change(1, 1, routes=(A,)))],
        Received(EAST, Change(1, 2, routes=(B, LONG))),
    ),
    "open arrivals": (
        "open_arrivals_max",
        RouterLimits(open_arrivals_max=1),
        [Received(EAST, Arrive(AFAR))],
        Received(EAST, Arrive(AFAR)),
    ),
    "open documents": (
        "open_documents_max",
        RouterLimits(open_documents_max=1),
        [Publish(DOCUMENT)],
        Publish(DOCUMENT),
    ),
}


@pytest.mark.parametrize("case", HIT)
def test_one_too_many_comes_back_with_the_name_of_the_bound(case: str) -> None:
    bound, limits, allowed, too_much = HIT[case]
    router = Router("here", "advertised", limits=limits)
    for event in (LinkUp(EAST), *allowed):
        assert not any(isinstance(each, Refuse) for each in router.handle(event, now=0.0))
    tables, statistics = router.tables(), router.statistics()
    (refusal,) = router.handle(too_much, now=1.0)
    assert isinstance(refusal, Refuse)
    assert (refusal.event, bound in refusal.reason) == (too_much, True)
    assert refusal.link == getattr(too_much, "link", None)
    assert router.tables() == tables
    assert router.statistics() == statistics._replace(refused=statistics.refused + 1)


def test_every_bound_of_a_router_is_hit_here() -> None:
    bounds = {field.name for field in fields(RouterLimits)} - {"batch_delay"}
    assert {bound for bound, *_ in HIT.values()} == bounds


def test_there_is_room_again_when_something_has_left() -> None:
    router = Router("here", limits=RouterLimits(subscriptions_max=1, open_documents_max=1))
    router.handle(_subscribe(1, A), now=0.0)
    router.handle(Unsubscribe(SubscriptionId(1)), now=0.0)
    assert router.handle(_subscribe(2, A), now=0.0) == ()
    for _ in range(2):
        (question,) = router.handle(Publish(DOCUMENT), now=0.0)
        assert isinstance(question, Decide)
        router.handle(router.decide(question), now=0.0)
    assert router.statistics().refused == 0


def test_what_comes_in_exchange_for_something_needs_no_room() -> None:
    router = Router("here", "advertised", limits=RouterLimits(routes_max=1, advertisements_max=1))
    router.handle(LinkUp(EAST), now=0.0)
    first = Change(1, 1, routes=(A,), advertisements=(ONE,))
    second = Change(1, 2, (B,), (A,), (TWO,), (ONE,))
    third = Change(2, 1, routes=(A,), advertisements=(ONE,))
    for change in (first, second, third):
        assert router.handle(Received(EAST, change), now=0.0) == ()
    assert router.tables().routes == {EAST: ("/a",)}


@pytest.mark.parametrize("event", [Publish(DOCUMENT), Received(EAST, Arrive(AFAR))])
def test_a_document_that_is_too_large_is_refused_before_it_is_read(event: Event) -> None:
    router = Router("here", document_limits=DocumentLimits(bytes_max=3))
    router.handle(LinkUp(EAST), now=0.0)
    (refusal,) = router.handle(event, now=0.0)
    assert isinstance(refusal, Refuse)
    assert "4 bytes where at most 3 are allowed (bytes_max)" in refusal.reason
    assert router.statistics().open_documents == 0
