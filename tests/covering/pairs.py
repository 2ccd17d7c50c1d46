"""Coverings of a set of patterns by definition: every pair is decided, one by one."""

from __future__ import annotations

from random import Random

from tests.covering.drawn import drawn_path, drawn_pattern, drawn_tree
from tests.strategies import NAMESPACES
from twigcast.covering import covers
from twigcast.language import Pattern


def drawn_mixed(rng: Random) -> Pattern:
    """A path, a tree, or any condition, small enough that many cover each other."""
    match rng.randrange(4):
        case 0:
            return Pattern.parse(drawn_path(rng, steps_max=5))
        case 1:
            return Pattern.parse(drawn_tree(rng, nodes_max=5))
        case _:
            return Pattern.parse(drawn_pattern(rng, for_oracle=False, depth=1), NAMESPACES)


class Listed:
    """A changing set of patterns as a list of pairs, with different ones once."""

    def __init__(self) -> None:
        self.by_id: dict[int, Pattern] = {}
        self._arrived: dict[Pattern, None] = {}

    def add(self, id: int, pattern: Pattern) -> None:
        self.by_id[id] = pattern
        self._arrived.setdefault(pattern)

    def remove(self, id: int) -> None:
        pattern = self.by_id.pop(id)
        if pattern not in self.by_id.values():
            del self._arrived[pattern]

    def covering(self, pattern: Pattern) -> list[int]:
        """The ids of what covers it."""
        found = self.by_id.items()
        return sorted(key for key, each in found if covers(wider=each, narrower=pattern))

    def covered(self, pattern: Pattern) -> list[int]:
        """The ids of what it covers."""
        found = self.by_id.items()
        return sorted(key for key, each in found if covers(wider=pattern, narrower=each))

    def root_patterns(self) -> list[Pattern]:
        """Of each class that nothing outside it covers, the pattern with the least text."""
        above = self._above()
        roots: list[Pattern] = []
        for pattern in sorted(self._arrived, key=lambda each: each.text):
            equivalent = {each for each in above[pattern] if pattern in above[each]}
            if above[pattern] == equivalent and equivalent.isdisjoint(roots):
                roots.append(pattern)
        return roots

    def roots(self) -> list[int]:
        """Of each root the id that came first."""
        ids = {pattern: key for key, pattern in reversed(self.by_id.items())}
        return sorted(ids[pattern] for pattern in self.root_patterns())

    def _above(self) -> dict[Pattern, set[Pattern]]:
        """What covers each pattern by its meaning: directly, or by what it covers in between."""
        above = {
            narrower: {wider for wider in self._arrived if covers(wider=wider, narrower=narrower)}
            for narrower in self._arrived
        }
        for middle in self._arrived:
            for each in self._arrived:
                if middle in above[each]:
                    above[each] |= above[middle]
        return above
