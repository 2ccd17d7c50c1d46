"""Greedy merging of patterns that are nearly alike (Dissemination, section 1.5.3).

Three rules make one pattern of several (:mod:`~twigcast.covering.merging.rules`). A merger may
match more documents than its parts; its degree (:mod:`~twigcast.covering.merging.degree`) measures
how many of a schema's. A broker that forwards mergers instead of their parts forwards fewer
patterns, and receives that many documents in vain:

    >>> from twigcast import Schema
    >>> schema = Schema.parse(b"<!ELEMENT a (b|c)> <!ELEMENT b (d?)> <!ELEMENT c (d?)>"
    ...                       b"<!ELEMENT d EMPTY>")
    >>> for merger in merge(["/a/b/d", "/a/c/d", "//e"], schema=schema).mergers:
    ...     print(merger.pattern, "for", *merger.parts)
    //e for //e
    /a/*/d for /a/b/d /a/c/d

In rounds, patterns that could be merged are found by grouping
(:mod:`~twigcast.covering.merging.candidates`), and the largest groups are tried first; rule 3
follows when the others have nothing left to merge, and then they go on, until no rule makes one
pattern of any two within the degree. The degree of a merger of mergers counts against the original
patterns, never against mergers, so degrees do not add up. A group is tried as a whole or not at
all: with fewer parts the degree is only larger. The result depends on the set of patterns alone,
not on their order.

Three checks are made of a merger, the cheapest first:

1. The schema determines the labels that can stand where the patterns differ
   (:mod:`~twigcast.covering.paths.context_labels`). If the group has all of them, the merger is
   perfect, with branches or without, and nothing is counted.
2. Parts accept together at most the sum of what each accepts. If that is too little of what the
   merger accepts, its degree is too large. Each pattern is counted once for this.
3. Otherwise the paths that are added are counted.

The number of missing *labels* decides nothing: two of five elements may have nearly all of the
paths. Patterns with branches are counted by their spines; at degree 0, where that is not enough,
they are merged by the first check alone.

A pattern costs about half a millisecond, however many there are, and counting at most what its
budget allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from twigcast.covering.containment.covers import paths_of
from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.merging.candidates import (
    ElementGroups,
    MergeGroup,
    by_part,
    far_bits,
    one_operator_apart,
)
from twigcast.covering.merging.degree import MERGE_DEPTH, PathMeasure
from twigcast.covering.merging.rules import opened, shortened
from twigcast.covering.merging.spine import Spine, pattern_of, plain_steps, spine_of
from twigcast.covering.paths.context_labels import ContextLabels
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import Label, Reach
from twigcast.slips import caller_items

MERGE_STEPS_MAX: Final = 20_000_000
"""Labels followed to count degrees in one call of :func:`merge`: some twenty seconds, as 10,000
patterns of the NITF DTD take."""

_SEQUENCES_MAX: Final = 64
"""Label sequences that rule 3 compares with its parts, at most; if there are more, it counts."""


class Merger(NamedTuple):
    """A pattern that represents others, or itself alone."""

    pattern: Pattern
    parts: tuple[Pattern, ...]
    """The patterns it represents, in the order of their texts."""
    degree: Fraction = Fraction(0)
    """The share it adds, from 0 to 1, as far as counted."""
    perfect: bool = True
    """Whether it adds no document of the schema."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging."""

    mergers: tuple[Merger, ...]
    """In the order of the first part of each; parts are in the order of their texts."""
    within_budget: bool = True
    """Whether every degree that was needed was counted."""


@door("merging patterns")
def merge(
    patterns: Iterable[Pattern | str],
    *,
    schema: Schema | SchemaPaths,
    degree: float = 0,
    depth: int = MERGE_DEPTH,
    steps_max: int = MERGE_STEPS_MAX,
) -> Merged:
    """The patterns, merged as far as possible with no degree above this one.

    At degree 0 mergers are perfect: they add no document of the schema. UsageError for a degree
    outside 0 … 1, PatternError for a text that is not a pattern, SchemaError for a schema without
    documents.
    """
    if not 0 <= degree <= 1:
        raise UsageError(f"a degree lies in 0 … 1, not at {shown(degree)}")
    distinct = {
        pattern if isinstance(pattern, Pattern) else Pattern.parse(pattern)
        for pattern in caller_items(patterns)
    }
    originals = sorted(distinct, key=lambda pattern: pattern.text)
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    work = _GreedyMerging(originals, paths, degree=degree, depth=depth, steps_max=steps_max)
    work.run()
    return Merged(work.mergers(), work.within_budget)


