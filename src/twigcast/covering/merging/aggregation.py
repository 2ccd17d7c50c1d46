"""Fewer and wider patterns, until they fit a space that is given (Piggyback, section 2).

A broker sends upstream not its patterns but a smaller set that covers them. Its size is the number
of steps of all patterns together, and a bound on it is a share of what there was:

    >>> patterns = ["/a/b/c/d", "/a/b/e/d", "/a/b/f/d", "//g/@x", "//h/i"]
    >>> found = aggregate(patterns, steps_max=space_budget(patterns, 50))
    >>> for one in found.aggregates:
    ...     print(one.pattern, "for", *one.parts)
    //g/@x for //g/@x
    //h/i for //h/i
    /a/b/*/d for /a/b/c/d /a/b/e/d /a/b/f/d

What is kept beside is what annotations are made of: which aggregate stands for which patterns; of
which of them it is a *simple* one (:mod:`~twigcast.covering.merging.substitution`); which of its
wildcards have to be bound to tell the parts apart, and what each is in each part:

    >>> found.aggregates[2].wildcards
    (1,)
    >>> found.aggregates[2].simple[0]
    SimplePart(pattern=Pattern('/a/b/c/d'), bindings=(Bound(wildcard=1, path=('c',)),))

Patterns are made wider in stages, each only as far as it takes, those with most to gain first:

1. rules 1 and 2 of merging, while at least half of the labels stay names;
2. rule 3, for parts of up to two steps, and rules 1 and 2 again;
3. branches are cut off, and so on from the beginning;
4. the middle of a path is replaced by ``//``, and less and less is kept before and behind it, down
   to the last name alone;
5. what stands beside the path, joined by ``and``, is cut off, and nothing but the last name kept;
6. ``/*``, which covers every pattern there is: a single step, so any budget of a step can be kept.

The first two keep all names that parts share, and as simple aggregates nothing is lost that a
binding could not tell; the later ones come into play for tight budgets only. With a schema, places
in which little is missing come first (:mod:`~twigcast.covering.paths.context_labels`).

Patterns that others cover are no matter of this: hand in the roots of a
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
    Place,
    by_part,
    far_bits,
    one_operator_apart,
)
from twigcast.covering.merging.rules import is_open, opened, shortened
from twigcast.covering.merging.spine import (
    Trunk,
    TrunkStep,
    joined_trunk_of,
    pattern_of,
    plain_steps,
    steps_of,
    trunk_steps,
)
from twigcast.covering.merging.substitution import Bound, simple_bindings
from twigcast.covering.paths.context_labels import ContextLabels
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import ANY_ELEMENT, AtDocument, Label, Reach
from twigcast.slips import drawn

__all__ = ["Aggregate", "Aggregation", "SimplePart", "aggregate", "space_budget"]

_PART_MAX: Final = 2
"""Steps that rule 3 replaces by ``//`` here: no degree says what longer parts would lose."""

_ENDS: Final = ((3, 3), (3, 2), (2, 2), (2, 1), (1, 1), (0, 1))
"""How many steps are kept before and behind what is replaced by ``//``, in the fourth stage."""


class SimplePart(NamedTuple):
    """A part that comes back when wildcards are replaced."""

    pattern: Pattern
    bindings: tuple[Bound, ...]
    """What the wildcards are that are not the part's own; ascending."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A pattern that stands for others."""

    pattern: Pattern
    parts: tuple[Pattern, ...]
    """All patterns it stands for, in the order of their texts: Piggyback's T_agg."""
    simple: tuple[SimplePart, ...]
    """Those of which it is a simple aggregate, with bindings: Piggyback's T_sagg."""

    @property
    def wildcards(self) -> tuple[int, ...]:
        """The wildcards that have to be bound to match some simple part, ascending."""
        return tuple(sorted({bound.wildcard for one in self.simple for bound in one.bindings}))


@dataclass(frozen=True, slots=True)
class Aggregation:
    """What patterns were aggregated to."""

    aggregates: tuple[Aggregate, ...]
    """In the order of their texts."""
    steps_before: int
    """Steps of all patterns that were given."""
    steps: int
    """Steps of all aggregates."""


@door("measuring patterns")
def space_budget(patterns: Iterable[Pattern | str], percent: float) -> int:
    """So many percent of the steps of these patterns, rounded down, but at least one step.

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

    The smallest there is has one step, so a smaller bound is a UsageError. PatternError for a text
    that is no pattern.
    """
    if steps_max < 1:
        raise UsageError(
            f"patterns take at least one step, so no budget of {shown(steps_max)} can do"
        )
    given = _distinct(patterns)
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    work = _Work(given, steps_max, ContextLabels(paths.automaton) if paths else None)
    work.run()
    aggregates = tuple(
        Aggregate(whole, tuple(parts), tuple(_simple(whole, parts)))
        for whole, parts in work.found()
    )
    return Aggregation(
        aggregates,
        steps_before=sum(map(steps_of, given)),
        steps=sum(steps_of(one.pattern) for one in aggregates),
    )


