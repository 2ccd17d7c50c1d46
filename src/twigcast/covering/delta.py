"""Net changes of a set of patterns since they were last reported.

A pattern that is added and removed between two reports appears in neither, and likewise one that is
removed and added again: only the net difference is reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from twigcast.language import Pattern


class Difference(NamedTuple):
    """The patterns to forward and the patterns to withdraw, each in the order of texts."""

    added: tuple[Pattern, ...] = ()
    removed: tuple[Pattern, ...] = ()


class DeltaSet:
    """A set of patterns with its net change since the last report."""

    __slots__ = ("_added", "_members", "_removed")

    def __init__(self) -> None:
        self._members: set[Pattern] = set()
        self._added: set[Pattern] = set()
        self._removed: set[Pattern] = set()

    def add(self, pattern: Pattern) -> None:
        """Add a pattern that is not in the set."""
        self._members.add(pattern)
        if pattern in self._removed:
            self._removed.discard(pattern)
        else:
            self._added.add(pattern)

    def remove(self, pattern: Pattern) -> None:
        """Remove a pattern that is in the set."""
        self._members.discard(pattern)
        if pattern in self._added:
            self._added.discard(pattern)
        else:
            self._removed.add(pattern)

    def __contains__(self, pattern: Pattern) -> bool:
        return pattern in self._members

    def __len__(self) -> int:
        return len(self._members)

    def patterns(self) -> tuple[Pattern, ...]:
        """All patterns of the set, in the order of texts."""
        return in_text_order(self._members)

    def difference(self) -> Difference:
        """The net change since the last call, each part in the order of texts."""
        added, self._added = self._added, set()
        removed, self._removed = self._removed, set()
        return Difference(in_text_order(added), in_text_order(removed))


def in_text_order(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """The patterns sorted by text, the order in which forwarded patterns are always listed."""
    return tuple(sorted(patterns, key=lambda each: each.text))
