"""Aggregation of patterns: fewer and wider ones within a space bound (Piggyback, section 2).

A broker sends upstream not its patterns but a smaller set that covers them. Its size is the number
of steps of all patterns together, bounded by a share of the original size:

    >>> patterns = ["/a/b/c/d", "/a/b/e/d", "/a/b/f/d", "//g/@x", "//h/i"]
    >>> found = aggregate(patterns, steps_max=space_budget(patterns, 50))
    >>> for one in found.aggregates:
    ...     print(one.pattern, "for", *one.parts)
    //g/@x for //g/@x
    //h/i for //h/i
    /a/b/*/d for /a/b/c/d /a/b/e/d /a/b/f/d

The result also has what annotations need: which aggregate represents which patterns; of which of
them it is a *simple* one (:mod:`~twigcast.covering.merging.substitution`); which of its wildcards
have to be bound to distinguish the parts, and what each is in each part:

    >>> found.aggregates[2].wildcards
    (1,)
    >>> found.aggregates[2].simple[0]
    SimplePart(pattern=Pattern('/a/b/c/d'), bindings=(Bound(wildcard=1, path=('c',)),))

Patterns are made wider in stages, each only as far as necessary, those with most to gain first:

1. rules 1 and 2 of merging, while at least half of the labels stay names;
2. rule 3, for parts of up to two steps, and rules 1 and 2 again;
3. branches are cut off, and all again from the beginning;
4. the middle of a path is replaced by ``//``, and less and less is kept before and behind it, down
   to the last name alone;
5. the paths joined to the spine by ``and`` are cut off, and only the last name is kept;
6. ``/*``, which covers every pattern: a single step, so every budget can be kept.

The first two keep all names that parts share, and as simple aggregates they lose nothing that a
binding could not restore; the later ones are needed for tight budgets only. With a schema,
positions in which little is missing come first (:mod:`~twigcast.covering.paths.context_labels`).

Covered patterns are not removed here: pass the roots of a
:class:`~twigcast.covering.index.cover_index.CoverIndex`. The cost is linear in the steps, for each
stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf
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
from twigcast.covering.merging.rules import is_open, opened, shortened
from twigcast.covering.merging.spine import (
    Spine,
    SpineStep,
    joined_spine_of,
    pattern_of,
    plain_steps,
    spine_steps,
    steps_of,
)
from twigcast.covering.merging.substitution import Bound, simple_bindings
from twigcast.covering.paths.context_labels import ContextLabels
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import ANY_ELEMENT, AtDocument, Label, Reach
from twigcast.slips import caller_items

_PART_MAX: Final = 2
"""Steps that rule 3 replaces by ``//`` here: no degree measures what longer parts would lose."""

_ENDS: Final = ((3, 3), (3, 2), (2, 2), (2, 1), (1, 1), (0, 1))
"""Steps that the fourth stage keeps before and behind what it replaces by ``//``."""


