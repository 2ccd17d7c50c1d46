"""Minimal covering sets of a broker, one for each link, kept up to date as patterns come and go.

A broker has patterns from several *sources*: its own clients, and its links. Over a link it
forwards what came from elsewhere, without the patterns that another forwarded one covers (XNET,
section 3; Dissemination, 1.5.1). When a pattern is added, those that it covers are withdrawn; when
one is removed, those that it alone was covering are forwarded:

    >>> sets = IncrementalCover()
    >>> sets.add_link("north")
    >>> sets.add(Pattern.parse("/a/b"), None)
    >>> sets.add(Pattern.parse("/a//b"), "south")
    >>> sets.changes()
    {'north': Difference(added=(Pattern('/a//b'),), removed=())}
    >>> sets.remove(Pattern.parse("/a//b"), "south")
    >>> sets.changes()
    {'north': Difference(added=(Pattern('/a/b'),), removed=(Pattern('/a//b'),))}

**The forwarded set is unique.** Let S be the patterns that came from elsewhere than the link.
Coverings as they are found form a graph on S. They need not be transitive, since a "no" may mean
"unknown", and patterns can cover each other in a cycle; but a "yes" is always right, so whatever
can be reached from a pattern is covered by it. Patterns that can reach each other are one *class*.
A class is forwarded, by its least text, if no other class reaches it. That depends on S alone and
not on history.

**One order for all links.** Nearly all patterns are in the S of every link: all except those that
came from one link only. So there is one index, and one order, in which each pattern that is not
forwarded over a link is attached to a *parent* that covers it; following parents leads to a
forwarded pattern. Sets of links are bits of an integer, so that one parent usually serves for all
links, and two for any number of them: a parent from one link alone cannot serve for that link, but
a parent from another link can::

    bits     1  own clients     2  north     4  south     8  west
    /a       from north alone: forwarded to south and west, and a parent there; not for north
    /a/b     from south alone: held back from west, where /a covers it; forwarded to north

Bit 1 among the links is a link that nothing ever comes from: a new neighbour.

**Cost.** Adding a pattern costs a search in each direction and a step for each pattern found.
Removing one costs a search for each pattern below it. Links are visited one by one only where
patterns cover each other in cycles, or coverings are not found to be transitive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from twigcast.covering.bits import each_bit
from twigcast.covering.containment.covers import COVER_BUDGET
from twigcast.covering.delta import Difference
from twigcast.covering.index.cover_index import CoverEngine, CoverIndex
from twigcast.covering.index.engine import CoverSearch
from twigcast.covering.index.forwarded import ForwardedPatterns
from twigcast.covering.index.maximal_classes import MaximalClasses
from twigcast.covering.index.parents import Parents
from twigcast.covering.index.sources import OWN, PatternSources
from twigcast.language import Pattern

_Link = TypeVar("_Link", bound=str)


class IncrementalCoverStatistics(NamedTuple):
    """Sizes of the order."""

    patterns: int
    held_back: int
    """Patterns that a new neighbour would not be sent."""
    classes: int
    """Classes of several patterns that cover each other, over all links."""


class IncrementalCover(Generic[_Link]):
    """Patterns by source, and the minimal covering set for each link."""

    def __init__(
        self,
        engine: CoverEngine = "auto",
        *,
        budget: int = COVER_BUDGET,
        search: CoverSearch | None = None,
    ) -> None:
        self._index = search or CoverIndex(engine, budget=budget)
        """What finds coverings: a cover index, or an empty ``search`` in its place."""
        self._sources: PatternSources[_Link] = PatternSources()
        self._forwarded = ForwardedPatterns(self._sources.patterns)
        self._parents = Parents()

    # Links and patterns.

    def add_link(self, link: _Link) -> None:
        """Include a link from now on: its first change is all that is forwarded over it."""
        bit = self._sources.bit(link)
        self._sources.all_links |= bit
        # Nothing has come from it yet, so it gets what a new neighbour gets.
        self._forwarded.add_link(bit)
        self._parents.copy_link(bit, model=OWN)
        # What came from there before the link was added is not forwarded back to it.
        for number in self._sources.from_alone(bit):
            self._leave(number, bit)

    def remove_link(self, link: _Link) -> None:
        """Remove a link, and all that came from it."""
        bit = self._sources.links[link]
        self._sources.all_links &= ~bit
        self._parents.remove_link(bit)
        self._forwarded.remove_link(bit)
        for number in self._sources.all_from(bit):
            self._remove_source(number, bit)
        del self._sources.links[link]

    def add(self, pattern: Pattern, source: _Link | None) -> None:
        """Add a pattern from a source; nothing happens if it came from there before."""
        bit = self._sources.bit(source)
        number = self._sources.number(pattern)
        if number is None:
            number = self._sources.insert(pattern)
            # From here on it is in the index, so the searches use its compiled form.
            self._index.add(number, pattern)
        before = self._sources.links_of(number)
        self._sources.add(number, bit)
        entered = self._sources.links_of(number) & ~before
        if entered:
            self._enter(number, entered, self._above(number), self._below(number))

    def remove(self, pattern: Pattern, source: _Link | None) -> None:
        """Remove a pattern from a source; nothing happens if it did not come from there."""
        number = self._sources.number(pattern)
        bit = self._sources.bit(source)
        if number is not None and self._sources.came_from(number, bit):
            self._remove_source(number, bit)

    def _remove_source(self, number: int, bit: int) -> None:
        before = self._sources.links_of(number)
        if self._sources.remove(number, bit):
            self._leave(number, before & ~self._sources.links_of(number))
            return
        self._index.remove(number)
        self._leave(number, before)
        self._sources.delete(number)

    # Forwarded patterns.

    def changes(self) -> dict[_Link, Difference]:
        """The net change of what is forwarded over each link, since the last call."""
        sets = self._forwarded.sets
        sets[OWN].difference()
        links = sorted(self._sources.links.items())
        differences = {link: sets[bit].difference() for link, bit in links if bit in sets}
        return {link: difference for link, difference in differences.items() if any(difference)}

    def forwarded(self, link: _Link | None) -> tuple[Pattern, ...]:
        """All patterns forwarded over a link, in the order of texts; None is a new neighbour."""
        return self._forwarded.sets[OWN if link is None else self._sources.links[link]].patterns()

    def change(self) -> Difference:
        """The net change of what a new neighbour would be sent, since the last call."""
        return self._forwarded.sets[OWN].difference()

    def parent(self, pattern: Pattern) -> Pattern | None:
        """The pattern for which one is held back from a new neighbour; None for a forwarded one."""
        number = self._sources.number(pattern)
        parent = None if number is None else self._parents.parent(number, OWN)
        return None if parent is None else self._sources.patterns[parent]

    def children(self, pattern: Pattern) -> tuple[Pattern, ...]:
        """The patterns whose parent one is for a new neighbour, in the order they came."""
        number = self._sources.number(pattern)
        if number is None:
            return ()
        found = self._parents.children(number, OWN)
        return tuple(self._sources.patterns[child] for child, _ in found)

    def __len__(self) -> int:
        return len(self._sources)

    def statistics(self) -> IncrementalCoverStatistics:
        """The sizes of the order."""
        return IncrementalCoverStatistics(
            patterns=len(self._sources),
            held_back=len(self._sources) - len(self._forwarded.sets[OWN]),
            classes=self._forwarded.classes,
        )

    # A pattern enters the S of some links.

    def _enter(self, number: int, links: int, above: list[int], below: list[int]) -> None:
        covered = 0
        for other in above:
            covered |= self._sources.links_of(other)
        changing = self._forwarded.links_with_any(below)
        top = links & ~covered
        if top:
            self._forward_uncovered(number, top, below)
        plain = links & covered & ~changing
        if plain:
            self._attach_to_nearest(number, plain, above)
        for bit in each_bit(links & covered & changing):
            self._replace_below(number, bit, below)

    def _forward_uncovered(self, number: int, links: int, below: list[int]) -> None:
        """Forward a pattern that nothing covers, and hold back forwarded ones that it covers."""
        orphans: dict[int, int] = {}
        for bit in each_bit(links):
            for representative in self._forwarded.representatives(below, bit):
                self._forwarded.withdraw(representative, bit)
                orphans[representative] = orphans.get(representative, 0) | bit
        self._forwarded.forward(number, links)
        direct = set(below)
        for representative, mask in orphans.items():
            if representative in direct:
                self._parents.attach(representative, number, mask)
        self._settle({each: mask for each, mask in orphans.items() if each not in direct})

    def _attach_to_nearest(self, number: int, links: int, above: list[int]) -> None:
        """Attach a pattern to parents; the longest is likely to be the nearest."""
        texts = self._sources.texts
        for other in sorted(above, key=lambda each: -len(texts[each])):
            serves = self._sources.links_of(other) & links
            if serves:
                self._parents.attach(number, other, serves)
                links &= ~serves
                if not links:
                    return

    def _replace_below(self, number: int, bit: int, below: list[int]) -> None:
        """Place a pattern that is covered and covers forwarded ones, and place those again."""
        orphans = {number: bit}
        for representative in self._forwarded.representatives(below, bit):
            self._forwarded.withdraw(representative, bit)
            orphans[representative] = bit
        self._settle(orphans)

    # A pattern leaves the S of some links.

    def _leave(self, number: int, links: int) -> None:
        orphans: dict[int, int] = {}
        for bit in each_bit(links):
            representative = self._forwarded.representative(number, bit)
            if representative is not None:
                # Its class may come apart.
                self._forwarded.withdraw(representative, bit)
                orphans[representative] = orphans.get(representative, 0) | bit
        forwarded = self._forwarded.links_of(number) & links
        for bit in each_bit(forwarded):
            self._forwarded.withdraw(number, bit)
        self._parents.detach(number, links)
        for child, mask in self._parents.children(number, links):
            self._parents.detach(child, mask, only=number)
            orphans[child] = orphans.get(child, 0) | mask
        orphans.pop(number, None)
        self._settle(orphans)

    def _settle(self, orphans: dict[int, int]) -> None:
        """Attach patterns to a parent on some links, or forward them there."""
        for orphan in sorted(orphans):
            links = orphans[orphan]
            above = self._above(orphan)
            for other in sorted(above, key=lambda each: -len(self._sources.texts[each])):
                serves = self._sources.links_of(other) & links
                for bit in each_bit(serves):
                    if self._is_settled(orphan, bit):
                        links &= ~bit
                    elif self._is_settled(other, bit):
                        self._parents.attach(orphan, other, bit)
                        links &= ~bit
                if not links:
                    break
            for bit in each_bit(links):
                while not self._is_settled(orphan, bit):
                    self._search_parent(orphan, bit)

    def _is_settled(self, number: int, bit: int) -> bool:
        """Whether parents lead to a pattern forwarded over a link, not to one without a parent."""
        here: int | None = number
        while here is not None:
            if self._forwarded.links_of(here) & bit:
                return True
            here = self._parents.parent(here, bit)
        return False

    def _search_parent(self, orphan: int, bit: int) -> None:
        """Search all patterns above one for a settled pattern to attach it to.

        If there is none, the maximal class above it is forwarded.
        """
        above: dict[int, list[int]] = {}
        from_below: dict[int, int] = {}
        waiting = [orphan]
        for number in waiting:
            above[number] = [
                each for each in self._above(number) if self._sources.links_of(each) & bit
            ]
            for other in above[number]:
                if other in from_below or other == orphan:
                    continue
                from_below[other] = number
                if self._is_settled(other, bit):
                    self._attach_path(other, from_below, bit)
                    return
                waiting.append(other)
        top = MaximalClasses().top(orphan, above.__getitem__, frozenset())
        assert top is not None
        self._forward_class(set(top), above, bit)

    def _attach_path(self, settled: int, from_below: dict[int, int], bit: int) -> None:
        """Attach each pattern of a path upwards to the next one."""
        upper = settled
        while (lower := from_below.get(upper)) is not None:
            self._parents.reattach(lower, upper, bit)
            upper = lower

    def _forward_class(self, members: set[int], above: dict[int, list[int]], bit: int) -> None:
        """Forward a class by its least text, with the others attached below it."""
        representative = min(members, key=self._sources.texts.__getitem__)
        self._parents.detach(representative, bit)
        self._forwarded.forward_class(representative, members, bit)
        placed = [representative]
        left = members - {representative}
        for upper in placed:
            for lower in sorted(each for each in left if upper in above[each]):
                self._parents.reattach(lower, upper, bit)
                left.discard(lower)
                placed.append(lower)

    def _above(self, number: int) -> list[int]:
        return self._others(self._index.covering, number)

    def _below(self, number: int) -> list[int]:
        return self._others(self._index.covered, number)

    def _others(self, search: Callable[[Pattern], list[int]], number: int) -> list[int]:
        return [each for each in search(self._sources.patterns[number]) if each != number]
