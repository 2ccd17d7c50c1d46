"""Fewer patterns by merging those that are nearly alike (Dissemination, section 1.5.3).

Three rules make one pattern of several (:mod:`~twigcast.covering.merging.rules`). A merger may
match more documents than its parts; how many of a schema's, its degree tells
(:mod:`~twigcast.covering.merging.degree`). Whoever forwards mergers instead of their parts keeps
fewer patterns, and receives that many documents for nothing:

    >>> from twigcast import Schema
    >>> schema = Schema.parse(b"<!ELEMENT a (b|c)> <!ELEMENT b (d?)> <!ELEMENT c (d?)>"
    ...                       b"<!ELEMENT d EMPTY>")
    >>> for merger in merge(["/a/b/d", "/a/c/d", "//e"], schema=schema).mergers:
    ...     print(merger.pattern, "for", *merger.parts)
    //e for //e
    /a/*/d for /a/b/d /a/c/d

:func:`merge` is greedy. In rounds, patterns that could be merged are found by grouping
(:mod:`~twigcast.covering.merging.candidates`), and the largest groups are tried first; rule 3 has
its turn when the others have come to an end, and then they go on, until no rule makes one of any
two within the degree. The degree of a merger of mergers counts against the patterns that were
given, never against mergers, so it does not add up. A whole group is tried or none of it: with
fewer parts the degree is only larger. The result depends on the set of patterns alone, not on their
order.

Three questions are asked of a merger, the cheapest first:

1. What can stand in the place where the patterns differ is known from the schema
   (:mod:`~twigcast.covering.paths.context_labels`). If the group has all of it, the merger is
   perfect, branches or not, and nothing is counted.
2. Parts accept together at most the sum of what each accepts. If that is too little of what the
   merger accepts, its degree is too large. Each pattern is counted once for this.
3. Otherwise the paths that are added are counted.

How many of the *labels* are missing decides nothing: two of five elements may have nearly all of
the paths. Patterns with branches are counted by their trunks; at degree 0, where what is counted is
not enough, they are merged by the first question alone.

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
    Place,
    by_part,
    far_bits,
    one_operator_apart,
)
from twigcast.covering.merging.degree import MERGE_DEPTH, PathMeasure
from twigcast.covering.merging.rules import opened, shortened
from twigcast.covering.merging.spine import Trunk, pattern_of, plain_steps, trunk_of
from twigcast.covering.paths.context_labels import ContextLabels
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import Label, Reach
from twigcast.slips import drawn

__all__ = ["MERGE_STEPS_MAX", "Merged", "Merger", "merge"]

MERGE_STEPS_MAX: Final = 20_000_000
"""Labels followed to count degrees in one call of :func:`merge`: some twenty seconds, which is what
10,000 patterns of the NITF DTD take."""

_WAYS_MAX: Final = 64
"""Rows of labels that rule 3 compares with its parts, at most; if there are more, it counts."""


class Merger(NamedTuple):
    """A pattern that stands for others, or for itself alone."""

    pattern: Pattern
    parts: tuple[Pattern, ...]
    """Those it stands for, in the order of their texts."""
    degree: Fraction = Fraction(0)
    """How much it adds, from 0 to 1, as far as it is counted."""
    perfect: bool = True
    """Whether it adds no document of the schema."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What a set of patterns was merged into."""

    mergers: tuple[Merger, ...]
    """In the order of the first part of each; parts are in the order of their texts."""
    within_budget: bool = True
    """Whether every degree that was asked for was counted."""


@door("merging patterns")
def merge(
    patterns: Iterable[Pattern | str],
    *,
    schema: Schema | SchemaPaths,
    degree: float = 0,
    depth: int = MERGE_DEPTH,
    steps_max: int = MERGE_STEPS_MAX,
) -> Merged:
    """The patterns merged as far as no merger has a greater degree than this.

    At degree 0 mergers are perfect: they add no document of the schema. UsageError for a degree
    outside 0 … 1, PatternError for a text that is no pattern, SchemaError for a schema without
    documents.
    """
    if not 0 <= degree <= 1:
        raise UsageError(f"a degree lies in 0 … 1, not at {shown(degree)}")
    given = {
        pattern if isinstance(pattern, Pattern) else Pattern.parse(pattern)
        for pattern in drawn(patterns)
    }
    originals = sorted(given, key=lambda pattern: pattern.text)
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    work = _Work(originals, paths, degree=degree, depth=depth, steps_max=steps_max)
    work.run()
    return Merged(work.mergers(), work.within_budget)


