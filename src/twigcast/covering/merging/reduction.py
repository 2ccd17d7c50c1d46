"""A set of patterns as small as it gets: covered ones left out, the rest merged, then made to fit.

These are the three means in the order in which they lose least:

1. what others cover is left out, and nothing is lost
   (:class:`~twigcast.covering.index.cover_index.CoverIndex`);
2. what is nearly alike is merged, up to a degree (:func:`~twigcast.covering.merging.greedy.merge`);
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
from twigcast.slips import asked, drawn

__all__ = ["Kept", "Reduction", "reduced"]


class Kept(NamedTuple):
    """A pattern that is left, for itself or in the place of others."""

    pattern: Pattern
    parts: tuple[Pattern, ...]
    """Those of the minimal covering set that it stands for, in the order they were given."""
    degree: Fraction | None = Fraction(0)
    """How much it adds, where it is known."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """What became of a set of patterns."""

    kept: tuple[Kept, ...]
    """In the order in which the first part of each was given."""
    engine: str
    """What found the coverings."""
    given: int
    """Different patterns that were given."""
    minimal: int
    """How many of them the others do not cover."""
    steps_given: int
    steps: int
    """Steps of what is kept."""
    within_budget: bool
    """Whether all degrees were counted that merging asked for."""


Tell = Callable[[str, int, int | None], object]
"""Takes what is being done, how much of it is behind us, and how much there is."""


@door("reducing patterns")
def reduced(
    patterns: Iterable[Pattern | str],
    *,
    schema: Schema | SchemaPaths | None = None,
    degree: float | None = None,
    steps_max: int | None = None,
    engine: CoverEngine = "auto",
    tell: Tell = lambda *_: None,
) -> Reduction:
    """The minimal covering set; with a ``degree`` merged, with ``steps_max`` made to fit.

    UsageError if there is a degree and no schema.
    """
    if degree is not None and schema is None:
        raise UsageError("merging needs a schema, by which degrees are counted")
    given = list(
        dict.fromkeys(
            one if isinstance(one, Pattern) else Pattern.parse(one) for one in drawn(patterns)
        )
    )

    def asking(what: str, done: int, total: int | None) -> None:
        asked(tell, what, done, total)

    asking("sorting patterns in", 0, len(given))
    work = _Work(given, engine, asking)
    minimal = len(work.parts)
    if degree is not None and schema is not None:
        work.merge(schema, degree)
    if steps_max is not None:
        work.fit(steps_max, schema)
    return Reduction(
        work.kept(),
        engine=work.engine,
        given=len(given),
        minimal=minimal,
        steps_given=sum(map(steps_of, given)),
        steps=sum(map(steps_of, work.parts)),
        within_budget=work.within_budget,
    )


class _Work:
    """Patterns, with those of the minimal set that each stands for."""

    def __init__(self, given: Sequence[Pattern], engine: CoverEngine, tell: Tell) -> None:
        self.within_budget = True
        self.engine = ""
        self._choice: CoverEngine = engine
        self._tell = tell
        self._order = {pattern: number for number, pattern in enumerate(given)}
        roots = self._without_covered({pattern: [pattern] for pattern in given}, hand_on=False)
        self.parts: dict[Pattern, list[Pattern]] = {pattern: [pattern] for pattern in roots}
        self._degrees: dict[Pattern, Fraction | None] = {}

    def merge(self, schema: Schema | SchemaPaths, degree: float) -> None:
        self._tell("merging", 0, None)
        merged = merge(self.parts, schema=schema, degree=degree)
        self.within_budget = merged.within_budget
        self._degrees = {one.pattern: one.degree for one in merged.mergers}
        self._put({one.pattern: one.parts for one in merged.mergers})

    def fit(self, steps_max: int, schema: Schema | SchemaPaths | None) -> None:
        """Make patterns wider until they fit: half of the way first, which may do.

        What became wider covers others, and how many steps go with these is known only then.
        """
        now = sum(map(steps_of, self.parts))
        for goal in ((now + steps_max) // 2, steps_max):
            if sum(map(steps_of, self.parts)) <= steps_max:
                return
            self._tell("making patterns wider", 0, None)
            found = aggregate(self.parts, steps_max=goal, schema=schema)
            wider = [one.pattern for one in found.aggregates if one.parts != (one.pattern,)]
            self._degrees.update(dict.fromkeys(wider))
            self._put({one.pattern: one.parts for one in found.aggregates})

    def kept(self) -> tuple[Kept, ...]:
        """What there is, in the order of the first parts."""
        found = [
            (
                sorted(self._order[part] for part in parts),
                Kept(whole, (), self._degrees.get(whole, Fraction(0))),
            )
            for whole, parts in self.parts.items()
        ]
        found.sort(key=lambda one: one[0])
        given = list(self._order)
        return tuple(
            one._replace(parts=tuple(given[number] for number in numbers)) for numbers, one in found
        )

    def _put(self, wholes: Mapping[Pattern, Sequence[Pattern]]) -> None:
        """Put wholes in the place of those they stand for."""
        if wholes.keys() == self.parts.keys():
            return
        together = {
            whole: [first for part in parts for first in self.parts[part]]
            for whole, parts in wholes.items()
        }
        self.parts = self._without_covered(together, hand_on=True)

    def _without_covered(
        self, together: dict[Pattern, list[Pattern]], *, hand_on: bool
    ) -> dict[Pattern, list[Pattern]]:
        """Only those that no other covers; with ``hand_on``, with the parts of those they cover."""
        patterns = list(together)
        index = CoverIndex(self._choice)
        self.engine = index.engine
        for number, pattern in enumerate(patterns):
            index.add(number, pattern)
            self._tell("sorting patterns in", number + 1, len(patterns))
        self._tell("finding what covers what", 0, None)
        roots = index.roots()
        kept = {patterns[number]: together[patterns[number]] for number in roots}
        if hand_on:
            known = set(roots)
            for pattern in patterns:
                if pattern not in kept:
                    root = patterns[_root_above(pattern, index, known)]
                    kept[root] = kept[root] + together[pattern]
        return kept


def _root_above(pattern: Pattern, index: CoverIndex, roots: set[int]) -> int:
    """A root that covers a pattern, though it may take several coverings to see that."""
    waiting = index.covering(pattern)
    for number in waiting:
        if number in roots:
            return number
        waiting += [one for one in index.covering(index.pattern(number)) if one not in waiting]
    raise AssertionError("every pattern is below a root")