class _PartialMerger(NamedTuple):
    """A spine and the original patterns it represents."""

    spine: Spine
    parts: tuple[int, ...]
    degree: Fraction = Fraction(0)
    perfect: bool = True
    """Whether it matches exactly what its parts match."""


class _GreedyMerging:
    """A set of patterns while it is being merged."""

    def __init__(
        self,
        originals: Sequence[Pattern],
        paths: SchemaPaths,
        *,
        degree: float,
        depth: int,
        steps_max: int,
    ) -> None:
        self.within_budget = True
        self._originals = originals
        # A bound of 0.6 is meant as six tenths, which no float is.
        self._bound = Fraction(str(degree))
        self._measure = PathMeasure(paths.automaton, depth=depth)
        self._context = ContextLabels(paths.automaton)
        self._steps_max = steps_max
        self._spines: list[Spine | None] = [spine_of(pattern) for pattern in originals]
        self._partials: dict[int, _PartialMerger] = {
            number: _PartialMerger(spine, (number,))
            for number, spine in enumerate(self._spines)
            if spine is not None
        }
        self._numbers = {partial.spine: number for number, partial in self._partials.items()}
        self._groups = ElementGroups()
        self._may_count = False
        self._next = len(originals)

    def run(self) -> None:
        """Merge what needs no counting, and then everything else.

        Each time rules 1 and 2 apply as far as possible, then rule 3, until nothing changes.
        """
        for self._may_count in (False, True):
            self._groups = ElementGroups()
            for number, partial in self._partials.items():
                self._groups.add(number, partial.spine)
            self._merge()

    def _merge(self) -> None:
        tried = 0
        while True:
            self._merge_elements()
            before = self._next
            spines = {number: partial.spine for number, partial in self._partials.items()}
            for place in by_part(spines, since=tried):
                self._try_parts(place)
            if self._next == before:
                return
            # Groups that were tried before can only have lost members.
            tried = before

    def _merge_elements(self) -> None:
        while fresh := self._groups.fresh(self._partials):
            for place in fresh:
                self._try_elements(place)

    def mergers(self) -> tuple[Merger, ...]:
        """The mergers at the end; partial mergers with equal patterns are one."""
        found: dict[Pattern, list[int]] = {}
        best: dict[Pattern, _PartialMerger] = {}
        for number, spine in enumerate(self._spines):
            if spine is None:
                found[self._originals[number]] = [number]
        for partial in self._partials.values():
            single = len(partial.parts) == 1
            pattern = self._originals[partial.parts[0]] if single else pattern_of(partial.spine)
            found.setdefault(pattern, []).extend(partial.parts)
            # Of two with equal patterns, the lesser degree is the better bound.
            best[pattern] = min(partial, best.get(pattern, partial), key=_rank)
        mergers = [(sorted(parts), pattern) for pattern, parts in found.items()]
        mergers.sort(key=lambda merger: merger[0])
        return tuple(
            Merger(
                pattern,
                tuple(self._originals[part] for part in parts),
                *((best[pattern].degree, best[pattern].perfect) if pattern in best else ()),
            )
            for parts, pattern in mergers
        )

    # Rules 1 and 2.

    def _try_elements(self, place: MergeGroup) -> None:
        """Merge spines that differ in one label; then those that also differ in one operator."""
        members = [number for number in place.members if number in self._partials]
        by_far: dict[int, list[int]] = {}
        for number in members:
            by_far.setdefault(far_bits(self._partials[number].spine), []).append(number)
        for far, alike in by_far.items():
            if len(alike) > 1:
                by_far[far] = self._try_element(place.before, alike, alike)
        for wide, narrow in one_operator_apart(list(by_far)):
            both = by_far[wide] + by_far[narrow]
            if len({self._partials[one].spine[place.before].label for one in both}) > 1:
                merged = self._try_element(place.before, by_far[wide], both)
                if merged != both:
                    by_far[wide], by_far[narrow] = merged, []

    def _try_element(self, place: int, widest: list[int], members: list[int]) -> list[int]:
        """Merge the members into one like the widest, with ``*`` at the place; what remains.

        The widest have the operators that the merger will have.
        """
        if not widest or len(members) < 2:  # noqa: PLR2004
            return members
        spine = opened(self._partials[widest[0]].spine, place)
        steps = plain_steps(spine)
        possible = self._context.labels_at(
            before=steps[:place],
            reach=steps[place].reach,
            kind=steps[place].label.kind,
            behind=steps[place + 1 :],
        )
        own = {self._partials[number].spine[place].label for number in widest}
        missing = possible - own
        if missing:
            special = [label for label in own if None in label]
            missing = frozenset(
                label for label in missing if not any(one.includes(label) for one in special)
            )
        return self._try(spine, members, is_union=not missing)

    # Rule 3.

    def _try_parts(self, place: MergeGroup) -> None:
        """Replace the part that differs by ``//``."""
        members = [number for number in dict.fromkeys(place.members) if number in self._partials]
        if len(members) < 2:  # noqa: PLR2004
            return
        first = self._partials[members[0]].spine
        spine = shortened(first, kept_before=place.before, kept_behind=place.behind)
        steps = plain_steps(spine)
        sequences = self._context.sequences_between(
            before=steps[: place.before], behind=steps[place.before :], most=_SEQUENCES_MAX
        )
        is_union = False
        if sequences is not None:
            own = [self._sequence_of(self._partials[number].spine, place) for number in members]
            is_union = all(any(_includes(mine, sequence) for mine in own) for sequence in sequences)
        self._try(spine, members, is_union=is_union)

    def _sequence_of(self, spine: Spine, place: MergeGroup) -> tuple[Label, ...] | None:
        """The labels of the part that differs; None where it is more than a row of labels."""
        end = len(spine) - place.behind
        part = spine[place.before : end]
        reaches = [step.reach for step in (*part, spine[end])]
        if Reach.DESCENDANT in reaches or any(step.branches for step in part):
            return None
        return tuple(step.label for step in part)

    # All rules.

    def _try(self, spine: Spine, members: list[int], *, is_union: bool) -> list[int]:
        """Replace the members by one merger if its degree allows it; what remains.

        With ``is_union`` it matches exactly what the members match.
        """
        partials = [self._partials[number] for number in members]
        degree, perfect = Fraction(0), is_union and all(partial.perfect for partial in partials)
        if not perfect:
            counted = self._counted(spine, partials) if self._may_count else None
            if counted is None:
                return members
            degree, perfect = counted
        if spine_of(pattern_of(spine)) is None:
            return members  # nothing can match it, nor any of the members, so they stay
        return [self._replace(_PartialMerger(spine, (), degree, perfect), members)]

    def _replace(self, merged: _PartialMerger, members: list[int]) -> int:
        """Replace the members by a partial merger; its number.

        If there is one with that spine already, both become one, with the lesser degree.
        """
        other = self._numbers.get(merged.spine)
        if other is not None and other not in members:
            known = self._partials[other]
            if known.degree < merged.degree or known.perfect:
                merged = known
            members = [*members, other]
        parts = sorted(part for number in members for part in self._partials[number].parts)
        for number in members:
            del self._numbers[self._partials.pop(number).spine]
        self._partials[self._next] = merged._replace(parts=tuple(parts))
        self._numbers[merged.spine] = self._next
        self._groups.add(self._next, merged.spine)
        self._next += 1
        return self._next - 1

    def _counted(
        self, spine: Spine, partials: list[_PartialMerger]
    ) -> tuple[Fraction, bool] | None:
        """The degree, and whether it is perfect; None if it is too large, or cannot be counted."""
        known = [self._own_spine(part) for partial in partials for part in partial.parts]
        linear = not any(step.branches for one in known for step in one)
        if not self._bound and not linear:
            return None
        if self._measure.steps > self._steps_max:
            self.within_budget = False
            return None
        # A perfect partial merger accepts what its parts accept, and is quicker to follow.
        shorter = [
            plain_steps(one)
            for partial in partials
            for one in (
                [partial.spine]
                if partial.perfect
                else [self._own_spine(part) for part in partial.parts]
            )
        ]
        whole = plain_steps(spine)
        try:
            if self._measure.least(whole, shorter) > self._bound:
                return None
            if not self._bound:
                return None if self._measure.adds(whole, shorter) else (Fraction(0), True)
            degree = self._measure.degree(whole, shorter)
        except SchemaLimitError:
            self.within_budget = False
            return None
        if not linear:
            # Paths do not show whether branches are missed.
            degree = degree._replace(perfect=False)
        return (degree.value, degree.perfect) if degree.within(self._bound) else None

    def _own_spine(self, part: int) -> Spine:
        spine = self._spines[part]
        assert spine is not None
        return spine


def _rank(partial: _PartialMerger) -> tuple[bool, Fraction]:
    return not partial.perfect, partial.degree


def _includes(wider: tuple[Label, ...] | None, sequence: tuple[Label, ...]) -> bool:
    """Whether each label of the wider sequence includes that of the other."""
    return (
        wider is not None
        and len(wider) == len(sequence)
        and all(one.includes(other) for one, other in zip(wider, sequence, strict=True))
    )
