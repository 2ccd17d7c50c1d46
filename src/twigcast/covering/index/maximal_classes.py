"""Climbing from a pattern to what covers it, and on, until nothing more does.

Coverings that are found need not be transitive (a "no" may stand for "nobody knows"), and patterns
can cover each other round a circle. So what stands at the top of an order is not a pattern but a
*class*: patterns that can all be reached from each other. A climb goes from one pattern to some
pattern that covers it. Coming back to a pattern of the climb shows that all since then are one
class, which goes on as one. A class that nothing more covers is at the top.

    a ← b ← c ← b      b and c are one class; if nothing else covers b or c, it is the top
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

__all__ = ["MaximalClasses"]


class MaximalClasses:
    """Classes of patterns, by their numbers, each covered by the one after it."""

    def __init__(self) -> None:
        self.heights: dict[int, int] = {}
        """Of each pattern of the climb, the place of its class."""
        self._classes: list[list[int]] = []
        self._untried: list[set[int]] = []

    def top(
        self, start: int, above: Callable[[int], Iterable[int]], settled: AbstractSet[int]
    ) -> list[int] | None:
        """The class at the top; None if the climb has come to a pattern that is settled.

        ``above`` gives the patterns that cover one.
        """
        self._step(start, above(start))
        while self._untried[-1]:
            number = self._untried[-1].pop()
            if number in settled:
                return None
            if number in self.heights:
                self._close(number)
            else:
                self._step(number, above(number))
        return self._classes[-1]

    def _step(self, number: int, above: Iterable[int]) -> None:
        self.heights[number] = len(self._classes)
        self._classes.append([number])
        self._untried.append(set(above))

    def _close(self, number: int) -> None:
        """Make one class of all from the class of a pattern upwards."""
        height = self.heights[number]
        while len(self._classes) > height + 1:
            members, untried = self._classes.pop(), self._untried.pop()
            self._classes[-1] += members
            self._untried[-1] |= untried
            self.heights.update(dict.fromkeys(members, height))
