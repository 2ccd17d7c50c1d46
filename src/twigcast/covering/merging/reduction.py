"""Reduction of a set of patterns: covered ones removed, the rest merged, then aggregated.

These are the three means in the order in which they lose least:

1. covered patterns are removed, and nothing is lost
   (:class:`~twigcast.covering.index.cover_index.CoverIndex`);
2. nearly equal ones are merged, up to a degree (:func:`~twigcast.covering.merging.greedy.merge`);
3. what is still too much is made wider (:func:`~twigcast.covering.merging.aggregation.aggregate`).

Mergers can cover patterns that were not merged, so the first is done again after each of the
others.

    >>> for one in reduced(["//a/b", "/a/b/c", "//a"]).kept:
    ...     print(one.pattern)
    //a
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.index.cover_index import CoverEngine, CoverIndex
from twigcast.covering.merging.aggregation import aggregate
from twigcast.covering.merging.greedy import merge
from twigcast.covering.merging.spine import steps_of
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Pattern, Schema
from twigcast.slips import caller_items, caller_result


class Kept(NamedTuple):
    """A pattern that remains, for itself or in place of others."""

    pattern: Pattern
    parts: tuple[Pattern, ...]
    """The patterns of the minimal covering set that it represents, in input order."""
    degree: Fraction | None = Fraction(0)
    """The degree, where it is known."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """The result of a reduction."""

    kept: tuple[Kept, ...]
    """In the input order of their first parts."""
    engine: str
    """The engine of the cover index."""
    given: int
    """Distinct input patterns."""
    minimal: int
    """The number of those that no other covers."""
    steps_given: int
    steps: int
    """Steps of the remaining patterns."""
    within_budget: bool
    """Whether all degrees that merging needed were counted."""


ProgressReport = Callable[[str, int, int | None], object]
"""Called with the current stage, the number of items done, and their total if it is known."""


@door("reducing patterns")
def reduced(
    patterns: Iterable[Pattern | str],
    *,
    schema: Schema | SchemaPaths | None = None,
    degree: float | None = None,
    steps_max: int | None = None,
    engine: CoverEngine = "auto",
    report: ProgressReport = lambda *_: None,
) -> Reduction:
    """The minimal covering set; with a ``degree`` merged, with ``steps_max`` made to fit.

    UsageError if there is a degree and no schema.
    """
    if degree is not None and schema is None:
        raise UsageError("merging needs a schema, by which degrees are counted")
    originals = list(
        dict.fromkeys(
            one if isinstance(one, Pattern) else Pattern.parse(one)
            for one in caller_items(patterns)
        )
    )

    def report_progress(stage: str, done: int, total: int | None) -> None:
        caller_result(report, stage, done, total)

    report_progress("sorting patterns in", 0, len(originals))
    work = _Reducer(originals, engine, report_progress)
    minimal = len(work.parts)
    if degree is not None and schema is not None:
        work.merge(schema, degree)
    if steps_max is not None:
        work.fit(steps_max, schema)
    return Reduction(
        work.kept(),
        engine=work.engine,
        given=len(originals),
        minimal=minimal,
        steps_given=sum(map(steps_of, originals)),
        steps=sum(map(steps_of, work.parts)),
        within_budget=work.within_budget,
    )


class _Reducer:
    """Patterns, with those of the minimal set that each represents."""

    def __init__(
        self, originals: Sequence[Pattern], engine: CoverEngine, report: ProgressReport
    ) -> None:
        self.within_budget = True
        self.engine = ""
        self._choice: CoverEngine = engine
        self._report = report
        self._order = {pattern: number for number, pattern in enumerate(originals)}
        roots = self._without_covered({pattern: [pattern] for pattern in originals}, inherit=False)
        self.parts: dict[Pattern, list[Pattern]] = {pattern: [pattern] for pattern in roots}
        self._degrees: dict[Pattern, Fraction | None] = {}

    def merge(self, schema: Schema | SchemaPaths, degree: float) -> None:
        self._report("merging", 0, None)
        merged = merge(self.parts, schema=schema, degree=degree)
        self.within_budget = merged.within_budget
        self._degrees = {one.pattern: one.degree for one in merged.mergers}
        self._replace({one.pattern: one.parts for one in merged.mergers})

    def fit(self, steps_max: int, schema: Schema | SchemaPaths | None) -> None:
        """Make patterns wider until they fit: first half of the way, which may suffice.

        Wider patterns cover others, and only then is it known how many steps that saves.
        """
        now = sum(map(steps_of, self.parts))
        for goal in ((now + steps_max) // 2, steps_max):
            if sum(map(steps_of, self.parts)) <= steps_max:
                return
            self._report("making patterns wider", 0, None)
            found = aggregate(self.parts, steps_max=goal, schema=schema)
            wider = [one.pattern for one in found.aggregates if one.parts != (one.pattern,)]
            self._degrees.update(dict.fromkeys(wider))
            self._replace({one.pattern: one.parts for one in found.aggregates})

    def kept(self) -> tuple[Kept, ...]:
        """The remaining patterns, in the order of their first parts."""
        found = [
            (
                sorted(self._order[part] for part in parts),
                Kept(whole, (), self._degrees.get(whole, Fraction(0))),
            )
            for whole, parts in self.parts.items()
        ]
        found.sort(key=lambda one: one[0])
        originals = list(self._order)
        return tuple(
            one._replace(parts=tuple(originals[number] for number in numbers))
            for numbers, one in found
        )

    def _replace(self, wholes: Mapping[Pattern, Sequence[Pattern]]) -> None:
        """Replace patterns by those that represent them."""
        if wholes.keys() == self.parts.keys():
            return
        together = {
            whole: [first for part in parts for first in self.parts[part]]
            for whole, parts in wholes.items()
        }
        self.parts = self._without_covered(together, inherit=True)

    def _without_covered(
        self, together: dict[Pattern, list[Pattern]], *, inherit: bool
    ) -> dict[Pattern, list[Pattern]]:
        """Patterns that no other covers; with ``inherit``, with the parts of covered ones."""
        patterns = list(together)
        index = CoverIndex(self._choice)
        self.engine = index.engine
        for number, pattern in enumerate(patterns):
            index.add(number, pattern)
            self._report("sorting patterns in", number + 1, len(patterns))
        self._report("finding what covers what", 0, None)
        roots = index.roots()
        kept = {patterns[number]: together[patterns[number]] for number in roots}
        if inherit:
            known = set(roots)
            for pattern in patterns:
                if pattern not in kept:
                    root = patterns[_root_above(pattern, index, known)]
                    kept[root] = kept[root] + together[pattern]
        return kept


def _root_above(pattern: Pattern, index: CoverIndex, roots: set[int]) -> int:
    """A root that covers a pattern, directly or through other patterns."""
    waiting = index.covering(pattern)
    for number in waiting:
        if number in roots:
            return number
        waiting += [one for one in index.covering(index.pattern(number)) if one not in waiting]
    raise AssertionError("every pattern is below a root")