class _Piece(NamedTuple):
    """A trunk and the originals it stands for."""

    trunk: Trunk
    parts: tuple[int, ...]
    degree: Fraction = Fraction(0)
    perfect: bool = True
    """Whether it matches just what its parts match."""


class _Work:
    """A set of patterns on the way to fewer."""

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
        self._places = ContextLabels(paths.automaton)
        self._steps_max = steps_max
        self._trunks: list[Trunk | None] = [trunk_of(pattern) for pattern in originals]
        self._pieces: dict[int, _Piece] = {
            number: _Piece(trunk, (number,))
            for number, trunk in enumerate(self._trunks)
            if trunk is not None
        }
        self._numbers = {piece.trunk: number for number, piece in self._pieces.items()}
        self._groups = ElementGroups()
        self._may_count = False
        self._next = len(originals)

    def run(self) -> None:
        """Merge what needs no counting, and then all the rest.

        Each time by rules 1 and 2 as far as they go, then by rule 3, until nothing changes.
        """
        for self._may_count in (False, True):
            self._groups = ElementGroups()
            for number, piece in self._pieces.items():
                self._groups.add(number, piece.trunk)
            self._merge()

    def _merge(self) -> None:
        tried = 0
        while True:
            self._merge_elements()
            before = self._next
            trunks = {number: piece.trunk for number, piece in self._pieces.items()}
            for place in by_part(trunks, since=tried):
                self._try_parts(place)
            if self._next == before:
                return
            # What was tried and is still there has lost members at most.
            tried = before

    def _merge_elements(self) -> None:
        while fresh := self._groups.fresh(self._pieces):
            for place in fresh:
                self._try_elements(place)

    def mergers(self) -> tuple[Merger, ...]:
        """What there is in the end; pieces that became one pattern are one merger."""
        found: dict[Pattern, list[int]] = {}
        best: dict[Pattern, _Piece] = {}
        for number, trunk in enumerate(self._trunks):
            if trunk is None:
                found[self._originals[number]] = [number]
        for piece in self._pieces.values():
            single = len(piece.parts) == 1
            pattern = self._originals[piece.parts[0]] if single else pattern_of(piece.trunk)
            found.setdefault(pattern, []).extend(piece.parts)
            # Of two that became one, the one with the lesser degree tells more of the parts.
            best[pattern] = min(piece, best.get(pattern, piece), key=_rank)
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

    def _try_elements(self, place: Place) -> None:
        """Merge what differs in one label; then what differs in one operator besides."""
        members = [number for number in place.members if number in self._pieces]
        by_far: dict[int, list[int]] = {}
        for number in members:
            by_far.setdefault(far_bits(self._pieces[number].trunk), []).append(number)
        for far, alike in by_far.items():
            if len(alike) > 1:
                by_far[far] = self._try_element(place.before, alike, alike)
        for wide, narrow in one_operator_apart(list(by_far)):
            both = by_far[wide] + by_far[narrow]
            if len({self._pieces[one].trunk[place.before].label for one in both}) > 1:
                merged = self._try_element(place.before, by_far[wide], both)
                if merged != both:
                    by_far[wide], by_far[narrow] = merged, []

    def _try_element(self, place: int, widest: list[int], members: list[int]) -> list[int]:
        """Merge the members into one like the widest, with ``*`` at the place; what is then left.

        The widest have the operators that the merger will have.
        """
        if not widest or len(members) < 2:  # noqa: PLR2004
            return members
        trunk = opened(self._pieces[widest[0]].trunk, place)
        steps = plain_steps(trunk)
        possible = self._places.labels_at(
            before=steps[:place],
            reach=steps[place].reach,
            kind=steps[place].label.kind,
            behind=steps[place + 1 :],
        )
        own = {self._pieces[number].trunk[place].label for number in widest}
        missing = possible - own
        if missing:
            special = [label for label in own if None in label]
            missing = frozenset(
                label for label in missing if not any(one.includes(label) for one in special)
            )
        return self._try(trunk, members, is_union=not missing)

    # Rule 3.

    def _try_parts(self, place: Place) -> None:
        """Put ``//`` in the place of what differs."""
        members = [number for number in dict.fromkeys(place.members) if number in self._pieces]
        if len(members) < 2:  # noqa: PLR2004
            return
        first = self._pieces[members[0]].trunk
        trunk = shortened(first, kept_before=place.before, kept_behind=place.behind)
        steps = plain_steps(trunk)
        ways = self._places.sequences_between(
            before=steps[: place.before], behind=steps[place.before :], most=_WAYS_MAX
        )
        is_union = False
        if ways is not None:
            own = [self._way_of(self._pieces[number].trunk, place) for number in members]
            is_union = all(any(_includes(mine, way) for mine in own) for way in ways)
        self._try(trunk, members, is_union=is_union)

    def _way_of(self, trunk: Trunk, place: Place) -> tuple[Label, ...] | None:
        """The labels of the part that differs; None where it is more than names in a row."""
        end = len(trunk) - place.behind
        part = trunk[place.before : end]
        reaches = [step.reach for step in (*part, trunk[end])]
        if Reach.DESCENDANT in reaches or any(step.branches for step in part):
            return None
        return tuple(step.label for step in part)

    # All rules.

    def _try(self, trunk: Trunk, members: list[int], *, is_union: bool) -> list[int]:
        """Put one piece in the place of the members if its degree allows it; what is then left.

        With ``is_union`` it matches just what the members match.
        """
        pieces = [self._pieces[number] for number in members]
        degree, perfect = Fraction(0), is_union and all(piece.perfect for piece in pieces)
        if not perfect:
            counted = self._counted(trunk, pieces) if self._may_count else None
            if counted is None:
                return members
            degree, perfect = counted
        if trunk_of(pattern_of(trunk)) is None:
            return members  # nothing can match it, and so none of the members: they say it better
        return [self._put(_Piece(trunk, (), degree, perfect), members)]

    def _put(self, merged: _Piece, members: list[int]) -> int:
        """Put a piece in the place of the members; the number it gets.

        If there is one with that trunk already, both become one, with the lesser degree.
        """
        other = self._numbers.get(merged.trunk)
        if other is not None and other not in members:
            known = self._pieces[other]
            if known.degree < merged.degree or known.perfect:
                merged = known
            members = [*members, other]
        parts = sorted(part for number in members for part in self._pieces[number].parts)
        for number in members:
            del self._numbers[self._pieces.pop(number).trunk]
        self._pieces[self._next] = merged._replace(parts=tuple(parts))
        self._numbers[merged.trunk] = self._next
        self._groups.add(self._next, merged.trunk)
        self._next += 1
        return self._next - 1

    def _counted(self, trunk: Trunk, pieces: list[_Piece]) -> tuple[Fraction, bool] | None:
        """The degree, and whether it is perfect; None if it is too large, or cannot be counted."""
        known = [self._own_trunk(part) for piece in pieces for part in piece.parts]
        linear = not any(step.branches for one in known for step in one)
        if not self._bound and not linear:
            return None
        if self._measure.steps > self._steps_max:
            self.within_budget = False
            return None
        # A perfect piece accepts what its parts accept, and is quicker to follow.
        shorter = [
            plain_steps(one)
            for piece in pieces
            for one in (
                [piece.trunk] if piece.perfect else [self._own_trunk(part) for part in piece.parts]
            )
        ]
        whole = plain_steps(trunk)
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
            # Paths do not tell whether branches are missed.
            degree = degree._replace(perfect=False)
        return (degree.value, degree.perfect) if degree.within(self._bound) else None

    def _own_trunk(self, part: int) -> Trunk:
        trunk = self._trunks[part]
        assert trunk is not None
        return trunk


def _rank(piece: _Piece) -> tuple[bool, Fraction]:
    return not piece.perfect, piece.degree


def _includes(wider: tuple[Label, ...] | None, way: tuple[Label, ...]) -> bool:
    """Whether a row of labels is one of those that the wider row stands for."""
    return (
        wider is not None
        and len(wider) == len(way)
        and all(one.includes(other) for one, other in zip(wider, way, strict=True))
    )
