"""Agreements of two brokers over a link, by which annotations mean the same at both ends.

Both name the change of the link's session that they belong to; annotations made for another change
are ignored (Piggyback, sections 4 and 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from twigcast.language import Pattern
from twigcast.routing.annotations.hints import Hints, HintTable


@dataclass(frozen=True, slots=True)
class SentTable:
    """What we sent over a link, as of one change."""

    session: int
    number: int
    table: HintTable


@dataclass(frozen=True)
class AnnotationRequest:
    """What the broker behind a link would like to know, as of one change."""

    session: int
    number: int
    routes: tuple[Pattern, ...]
    """Its patterns, in the order of their places."""
    hints: Hints

    @cached_property
    def places(self) -> dict[Pattern, int]:
        """Of each of the routes its place."""
        return {route: place for place, route in enumerate(self.routes)}
