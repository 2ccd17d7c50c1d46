"""Suppression of redundant patterns: the protocol, and what implements it.

A broker's *routes* are patterns, each with the sources it came from: links, and None for the
broker's own clients. Over a link, whatever came from elsewhere concerns the far broker. Which of
that need not be sent, because something else stands for it, is what the implementations differ
in:

- :class:`~twigcast.routing.forwarding.every_route.EveryRoute` sends everything (``identity``);
- :class:`~twigcast.routing.forwarding.prefix_suppression.PrefixSuppression` structure prefixes
  alone (``prefix``);
- :class:`~twigcast.covering.index.incremental_cover.IncrementalCover` the minimal covering set
  (``covering``).

What is forwarded over a link is a function of the set of patterns that came from elsewhere,
whatever the order in which they came, so that a network that has seen much is no different from a
fresh one.
"""

from __future__ import annotations

from typing import Protocol

from twigcast.covering.delta import Difference
from twigcast.language import Pattern
from twigcast.routing.events import LinkId


class Suppression(Protocol):
    """The patterns to be forwarded over each link, kept up to date."""

    def add_link(self, link: LinkId) -> None:
        """From now on report what is forwarded over a link, too: its first change is all of it."""

    def remove_link(self, link: LinkId) -> None:
        """Forget a link, and all that came from it."""

    def add(self, pattern: Pattern, source: LinkId | None) -> None:
        """A pattern came from a source; nothing happens if it had come from there before."""

    def remove(self, pattern: Pattern, source: LinkId | None) -> None:
        """A source takes a pattern back; nothing happens if it did not come from there."""

    def changes(self) -> dict[LinkId, Difference]:
        """What is forwarded anew and what no more over each link, since the last call.

        Only links with a change are there, in the order of their names.
        """

    def forwarded(self, link: LinkId) -> tuple[Pattern, ...]:
        """All that is forwarded over a link, in the order of texts."""