def _distinct(patterns: Iterable[Pattern | str]) -> list[Pattern]:
    parsed = {one if isinstance(one, Pattern) else Pattern.parse(one) for one in drawn(patterns)}
    return sorted(parsed, key=lambda pattern: pattern.text)


def _simple(whole: Pattern, parts: Iterable[Pattern]) -> Iterable[SimplePart]:
    for part in parts:
        bindings = simple_bindings(aggregate=whole, part=part)
        if bindings is not None:
            yield SimplePart(part, bindings)


class _Work:
    """Patterns on the way to fewer steps."""

    def __init__(self, given: list[Pattern], steps_max: int, places: ContextLabels | None) -> None:
        self._given = given
        self._steps_max = steps_max
        self._places = places
        self._trunks: dict[int, Trunk] = {}
        self._parts: dict[int, list[int]] = {}
        self._numbers: dict[Trunk, int] = {}
        self._groups = ElementGroups()
        self._others: list[int] = []
        self._next = len(given)
        self._steps = sum(map(steps_of, given))
        for number, pattern in enumerate(given):
            trunk = joined_trunk_of(pattern)
            if trunk is None:
                self._others.append(number)
            else:
                self._add(number, trunk, [number])

    def run(self) -> None:
        """Go through the stages, as far as it takes."""
        stages: tuple[Callable[[], None], ...] = (
            self._merge_elements,
            self._merge_parts,
            self._merge_elements,
            self._cut_branches,
            self._merge_elements,
            self._merge_parts,
            self._merge_elements,
            *(partial(self._reduce, partial(_ends_only, ends=ends)) for ends in _ENDS),
            partial(self._reduce, _alone, gain_min=0),
            partial(self._reduce, partial(_ends_only, ends=_ENDS[-1]), guarded=False),
            self._give_up,
        )
        for stage in stages:
            if self._fits():
                return
            stage()

    def found(self) -> list[tuple[Pattern, list[Pattern]]]:
        """The patterns there are, with those they stand for, in the order of texts."""
        wholes: dict[Pattern, list[int]] = {self._given[one]: [one] for one in self._others}
        for number, parts in self._parts.items():
            whole = pattern_of(self._trunks[number])
            wholes.setdefault(whole, []).extend(parts)
        return [
            (whole, [self._given[part] for part in sorted(wholes[whole])])
            for whole in sorted(wholes, key=lambda pattern: pattern.text)
        ]

    def _fits(self) -> bool:
        return self._steps <= self._steps_max

    def _add(self, number: int, trunk: Trunk, parts: list[int]) -> None:
        self._trunks[number] = trunk
        self._parts[number] = parts
        self._numbers[trunk] = number
        self._groups.add(number, trunk)

    def _replace(self, members: list[int], trunk: Trunk) -> int:
        """Put a trunk in the place of others, and of its like if there is one."""
        like = self._numbers.get(trunk)
        if like is not None and like not in members:
            members = [*members, like]
        parts: list[int] = []
        for number in members:
            old = self._trunks.pop(number)
            del self._numbers[old]
            self._steps -= trunk_steps(old)
            parts += self._parts.pop(number)
        self._steps += trunk_steps(trunk)
        self._next += 1
        self._add(self._next, trunk, parts)
        return self._next

    # Rules 1 and 2.

    def _merge_elements(self) -> None:
        while fresh := self._groups.fresh(self._trunks):
            if self._places is not None:
                fresh.sort(key=self._missing)
            for place in fresh:
                if self._fits():
                    return
                self._merge_element(place)

    def _merge_element(self, place: Place) -> None:
        by_far: dict[int, list[int]] = {}
        for number in place.members:
            if number in self._trunks:
                by_far.setdefault(far_bits(self._trunks[number]), []).append(number)
        for far, alike in by_far.items():
            wider = opened(self._trunks[alike[0]], place.before)
            if len(alike) > 1 and _has_names(wider):
                by_far[far] = [self._replace(alike, wider)]
        for wide, narrow in one_operator_apart(list(by_far)):
            if by_far[wide] and by_far[narrow]:
                both = by_far[wide] + by_far[narrow]
                wider = self._trunks[by_far[wide][0]]
                if len({self._trunks[one][place.before].label for one in both}) > 1:
                    wider = opened(wider, place.before)
                if _has_names(wider):
                    by_far[wide], by_far[narrow] = [self._replace(both, wider)], []

    def _missing(self, place: Place) -> Fraction:
        """Which share of what the schema allows in a place none of the members has."""
        assert self._places is not None
        members = [self._trunks[number] for number in place.members if number in self._trunks]
        if not members:
            return Fraction(1)
        steps = plain_steps(members[0])
        possible = self._places.labels_at(
            before=steps[: place.before],
            reach=steps[place.before].reach,
            kind=steps[place.before].label.kind,
            behind=steps[place.before + 1 :],
        )
        own: set[Label] = {trunk[place.before].label for trunk in members}
        return 1 - Fraction(len(possible & own), len(possible)) if possible else Fraction(0)

    # Rule 3, and what is coarser.

    def _merge_parts(self) -> None:
        for place in sorted(by_part(self._trunks, steps_max=_PART_MAX), key=self._loss):
            if self._fits():
                return
            members = [one for one in dict.fromkeys(place.members) if self._is_plain(one, place)]
            if len(members) > 1:
                trunk = self._trunks[members[0]]
                wider = shortened(trunk, kept_before=place.before, kept_behind=place.behind)
                if _has_names(wider):
                    self._replace(members, wider)

    def _loss(self, place: Place) -> float:
        """How many steps lose their name or their place for each step that is saved."""
        kept = place.before + place.behind
        steps = sum(len(self._trunks[number]) for number in place.members)
        return (steps - len(place.members) * (kept - 1)) / (steps - kept)

    def _is_plain(self, number: int, place: Place) -> bool:
        """Whether a trunk is still there, and no branch would go with what is replaced."""
        trunk = self._trunks.get(number)
        if trunk is None:
            return False
        return not any(step.branches for step in trunk[place.before : len(trunk) - place.behind])

    def _cut_branches(self) -> None:
        # To cut a value saves nothing, but what has lost it can be merged.
        self._reduce(_bare, gain_min=0)

    def _reduce(
        self, wider: Callable[[Trunk], Trunk], *, gain_min: int = 1, guarded: bool = True
    ) -> None:
        """Make trunks wider, those first that lose least for each step that is saved.

        If ``guarded``, only such that keep enough names.
        """
        groups: dict[Trunk, list[int]] = {}
        for number, trunk in self._trunks.items():
            groups.setdefault(wider(trunk), []).append(number)
        gains: dict[Trunk, int] = {}
        losses: dict[Trunk, float] = {}
        for merged, members in groups.items():
            steps = sum(trunk_steps(self._trunks[number]) for number in members)
            gains[merged] = steps - trunk_steps(merged)
            lost = sum(_asked(self._trunks[number]) - _asked(merged) for number in members)
            losses[merged] = lost / gains[merged] if gains[merged] else inf
        for merged in sorted(groups, key=lambda one: (losses[one], -gains[one])):
            if self._fits():
                return
            if gains[merged] < gain_min or (guarded and not _has_names(merged)):
                continue
            there = [number for number in groups[merged] if number in self._trunks]
            if there and there != [self._numbers.get(merged)]:
                self._replace(there, merged)

    def _give_up(self) -> None:
        """One pattern for all: every document has a root element."""
        trunk = (TrunkStep(Reach.CHILD, ANY_ELEMENT),)
        everything = [*self._others, *(part for parts in self._parts.values() for part in parts)]
        self._others, self._steps = [], 1
        self._trunks, self._parts, self._numbers = {}, {}, {}
        self._add(self._next + 1, trunk, everything)


