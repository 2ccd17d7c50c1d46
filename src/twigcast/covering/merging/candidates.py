"""Which patterns could be merged: found by grouping, not by comparing each with each.

Patterns that differ in one label are equal once that label is masked. So each trunk goes into one
group for each of its steps, by what stands before the step and what stands behind it; whoever
meets there can be merged. What stands before and behind is known by number: equal beginnings get
equal numbers, and so do equal ends, so that a group's key is a few small integers and all keys of
a trunk are made in one pass over it.

    /a/b/d    at step 2:   /a  ?  /d   ┐
    /a/c/d    at step 2:   /a  ?  /d   ┴→  one group
    /a/c//d   at step 2:   /a  ?  /d       (rule 2: the operators are compared inside the group)

For rule 3 a whole part is masked, of at most :data:`LONGER_PART_MAX` steps. If the members of a
group have more in common than what is left of them, there is a group with the same members where
more is left. The merger of that one adds less, so only that one is looked at.

The cost is one key for each step of each trunk, and for rule 3 one for each part of it: linear in
the size of the set.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from twigcast.covering.merging.spine import Trunk, TrunkStep
from twigcast.language.condition.model import Kind, Reach

__all__ = ["LONGER_PART_MAX", "ElementGroups", "Place", "by_part", "far_bits", "one_operator_apart"]

LONGER_PART_MAX: Final = 8
"""Steps that rule 3 replaces by ``//``, at most: of a path of ten steps, as deep as documents are
in Dissemination (1.6), all but the first and the last. What such a merger adds, its degree tells.
"""


class Place(NamedTuple):
    """Where trunks of a group differ: so many equal steps before and behind."""

    before: int
    behind: int
    members: tuple[int, ...]
    """The numbers of the trunks, ascending."""


class ElementGroups:
    """Groups of trunks that are equal but for one label, and perhaps operators."""

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._groups: dict[tuple[int, int, int], int | list[int]] = {}
        self._fresh: dict[tuple[int, int, int], None] = {}

    def add(self, number: int, trunk: Trunk) -> None:
        """One more trunk, under a number larger than those before."""
        numbers = self._numbers
        codes = [numbers.of((step.label, step.branches)) for step in trunk]
        beginnings, ends = numbers.beginnings(codes), numbers.ends(codes)
        for place, step in enumerate(trunk):
            if step.label.kind is Kind.TEXT:
                continue
            masked = numbers.of((step.label.kind, step.branches))
            key = (beginnings[place], masked, ends[place + 1])
            group = self._groups.get(key)
            if group is None:
                # Most groups stay with one member, who needs no list.
                self._groups[key] = number
                continue
            if isinstance(group, int):
                group = self._groups[key] = [group]
            group.append(number)
            self._fresh[key] = None

    def fresh(self, there: Container[int]) -> list[Place]:
        """The groups that have grown since they were last asked for, the largest first.

        Members that are no longer ``there`` are forgotten.
        """
        found: list[Place] = []
        for key in self._fresh:
            group = self._groups[key]
            assert isinstance(group, list)
            group[:] = [number for number in group if number in there]
            if len(group) > 1:
                before, behind = self._numbers.lengths[key[0]], self._numbers.lengths[key[2]]
                found.append(Place(before, behind, tuple(group)))
        self._fresh = {}
        return sorted(found, key=_largest_first)


def by_part(
    trunks: Mapping[int, Trunk], *, steps_max: int = LONGER_PART_MAX, since: int = 0
) -> Iterator[Place]:
    """Groups of trunks that are equal but for a part of at most so many steps.

    Only groups with a member numbered ``since`` or later. Trunks that end alike are looked at
    together, so that few groups are held at a time.
    """
    ending: dict[tuple[object, ...], list[int]] = {}
    for number, trunk in trunks.items():
        ending.setdefault((trunk[-1].label, trunk[-1].branches), []).append(number)
    for numbers in ending.values():
        if len(numbers) > 1 and max(numbers) >= since:
            among = {number: trunks[number] for number in numbers}
            yield from _parts_among(among, steps_max, since)


def _parts_among(trunks: Mapping[int, Trunk], steps_max: int, since: int) -> list[Place]:
    numbers = _Numbers()
    groups: dict[tuple[int, int], list[int]] = {}
    for number, trunk in trunks.items():
        codes = [numbers.of(step) for step in trunk]
        # How far the first step behind the part is below it does not matter.
        entering = [numbers.of((step.label, step.branches)) for step in trunk]
        beginnings, ends = numbers.beginnings(codes), numbers.ends(codes)
        for before in range(len(trunk)):
            for begin in range(before, min(before + steps_max + 1, len(trunk))):
                end = numbers.joined(ends[begin + 1], entering[begin])
                groups.setdefault((beginnings[before], end), []).append(number)
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for (beginning, end), members in groups.items():
        if len(members) > 1 and max(members) >= since:
            kept = numbers.lengths[beginning], numbers.lengths[end]
            places.setdefault(tuple(members), []).append(kept)
    found = [
        Place(before, behind, members)
        for members, kept in places.items()
        for before, behind in _longest(kept)
    ]
    return sorted(found, key=_largest_first)


def _longest(kept: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of what is left before and behind a part, those of which no more is left both times.

    >>> list(_longest([(0, 1), (1, 1), (0, 2), (2, 1)]))
    [(0, 2), (2, 1)]
    """
    longest_before = -1
    for before, behind in sorted(kept, key=lambda each: (-each[1], -each[0])):
        if before > longest_before:
            longest_before = before
            yield before, behind


def far_bits(trunk: Iterable[TrunkStep]) -> int:
    """Which steps of a trunk are ``//``, as bits."""
    return sum(1 << place for place, step in enumerate(trunk) if step.reach is Reach.DESCENDANT)


def one_operator_apart(fars: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Of several sets of ``//`` steps the pairs of which the first has one more.

    >>> list(one_operator_apart([0b01, 0b11, 0b00]))
    [(1, 0), (3, 1)]
    """
    for wide in fars:
        for narrow in fars:
            added = wide ^ narrow
            if not added & narrow and added.bit_count() == 1:
                yield wide, narrow


def _largest_first(place: Place) -> tuple[int, tuple[int, ...], int]:
    return -len(place.members), place.members, -place.behind


class _Numbers:
    """Numbers for steps, and for rows of steps by their rest and one step more."""

    def __init__(self) -> None:
        self._steps: dict[Hashable, int] = {}
        self._rows: dict[tuple[int, int], int] = {}
        self.lengths = [0]
        """How many steps each row has; row 0 is empty."""

    def of(self, step: Hashable) -> int:
        return self._steps.setdefault(step, len(self._steps))

    def joined(self, row: int, step: int) -> int:
        """The row with one step more."""
        number = self._rows.get((row, step))
        if number is None:
            number = self._rows[row, step] = len(self.lengths)
            self.lengths.append(self.lengths[row] + 1)
        return number

    def beginnings(self, steps: Sequence[int]) -> list[int]:
        """The rows before each step, and the whole."""
        rows = [0]
        for step in steps:
            rows.append(self.joined(rows[-1], step))
        return rows

    def ends(self, steps: Sequence[int]) -> list[int]:
        """The rows from each step on, and the empty one."""
        rows = [0]
        for step in reversed(steps):
            rows.append(self.joined(rows[-1], step))
        rows.reverse()
        return rows
