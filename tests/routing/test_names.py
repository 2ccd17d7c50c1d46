"""Names that strangers chose: kept as they came in values and frames, spelled out in texts."""

from __future__ import annotations

import pytest

from twigcast.language import Pattern
from twigcast.routing import Network, Router
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Deliver,
    Event,
    Garbled,
    LinkDown,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Subscribe,
    SubscriptionId,
)
from twigcast.routing.strategy import best, flooding_notice
from twigcast.routing.wire import frames as wire

NASTY = "e\x1b[2J\nv\te\u202e\x00\u2028<b>"
LINK = BrokerId(NASTY)


def test_a_name_is_delivered_as_it_came() -> None:
    network = Network({"links": [["north", "south"]]}, "covering")
    network.subscribe("south", NASTY, "//a")
    (delivery,) = network.publish("north", b"<a/>", publisher=NASTY).deliveries
    assert delivery.subscriber == NASTY
    assert network.tables("south").subscriptions == ((NASTY, "//a"),)


def test_a_name_crosses_a_link_as_it_is() -> None:
    publication = Publication(NASTY, LINK, NASTY, b"<a/>")
    assert wire.decode(wire.encode(Arrive(publication))) == Arrive(publication)
    effect = Deliver(NASTY, SubscriptionId(1), publication)
    assert wire.decode_effect(wire.encode(effect)) == effect


@pytest.mark.parametrize(
    "event",
    [
        LinkUp(LINK),
        LinkDown(BrokerId(NASTY + "x")),
        Publish(Publication("p", LINK, "", b"<a/>")),
        Publish(Publication(NASTY, BrokerId("hub"), "", bytes(10_000_001))),
        Received(LINK, Arrive(Publication(NASTY, BrokerId("hub"), "", b"<a/>"))),
        Garbled(LINK, NASTY),
        Subscribe(SubscriptionId(1), "\ud800" + NASTY, Pattern("//a")),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_refusal_is_one_line_whatever_the_names(event: Event) -> None:
    router = Router("hub")
    router.handle(LinkUp(LINK), now=0.0)
    (effect,) = router.handle(event, now=0.0)
    assert isinstance(effect, Refuse)
    assert effect.event is event
    assert effect.reason.isprintable()


def test_a_document_that_cannot_be_read_is_told_in_one_line() -> None:
    router = Router("hub")
    content = "<a\u202e b='\u2028\n'></a\u202e>".encode()
    (decide,) = router.handle(Publish(Publication("p", router.name, "", content)), now=0.0)
    (effect,) = router.handle(router.decide(decide), now=0.0)  # type: ignore[arg-type]
    assert isinstance(effect, Refuse)
    assert effect.reason.isprintable()


def test_a_notice_about_a_publisher_is_one_line() -> None:
    assert flooding_notice(best(), who=NASTY, remedy="let it advertise").isprintable()