def _asked(trunk: Trunk) -> int:
    """How much a trunk asks for: steps, and conditions at steps."""
    return trunk_steps(trunk) + sum(len(step.branches) for step in trunk)


def _has_names(trunk: Trunk) -> bool:
    """Whether at least half of the labels are names, and it does not end in ``//*``.

    Without names, hardly a document does not match.
    """
    last = trunk[-1]
    if is_open(last.label) and last.reach is Reach.DESCENDANT:
        return False
    return 2 * sum(is_open(step.label) for step in trunk) <= len(trunk)


def _bare(trunk: Trunk) -> Trunk:
    """The trunk without branches and values, but with what stands beside it."""
    return tuple(
        step._replace(branches=tuple(b for b in step.branches if type(b) is AtDocument))
        for step in trunk
    )


def _alone(trunk: Trunk) -> Trunk:
    """The trunk without branches and values, and without what stands beside it."""
    return tuple(step._replace(branches=()) for step in trunk)


def _ends_only(trunk: Trunk, *, ends: tuple[int, int]) -> Trunk:
    """So many steps from the beginning and the end, which goes up to a name."""
    before, behind = ends
    while behind < len(trunk) and is_open(trunk[-behind].label):
        behind += 1
    bare = _bare(trunk)
    if before + behind > len(trunk) or (before + behind == len(trunk) and before):
        return bare
    return shortened(bare, kept_before=before, kept_behind=behind)
