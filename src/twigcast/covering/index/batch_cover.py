"""The fewest patterns that say everything, for several sets at once and once and for all.

:class:`~twigcast.covering.index.incremental_cover.IncrementalCover` keeps a covering order up to
date while patterns come and go. Where all are there from the beginning, and nobody asks how that
will change, the same answer costs a fraction. Each pattern comes with the sets that it is in, as
the bits of an integer; the answer is in which of them it is said:

    >>> in_sets = {"//b": 0b01, "/a/b": 0b11, "/a/b/c": 0b10}
    >>> said = minimal_sets({Pattern.parse(text): sets for text, sets in in_sets.items()})
    >>> {pattern.text: sets for pattern, sets in said.items()}
    {'//b': 1, '/a/b': 2}

**What is said** is the same as there: of patterns that can be reached from each other by coverings
as they are found, the *classes*, the least text of each that no other class reaches.

**Tops.** Patterns are taken in the order of their sizes, since small ones are likely to cover large
ones. One that no *top* of a set covers becomes a top of the set itself, and whatever it covers is a
top no longer. So every pattern is at last below a top, and tops do not cover each other. Only tops
are in the index, which is why searches are quick and find little.

**Doubts.** That is all if coverings are found to be transitive, and no two patterns mean the same.
Otherwise some pattern that is no top covers a top: then the two may be one class, or the top be
covered by something on a long way round. A second pass looks for such tops, and only for
these it is worked out, among all patterns, which class is above them.

**Cost.** Two searches for each pattern among the tops, however many sets there are. To make a
pattern ready for searches takes longer than both; ``ready_of`` may keep what was made ready before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from twigcast.covering.containment.covers import COVER_BUDGET, CompiledPattern, ready
from twigcast.covering.index.cover_index import CoverEngine, CoverIndex
from twigcast.covering.index.maximal_classes import MaximalClasses
from twigcast.language import Pattern

__all__ = ["minimal_sets"]


def minimal_sets(
    patterns: Mapping[Pattern, int],
    engine: CoverEngine = "auto",
    *,
    budget: int = COVER_BUDGET,
    ready_of: Callable[[Pattern], CompiledPattern] | None = None,
) -> dict[Pattern, int]:
    """Of patterns with the sets they are in, those that are said with the sets they are said in."""
    made = {pattern: _made(pattern, ready_of) for pattern in patterns}
    search = _Search(patterns, lambda: CoverIndex(engine, budget=budget, ready_of=made.__getitem__))
    for number in sorted(range(len(patterns)), key=lambda each: _size(made[search.all[each]])):
        search.place(number)
    search.settle_doubts()
    return {search.all[number]: sets for number, sets in sorted(search.said.items())}


def _made(
    pattern: Pattern, ready_of: Callable[[Pattern], CompiledPattern] | None
) -> CompiledPattern:
    return ready_of(pattern) if ready_of else ready(pattern.condition)


def _size(made: CompiledPattern) -> int:
    """How many nodes and tests a pattern has; with alternatives, those of the smallest."""
    twigs = [ground.twig for ground in made.grounds]
    return min((twig.size + sum(map(len, twig.tests)) for twig in twigs), default=0)


class _Search:
    """Patterns by number, those that are tops, and an index of these."""

    def __init__(self, patterns: Mapping[Pattern, int], made: Callable[[], CoverIndex]) -> None:
        self.all = tuple(patterns)
        self.sets = tuple(patterns.values())
        self.said: dict[int, int] = {}
        """Of each top the sets where it is one."""
        self._made = made
        self._tops = made()

    def place(self, number: int) -> None:
        """Have a pattern be a top wherever no top covers it."""
        pattern, free = self.all[number], self.sets[number]
        for wider in self._tops.covering(pattern):
            free &= ~self.said[wider]
            if not free:
                return
        for narrower in self._tops.covered(pattern):
            self.said[narrower] &= ~free
            if not self.said[narrower]:
                del self.said[narrower]
                self._tops.remove(narrower)
        if free:
            self.said[number] = free
            self._tops.add(number, pattern)

    def settle_doubts(self) -> None:
        """Look anew at the tops that something covers which is no top."""
        doubts = self._doubts()
        if not doubts:
            return
        whole = self._made()
        for number, pattern in enumerate(self.all):
            whole.add(number, pattern)
        for number, sets in doubts.items():
            self.said[number] &= ~sets
        for number, sets in doubts.items():
            for bit in bits_of(sets):
                self._settle(number, bit, whole)
        self.said = {number: sets for number, sets in self.said.items() if sets}

    def _doubts(self) -> dict[int, int]:
        """Of each top that is in doubt, where."""
        doubts: dict[int, int] = {}
        for number, pattern in enumerate(self.all):
            below = self.sets[number] & ~self.said.get(number, 0)
            if not below:
                continue
            for top in self._tops.covered(pattern):
                if self.said[top] & below and top != number:
                    doubts[top] = doubts.get(top, 0) | self.said[top] & below
        return doubts

    def _settle(self, number: int, bit: int, whole: CoverIndex) -> None:
        """Say the class of a top in one set, if nothing but the class is above it."""

        def above(each: int) -> Iterable[int]:
            found = whole.covering(self.all[each])
            return [other for other in found if other != each and self.sets[other] & bit]

        top = MaximalClasses().top(number, above, frozenset())
        assert top is not None
        if number in top:
            least = min(top, key=lambda each: self.all[each].text)
            self.said[least] = self.said.get(least, 0) | bit


def bits_of(mask: int) -> Iterable[int]:
    """Each bit of a mask, from the lowest."""
    while mask:
        bit = mask & -mask
        yield bit
        mask &= ~bit
