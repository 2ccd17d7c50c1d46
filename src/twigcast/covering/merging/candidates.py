"""Candidates for merging: groups of patterns that differ in one place, found by hashing.

Patterns that differ in one label are equal once that label is masked. So each spine goes into one
group for each of its steps, by the steps before it and the steps behind it; spines in the same
group can be merged. The steps before and behind are identified by number: equal beginnings get
equal numbers, and so do equal ends, so that the key of a group is a few small integers and all keys
of a spine are computed in one pass over it.

    /a/b/d    at step 2:   /a  ?  /d   ┐
    /a/c/d    at step 2:   /a  ?  /d   ┴→  one group
    /a/c//d   at step 2:   /a  ?  /d       (rule 2: the operators are compared inside the group)

For rule 3 a whole part is masked, of at most :data:`LONGER_PART_MAX` steps. If the members of a
group have more in common than the steps around the masked part, there is a group with the same
members that keeps more steps. The merger of that one adds less, so only that one is returned.

The cost is one key for each step of each spine, and for rule 3 one for each part of it: linear in
the size of the set.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from twigcast.covering.merging.spine import Spine, SpineStep
from twigcast.language.condition.model import Kind, Reach

LONGER_PART_MAX: Final = 8
"""Steps that rule 3 replaces by ``//``, at most: of a path of ten steps, as deep as documents are
in Dissemination (1.6), all but the first and the last. Its degree measures what such a merger adds.
"""


class MergeGroup(NamedTuple):
    """Spines that differ in one part, with the number of equal steps before and behind it."""

    before: int
    behind: int
    members: tuple[int, ...]
    """The numbers of the spines, ascending."""


class ElementGroups:
    """Groups of spines that are equal except for one label, and perhaps operators."""

    def __init__(self) -> None:
        self._numbers = _RowNumbers()
        self._groups: dict[tuple[int, int, int], int | list[int]] = {}
        self._fresh: dict[tuple[int, int, int], None] = {}

    def add(self, number: int, spine: Spine) -> None:
        """Add a spine, under a number larger than those before."""
        numbers = self._numbers
        codes = [numbers.of((step.label, step.branches)) for step in spine]
        beginnings, ends = numbers.beginnings(codes), numbers.ends(codes)
        for position, step in enumerate(spine):
            if step.label.kind is Kind.TEXT:
                continue
            masked = numbers.of((step.label.kind, step.branches))
            key = (beginnings[position], masked, ends[position + 1])
            group = self._groups.get(key)
            if group is None:
                # Most groups keep a single member, which needs no list.
                self._groups[key] = number
                continue
            if isinstance(group, int):
                group = self._groups[key] = [group]
            group.append(number)
            self._fresh[key] = None

    def fresh(self, present: Container[int]) -> list[MergeGroup]:
        """The groups that have grown since the last call, the largest first.

        Members that are no longer ``present`` are removed.
        """
        found: list[MergeGroup] = []
        for key in self._fresh:
            group = self._groups[key]
            assert isinstance(group, list)
            group[:] = [number for number in group if number in present]
            if len(group) > 1:
                before, behind = self._numbers.lengths[key[0]], self._numbers.lengths[key[2]]
                found.append(MergeGroup(before, behind, tuple(group)))
        self._fresh = {}
        return sorted(found, key=_largest_first)


def by_part(
    spines: Mapping[int, Spine], *, steps_max: int = LONGER_PART_MAX, since: int = 0
) -> Iterator[MergeGroup]:
    """Groups of spines that are equal except for a part of at most so many steps.

    Only groups with a member numbered ``since`` or later. Spines with equal ends are handled
    together, so that few groups are held at a time.
    """
    ending: dict[tuple[object, ...], list[int]] = {}
    for number, spine in spines.items():
        ending.setdefault((spine[-1].label, spine[-1].branches), []).append(number)
    for numbers in ending.values():
        if len(numbers) > 1 and max(numbers) >= since:
            among = {number: spines[number] for number in numbers}
            yield from _parts_among(among, steps_max, since)


def _parts_among(spines: Mapping[int, Spine], steps_max: int, since: int) -> list[MergeGroup]:
    numbers = _RowNumbers()
    groups: dict[tuple[int, int], list[int]] = {}
    for number, spine in spines.items():
        codes = [numbers.of(step) for step in spine]
        # The reach of the first step behind the part does not matter.
        entering = [numbers.of((step.label, step.branches)) for step in spine]
        beginnings, ends = numbers.beginnings(codes), numbers.ends(codes)
        for before in range(len(spine)):
            for begin in range(before, min(before + steps_max + 1, len(spine))):
                end = numbers.joined(ends[begin + 1], entering[begin])
                groups.setdefault((beginnings[before], end), []).append(number)
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for (beginning, end), members in groups.items():
        if len(members) > 1 and max(members) >= since:
            kept = numbers.lengths[beginning], numbers.lengths[end]
            places.setdefault(tuple(members), []).append(kept)
    found = [
        MergeGroup(before, behind, members)
        for members, kept in places.items()
        for before, behind in _maximal(kept)
    ]
    return sorted(found, key=_largest_first)


def _maximal(kept: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pairs of lengths before and behind a part that no other pair exceeds in both.

    >>> list(_maximal([(0, 1), (1, 1), (0, 2), (2, 1)]))
    [(0, 2), (2, 1)]
    """
    longest_before = -1
    for before, behind in sorted(kept, key=lambda each: (-each[1], -each[0])):
        if before > longest_before:
            longest_before = before
            yield before, behind


def far_bits(spine: Iterable[SpineStep]) -> int:
    """The ``//`` steps of a spine, as bits."""
    return sum(
        1 << position for position, step in enumerate(spine) if step.reach is Reach.DESCENDANT
    )


def one_operator_apart(fars: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The pairs of sets of ``//`` steps of which the first has one step more.

    >>> list(one_operator_apart([0b01, 0b11, 0b00]))
    [(1, 0), (3, 1)]
    """
    for wide in fars:
        for narrow in fars:
            added = wide ^ narrow
            if not added & narrow and added.bit_count() == 1:
                yield wide, narrow


def _largest_first(position: MergeGroup) -> tuple[int, tuple[int, ...], int]:
    return -len(position.members), position.members, -position.behind


class _RowNumbers:
    """Numbers for steps, and for rows of steps, built by appending one step."""

    def __init__(self) -> None:
        self._steps: dict[Hashable, int] = {}
        self._rows: dict[tuple[int, int], int] = {}
        self.lengths = [0]
        """The length of each row; row 0 is empty."""

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
        """The rows before each step, and the whole row."""
        rows = [0]
        for step in steps:
            rows.append(self.joined(rows[-1], step))
        return rows

    def ends(self, steps: Sequence[int]) -> list[int]:
        """The rows from each step on, and the empty row."""
        rows = [0]
        for step in reversed(steps):
            rows.append(self.joined(rows[-1], step))
        rows.reverse()
        return rows
