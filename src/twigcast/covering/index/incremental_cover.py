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

from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from twigcast.covering.containment.covers import COVER_BUDGET
from twigcast.covering.delta import DeltaSet, Difference
from twigcast.covering.index.cover_index import CoverEngine, CoverIndex
from twigcast.covering.index.maximal_classes import MaximalClasses
from twigcast.language import Pattern

_Link = TypeVar("_Link", bound=str)

_OWN: Final = 1
"""The bit of own clients among sources, and of the link that nothing comes from among links."""


class IncrementalCoverStatistics(NamedTuple):
    """Sizes of the order."""

    patterns: int
    held_back: int
    """Patterns that a new neighbour would not be sent."""
    classes: int
    """Classes of several patterns that cover each other, over all links."""


class IncrementalCover(Generic[_Link]):
    """Patterns by source, and the minimal covering set for each link."""

    def __init__(self, engine: CoverEngine = "auto", *, budget: int = COVER_BUDGET) -> None:
        self._index = CoverIndex(engine, budget=budget)
        self._numbers: dict[Pattern, int] = {}
        self._next_number = 0
        self._texts: dict[int, str] = {}
        self._patterns: dict[int, Pattern] = {}
        self._sources: dict[int, int] = {}
        """By pattern, the bits of the sources it came from."""
        self._bits: dict[_Link, int] = {}
        """The bit of each source that is or was a link."""
        self._all_links = _OWN
        """The bits of all links."""
        self._forwarded: dict[int, DeltaSet] = {_OWN: DeltaSet()}
        """By the bit of a link, the patterns forwarded over it."""
        self._forwarded_links: dict[int, int] = {}
        """By forwarded pattern, the links it is forwarded over."""
        self._parents: dict[int, dict[int, int]] = {}
        """By pattern that is held back somewhere, its parents and the links for which they are."""
        self._children: dict[int, set[int]] = {}
        self._classes: dict[int, dict[int, set[int]]] = {}
        """By the bit of a link, the forwarded classes of several patterns, by representative."""
        self._class_of: dict[int, dict[int, int]] = {}
        """By the bit of a link and a member of such a class, its representative."""

    # Links and patterns.

    def add_link(self, link: _Link) -> None:
        """Include a link from now on: its first change is all that is forwarded over it."""
        bit = self._bit(link)
        self._all_links |= bit
        forwarded = self._forwarded[bit] = DeltaSet()
        # Nothing has come from it yet, so it gets what a new neighbour gets.
        for number, mask in self._forwarded_links.items():
            if mask & _OWN:
                self._forwarded_links[number] = mask | bit
                forwarded.add(self._patterns[number])
        for parents in self._parents.values():
            for parent, mask in parents.items():
                if mask & _OWN:
                    parents[parent] = mask | bit
        if _OWN in self._classes:
            classes = self._classes[_OWN]
            self._classes[bit] = {
                representative: set(members) for representative, members in classes.items()
            }
            self._class_of[bit] = dict(self._class_of[_OWN])
        # What came from there before the link was added is not forwarded back to it.
        for number in [each for each, sources in self._sources.items() if sources == bit]:
            self._leave(number, bit)

    def remove_link(self, link: _Link) -> None:
        """Remove a link, and all that came from it."""
        bit = self._bits[link]
        self._all_links &= ~bit
        for number in [each for each, mask in self._forwarded_links.items() if mask & bit]:
            self._forwarded_links[number] &= ~bit
            if not self._forwarded_links[number]:
                del self._forwarded_links[number]
        for number in [
            each
            for each, parents in self._parents.items()
            if any(mask & bit for mask in parents.values())
        ]:
            self._detach(number, bit)
        self._classes.pop(bit, None)
        self._class_of.pop(bit, None)
        self._forwarded.pop(bit, None)
        for number in [each for each, sources in self._sources.items() if sources & bit]:
            self._remove_source(number, bit)
        del self._bits[link]

    def _bit(self, source: _Link | None) -> int:
        if source is None:
            return _OWN
        bit = self._bits.get(source)
        if bit is None:
            taken = sum(self._bits.values(), _OWN)
            bit = self._bits[source] = ~taken & (taken + 1)
        return bit

    def add(self, pattern: Pattern, source: _Link | None) -> None:
        """Add a pattern from a source; nothing happens if it came from there before."""
        bit = self._bit(source)
        number = self._numbers.get(pattern)
        if number is None:
            self._insert(pattern, bit)
            return
        before = self._links_of(number)
        self._sources[number] |= bit
        entered = self._links_of(number) & ~before
        if entered:
            self._enter(number, entered, self._above(number), self._below(number))

    def remove(self, pattern: Pattern, source: _Link | None) -> None:
        """Remove a pattern from a source; nothing happens if it did not come from there."""
        number = self._numbers.get(pattern)
        bit = self._bit(source)
        if number is not None and self._sources[number] & bit:
            self._remove_source(number, bit)

    def _insert(self, pattern: Pattern, bit: int) -> None:
        number, self._next_number = self._next_number, self._next_number + 1
        self._index.add(number, pattern)
        self._numbers[pattern] = number
        self._patterns[number] = pattern
        self._texts[number] = pattern.text
        self._sources[number] = bit
        # It is in the index by now, so the searches use its compiled form.
        self._enter(number, self._links_of(number), self._above(number), self._below(number))

    def _remove_source(self, number: int, bit: int) -> None:
        before = self._links_of(number)
        self._sources[number] &= ~bit
        if self._sources[number]:
            self._leave(number, before & ~self._links_of(number))
            return
        self._index.remove(number)
        self._leave(number, before)
        del self._sources[number], self._texts[number]
        del self._numbers[self._patterns.pop(number)]

    def _links_of(self, number: int) -> int:
        """The links whose S has a pattern: all, or all but the only one it came from."""
        sources = self._sources[number]
        if sources & (sources - 1) or sources == _OWN:
            return self._all_links
        return self._all_links & ~sources if sources else 0

    # Forwarded patterns.

    def changes(self) -> dict[_Link, Difference]:
        """The net change of what is forwarded over each link, since the last call."""
        self._forwarded[_OWN].difference()
        sets = {
            link: self._forwarded[bit] for link, bit in self._bits.items() if bit in self._forwarded
        }
        differences = {link: sets[link].difference() for link in sorted(sets)}
        return {link: difference for link, difference in differences.items() if any(difference)}

    def forwarded(self, link: _Link | None) -> tuple[Pattern, ...]:
        """All patterns forwarded over a link, in the order of texts; None is a new neighbour."""
        return self._forwarded[_OWN if link is None else self._bits[link]].patterns()

    def change(self) -> Difference:
        """The net change of what a new neighbour would be sent, since the last call."""
        return self._forwarded[_OWN].difference()

    def __len__(self) -> int:
        return len(self._numbers)

    def statistics(self) -> IncrementalCoverStatistics:
        """The sizes of the order."""
        return IncrementalCoverStatistics(
            patterns=len(self._numbers),
            held_back=len(self._numbers) - len(self._forwarded[_OWN]),
            classes=sum(map(len, self._classes.values())),
        )

    # A pattern enters the S of some links.

    def _enter(self, number: int, links: int, above: list[int], below: list[int]) -> None:
        covered = changing = 0
        for other in above:
            if other != number:
                covered |= self._links_of(other)
        for other in below:
            changing |= self._forwarded_links.get(other, 0)
        for bit, members in self._class_of.items():
            if not changing & bit and any(other in members for other in below):
                changing |= bit
        top = links & ~covered
        if top:
            self._forward_uncovered(number, top, below)
        plain = links & covered & ~changing
        if plain:
            self._attach_to_nearest(number, plain, above)
        for bit in _bits_of(links & covered & changing):
            self._replace_below(number, bit, below)

    def _forward_uncovered(self, number: int, links: int, below: list[int]) -> None:
        """Forward a pattern that nothing covers, and hold back forwarded ones that it covers."""
        orphans: dict[int, int] = {}
        for bit in _bits_of(links):
            for representative in self._representatives(below, bit, but=number):
                self._withdraw(representative, bit)
                orphans[representative] = orphans.get(representative, 0) | bit
        self._forward(number, links)
        direct = set(below)
        for representative, mask in orphans.items():
            if representative in direct:
                self._attach(representative, number, mask)
        self._settle({each: mask for each, mask in orphans.items() if each not in direct})

    def _representatives(self, members: Iterable[int], bit: int, *, but: int) -> set[int]:
        """Those patterns that are forwarded over a link, or that represent their classes there."""
        class_of = self._class_of.get(bit, {})
        representatives = set()
        for each in members:
            if each in class_of:
                representatives.add(class_of[each])
            elif self._forwarded_links.get(each, 0) & bit:
                representatives.add(each)
        return representatives - {but}

    def _attach_to_nearest(self, number: int, links: int, above: list[int]) -> None:
        """Attach a pattern to parents; the longest is likely to be the nearest."""
        texts = self._texts
        for other in sorted(above, key=lambda each: -len(texts[each])):
            serves = self._links_of(other) & links
            if serves and other != number:
                self._attach(number, other, serves)
                links &= ~serves
                if not links:
                    return

    def _replace_below(self, number: int, bit: int, below: list[int]) -> None:
        """Place a pattern that is covered and covers forwarded ones, and place those again."""
        orphans = {number: bit}
        for representative in self._representatives(below, bit, but=number):
            self._withdraw(representative, bit)
            orphans[representative] = bit
        self._settle(orphans)

    # A pattern leaves the S of some links.

    def _leave(self, number: int, links: int) -> None:
        orphans: dict[int, int] = {}
        for bit in _bits_of(links):
            representative = self._class_of.get(bit, {}).get(number)
            if representative is not None:
                # Its class may come apart.
                self._withdraw(representative, bit)
                orphans[representative] = orphans.get(representative, 0) | bit
        forwarded = self._forwarded_links.get(number, 0) & links
        for bit in _bits_of(forwarded):
            self._withdraw(number, bit)
        self._detach(number, links)
        for child in sorted(self._children.get(number, ())):
            mask = self._parents[child][number] & links
            if mask:
                self._detach(child, mask, only=number)
                orphans[child] = orphans.get(child, 0) | mask
        orphans.pop(number, None)
        self._settle(orphans)

    def _settle(self, orphans: dict[int, int]) -> None:
        """Attach patterns to a parent on some links, or forward them there."""
        for orphan in sorted(orphans):
            links = orphans[orphan]
            above = self._above(orphan)
            for other in sorted(above, key=lambda each: -len(self._texts[each])):
                serves = self._links_of(other) & links
                for bit in _bits_of(serves):
                    if self._is_settled(orphan, bit):
                        links &= ~bit
                    elif self._is_settled(other, bit):
                        self._attach(orphan, other, bit)
                        links &= ~bit
                if not links:
                    break
            for bit in _bits_of(links):
                while not self._is_settled(orphan, bit):
                    self._search_parent(orphan, bit)

    def _is_settled(self, number: int, bit: int) -> bool:
        """Whether parents lead to a pattern forwarded over a link, not to one without a parent."""
        here: int | None = number
        while here is not None:
            if self._forwarded_links.get(here, 0) & bit:
                return True
            here = self._parent(here, bit)
        return False

    def _parent(self, number: int, bit: int) -> int | None:
        for parent, mask in self._parents.get(number, {}).items():
            if mask & bit:
                return parent
        return None

    def _search_parent(self, orphan: int, bit: int) -> None:
        """Search all patterns above one for a settled pattern to attach it to.

        If there is none, the maximal class above it is forwarded.
        """
        above: dict[int, list[int]] = {}
        from_below: dict[int, int] = {}
        waiting = [orphan]
        for number in waiting:
            above[number] = [each for each in self._above(number) if self._links_of(each) & bit]
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
            self._reattach(lower, upper, bit)
            upper = lower

    def _forward_class(self, members: set[int], above: dict[int, list[int]], bit: int) -> None:
        """Forward a class by its least text, with the others attached below it."""
        representative = min(members, key=self._texts.__getitem__)
        self._detach(representative, bit)
        self._forward(representative, bit)
        if len(members) > 1:
            self._classes.setdefault(bit, {})[representative] = members
            self._class_of.setdefault(bit, {}).update(dict.fromkeys(members, representative))
        placed = [representative]
        left = members - {representative}
        for upper in placed:
            for lower in sorted(each for each in left if upper in above[each]):
                self._reattach(lower, upper, bit)
                left.discard(lower)
                placed.append(lower)

    # Primitive operations.

    def _above(self, number: int) -> list[int]:
        return [each for each in self._index.covering(self._patterns[number]) if each != number]

    def _below(self, number: int) -> list[int]:
        return [each for each in self._index.covered(self._patterns[number]) if each != number]

    def _forward(self, number: int, links: int) -> None:
        self._forwarded_links[number] = self._forwarded_links.get(number, 0) | links
        for bit in _bits_of(links):
            self._forwarded[bit].add(self._patterns[number])

    def _withdraw(self, number: int, bit: int) -> None:
        """Withdraw a pattern from a link; if it represented a class, dissolve the class."""
        self._forwarded_links[number] &= ~bit
        if not self._forwarded_links[number]:
            del self._forwarded_links[number]
        self._forwarded[bit].remove(self._patterns[number])
        classes = self._classes.get(bit)
        if classes is not None and number in classes:
            for member in classes.pop(number):
                del self._class_of[bit][member]
            if not classes:
                del self._classes[bit], self._class_of[bit]

    def _attach(self, number: int, parent: int, links: int) -> None:
        parents = self._parents.setdefault(number, {})
        parents[parent] = parents.get(parent, 0) | links
        self._children.setdefault(parent, set()).add(number)

    def _reattach(self, number: int, parent: int, bit: int) -> None:
        self._detach(number, bit)
        self._attach(number, parent, bit)

    def _detach(self, number: int, links: int, only: int | None = None) -> None:
        """Detach a pattern from its parents for some links."""
        parents = self._parents.get(number)
        if parents is None:
            return
        for parent in [only] if only is not None else list(parents):
            parents[parent] &= ~links
            if not parents[parent]:
                del parents[parent]
                self._children[parent].discard(number)
                if not self._children[parent]:
                    del self._children[parent]
        if not parents:
            del self._parents[number]


def _bits_of(mask: int) -> Iterable[int]:
    """The bits of a mask, lowest first."""
    while mask:
        bit = mask & -mask
        yield bit
        mask &= ~bit
