"""For each of several links, the fewest patterns that say everything: a broker's covering order.

A broker has patterns from several *sources*: its own clients, and its links. Over a link it says
what came from elsewhere, without those that something else it says covers (XNET, section 3;
Dissemination, 1.5.1). When a pattern comes, those that it covers are withdrawn; when one goes,
those that it alone was covering are said after all:

    >>> sets = IncrementalCover()
    >>> sets.add_link("north")
    >>> sets.put(Pattern.parse("/a/b"), None)
    >>> sets.put(Pattern.parse("/a//b"), "south")
    >>> sets.changes()
    {'north': Difference(added=(Pattern('/a//b'),), removed=())}
    >>> sets.take(Pattern.parse("/a//b"), "south")
    >>> sets.changes()
    {'north': Difference(added=(Pattern('/a/b'),), removed=(Pattern('/a//b'),))}

**What is said is unique.** Let S be the patterns that came from elsewhere than the link. Coverings
as they are found form a graph on S. They need not be transitive, since a "no" may stand for "nobody
knows", and patterns can cover each other round a circle; but a "yes" is always right, so whatever
can be reached from a pattern is covered by it. Patterns that can be reached from each other are one
*class*. A class is said, by its least text, if no other class reaches it. That depends on S alone
and not on what has happened before.

**One order for all links.** Nearly all patterns are in the S of every link: all but those that came
from one link only, and from nowhere else. So there is one index, and one order, in which each
pattern that is not said over a link hangs below a *parent* that covers it; following parents leads
to one that is said. Sets of links are bits of an integer, so that one parent usually serves for all
links, and two for any number of them: a parent from one link alone cannot serve for that link, but
one from another can::

    bits     1  own clients     2  north     4  south     8  west
    /a       from north alone: said to south and west, and a parent there; no news for north
    /a/b     from south alone: held back from west, where /a speaks for it; said to north

Bit 1 among the links is a link that nothing ever comes from: what would be said to a new neighbour.

**Cost.** A pattern that comes costs a search in each direction and a step for each pattern found.
One that goes costs a search for each pattern below it. Only where patterns cover each other in
circles, or coverings are not found to be transitive, links are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from twigcast.covering.containment.covers import COVER_BUDGET
from twigcast.covering.delta import DeltaSet, Difference
from twigcast.covering.index.cover_index import CoverEngine, CoverIndex
from twigcast.covering.index.maximal_classes import MaximalClasses
from twigcast.language import Pattern

__all__ = ["ForwardedSetsStatistics", "IncrementalCover"]

_Link = TypeVar("_Link", bound=str)

_OWN: Final = 1
"""The bit of the own clients among sources, and of a link that nothing comes from among links."""


class ForwardedSetsStatistics(NamedTuple):
    """How large the order is."""

    patterns: int
    held_back: int
    """Patterns that would not be said to a new neighbour."""
    classes: int
    """Classes of several patterns that cover each other, over all links."""


class IncrementalCover(Generic[_Link]):
    """Patterns by source, and what of them is said over each link."""

    def __init__(self, engine: CoverEngine = "auto", *, budget: int = COVER_BUDGET) -> None:
        self._index = CoverIndex(engine, budget=budget)
        self._numbers: dict[Pattern, int] = {}
        self._next = 0
        self._texts: dict[int, str] = {}
        self._patterns: dict[int, Pattern] = {}
        self._sources: dict[int, int] = {}
        """Of each pattern the bits of the sources it came from."""
        self._bits: dict[_Link, int] = {}
        """Of each source that is or was a link, its bit."""
        self._every = _OWN
        """The bits of all links."""
        self._said: dict[int, DeltaSet] = {_OWN: DeltaSet()}
        """Of each link's bit, what is said over it."""
        self._out: dict[int, int] = {}
        """Of each pattern that is said somewhere, where."""
        self._parents: dict[int, dict[int, int]] = {}
        """Of each pattern that is held back somewhere, its parents and for which links they are."""
        self._children: dict[int, set[int]] = {}
        self._classes: dict[int, dict[int, set[int]]] = {}
        """Of each link's bit, the classes of several that are said: by the one that speaks."""
        self._class_of: dict[int, dict[int, int]] = {}
        """Of each link's bit and member of such a class, the one that speaks for it."""

    # Links and patterns.

    def add_link(self, link: _Link) -> None:
        """From now on say what is forwarded over a link, too: its first change is all of it."""
        bit = self._bit(link)
        self._every |= bit
        said = self._said[bit] = DeltaSet()
        # Nothing has come from it yet, so it is told what a new neighbour is told.
        for number, mask in self._out.items():
            if mask & _OWN:
                self._out[number] = mask | bit
                said.add(self._patterns[number])
        for parents in self._parents.values():
            for parent, mask in parents.items():
                if mask & _OWN:
                    parents[parent] = mask | bit
        if _OWN in self._classes:
            classes = self._classes[_OWN]
            self._classes[bit] = {speaker: set(members) for speaker, members in classes.items()}
            self._class_of[bit] = dict(self._class_of[_OWN])
        # What had come from there before the link was added is not for its own ears.
        for number in [each for each, sources in self._sources.items() if sources == bit]:
            self._leave(number, bit)

    def remove_link(self, link: _Link) -> None:
        """Forget a link, and all that came from it."""
        bit = self._bits[link]
        self._every &= ~bit
        for number in [each for each, mask in self._out.items() if mask & bit]:
            self._out[number] &= ~bit
            if not self._out[number]:
                del self._out[number]
        for number in [
            each
            for each, parents in self._parents.items()
            if any(mask & bit for mask in parents.values())
        ]:
            self._unhang(number, bit)
        self._classes.pop(bit, None)
        self._class_of.pop(bit, None)
        self._said.pop(bit, None)
        for number in [each for each, sources in self._sources.items() if sources & bit]:
            self._take(number, bit)
        del self._bits[link]

    def _bit(self, source: _Link | None) -> int:
        if source is None:
            return _OWN
        bit = self._bits.get(source)
        if bit is None:
            taken = sum(self._bits.values(), _OWN)
            bit = self._bits[source] = ~taken & (taken + 1)
        return bit

    def put(self, pattern: Pattern, source: _Link | None) -> None:
        """A pattern came from a source; nothing happens if it had come from there before."""
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

    def take(self, pattern: Pattern, source: _Link | None) -> None:
        """A source takes a pattern back; nothing happens if it did not come from there."""
        number = self._numbers.get(pattern)
        bit = self._bit(source)
        if number is not None and self._sources[number] & bit:
            self._take(number, bit)

    def _insert(self, pattern: Pattern, bit: int) -> None:
        number, self._next = self._next, self._next + 1
        self._index.add(number, pattern)
        self._numbers[pattern] = number
        self._patterns[number] = pattern
        self._texts[number] = pattern.text
        self._sources[number] = bit
        # In the index already, it is searched for with what was made ready to put it there.
        self._enter(number, self._links_of(number), self._above(number), self._below(number))

    def _take(self, number: int, bit: int) -> None:
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
        """The links over which a pattern is news: all, or all but the only one it came from."""
        sources = self._sources[number]
        if sources & (sources - 1) or sources == _OWN:
            return self._every
        return self._every & ~sources if sources else 0

    # What is said.

    def changes(self) -> dict[_Link, Difference]:
        """What is forwarded anew and what no more over each link, since this was asked last."""
        self._said[_OWN].difference()
        told = {link: self._said[bit] for link, bit in self._bits.items() if bit in self._said}
        found = {link: told[link].difference() for link in sorted(told)}
        return {link: difference for link, difference in found.items() if any(difference)}

    def forwarded(self, link: _Link | None) -> tuple[Pattern, ...]:
        """All that is forwarded over a link, in the order of texts; None is a new neighbour."""
        return self._said[_OWN if link is None else self._bits[link]].patterns()

    def change(self) -> Difference:
        """What a new neighbour would be told anew and no more, since this was asked last."""
        return self._said[_OWN].difference()

    def __len__(self) -> int:
        return len(self._numbers)

    def statistics(self) -> ForwardedSetsStatistics:
        """How large it is."""
        return ForwardedSetsStatistics(
            patterns=len(self._numbers),
            held_back=len(self._numbers) - len(self._said[_OWN]),
            classes=sum(map(len, self._classes.values())),
        )

    # A pattern becomes news for some links.

    def _enter(self, number: int, links: int, above: list[int], below: list[int]) -> None:
        covered = changing = 0
        for other in above:
            if other != number:
                covered |= self._links_of(other)
        for other in below:
            changing |= self._out.get(other, 0)
        for bit, members in self._class_of.items():
            if not changing & bit and any(other in members for other in below):
                changing |= bit
        top = links & ~covered
        if top:
            self._put_on_top(number, top, below)
        plain = links & covered & ~changing
        if plain:
            self._hang_below_nearest(number, plain, above)
        for bit in _bits_of(links & covered & changing):
            self._resettle(number, bit, below)

    def _put_on_top(self, number: int, links: int, below: list[int]) -> None:
        """Say a pattern that nothing covers, and hold back what was said and is covered now."""
        orphans: dict[int, int] = {}
        for bit in _bits_of(links):
            for speaker in self._speakers(below, bit, but=number):
                self._withdraw(speaker, bit)
                orphans[speaker] = orphans.get(speaker, 0) | bit
        self._say(number, links)
        direct = set(below)
        for speaker, mask in orphans.items():
            if speaker in direct:
                self._hang(speaker, number, mask)
        self._settle({each: mask for each, mask in orphans.items() if each not in direct})

    def _speakers(self, members: Iterable[int], bit: int, *, but: int) -> set[int]:
        """Of some patterns those that are said over a link, or what speaks for their class."""
        class_of = self._class_of.get(bit, {})
        found = set()
        for each in members:
            if each in class_of:
                found.add(class_of[each])
            elif self._out.get(each, 0) & bit:
                found.add(each)
        return found - {but}

    def _hang_below_nearest(self, number: int, links: int, above: list[int]) -> None:
        """Hang a pattern below others; the longest is likely to be the nearest."""
        texts = self._texts
        for other in sorted(above, key=lambda each: -len(texts[each])):
            serves = self._links_of(other) & links
            if serves and other != number:
                self._hang(number, other, serves)
                links &= ~serves
                if not links:
                    return

    def _resettle(self, number: int, bit: int, below: list[int]) -> None:
        """Something covers the pattern, and it covers something that is said: look closely."""
        orphans = {number: bit}
        for speaker in self._speakers(below, bit, but=number):
            self._withdraw(speaker, bit)
            orphans[speaker] = bit
        self._settle(orphans)

    # A pattern is news for some links no more.

    def _leave(self, number: int, links: int) -> None:
        orphans: dict[int, int] = {}
        for bit in _bits_of(links):
            speaker = self._class_of.get(bit, {}).get(number)
            if speaker is not None:
                # Its class may come apart.
                self._withdraw(speaker, bit)
                orphans[speaker] = orphans.get(speaker, 0) | bit
        said = self._out.get(number, 0) & links
        for bit in _bits_of(said):
            self._withdraw(number, bit)
        self._unhang(number, links)
        for child in sorted(self._children.get(number, ())):
            mask = self._parents[child][number] & links
            if mask:
                self._unhang(child, mask, only=number)
                orphans[child] = orphans.get(child, 0) | mask
        orphans.pop(number, None)
        self._settle(orphans)

    def _settle(self, orphans: dict[int, int]) -> None:
        """Find a place for patterns on some links: below another, or among what is said."""
        for orphan in sorted(orphans):
            links = orphans[orphan]
            above = self._above(orphan)
            for other in sorted(above, key=lambda each: -len(self._texts[each])):
                serves = self._links_of(other) & links
                for bit in _bits_of(serves):
                    if self._is_settled(orphan, bit):
                        links &= ~bit
                    elif self._is_settled(other, bit):
                        self._hang(orphan, other, bit)
                        links &= ~bit
                if not links:
                    break
            for bit in _bits_of(links):
                while not self._is_settled(orphan, bit):
                    self._find_place(orphan, bit)

    def _is_settled(self, number: int, bit: int) -> bool:
        """Whether parents lead to what is said over a link, and not to one without a parent."""
        here: int | None = number
        while here is not None:
            if self._out.get(here, 0) & bit:
                return True
            here = self._parent(here, bit)
        return False

    def _parent(self, number: int, bit: int) -> int | None:
        for parent, mask in self._parents.get(number, {}).items():
            if mask & bit:
                return parent
        return None

    def _find_place(self, orphan: int, bit: int) -> None:
        """Look through all that is above a pattern, until something is settled.

        If nothing is, the class at the top of it is said.
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
                    self._hang_way(other, from_below, bit)
                    return
                waiting.append(other)
        top = MaximalClasses().top(orphan, above.__getitem__, frozenset())
        assert top is not None
        self._say_class(set(top), above, bit)

    def _hang_way(self, settled: int, from_below: dict[int, int], bit: int) -> None:
        """Hang each pattern of a way up below the next, down to where the way began."""
        upper = settled
        while (lower := from_below.get(upper)) is not None:
            self._rehang(lower, upper, bit)
            upper = lower

    def _say_class(self, members: set[int], above: dict[int, list[int]], bit: int) -> None:
        """Say a class by its least text, with the others below it."""
        speaker = min(members, key=self._texts.__getitem__)
        self._unhang(speaker, bit)
        self._say(speaker, bit)
        if len(members) > 1:
            self._classes.setdefault(bit, {})[speaker] = members
            self._class_of.setdefault(bit, {}).update(dict.fromkeys(members, speaker))
        placed = [speaker]
        left = members - {speaker}
        for upper in placed:
            for lower in sorted(each for each in left if upper in above[each]):
                self._rehang(lower, upper, bit)
                left.discard(lower)
                placed.append(lower)

    # The parts of which all this is made.

    def _above(self, number: int) -> list[int]:
        return [each for each in self._index.covering(self._patterns[number]) if each != number]

    def _below(self, number: int) -> list[int]:
        return [each for each in self._index.covered(self._patterns[number]) if each != number]

    def _say(self, number: int, links: int) -> None:
        self._out[number] = self._out.get(number, 0) | links
        for bit in _bits_of(links):
            self._said[bit].add(self._patterns[number])

    def _withdraw(self, number: int, bit: int) -> None:
        """No longer say a pattern over a link; if it spoke for a class, the class is dissolved."""
        self._out[number] &= ~bit
        if not self._out[number]:
            del self._out[number]
        self._said[bit].remove(self._patterns[number])
        classes = self._classes.get(bit)
        if classes is not None and number in classes:
            for member in classes.pop(number):
                del self._class_of[bit][member]
            if not classes:
                del self._classes[bit], self._class_of[bit]

    def _hang(self, number: int, parent: int, links: int) -> None:
        parents = self._parents.setdefault(number, {})
        parents[parent] = parents.get(parent, 0) | links
        self._children.setdefault(parent, set()).add(number)

    def _rehang(self, number: int, parent: int, bit: int) -> None:
        self._unhang(number, bit)
        self._hang(number, parent, bit)

    def _unhang(self, number: int, links: int, only: int | None = None) -> None:
        """Take a pattern from its parents for some links."""
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
    """Each bit of a mask, from the lowest."""
    while mask:
        bit = mask & -mask
        yield bit
        mask &= ~bit
