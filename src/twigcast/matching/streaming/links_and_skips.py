"""Links and skips: groups decided by their first match, and ids skipped from a position on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from twigcast.matching.streaming.automaton import Leaf
from twigcast.matching.streaming.positions import Position
from twigcast.matching.streaming.run import Reading


class Skips:
    """Ids that need no answer from a position on.

    ``skip_from`` has, for a number of end tags, the ids that are of no interest behind the last of
    these; what was certain by then stays. The ids under 0 are of no interest at all.
    """

    def __init__(self, skip_from: Mapping[int, Collection[int]]) -> None:
        self._ends: dict[int, int] = {}
        for ends in sorted(skip_from, reverse=True):
            self._ends.update(dict.fromkeys(skip_from[ends], ends))

    def cover_all(self, id: int) -> bool:
        """Whether no answer is of interest, wherever it comes."""
        return self._ends.get(id) == 0

    def cover(self, id: int, position: Position, ends: Sequence[int]) -> bool:
        """Whether the answer came too late to be of interest.

        ``ends`` are the end tags so far: how many start tags came before each.
        """
        last = self._ends.get(id)
        if last is None:
            return False
        return last == 0 or (last < len(ends) and position > Position(ends[last], last))


class Links:
    """Groups of ids, each decided by its first match."""

    def __init__(self, groups: Sequence[Collection[int]], skips: Skips, *, eager: bool) -> None:
        self.positions: list[Position | None] = [None] * len(groups)
        self._skips = skips
        self._eager = eager
        self._open = len(groups)
        self._groups_of: dict[int, list[int]] = {}
        for number, group in enumerate(groups):
            for one in group:
                self._groups_of.setdefault(one, []).append(number)

    @property
    def is_enough(self) -> bool:
        """Whether nothing more is to be found out."""
        return self._eager and not self._open

    def found(self, leaf: Leaf, reading: Reading) -> bool:
        """Record a leaf that holds; whether that is enough."""
        for one in leaf.ids:
            if one in self._groups_of:
                position = reading.position
                if not self._skips.cover(one, position, reading.ends):
                    self.matched(one, position)
        return self.is_enough

    def matched(self, id: int, position: Position) -> None:
        """Record a match."""
        for number in self._groups_of.get(id, ()):
            if self.positions[number] is None:
                self.positions[number] = position
                self._open -= 1

    def wants(self, id: int) -> bool:
        """Whether it matters whether this id matches."""
        if not self._eager:
            return True
        return any(self.positions[number] is None for number in self._groups_of.get(id, ()))
