"""A changing set of patterns, and the aggregates that stand for them within a space.

What a :class:`~twigcast.covering.merging.merged_set.MergedSet` does for mergers, for aggregates:
each tick makes all patterns wider until a given share of their steps remains, whatever that adds
(:mod:`~twigcast.covering.merging.aggregation`).

    >>> kept = AggregatedSet(0.5)
    >>> texts = ["/a/b/c/d", "/a/b/e/d", "/a/b/f/d", "//g/@x"]
    >>> [len(kept.add(text).added) for text in texts], kept.merge()
    ([1, 1, 1, 1],
     Difference(added=(Pattern('/a/b/*/d'),),
                removed=(Pattern('/a/b/c/d'), Pattern('/a/b/e/d'), Pattern('/a/b/f/d'))))

Between two ticks little is done. A new pattern joins an aggregate that covers it, or stands for
itself, so the share may be exceeded for a while. An aggregate stays as long as it has a part: it
may be wider than it need be, but no aggregate was asked to add nothing.

    >>> kept.add("/a/b/g/d[@x]"), kept.remove("/a/b/c/d", "//g/@x")
    (Difference(added=(), removed=()), Difference(added=(), removed=(Pattern('//g/@x'),)))

A schema is no condition here. With one, aggregates are made first where little is missing of what
the schema allows.

The cost of a tick is linear in the steps, plus the search for coverings if the set is kept
``minimal``; the first pattern that comes after a tick has the aggregates put into an index.
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

__all__ = ["AggregatedSet"]


class AggregatedSet(MergedSet):
    """Patterns, each with the one that stands for it: itself or an aggregate.

    After :meth:`merge`, a share ``space`` of the steps of all patterns remains, but at least one
    step. With ``minimal``, nothing is left then that something else covers.
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
        """Of what stood after the last tick, once somebody has asked."""
        self._is_aggregated = False

    def _wholes(self) -> dict[Pattern, tuple[Pattern, ...]]:
        """Aggregates of all patterns, each with its parts."""
        self._index = None
        budget = space_budget(self._standing, self._percent)
        found = aggregate(self._standing, steps_max=budget, schema=self._paths)
        self._is_aggregated = found.steps < found.steps_before
        return {one.pattern: one.parts for one in found.aggregates}

    def _mergers_for(self, pattern: Pattern) -> Iterator[Pattern]:
        """The patterns that stand since the last tick and cover this one."""
        if pattern in self._parts:
            yield pattern
        if not self._is_aggregated:
            return
        if self._index is None:
            self._index = CoverIndex(), self.patterns()
            for number, standing in enumerate(self._index[1]):
                self._index[0].add(number, standing)
        index, patterns = self._index
        for number in index.covering(pattern):
            if patterns[number] in self._parts:
                yield patterns[number]

    def _may_stay(self, merger: Pattern, steps_max: int) -> bool:
        """Whatever an aggregate adds, it may until the next tick."""
        del merger, steps_max
        return True
