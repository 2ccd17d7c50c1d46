"""What is said over a link, and how it has changed since it was told last.

A pattern that comes and goes between two tellings is not worth a word; one that goes and comes
back neither. So only the net difference is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from twigcast.language import Pattern

__all__ = ["DeltaSet", "Difference", "in_text_order"]


class Difference(NamedTuple):
    """What is to be forwarded anew and then what to be withdrawn, each in the order of texts."""

    added: tuple[Pattern, ...] = ()
    removed: tuple[Pattern, ...] = ()


class DeltaSet:
    """A set of patterns with the difference since it was asked for last."""

    __slots__ = ("_added", "_now", "_removed")

    def __init__(self) -> None:
        self._now: set[Pattern] = set()
        self._added: set[Pattern] = set()
        self._removed: set[Pattern] = set()

    def add(self, pattern: Pattern) -> None:
        """Say a pattern that is not said."""
        self._now.add(pattern)
        if pattern in self._removed:
            self._removed.discard(pattern)
        else:
            self._added.add(pattern)

    def remove(self, pattern: Pattern) -> None:
        """No longer say a pattern that is."""
        self._now.discard(pattern)
        if pattern in self._added:
            self._added.discard(pattern)
        else:
            self._removed.add(pattern)

    def __contains__(self, pattern: Pattern) -> bool:
        return pattern in self._now

    def __len__(self) -> int:
        return len(self._now)

    def patterns(self) -> tuple[Pattern, ...]:
        """All that is said, in the order of texts."""
        return in_text_order(self._now)

    def difference(self) -> Difference:
        """What has changed since this was asked last, each part in the order of texts."""
        added, self._added = self._added, set()
        removed, self._removed = self._removed, set()
        return Difference(in_text_order(added), in_text_order(removed))


def in_text_order(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """Patterns in the order of their texts: the order in which all that is forwarded is listed."""
    return tuple(sorted(patterns, key=lambda each: each.text))
