"""Dissemination's subscription tree: the covering order, and what to forward after each change.

Dissemination, section 1.5.1: a broker forwards only subscriptions that nothing else covers. When
one is added, those that it covers are withdrawn; when one is removed, those that it alone was
covering are forwarded:

    >>> tree = SubscriptionTree()
    >>> tree.subscribe(1, "/a/b")
    Difference(added=(Pattern('/a/b'),), removed=())
    >>> tree.subscribe(2, "/a//b")
    Difference(added=(Pattern('/a//b'),), removed=(Pattern('/a/b'),))
    >>> tree.unsubscribe(2)
    Difference(added=(Pattern('/a/b'),), removed=(Pattern('/a//b'),))

The tree itself is :class:`~twigcast.covering.index.incremental_cover.IncrementalCover`, which keeps
it for any number of links; this is the simplest case, with ids for subscriptions and one neighbour.
The paper searches the tree from its root, in time linear in its size, and keeps *super pointers* to
find other parents; here an index finds them. The paper does not define the treatment of equivalent
patterns; if each counted as covered by the other, both would be withdrawn and deliveries lost. The
forwarded patterns are always those of :meth:`CoverIndex.roots`, and they are patterns, not ids: an
equal pattern under another id changes nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from twigcast.copies import Copied, as_kind, attributes
from twigcast.covering.containment.covers import COVER_BUDGET
from twigcast.covering.delta import Difference
from twigcast.covering.index.cover_index import CoverEngine
from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Pattern


class SubscriptionTreeStatistics(NamedTuple):
    """Sizes of a subscription tree."""

    ids: int
    patterns: int
    forwarded: int


class SubscriptionTree(Copied):
    """Subscriptions in their covering order."""

    @door("making a tree of subscriptions")
    def __init__(self, engine: CoverEngine = "auto", *, budget: int = COVER_BUDGET) -> None:
        self._made_with = engine, budget
        self._order: IncrementalCover[str] = IncrementalCover(engine, budget=budget)
        self._by_id: dict[int, Pattern] = {}
        self._uses: Counter[Pattern] = Counter()

    @door("adding a pattern")
    def subscribe(self, id: int, pattern: Pattern | str) -> Difference:
        """Add a subscription; returns what to forward, and then what to withdraw.

        Raises UsageError if the id is taken, PatternError for a text that is not a pattern.
        """
        if id in self._by_id:
            raise UsageError(
                f"id {shown(id)} is taken by {self._by_id[id].text}; unsubscribe it first"
            )
        parsed = Pattern(pattern)
        self._by_id[id] = parsed
        self._uses[parsed] += 1
        self._order.add(parsed, None)
        return self._order.change()

    @door("removing a pattern")
    def unsubscribe(self, id: int) -> Difference:
        """Remove a subscription; UsageError if it is not there."""
        pattern = self._by_id.pop(id, None)
        if pattern is None:
            raise UsageError(f"no subscription with id {shown(id)}, so nothing to unsubscribe")
        self._uses[pattern] -= 1
        if not self._uses[pattern]:
            del self._uses[pattern]
            self._order.remove(pattern, None)
        return self._order.change()

    @door("listing patterns")
    def forwarded(self) -> list[Pattern]:
        """The forwarded patterns, in the order of texts."""
        return list(self._order.forwarded(None))

    @door("copying a tree of subscriptions")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: a tree of its own, with the same subscriptions."""
        engine, budget = self._made_with
        others = attributes(self, but=vars(SubscriptionTree(engine)))
        return _restored, (type(self), engine, budget, dict(self._by_id)), others

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    @door("counting")
    def statistics(self) -> SubscriptionTreeStatistics:
        """The sizes of the tree."""
        return SubscriptionTreeStatistics(
            ids=len(self._by_id),
            patterns=len(self._order),
            forwarded=len(self._order.forwarded(None)),
        )


def _restored(
    kind: type[SubscriptionTree], engine: CoverEngine, budget: int, by_id: dict[int, Pattern]
) -> SubscriptionTree:
    """A copy of a tree, but for what a subclass keeps beside the subscriptions."""
    made = SubscriptionTree(engine, budget=budget)
    for one, pattern in by_id.items():
        made.subscribe(one, pattern)
    return as_kind(kind, made)
