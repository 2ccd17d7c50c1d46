"""A broker between two neighbours, and a document of five elements."""

from __future__ import annotations

from typing import Any

from tests.routing.neighbours import Broker, broker
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.events import (
    Deliver,
    Send,
    SubscriptionId,
)

ONE, TWO = SubscriptionId(1), SubscriptionId(2)
FIVE = b"<r><a/><b/><c><d/></c></r>"
"""Five elements: //a is certain with the second, //b with the third, //d with the fifth."""


def five(protocol: str, kinds: str = "", **options: Any) -> Broker:  # noqa: ANN401
    """East asks for //d and //a, west for //b; clients here for //c and for //z."""
    return broker(
        protocol,
        kinds,
        own={1: "//c", 2: "//z"},
        east=("//d", "//a"),
        west=("//b",),
        **options,
    )


def sent(made: Broker) -> list[str]:
    """The links that documents went over, in order."""
    return [effect.link for effect in made.effects if isinstance(effect, Send)]


def delivered(made: Broker) -> list[int]:
    return [effect.subscription for effect in made.effects if isinstance(effect, Deliver)]


def told_to(made: Broker) -> dict[str, Annotations | None]:
    """What went with a document over each link."""
    return {
        effect.link: effect.message.annotations  # type: ignore[union-attr]
        for effect in made.effects
        if isinstance(effect, Send)
    }
