"""The covering order of subscriptions as a tree: what to forward after each change.

Dissemination, section 1.5.1: a broker forwards only subscriptions that nothing else covers. When
one comes, those that it covers are withdrawn; when one goes, those that it alone was covering are
forwarded after all:

    >>> tree = SubscriptionTree()
    >>> tree.subscribe(1, "/a/b")
    Difference(added=(Pattern('/a/b'),), removed=())
    >>> tree.subscribe(2, "/a//b")
    Difference(added=(Pattern('/a//b'),), removed=(Pattern('/a/b'),))
    >>> tree.unsubscribe(2)
    Difference(added=(Pattern('/a/b'),), removed=(Pattern('/a//b'),))

Each pattern that is not forwarded has a *parent* that covers it, and following parents leads to one
that is forwarded: that is the tree. A few other patterns that cover it have *super pointers* to
it. When a parent goes, one of these takes its place; only if none is left, all are looked for, by
a :class:`~twigcast.covering.cover_index.CoverIndex` (Dissemination searches the tree, which takes
as long as the tree is large).

What is forwarded is always what :meth:`CoverIndex.roots` says: of patterns that cover each other,
directly or round a circle, the one that came first, if nothing outside the circle covers it. The
paper does not say what becomes of equivalent patterns; if each counted as covered by the other,
both would be withdrawn and deliveries lost. Forwarded are patterns, not ids: an equal pattern under
another id changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from twigcast.covering.climb import Climb
from twigcast.covering.cover_index import CoverEngine, CoverIndex
from twigcast.covering.covers import COVER_BUDGET
from twigcast.covering.merged_set import Difference
from twigcast.errors import UsageError
from twigcast.language import Pattern

__all__ = ["SubscriptionTree", "SubscriptionTreeStatistics"]

_SUPER_POINTERS_MAX: Final = 8
"""Super pointers to one pattern: enough that a parent can nearly always be replaced."""


class SubscriptionTreeStatistics(NamedTuple):
    """How large a subscription tree is."""

    ids: int
    patterns: int
    forwarded: int
    super_pointers: int


@dataclass(slots=True)
class _Place:
    """A pattern in the tree."""

    pattern: Pattern
    ids: set[int]
    parent: int | None = None
    children: set[int] = field(default_factory=set)
    supers: list[int] = field(default_factory=list)
    """The patterns with super pointers to it; some may have left since."""


class SubscriptionTree:
    """Subscriptions in their covering order."""

    def __init__(self, engine: CoverEngine = "auto", *, budget: int = COVER_BUDGET) -> None:
        self._index = CoverIndex(engine, budget=budget)
        self._places: dict[int, _Place] = {}
        """By number; numbers grow, so the lower came first."""
        self._numbers: dict[Pattern, int] = {}
        self._by_id: dict[int, int] = {}
        self._next = 0
        self._classes: dict[int, set[int]] = {}
        """Of each forwarded pattern, itself and those that it shares a circle with."""
        self._class_of: dict[int, int] = {}
        """Of each member of these, the one that is forwarded."""
        self._added: set[Pattern] = set()
        self._removed: set[Pattern] = set()

    def subscribe(self, id: int, pattern: Pattern | str) -> Difference:
        """Put in a subscription; what is to be forwarded now, and then what to be withdrawn.

        Raises UsageError if the id is taken, PatternError for a text that is no pattern.
        """
        if id in self._by_id:
            taken = self._places[self._by_id[id]].pattern
            raise UsageError(f"id {id} is taken by {taken.text}; unsubscribe it first")
        parsed = Pattern.parse(pattern) if isinstance(pattern, str) else pattern
        number = self._numbers.get(parsed)
        if number is None:
            number = self._insert(parsed)
        self._by_id[id] = number
        self._places[number].ids.add(id)
        return self._change()

    def unsubscribe(self, id: int) -> Difference:
        """Take out a subscription; UsageError if it is not there."""
        number = self._by_id.pop(id, None)
        if number is None:
            raise UsageError(f"no subscription with id {id}, so nothing to unsubscribe")
        self._places[number].ids.discard(id)
        if not self._places[number].ids:
            self._delete(number)
        return self._change()

    def forwarded(self) -> list[Pattern]:
        """What is forwarded, in the order in which it came."""
        return [self._places[number].pattern for number in sorted(self._classes)]

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def statistics(self) -> SubscriptionTreeStatistics:
        """How large it is."""
        return SubscriptionTreeStatistics(
            ids=len(self._by_id),
            patterns=len(self._places),
            forwarded=len(self._classes),
            super_pointers=sum(len(place.supers) for place in self._places.values()),
        )

    def _change(self) -> Difference:
        """What has changed since it was told last, in the order of texts."""
        added, removed = self._added - self._removed, self._removed - self._added
        self._added, self._removed = set(), set()
        return Difference(
            tuple(sorted(added, key=lambda each: each.text)),
            tuple(sorted(removed, key=lambda each: each.text)),
        )

    # Changes of the tree.

    def _insert(self, pattern: Pattern) -> int:
        above, below = self._index.covering(pattern), self._index.covered(pattern)
        number, self._next = self._next, self._next + 1
        self._index.add(number, pattern)
        self._numbers[pattern] = number
        place = self._places[number] = _Place(pattern, set())
        # Only classes of which it covers a member can change: it is a new way up from there alone.
        changing = {self._class_of[each] for each in below if each in self._class_of}
        for root in changing:
            self._withdraw(root)
        if not above:
            self._forward(number, {number})
            for root in changing.intersection(below):
                self._put_under(root, number)
        elif not changing:
            # The one with most steps is likely to be the nearest.
            nearest = max(above, key=lambda each: len(self._places[each].pattern.text))
            self._put_under(number, nearest)
            place.supers = [each for each in above if each != nearest][:_SUPER_POINTERS_MAX]
        self._settle({number} | changing)
        return number

    def _delete(self, number: int) -> None:
        self._index.remove(number)
        place = self._places[number]
        orphans = set(place.children)
        root = self._class_of.get(number)
        if root is not None:
            # Its class may come apart.
            self._withdraw(root)
            orphans.add(root)
        for child in place.children:
            self._places[child].parent = None
        if place.parent is not None:
            self._places[place.parent].children.discard(number)
        del self._places[number], self._numbers[place.pattern]
        self._settle(orphans - {number})

    def _forward(self, root: int, members: set[int]) -> None:
        self._classes[root] = members
        self._class_of.update(dict.fromkeys(members, root))
        self._added.add(self._places[root].pattern)

    def _withdraw(self, root: int) -> None:
        for member in self._classes.pop(root):
            del self._class_of[member]
        self._removed.add(self._places[root].pattern)

    def _put_under(self, number: int, parent: int) -> None:
        place = self._places[number]
        if place.parent is not None:
            self._places[place.parent].children.discard(number)
        place.parent = parent
        self._places[parent].children.add(number)

    # Patterns that have lost what covers them.

    def _is_settled(self, number: int) -> bool:
        """Whether parents lead to what is forwarded, and not to one without a parent."""
        here: int | None = number
        while here is not None:
            if here in self._classes:
                return True
            here = self._places[here].parent
        return False

    def _settle(self, orphans: Iterable[int]) -> None:
        """Find a place for each of the patterns: below another, or among what is forwarded."""
        for orphan in sorted(orphans):
            for other in self._places[orphan].supers:
                if self._is_settled(orphan):
                    break
                if other in self._places and self._is_settled(other):
                    self._put_under(orphan, other)
            while not self._is_settled(orphan):
                self._find_place(orphan)

    def _find_place(self, orphan: int) -> None:
        """Look through all that is above it, until something is settled.

        If nothing is, a class at the top of it is forwarded.
        """
        above: dict[int, list[int]] = {}
        from_below: dict[int, int] = {}
        waiting = [orphan]
        for number in waiting:
            above[number] = self._above(number)
            for other in above[number]:
                if other in from_below or other == orphan:
                    continue
                from_below[other] = number
                if self._is_settled(other):
                    self._put_way_under(other, from_below)
                    return
                waiting.append(other)
        top = Climb().top(orphan, above.__getitem__, frozenset())
        assert top is not None
        self._forward_class(set(top), above)

    def _above(self, number: int) -> list[int]:
        covering = self._index.covering(self._places[number].pattern)
        return [each for each in covering if each != number]

    def _put_way_under(self, settled: int, from_below: dict[int, int]) -> None:
        """Put each pattern of a way up below the next, down to where the way began."""
        upper = settled
        while (lower := from_below.get(upper)) is not None:
            self._put_under(lower, upper)
            upper = lower

    def _forward_class(self, members: set[int], above: dict[int, list[int]]) -> None:
        """Forward the first of a class, with the others below it."""
        root = min(members)
        place = self._places[root]
        if place.parent is not None:
            self._places[place.parent].children.discard(root)
            place.parent = None
        self._forward(root, members)
        placed = [root]
        left = members - {root}
        for upper in placed:
            for lower in sorted(each for each in left if upper in above[each]):
                self._put_under(lower, upper)
                left.discard(lower)
                placed.append(lower)
