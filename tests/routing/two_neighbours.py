"""A broker with two neighbours, and what it does with documents and changes."""

from __future__ import annotations

from typing import Any

from twigcast.language import Pattern
from twigcast.routing.broker.router import Router, RouterLimits
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    Decide,
    Deliver,
    Effect,
    LinkUp,
    Publication,
    Publish,
    Received,
    Send,
    SubscriptionId,
    Woken,
)
from twigcast.routing.strategy import identity

EAST, WEST = BrokerId("east"), BrokerId("west")
A, B = Pattern.parse("//a"), Pattern.parse("//b")
ONE, TWO = SubscriptionId(1), SubscriptionId(2)


def router(**limits: Any) -> Router:  # noqa: ANN401 - any limit
    """A broker with a neighbour that wants //a, and one that wants //b."""
    made = Router(BrokerId("here"), identity(), limits=RouterLimits(**limits))
    for link, pattern in ((EAST, A), (WEST, B)):
        made.handle(LinkUp(link), now=0.0)
        made.handle(Received(link, Change(1, 1, routes=(pattern,))), now=0.0)
    made.handle(Woken(), now=100.0)
    return made


def comes(made: Router, name: str, content: bytes, origin: str = "here") -> Decide:
    """A document comes; the question it raises."""
    publication = Publication(name, BrokerId(origin), "press", content)
    event = (
        Publish(publication)
        if origin == "here"
        else Received(BrokerId(origin), Arrive(publication))
    )
    (effect,) = made.handle(event, now=100.0)
    assert isinstance(effect, Decide)
    return effect


def told(effects: tuple[Effect, ...]) -> list[tuple[str, object]]:
    """Which document goes where."""
    found: list[tuple[str, object]] = []
    for effect in effects:
        if isinstance(effect, Send) and isinstance(effect.message, Arrive):
            found.append((effect.message.publication.id, effect.link))
        elif isinstance(effect, Deliver):
            found.append((effect.publication.id, effect.subscription))
    return found


def changes(effects: tuple[Effect, ...]) -> dict[str, Change]:
    return {
        effect.link: effect.message
        for effect in effects
        if isinstance(effect, Send) and isinstance(effect.message, Change)
    }
