"""The patterns that are forwarded over each link, and the classes that some of them stand for.

A *class* are several patterns that cover each other, directly or around a circle. One of them, its
representative, is forwarded; the others are held back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from twigcast.covering.bits import each_bit
from twigcast.covering.delta import DeltaSet
from twigcast.covering.index.sources import OWN
from twigcast.language import Pattern


class ForwardedPatterns:
    """Forwarded patterns by number and link; sets of links are bits of an integer."""

    def __init__(self, patterns: dict[int, Pattern]) -> None:
        self._patterns = patterns
        self.sets: dict[int, DeltaSet] = {OWN: DeltaSet()}
        """By the bit of a link, the patterns forwarded over it."""
        self._links: dict[int, int] = {}
        """By forwarded pattern, the links it is forwarded over."""
        self._classes: dict[int, dict[int, set[int]]] = {}
        """By the bit of a link, the forwarded classes of several patterns, by representative."""
        self._class_of: dict[int, dict[int, int]] = {}
        """By the bit of a link and a member of such a class, its representative."""

    def links_of(self, number: int) -> int:
        """The links that a pattern is forwarded over."""
        return self._links.get(number, 0)

    def representative(self, number: int, bit: int) -> int | None:
        """The pattern that stands for a member of a class on a link; None for any other pattern."""
        return self._class_of.get(bit, {}).get(number)

    def representatives(self, members: Iterable[int], bit: int) -> set[int]:
        """Those patterns that are forwarded over a link, or that represent their classes there."""
        class_of = self._class_of.get(bit, {})
        return {
            class_of.get(each, each)
            for each in members
            if each in class_of or self.links_of(each) & bit
        }

    def links_with_any(self, members: Collection[int]) -> int:
        """The links over which one of some patterns, or its class, is forwarded."""
        links = 0
        for each in members:
            links |= self.links_of(each)
        for bit, class_of in self._class_of.items():
            if not links & bit and any(each in class_of for each in members):
                links |= bit
        return links

    @property
    def classes(self) -> int:
        """Classes of several patterns, over all links."""
        return sum(map(len, self._classes.values()))

    def add_link(self, bit: int) -> None:
        """Forward over another link what a new neighbour is sent."""
        forwarded = self.sets[bit] = DeltaSet()
        for number, mask in self._links.items():
            if mask & OWN:
                self._links[number] = mask | bit
                forwarded.add(self._patterns[number])
        if OWN in self._classes:
            self._classes[bit] = {
                representative: set(members)
                for representative, members in self._classes[OWN].items()
            }
            self._class_of[bit] = dict(self._class_of[OWN])

    def remove_link(self, bit: int) -> None:
        """Forget what is forwarded over a link."""
        for number in [each for each, mask in self._links.items() if mask & bit]:
            self._drop(number, bit)
        for table in (self._classes, self._class_of, self.sets):
            table.pop(bit, None)

    def forward(self, number: int, links: int) -> None:
        """Forward a pattern over some links."""
        self._links[number] = self.links_of(number) | links
        for bit in each_bit(links):
            self.sets[bit].add(self._patterns[number])

    def forward_class(self, representative: int, members: set[int], bit: int) -> None:
        """Forward a class over a link by one of its patterns."""
        self.forward(representative, bit)
        if len(members) > 1:
            self._classes.setdefault(bit, {})[representative] = members
            self._class_of.setdefault(bit, {}).update(dict.fromkeys(members, representative))

    def withdraw(self, number: int, bit: int) -> None:
        """Withdraw a pattern from a link; if it represented a class, dissolve the class."""
        self._drop(number, bit)
        self.sets[bit].remove(self._patterns[number])
        classes = self._classes.get(bit)
        if classes is not None and number in classes:
            for member in classes.pop(number):
                del self._class_of[bit][member]
            if not classes:
                del self._classes[bit], self._class_of[bit]

    def _drop(self, number: int, bit: int) -> None:
        self._links[number] &= ~bit
        if not self._links[number]:
            del self._links[number]