class SimplePart(NamedTuple):
    """A part that can be restored by replacing wildcards."""

    pattern: Pattern
    bindings: tuple[Bound, ...]
    """The bindings of the wildcards that the part does not have; ascending."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A pattern that represents others."""

    pattern: Pattern
    parts: tuple[Pattern, ...]
    """All patterns it represents, in the order of their texts: Piggyback's T_agg."""
    simple: tuple[SimplePart, ...]
    """Those of which it is a simple aggregate, with bindings: Piggyback's T_sagg."""

    @property
    def wildcards(self) -> tuple[int, ...]:
        """The wildcards that have to be bound to match some simple part, ascending."""
        return tuple(sorted({bound.wildcard for one in self.simple for bound in one.bindings}))


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The result of an aggregation."""

    aggregates: tuple[Aggregate, ...]
    """In the order of their texts."""
    steps_before: int
    """Steps of all input patterns."""
    steps: int
    """Steps of all aggregates."""


@door("measuring patterns")
def space_budget(patterns: Iterable[Pattern | str], percent: float) -> int:
    """A percentage of the steps of these patterns, rounded down, but at least one step.

    UsageError for a percentage outside 0 … 100.
    """
    if not 0 <= percent <= 100:  # noqa: PLR2004
        raise UsageError(f"a budget lies in 0 … 100 percent of the steps, not at {shown(percent)}")
    steps = sum(map(steps_of, _distinct(patterns)))
    return max(1, int(steps * Fraction(str(percent)) / 100))


@door("aggregating patterns")
def aggregate(
    patterns: Iterable[Pattern | str],
    *,
    steps_max: int,
    schema: Schema | SchemaPaths | None = None,
) -> Aggregation:
    """The patterns made wider until all together have at most so many steps.

    The smallest pattern has one step, so a smaller bound is a UsageError. PatternError for a text
    that is not a pattern.
    """
    if steps_max < 1:
        raise UsageError(
            f"patterns take at least one step, so no budget of {shown(steps_max)} can do"
        )
    originals = _distinct(patterns)
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    work = _Aggregator(originals, steps_max, ContextLabels(paths.automaton) if paths else None)
    work.run()
    aggregates = tuple(
        Aggregate(whole, tuple(parts), tuple(_simple(whole, parts)))
        for whole, parts in work.result()
    )
    return Aggregation(
        aggregates,
        steps_before=sum(map(steps_of, originals)),
        steps=sum(steps_of(one.pattern) for one in aggregates),
    )


def _distinct(patterns: Iterable[Pattern | str]) -> list[Pattern]:
    parsed = {
        one if isinstance(one, Pattern) else Pattern.parse(one) for one in caller_items(patterns)
    }
    return sorted(parsed, key=lambda pattern: pattern.text)


def _simple(whole: Pattern, parts: Iterable[Pattern]) -> Iterable[SimplePart]:
    for part in parts:
        bindings = simple_bindings(aggregate=whole, part=part)
        if bindings is not None:
            yield SimplePart(part, bindings)


class _Aggregator:
    """A set of patterns while it is being aggregated."""

    def __init__(
        self, originals: list[Pattern], steps_max: int, context: ContextLabels | None
    ) -> None:
        self._originals = originals
        self._steps_max = steps_max
        self._context = context
        self._spines: dict[int, Spine] = {}
        self._parts: dict[int, list[int]] = {}
        self._numbers: dict[Spine, int] = {}
        self._groups = ElementGroups()
        self._without_spine: list[int] = []
        self._next = len(originals)
        self._steps = sum(map(steps_of, originals))
        for number, pattern in enumerate(originals):
            spine = joined_spine_of(pattern)
            if spine is None:
                self._without_spine.append(number)
            else:
                self._add(number, spine, [number])

    def run(self) -> None:
        """Go through the stages until the patterns fit."""
        stages: tuple[Callable[[], None], ...] = (
            self._merge_elements,
            self._merge_parts,
            self._merge_elements,
            self._cut_branches,
            self._merge_elements,
            self._merge_parts,
            self._merge_elements,
            *(partial(self._reduce, partial(_ends_only, ends=ends)) for ends in _ENDS),
            partial(self._reduce, _spine_only, gain_min=0),
            partial(self._reduce, partial(_ends_only, ends=_ENDS[-1]), guarded=False),
            self._take_everything,
        )
        for stage in stages:
            if self._fits():
                return
            stage()

    def result(self) -> list[tuple[Pattern, list[Pattern]]]:
        """The current patterns, with those they represent, in the order of texts."""
        wholes: dict[Pattern, list[int]] = {
            self._originals[one]: [one] for one in self._without_spine
        }
        for number, parts in self._parts.items():
            whole = pattern_of(self._spines[number])
            wholes.setdefault(whole, []).extend(parts)
        return [
            (whole, [self._originals[part] for part in sorted(wholes[whole])])
            for whole in sorted(wholes, key=lambda pattern: pattern.text)
        ]

    def _fits(self) -> bool:
        return self._steps <= self._steps_max

    def _add(self, number: int, spine: Spine, parts: list[int]) -> None:
        self._spines[number] = spine
        self._parts[number] = parts
        self._numbers[spine] = number
        self._groups.add(number, spine)

    def _replace(self, members: list[int], spine: Spine) -> int:
        """Replace spines by one, joined with an equal one if there is one."""
        equal_one = self._numbers.get(spine)
        if equal_one is not None and equal_one not in members:
            members = [*members, equal_one]
        parts: list[int] = []
        for number in members:
            old = self._spines.pop(number)
            del self._numbers[old]
            self._steps -= spine_steps(old)
            parts += self._parts.pop(number)
        self._steps += spine_steps(spine)
        self._next += 1
        self._add(self._next, spine, parts)
        return self._next

    # Rules 1 and 2.

    def _merge_elements(self) -> None:
        while fresh := self._groups.fresh(self._spines):
            if self._context is not None:
                fresh.sort(key=self._missing)
            for place in fresh:
                if self._fits():
                    return
                self._merge_element(place)

    def _merge_element(self, place: MergeGroup) -> None:
        by_far: dict[int, list[int]] = {}
        for number in place.members:
            if number in self._spines:
                by_far.setdefault(far_bits(self._spines[number]), []).append(number)
        for far, alike in by_far.items():
            wider = opened(self._spines[alike[0]], place.before)
            if len(alike) > 1 and _has_names(wider):
                by_far[far] = [self._replace(alike, wider)]
        for wide, narrow in one_operator_apart(list(by_far)):
            if by_far[wide] and by_far[narrow]:
                both = by_far[wide] + by_far[narrow]
                wider = self._spines[by_far[wide][0]]
                if len({self._spines[one][place.before].label for one in both}) > 1:
                    wider = opened(wider, place.before)
                if _has_names(wider):
                    by_far[wide], by_far[narrow] = [self._replace(both, wider)], []

    def _missing(self, place: MergeGroup) -> Fraction:
        """The share of the labels that the schema allows at a place and no member has."""
        assert self._context is not None
        members = [self._spines[number] for number in place.members if number in self._spines]
        if not members:
            return Fraction(1)
        steps = plain_steps(members[0])
        possible = self._context.labels_at(
            before=steps[: place.before],
            reach=steps[place.before].reach,
            kind=steps[place.before].label.kind,
            behind=steps[place.before + 1 :],
        )
        own: set[Label] = {spine[place.before].label for spine in members}
        return 1 - Fraction(len(possible & own), len(possible)) if possible else Fraction(0)

    # Rule 3, and coarser stages.

    def _merge_parts(self) -> None:
        for place in sorted(by_part(self._spines, steps_max=_PART_MAX), key=self._loss):
            if self._fits():
                return
            members = [
                one
                for one in dict.fromkeys(place.members)
                if self._has_no_branches_between(one, place)
            ]
            if len(members) > 1:
                spine = self._spines[members[0]]
                wider = shortened(spine, kept_before=place.before, kept_behind=place.behind)
                if _has_names(wider):
                    self._replace(members, wider)

    def _loss(self, place: MergeGroup) -> float:
        """The number of steps that lose their name or position for each step saved."""
        kept = place.before + place.behind
        steps = sum(len(self._spines[number]) for number in place.members)
        return (steps - len(place.members) * (kept - 1)) / (steps - kept)

    def _has_no_branches_between(self, number: int, place: MergeGroup) -> bool:
        """Whether a spine is still present, and no branch would be lost with the replaced part."""
        spine = self._spines.get(number)
        if spine is None:
            return False
        return not any(step.branches for step in spine[place.before : len(spine) - place.behind])

    def _cut_branches(self) -> None:
        # Cutting a value saves nothing, but allows merging.
        self._reduce(_without_branches, gain_min=0)

    def _reduce(
        self, wider: Callable[[Spine], Spine], *, gain_min: int = 1, guarded: bool = True
    ) -> None:
        """Make spines wider, first those that lose least for each step saved.

        If ``guarded``, only spines that keep enough names.
        """
        groups: dict[Spine, list[int]] = {}
        for number, spine in self._spines.items():
            groups.setdefault(wider(spine), []).append(number)
        gains: dict[Spine, int] = {}
        losses: dict[Spine, float] = {}
        for merged, members in groups.items():
            steps = sum(spine_steps(self._spines[number]) for number in members)
            gains[merged] = steps - spine_steps(merged)
            lost = sum(
                _conditions(self._spines[number]) - _conditions(merged) for number in members
            )
            losses[merged] = lost / gains[merged] if gains[merged] else inf
        for merged in sorted(groups, key=lambda one: (losses[one], -gains[one])):
            if self._fits():
                return
            if gains[merged] < gain_min or (guarded and not _has_names(merged)):
                continue
            present = [number for number in groups[merged] if number in self._spines]
            if present and present != [self._numbers.get(merged)]:
                self._replace(present, merged)

    def _take_everything(self) -> None:
        """Replace all patterns by ``/*``: every document has a root element."""
        spine = (SpineStep(Reach.CHILD, ANY_ELEMENT),)
        everything = [
            *self._without_spine,
            *(part for parts in self._parts.values() for part in parts),
        ]
        self._without_spine, self._steps = [], 1
        self._spines, self._parts, self._numbers = {}, {}, {}
        self._add(self._next + 1, spine, everything)


def _conditions(spine: Spine) -> int:
    """The number of steps of a spine, and of conditions at steps."""
    return spine_steps(spine) + sum(len(step.branches) for step in spine)


def _has_names(spine: Spine) -> bool:
    """Whether at least half of the labels are names, and it does not end in ``//*``.

    Without names, nearly every document matches.
    """
    last = spine[-1]
    if is_open(last.label) and last.reach is Reach.DESCENDANT:
        return False
    return 2 * sum(is_open(step.label) for step in spine) <= len(spine)


def _without_branches(spine: Spine) -> Spine:
    """The spine without branches and values, but with the paths joined by ``and``."""
    return tuple(
        step._replace(branches=tuple(b for b in step.branches if type(b) is AtDocument))
        for step in spine
    )


def _spine_only(spine: Spine) -> Spine:
    """The spine without branches, values and the paths joined by ``and``."""
    return tuple(step._replace(branches=()) for step in spine)


def _ends_only(spine: Spine, *, ends: tuple[int, int]) -> Spine:
    """A number of steps from the beginning and the end; the end is extended up to a name."""
    before, behind = ends
    while behind < len(spine) and is_open(spine[-behind].label):
        behind += 1
    bare = _without_branches(spine)
    if before + behind > len(spine) or (before + behind == len(spine) and before):
        return bare
    return shortened(bare, kept_before=before, kept_behind=behind)
