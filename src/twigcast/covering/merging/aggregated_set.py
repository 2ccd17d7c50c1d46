"""A changing set of patterns, with aggregates that represent them within a space bound.

It does for aggregates what a :class:`~twigcast.covering.merging.merged_set.MergedSet` does for
mergers: each tick makes all patterns wider until a given share of their steps remains, whatever
that adds (:mod:`~twigcast.covering.merging.aggregation`).

    >>> kept = AggregatedSet(0.5)
    >>> texts = ["/a/b/c/d", "/a/b/e/d", "/a/b/f/d", "//g/@x"]
    >>> [len(kept.add(text).added) for text in texts], kept.merge()
    ([1, 1, 1, 1],
     Difference(added=(Pattern('/a/b/*/d'),),
                removed=(Pattern('/a/b/c/d'), Pattern('/a/b/e/d'), Pattern('/a/b/f/d'))))

Between two ticks little is done. A new pattern joins an aggregate that covers it, or represents
itself, so the share may be exceeded for a while. An aggregate stays as long as it has a part, even
where it has become wider than necessary.

    >>> kept.add("/a/b/g/d[@x]"), kept.remove("/a/b/c/d", "//g/@x")
    (Difference(added=(), removed=()), Difference(added=(), removed=(Pattern('//g/@x'),)))

A schema is optional here. With one, aggregates are made first where little is missing of what the
schema allows.

The cost of a tick is linear in the steps, plus the search for coverings if the set is kept
``minimal``; the first pattern added after a tick builds an index of the aggregates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.index.cover_index import CoverIndex
from twigcast.covering.merging.aggregation import aggregate, space_budget
from twigcast.covering.merging.merged_set import MergedSet
from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.language import Pattern, Schema


class AggregatedSet(MergedSet):
    """Patterns, each with its representative: itself or an aggregate.

    After :meth:`merge`, a share ``space`` of the steps of all patterns remains, but at least one
    step. With ``minimal``, no remaining pattern covers another then.
    """

    least: ClassVar[int] = 1

    def __init__(
        self,
        space: float,
        *,
        schema: Schema | SchemaPaths | None = None,
        minimal: bool = False,
    ) -> None:
        if not 0 < space <= 1:
            raise UsageError(
                f"a share of the steps lies above 0 and up to 1, not at {shown(space)}"
            )
        super().__init__(schema, minimal=minimal)
        self._percent = round(100 * space, 9)
        self._index: tuple[CoverIndex, tuple[Pattern, ...]] | None = None
        """An index of the representatives after the last tick, built when first needed."""
        self._is_aggregated = False

    def _merge_all(self) -> dict[Pattern, tuple[Pattern, ...]]:
        """Aggregates of all patterns, each with its parts."""
        self._index = None
        budget = space_budget(self._representatives, self._percent)
        result = aggregate(self._representatives, steps_max=budget, schema=self._paths)
        self._is_aggregated = result.steps < result.steps_before
        return {one.pattern: one.parts for one in result.aggregates}

    def _mergers_for(self, pattern: Pattern) -> Iterator[Pattern]:
        """The representatives since the last tick that cover this pattern."""
        if pattern in self._parts:
            yield pattern
        if not self._is_aggregated:
            return
        if self._index is None:
            self._index = CoverIndex(), self.patterns()
            for number, representative in enumerate(self._index[1]):
                self._index[0].add(number, representative)
        index, patterns = self._index
        for number in index.covering(pattern):
            if patterns[number] in self._parts:
                yield patterns[number]

    def _may_stay(self, merger: Pattern, steps_max: int) -> bool:
        """True: aggregates stay until the next tick, whatever they add."""
        del merger, steps_max
        return True
