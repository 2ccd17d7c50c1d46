"""Methods that fail, and a network that goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from twigcast.errors import InternalError
from twigcast.language import Pattern, Schema
from twigcast.matching import Matcher
from twigcast.routing import Network, Router, Strategy
from twigcast.routing.broker.decider import DocumentDecider
from twigcast.routing.broker.documents import BrokerDocuments
from twigcast.routing.events import (
    BrokerId,
    Change,
    Event,
    LinkUp,
    Received,
    Subscribe,
    SubscriptionId,
    Woken,
)
from twigcast.routing.forwarding.forwarder import Forwarder
from twigcast.routing.piggyback.agreements import Agreements
from twigcast.routing.piggyback.decider import AnnotatedDecider
from twigcast.routing.strategy import strategy
from twigcast.routing.tables.route_table import RouteTable

LINKS = {"links": [["north", "hub"], ["hub", "south"], ["hub", "west"]]}
SCHEMA = Schema.parse(b"<!ELEMENT a (b|c)*><!ELEMENT b EMPTY><!ELEMENT c EMPTY>")
DOCUMENTS = (b"<a><b/></a>", b"<a><c/></a>", b"<a/>", b"<a><b/><c/></a>")
CALLED: list[Strategy] = [
    strategy("flooding"),
    strategy("identity"),
    strategy("covering"),
    strategy("best"),
    replace(strategy("covering"), unit="path"),
    strategy("piggyback"),
]
PLACES: list[tuple[type, str]] = [
    (Matcher, "decide"),
    (Matcher, "match_links"),
    (Matcher, "add"),
    (Matcher, "remove"),
    (RouteTable, "add"),
    (RouteTable, "subscribe"),
    (RouteTable, "snapshot"),
    (RouteTable, "close"),
    (RouteTable, "collect"),
    (RouteTable, "locals_for"),
    (RouteTable, "links_for"),
    (RouteTable, "add_link"),
    (Forwarder, "subscribe"),
    (Forwarder, "unsubscribe"),
    (Forwarder, "add"),
    (Forwarder, "remove"),
    (Forwarder, "advertise"),
    (Forwarder, "unadvertise"),
    (Forwarder, "add_link"),
    (Forwarder, "remove_link"),
    (Forwarder, "changes"),
    (DocumentDecider, "decide"),
    (DocumentDecider, "part_to_send"),
    (DocumentDecider, "check_size"),
    (BrokerDocuments, "_apply"),
    (AnnotatedDecider, "answers"),
    (Agreements, "add"),
    (Agreements, "remove"),
    (Agreements, "receive"),
    (Agreements, "send"),
    (Agreements, "requests"),
    (Agreements, "remove_link"),
]


class Trap:
    """Makes a method raise once, at some call of it; ``sprung`` tells whether it has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: tuple[type, str], at: int) -> None:
        kind, name = place
        self.sprung = False
        self._left = at
        whole: Callable[..., object] = getattr(kind, name)

        def trapped(*arguments: object, **named: object) -> object:
            self._left -= 1
            if self._left == 0:
                self.sprung = True
                raise KeyError("nobody foresaw this")
            return whole(*arguments, **named)

        monkeypatch.setattr(kind, name, trapped)


class World:
    """A network with some subscriptions, and who should receive what."""

    def __init__(self, chosen: Strategy) -> None:
        self.network = Network(LINKS, chosen)
        self.asked: dict[int, Pattern] = {}
        for broker, text in (("south", "//b"), ("west", "//c"), ("north", "//a[b]")):
            self.subscribe(broker, text)
        if chosen.needs_advertisements:
            for broker in ("north", "south", "west", "hub"):
                self.network.advertise(broker, SCHEMA)

    def subscribe(self, broker: str, text: str) -> None:
        self.asked[self.network.subscribe(broker, "ann", text)] = Pattern(text)

    def unsubscribe(self, one: int) -> None:
        self.network.unsubscribe(SubscriptionId(one))
        del self.asked[one]

    def check(self) -> None:
        """Every document from every broker reaches whom it should, and nobody else."""
        for broker in self.network.brokers:
            for content in DOCUMENTS:
                outcome = self.network.publish(broker, content)
                matcher = Matcher()
                for one, pattern in self.asked.items():
                    matcher.add(one, pattern)
                found = sorted(each.subscription for each in outcome.deliveries)
                assert found == sorted(matcher.match(content)), (broker, content)
                assert outcome.refused is None
            assert self.network.statistics(broker).open_documents == 0


def ready(chosen: Strategy | str = "covering") -> tuple[Router, list[InternalError]]:
    reported: list[InternalError] = []
    router = Router("hub", chosen, report=reported.append)
    router.handle(LinkUp(BrokerId("north")), now=0.0)
    router.handle(LinkUp(BrokerId("south")), now=0.0)
    router.handle(Received(BrokerId("north"), Change(1, 1, (Pattern("//b"),))), now=0.0)
    router.handle(Subscribe(SubscriptionId(1), "ann", Pattern("//c")), now=0.0)
    router.handle(Woken(), now=1.0)
    return router, reported


EVENTS: dict[str, Event] = {
    "a link": LinkUp(BrokerId("west")),
    "a subscription": Subscribe(SubscriptionId(2), "ann", Pattern("//d")),
    "a change": Received(
        BrokerId("north"), Change(1, 2, (Pattern("//d"), Pattern("//e")), (Pattern("//b"),))
    ),
    "a table": Received(BrokerId("north"), Change(2, 1, (Pattern("//d"), Pattern("//e")))),
}


def failing(*_: object, **__: object) -> None:
    raise ZeroDivisionError("again and again")
