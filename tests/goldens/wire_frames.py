"""What crosses links: the frames of four brokers who are given one script, strategy by strategy.

    north ── hub ── south
              └──── west

Each frame is told twice: its content read as MessagePack, for people, and its bytes, which count.
The brokers are driven here by hand, one event after the other, so that the order of all messages
is part of what is recorded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from tests.goldens.golden import Golden, hex_lines
from twigcast.covering import Advertisement, Bound
from twigcast.language import Pattern, Schema
from twigcast.routing import Router
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import Hints, SimpleHint
from twigcast.routing.events import (
    Accuse,
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    Decided,
    Deliver,
    Effect,
    Event,
    Garbled,
    LinkDown,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
    Woken,
)
from twigcast.routing.wire.frames import WireLimits, decode, encode, frames

STRATEGIES: Final = {
    "flooding": "flooding",
    "identity": "identity",
    "prefix": "prefix(depth=2)",
    "covering": "covering",
    "producers": "covering(towards=producers)",
    "advertised": "advertised",
    "merged": "advertised(merging=imperfect, degree=0.5, merge_every=1)",
    "by-path": "advertised(unit=path)",
    "best": "best",
    "eager": "piggyback(protocol=eager, annotations=+sd, merge_every=1)",
    "lazy": "piggyback(annotations=+sd-sd, merge_every=1, audit=1)",
}
"""Of each what is recorded, and how it is called there."""

_LINKS: Final = (("north", "hub"), ("hub", "south"), ("hub", "west"))
_DTD: Final = (
    b"<!ELEMENT feed (trade|note)*> <!ELEMENT trade (price, fee?)> <!ELEMENT note (#PCDATA)>"
    b"<!ELEMENT price (#PCDATA)> <!ELEMENT fee (#PCDATA)> <!ATTLIST trade place CDATA #IMPLIED>"
)
_TRADES: Final = (
    b"<feed><trade place='x'><price>120</price><fee>1</fee></trade><note>late</note></feed>"
)
_NOTES: Final = b"<feed><note>early</note></feed>"
_STRANGE: Final = b"<list><item/></list>"

_ANN, _BOB, _CAT, _DAN, _EVE = map(SubscriptionId, range(1, 6))
_NITF: Final = AdvertisementId(1)


def _asks(broker: str, id: SubscriptionId, who: str, xpath: str) -> tuple[str, Event]:
    return broker, Subscribe(id, who, Pattern.parse(xpath))


def _publishes(broker: str, name: str, content: bytes) -> tuple[str, Event]:
    return broker, Publish(Publication(name, BrokerId(broker), "press", content))


_SCRIPT: Final[tuple[tuple[str, Event] | None, ...]] = (
    (
        "north",
        Advertise(_NITF, "press", Advertisement.of_schema(Schema.parse(_DTD))),
    ),
    _asks("south", _ANN, "ann", "/feed/trade[price > 100]/fee"),
    _asks("south", _CAT, "cat", "/feed/trade/price"),
    _asks("west", _BOB, "bob", "//trade[@place = 'x' and fee]"),
    _asks("west", _DAN, "dan", "/feed/trade"),  # covers what is asked for at south
    _asks("hub", _EVE, "eve", "/feed/note[2]"),
    _publishes("north", "p1", _TRADES),
    _publishes("north", "p2", _NOTES),
    None,  # time passes: brokers that merge do so now
    _publishes("north", "p3", _TRADES),
    ("west", Unsubscribe(_DAN)),
    None,
    _publishes("north", "p4", _TRADES),
    _publishes("south", "p5", _STRANGE),
    ("north", Unadvertise(_NITF)),
    _publishes("north", "p6", _NOTES),
)
"""Who is handed what; None where time passes until nobody has anything left to do."""


class _Brokers:
    """Four routers and the messages between them; ``lines`` tell all that happens."""

    def __init__(self, strategy: str) -> None:
        names = sorted({name for link in _LINKS for name in link})
        self._routers = {name: Router(name, strategy, engine="streaming") for name in names}
        self._mail: deque[tuple[str, Event]] = deque()
        self._now = 0.0
        self.lines: list[str] = []

    def join(self) -> None:
        for one, other in _LINKS:
            self._mail += [(one, LinkUp(BrokerId(other))), (other, LinkUp(BrokerId(one)))]
        self._settle()

    def take(self, broker: str, event: Event) -> None:
        self._mail.append((broker, event))
        self._settle()

    def let_time_pass(self) -> None:
        while times := [at for one in self._routers.values() if (at := one.wake_at()) is not None]:
            self._now = max(self._now, min(times))
            self._settle()

    def _settle(self) -> None:
        while self._mail or self._wake():
            broker, event = self._mail.popleft()
            self._perform(broker, self._routers[broker].handle(event, now=self._now))

    def _wake(self) -> bool:
        wishes = [(name, router.wake_at()) for name, router in self._routers.items()]
        due = [name for name, at in wishes if at is not None and at <= self._now]
        self._mail += [(name, Woken()) for name in due]
        return bool(due)

    def _perform(self, broker: str, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            match effect:
                case Send(link, message):
                    content = encode(message)
                    assert decode(content) == message
                    self.lines += [f"{broker} → {link}", *_frame_lines(content)]
                    self._mail.append((link, Received(BrokerId(broker), message)))
                case Decide():
                    self._answer(broker, effect)
                case Deliver(who, subscription, publication):
                    self.lines.append(f"{broker} delivers {publication.id} to {who} {subscription}")
                case _:
                    self.lines.append(f"{broker} {type(effect).__name__}")

    def _answer(self, broker: str, question: Decide) -> None:
        router, is_final = self._routers[broker], False
        while not is_final:
            answer = router.decide(question)
            is_final = answer.final
            self._perform(broker, router.handle(answer, now=self._now))


def _frame_lines(content: bytes) -> Iterator[str]:
    """A frame as people read it, and its bytes."""
    yield f"    {_readable(msgspec.msgpack.decode(content[2:]))}"
    yield from (f"    {line}" for line in hex_lines(content))


def _readable(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_readable, value))}]"
    return repr(value)


def _script_under(strategy: str, _: Path) -> str:
    brokers = _Brokers(strategy)
    brokers.lines.append(f"# {strategy}")
    brokers.join()
    for step in _SCRIPT:
        brokers.lines.append("")
        if step is None:
            brokers.lines.append("## time passes")
            brokers.let_time_pass()
        else:
            broker, event = step
            brokers.lines.append(f"## {broker}: {type(event).__name__} {_name(event)}")
            brokers.take(broker, event)
    return "\n".join(brokers.lines) + "\n"


def _name(event: Event) -> str:
    match event:
        case Subscribe():
            return f"{event.subscriber} {event.pattern.text}"
        case Publish():
            return event.publication.id
        case _:
            return ""


def _one_of_each_kind(_: Path) -> str:
    """A frame for each event and each effect, which clients and logs need beside messages."""
    north = BrokerId("north")
    publication = Publication("p1", north, "press", b"<a/>")
    pattern = Pattern.parse("//a[b = 'c']")
    advertisement = Advertisement.of_expressions(["/a/b"])
    change = Change(3, 1, (pattern,), (), (advertisement,), ())
    told = Annotations(3, 1, ((0, (Bound(1, ("b",)),)),), ((0, 2),), b"\x01", b"\x00", True)  # noqa: FBT003
    arrival = Arrive(publication, flooded=True, paths=(0, 2), annotations=told)
    subscribe = Subscribe(_ANN, "ann", pattern)
    each: tuple[Event | Effect | Change | Arrive, ...] = (
        change,
        arrival,
        LinkUp(north),
        LinkDown(north),
        subscribe,
        Unsubscribe(_ANN),
        Advertise(_NITF, "press", advertisement),
        Unadvertise(_NITF),
        Publish(publication),
        Received(north, change),
        Garbled(north, "cut off"),
        Decided(7, (north,), (_ANN,), (_BOB,), annotations=(told,), position=4, checks=9),
        Woken(),
        Send(north, arrival),
        Deliver("ann", _ANN, publication),
        Decide(7, publication, north, 2, flooded=False, paths=None, annotations=told),
        Refuse(subscribe, "there is one already", None),
        DeadLetter(publication, None, "not well-formed"),
        Accuse(north, "p1", "it matches"),
    )
    lines: list[str] = []
    for one in each:
        lines += [type(one).__name__, *_frame_lines(encode(one))]
    routes = tuple(Pattern.parse(f"/a/b{number}") for number in range(5))
    hints = Hints((2, 1), (SimpleHint(0, 2, (1,)),), ((Pattern.parse("//a/b"), 2),), (1,))
    for part in frames(Change(4, 1, routes, hints=hints), WireLimits(part_routes_max=2)):
        lines += ["Change, a part", *_frame_lines(part)]
    return "\n".join(lines) + "\n"


GOLDENS: Final = (
    *(
        Golden(f"wire-{name}.txt", partial(_script_under, strategy))
        for name, strategy in STRATEGIES.items()
    ),
    Golden("wire-one-of-each-kind.txt", _one_of_each_kind),
)
