"""Frames of a neighbour, damaged or lying, to a broker in the middle of its life.

Whatever comes is a message or garbled, and the broker either takes it or refuses it with its tables
as they were. Afterwards the link comes up again, and a client gets a document.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final

import msgspec

from fuzz.cases import as_bytes, as_text
from fuzz.drawing import drawer
from fuzz.mutation import mutated, spliced
from fuzz.target import ACCEPTED, REFUSED, Fault, Target
from fuzz.xml_text import random_document
from tests.routing.vocabulary import EXPRESSIONS, STRATEGIES, annotating
from tests.routing.wire_values import MESSAGES
from twigcast.covering import Advertisement
from twigcast.language import DocumentLimits, Pattern
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    Decide,
    Deliver,
    Effect,
    Event,
    LinkDown,
    LinkUp,
    Message,
    Publication,
    Publish,
    Received,
    Refuse,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
    Woken,
)
from twigcast.routing.strategy import Strategy
from twigcast.routing.wire.frames import encode, received
from twigcast.routing.wire.texts import WIRE_PATTERN_LIMITS

EAST, WEST, FAR = BrokerId("east"), BrokerId("west"), BrokerId("far")
LINKS: Final = (EAST, WEST, FAR)
ALL_STRATEGIES: Final = (*STRATEGIES, *annotating("lazy", "+sd-sd"), *annotating("eager", "+s"))
_DOCUMENT_BYTES: Final = 3_000
_GOOD: Final = Publication("good", BrokerId("here"), "press", b"<a><b/></a>")
_PROBE: Final = SubscriptionId(2**62)
_TEXTS: Final = tuple(asked.pattern for asked in EXPRESSIONS)


class Frame(msgspec.Struct):
    """Bytes that come over a link, which is given by its place."""

    link: int
    content: str


class Case(msgspec.Struct):
    """What comes, and the strategy of the broker that it comes to, by its place."""

    strategy: int
    frames: list[Frame]


@cache
def _draw() -> Callable[[Random], Message]:
    return drawer(MESSAGES)


def generate(rng: Random) -> Case:
    """Messages that fit the broker's state and others, damaged or not."""
    frames = []
    for _ in range(rng.randint(1, 6)):
        link = rng.randrange(len(LINKS))
        content = encode(_message(rng))
        if rng.randrange(8) == 0:
            content = spliced(rng, content, encode(_message(rng)))
        if rng.randrange(3):
            content = mutated(rng, content)
        frames.append(Frame(link, as_text(content)))
    return Case(rng.randrange(len(ALL_STRATEGIES)), frames)


def _message(rng: Random) -> Message:
    draw = rng.randrange(10)
    if draw == 0:
        return _draw()(rng)
    if draw < 4:
        content = random_document(rng, errors=0.5)[: _DOCUMENT_BYTES + 1]
        if rng.randrange(10) == 0:
            levels = rng.choice((30, 100, 250))
            content = b"<a>" * levels + b"</a>" * levels
        origin = rng.choice(("west", "east", "far", "here"))
        return Arrive(Publication(f"d{rng.randrange(9)}", BrokerId(origin), "press", content))
    session, number = rng.choice(((2, 3), (2, 4), (3, 1), (5, 2), (6, 1), (2, 2)))
    routes = tuple(dict.fromkeys(rng.choices(_TEXTS, k=rng.randrange(3))))
    if rng.randrange(10) == 0:
        steps = rng.choice(("/a", "//a", "//*")) * rng.choice((20, 60, 120, 240))
        routes = (Pattern.parse(f"{steps}[2]", limits=WIRE_PATTERN_LIMITS),)
    withdrawn = (Pattern.parse("/a/b"),) if rng.randrange(3) == 0 else ()
    return Change(session, number, routes=routes, withdrawn=withdrawn)


def check(case: Case) -> str:
    """Each frame, then a life as usual."""
    strategy = ALL_STRATEGIES[case.strategy % len(ALL_STRATEGIES)]
    router = _prepared(strategy)
    refused = False
    for frame in case.frames:
        link = LINKS[frame.link % len(LINKS)]
        refused |= _handled(router, received(link, as_bytes(frame.content)))
    _check_life(router)
    return REFUSED if refused else ACCEPTED


def _prepared(strategy: Strategy) -> Router:
    """A broker with two neighbours, clients of its own, and a publisher who has promised something.

    West is in session 5 behind its first change, east in session 2 behind its second.
    """
    router = Router(
        BrokerId("here"), strategy, document_limits=DocumentLimits(bytes_max=_DOCUMENT_BYTES)
    )
    wide, narrow, other = (Pattern.parse(text) for text in ("/a", "/a/b", "/c"))
    advertisement = Advertisement.of_expressions(["/a/b"])
    events: list[Event] = [
        LinkUp(WEST),
        LinkUp(EAST),
        Received(WEST, Change(5, 1, routes=(wide,), advertisements=(advertisement,))),
        Received(EAST, Change(2, 1)),
        Received(EAST, Change(2, 2, routes=(narrow, other))),
        Subscribe(SubscriptionId(1), "ann", narrow),
        Subscribe(SubscriptionId(2), "bob", other),
        Advertise(AdvertisementId(1), "press", advertisement),
        Woken(),
    ]
    for event in events:
        assert not _handled(router, event), event
    return router


def _handled(router: Router, event: Event) -> bool:
    """Handle an event and what follows from it; whether it was refused."""
    before = router.tables()
    effects = router.handle(event, now=2.0)
    refused = any(isinstance(effect, Refuse) for effect in effects)
    if refused and router.tables() != before:
        raise Fault("a refused frame changes tables", repr(event))
    _answer(router, effects)
    return refused


def _answer(router: Router, effects: tuple[Effect, ...]) -> list[Effect]:
    """Answer the questions that a router has; all effects."""
    done: list[Effect] = []
    waiting = list(effects)
    while waiting:
        effect = waiting.pop(0)
        done.append(effect)
        is_final = not isinstance(effect, Decide)
        while not is_final:
            assert isinstance(effect, Decide)
            decided = router.decide(effect)
            is_final = decided.final
            waiting += router.handle(decided, now=3.0)
    return done


def _check_life(router: Router) -> None:
    events: list[Event] = [
        LinkDown(EAST),
        LinkUp(EAST),
        Subscribe(_PROBE, "probe", Pattern.parse("/a/b")),
        Woken(),
    ]
    for event in events:
        if _handled(router, event):
            raise Fault("a decent event is refused", repr(event))
    effects = _answer(router, router.handle(Publish(_GOOD), now=4.0))
    delivered = {effect.subscription for effect in effects if isinstance(effect, Deliver)}
    if _PROBE not in delivered:
        raise Fault("a document is not delivered", repr(effects))
    if _handled(router, Unsubscribe(_PROBE)):
        raise Fault("a decent event is refused", "Unsubscribe")


TARGET: Final = Target(
    name="frames",
    summary="damaged and lying wire frames to a router with a state",
    kind=Case,
    generate=generate,
    check=check,
)
