"""The order of patterns that are held back: for each link, each has a parent that covers it."""

from __future__ import annotations

from collections.abc import Collection


class Parents:
    """Parents and children by number; sets of links are bits of an integer."""

    def __init__(self) -> None:
        self._parents: dict[int, dict[int, int]] = {}
        """By pattern that is held back somewhere, its parents and the links for which they are."""
        self._children: dict[int, set[int]] = {}

    def parent(self, number: int, bit: int) -> int | None:
        """The parent of a pattern for a link."""
        for parent, mask in self._parents.get(number, {}).items():
            if mask & bit:
                return parent
        return None

    def children(self, number: int, links: int) -> list[tuple[int, int]]:
        """The children of a pattern for some links, in order, each with the links it is one for."""
        found = ((child, self._parents[child][number]) for child in self._children.get(number, ()))
        return [(child, mask & links) for child, mask in sorted(found) if mask & links]

    def attach(self, number: int, parent: int, links: int) -> None:
        """Give a pattern a parent for some links."""
        parents = self._parents.setdefault(number, {})
        parents[parent] = parents.get(parent, 0) | links
        self._children.setdefault(parent, set()).add(number)

    def reattach(self, number: int, parent: int, bit: int) -> None:
        """Give a pattern another parent for a link."""
        self.detach(number, bit)
        self.attach(number, parent, bit)

    def detach(self, number: int, links: int, only: int | None = None) -> None:
        """Detach a pattern from its parents, or from one of them, for some links."""
        parents = self._parents.get(number)
        if parents is None:
            return
        among: Collection[int] = [only] if only is not None else list(parents)
        for parent in among:
            parents[parent] &= ~links
            if not parents[parent]:
                del parents[parent]
                self._children[parent].discard(number)
                if not self._children[parent]:
                    del self._children[parent]
        if not parents:
            del self._parents[number]

    def copy_link(self, bit: int, *, model: int) -> None:
        """Give every pattern the parent for a link that it has for another."""
        for parents in self._parents.values():
            for parent, mask in parents.items():
                if mask & model:
                    parents[parent] = mask | bit

    def remove_link(self, bit: int) -> None:
        """Detach all patterns from their parents for a link."""
        for number in tuple(self._parents):
            self.detach(number, bit)
