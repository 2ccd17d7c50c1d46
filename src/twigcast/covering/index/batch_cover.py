"""Minimal covering sets of several pattern sets at once.

:class:`~twigcast.covering.index.incremental_cover.IncrementalCover` keeps a covering order up to
date while patterns come and go. Where all patterns are known in advance and none will change, the
same answer costs a fraction. The bits of an integer give the sets that a pattern is in; the result
is in which of them it is *minimal*, that is, has to be forwarded:

    >>> in_sets = {"//b": 0b01, "/a/b": 0b11, "/a/b/c": 0b10}
    >>> minimal = minimal_sets({Pattern.parse(text): sets for text, sets in in_sets.items()})
    >>> {pattern.text: sets for pattern, sets in minimal.items()}
    {'//b': 1, '/a/b': 2}

**Result.** The same as there: patterns that can reach each other by coverings as they are found
form a *class*, and of each class that no other class reaches, the least text is minimal.

**Tops.** Patterns are taken in the order of their sizes, since small ones are likely to cover large
ones. A pattern that no *top* of a set covers becomes a top of the set itself, and whatever it
covers is a top no longer. So in the end every pattern is below a top, and tops do not cover each
other. Only tops are in the index, so searches are quick and find little.

**Doubts.** That is all if coverings are found to be transitive, and no two patterns are equivalent.
Otherwise some pattern that is no top covers a top: then the two may be one class, or the top may be
covered indirectly. A second pass looks for such tops, and only for these the class above them is
determined among all patterns.

**Cost.** Two searches for each pattern among the tops, however many sets there are. Compiling a
pattern for searches takes longer than both; ``compiled_of`` may return compiled patterns from a
cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from twigcast.covering.bits import each_bit
from twigcast.covering.containment.covers import COVER_BUDGET, CompiledPattern, compiled_form
from twigcast.covering.index.cover_index import CoverEngine, CoverIndex
from twigcast.covering.index.maximal_classes import MaximalClasses
from twigcast.language import Pattern


def minimal_sets(
    patterns: Mapping[Pattern, int],
    engine: CoverEngine = "auto",
    *,
    budget: int = COVER_BUDGET,
    compiled_of: Callable[[Pattern], CompiledPattern] | None = None,
) -> dict[Pattern, int]:
    """The minimal patterns, each with the sets in which it is minimal."""
    compiled = {pattern: _compiled(pattern, compiled_of) for pattern in patterns}
    search = _MinimalSearch(
        patterns, lambda: CoverIndex(engine, budget=budget, compiled_of=compiled.__getitem__)
    )
    for number in sorted(range(len(patterns)), key=lambda each: _size(compiled[search.all[each]])):
        search.place(number)
    search.resolve_doubts()
    return {search.all[number]: sets for number, sets in sorted(search.minimal.items())}


def _compiled(
    pattern: Pattern, compiled_of: Callable[[Pattern], CompiledPattern] | None
) -> CompiledPattern:
    return compiled_of(pattern) if compiled_of else compiled_form(pattern.condition)


def _size(compiled: CompiledPattern) -> int:
    """The number of nodes and tests of a pattern; with alternatives, of the smallest."""
    twigs = [target.twig for target in compiled.targets]
    return min((twig.size + sum(map(len, twig.tests)) for twig in twigs), default=0)


class _MinimalSearch:
    """Patterns by number, the tops among them, and an index of the tops."""

    def __init__(
        self, patterns: Mapping[Pattern, int], new_index: Callable[[], CoverIndex]
    ) -> None:
        self.all = tuple(patterns)
        self.sets = tuple(patterns.values())
        self.minimal: dict[int, int] = {}
        """The sets in which each top is one."""
        self._new_index = new_index
        self._tops = new_index()

    def place(self, number: int) -> None:
        """Make a pattern a top of each of its sets in which no top covers it."""
        pattern, free = self.all[number], self.sets[number]
        for wider in self._tops.covering(pattern):
            free &= ~self.minimal[wider]
            if not free:
                return
        for narrower in self._tops.covered(pattern):
            self.minimal[narrower] &= ~free
            if not self.minimal[narrower]:
                del self.minimal[narrower]
                self._tops.remove(narrower)
        if free:
            self.minimal[number] = free
            self._tops.add(number, pattern)

    def resolve_doubts(self) -> None:
        """Check the tops again that some other pattern covers."""
        doubts = self._doubts()
        if not doubts:
            return
        whole = self._new_index()
        for number, pattern in enumerate(self.all):
            whole.add(number, pattern)
        for number, sets in doubts.items():
            self.minimal[number] &= ~sets
        for number, sets in doubts.items():
            for bit in each_bit(sets):
                self._resolve(number, bit, whole)
        self.minimal = {number: sets for number, sets in self.minimal.items() if sets}

    def _doubts(self) -> dict[int, int]:
        """The doubtful tops, with the sets in which they are doubtful."""
        doubts: dict[int, int] = {}
        for number, pattern in enumerate(self.all):
            below = self.sets[number] & ~self.minimal.get(number, 0)
            if not below:
                continue
            for top in self._tops.covered(pattern):
                if self.minimal[top] & below and top != number:
                    doubts[top] = doubts.get(top, 0) | self.minimal[top] & below
        return doubts

    def _resolve(self, number: int, bit: int, whole: CoverIndex) -> None:
        """Make the class of a top minimal in one set, if no other class is above it."""

        def above(each: int) -> Iterable[int]:
            covering = whole.covering(self.all[each])
            return [other for other in covering if other != each and self.sets[other] & bit]

        top = MaximalClasses().top(number, above, frozenset())
        assert top is not None
        if number in top:
            least = min(top, key=lambda each: self.all[each].text)
            self.minimal[least] = self.minimal.get(least, 0) | bit
