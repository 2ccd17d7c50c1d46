"""Searches for the maximal class above a pattern.

Coverings that are found need not be transitive (a "no" may mean "unknown"), and patterns can cover
each other in a cycle. So the top of a covering order is not a pattern but a *class*: patterns that
can all reach each other. A search goes from one pattern to some pattern that covers it. When it
comes back to a pattern of its path, all patterns since then are one class, and the search goes on
from that class. A class that no other pattern covers is maximal.

    a ← b ← c ← b      b and c are one class; if nothing else covers b or c, it is maximal
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet


class MaximalClasses:
    """A path of classes of patterns, by their numbers, each covered by the next."""

    def __init__(self) -> None:
        self.heights: dict[int, int] = {}
        """The position of the class of each pattern on the path."""
        self._classes: list[list[int]] = []
        self._untried: list[set[int]] = []

    def top(
        self, start: int, above: Callable[[int], Iterable[int]], settled: AbstractSet[int]
    ) -> list[int] | None:
        """The maximal class; None if the search has reached a settled pattern.

        ``above`` returns the patterns that cover one.
        """
        self._append(start, above(start))
        while self._untried[-1]:
            number = self._untried[-1].pop()
            if number in settled:
                return None
            if number in self.heights:
                self._merge_from(number)
            else:
                self._append(number, above(number))
        return self._classes[-1]

    def _append(self, number: int, above: Iterable[int]) -> None:
        self.heights[number] = len(self._classes)
        self._classes.append([number])
        self._untried.append(set(above))

    def _merge_from(self, number: int) -> None:
        """Merge all classes from that of a pattern upwards into one."""
        height = self.heights[number]
        while len(self._classes) > height + 1:
            members, untried = self._classes.pop(), self._untried.pop()
            self._classes[-1] += members
            self._untried[-1] |= untried
            self.heights.update(dict.fromkeys(members, height))
