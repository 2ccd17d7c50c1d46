"""A broker among neighbours, by hand: documents come from ``up`` and go ``east`` and ``west``.

What the broker has said to ``up`` is known, so that annotations can be made for it, true or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.routing.annotated import parsed, roots, table_of
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations, Kinds
from twigcast.routing.annotations.bit_sets import bits_of
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    Decide,
    Decided,
    Effect,
    LinkUp,
    Publication,
    Publish,
    Received,
    Send,
    Subscribe,
    SubscriptionId,
    Woken,
)
from twigcast.routing.strategy import piggyback

UP, EAST, WEST = BrokerId("up"), BrokerId("east"), BrokerId("west")


@dataclass
class Broker:
    """A router, and what it sent last to ``up``."""

    router: Router
    sent: Change
    routes: tuple[Pattern, ...]
    """All that ``up`` has received, by place."""

    @property
    def hints(self) -> Hints:
        assert self.sent.hints is not None
        return self.sent.hints

    def place(self, text: str) -> int:
        """The place of a pattern that was sent."""
        (pattern,) = parsed(text)
        return self.routes.index(pattern)

    def annotations(self, **parts: Any) -> Annotations:  # noqa: ANN401 - any part of annotations
        """Annotations for what was sent last."""
        return replace(Annotations(self.sent.session, self.sent.number), **parts)

    def unmatched(self, *texts: str, is_complete: bool = True) -> Annotations:
        """Annotations by which these patterns, of those that were sent, do not match."""
        bits = [self.hints.order.index(self.place(text)) for text in texts]
        return self.annotations(unmatched=bits_of(bits, len(self.routes)), is_complete=is_complete)

    def matched(self, *texts: str) -> Annotations:
        """Annotations by which these patterns, of those that were sent, match."""
        return self.annotations(
            matched=tuple((place, ()) for place in sorted(map(self.place, texts)))
        )

    def row(self, text: str) -> int:
        """The place of a row that was requested."""
        (pattern,) = parsed(text)
        return [row for row, _ in self.hints.rows].index(pattern)

    # What happens.

    def arrives(
        self, content: bytes, annotations: Annotations | None = None, name: str = "p"
    ) -> Decide:
        """A document comes from ``up``; the question that it raises."""
        publication = Publication(name, BrokerId("afar"), "press", content)
        arrival = Received(UP, Arrive(publication, annotations=annotations))
        (effect,) = self.router.handle(arrival, now=1.0)
        assert isinstance(effect, Decide)
        return effect

    def published(self, content: bytes, name: str = "p") -> Decide:
        """A document is published here; the question that it raises."""
        publication = Publication(name, self.router.name, "press", content)
        (effect,) = self.router.handle(Publish(publication), now=1.0)
        assert isinstance(effect, Decide)
        return effect

    def answers(self, question: Decide) -> list[Decided]:
        """All answers to a question, each handled by the broker before the next is taken."""
        found: list[Decided] = []
        while not found or not found[-1].final:
            found.append(self.router.decide(question))
            self.effects += self.router.handle(found[-1], now=1.0)
        return found

    def __post_init__(self) -> None:
        self.effects: list[Effect] = []
        """What the answers led to."""

    def flush(self) -> None:
        """Let the broker send its change, and record it."""
        for effect in self.router.handle(Woken(), now=1.0):
            if isinstance(effect, Send) and effect.link == UP:
                assert isinstance(effect.message, Change)
                self.sent = effect.message
                kept = {*self.routes, *self.sent.routes}.difference(self.sent.withdrawn)
                self.routes = tuple(sorted(kept, key=lambda each: each.text))


def broker(
    protocol: Any,  # noqa: ANN401 - the options of a strategy as they are
    kinds: str,
    *,
    own: Mapping[int, str] | None = None,
    east: Sequence[str] = (),
    west: Sequence[str] = (),
    engine: str = "streaming",
    covered: bool = False,
    **options: Any,  # noqa: ANN401
) -> Broker:
    """A broker with subscriptions of its own, and neighbours that ask for patterns.

    It says all of them, or with ``covered`` the widest.
    """
    on = "covering" if covered else "identity"
    strategy = piggyback(protocol, kinds, on=on, space=None, **options)
    router = Router("here", strategy, engine=engine)
    for link in (UP, EAST, WEST):
        router.handle(LinkUp(link), now=0.0)
    for number, text in (own or {}).items():
        (pattern,) = parsed(text)
        router.handle(Subscribe(SubscriptionId(number), f"s{number}", pattern), now=0.0)
    for link, texts in ((UP, ()), (EAST, east), (WEST, west)):
        patterns = parsed(*texts)
        routes = tuple(roots(patterns)) if covered else tuple(patterns)
        hints = table_of(routes, patterns, Kinds.parse(kinds)).hints if kinds else None
        change = Change(1, 1, routes=routes, hints=hints)
        assert router.handle(Received(link, change), now=0.0) == ()
    made = Broker(router, Change(1, 1), ())
    made.flush()
    return made
