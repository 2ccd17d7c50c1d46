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

The tree itself is :class:`~twigcast.covering.index.incremental_cover.IncrementalCover`, which keeps
it for any number of links; this is its plainest use, with ids for subscriptions and one neighbour.
The paper searches the tree from its root, which takes as long as the tree is large, and keeps
*super pointers* to find other parents; here an index finds them. The paper does not say what
becomes of equivalent patterns; if each counted as covered by the other, both would be withdrawn and
deliveries lost. What is forwarded is always what :meth:`CoverIndex.roots` says, and in patterns,
not ids: an equal pattern under another id changes nothing.
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

__all__ = ["SubscriptionTree", "SubscriptionTreeStatistics"]


class SubscriptionTreeStatistics(NamedTuple):
    """How large a subscription tree is."""

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
        """Put in a subscription; what is to be forwarded now, and then what to be withdrawn.

        Raises UsageError if the id is taken, PatternError for a text that is no pattern.
        """
        if id in self._by_id:
            raise UsageError(
                f"id {shown(id)} is taken by {self._by_id[id].text}; unsubscribe it first"
            )
        parsed = Pattern(pattern)
        self._by_id[id] = parsed
        self._uses[parsed] += 1
        self._order.put(parsed, None)
        return self._order.change()

    @door("removing a pattern")
    def unsubscribe(self, id: int) -> Difference:
        """Take out a subscription; UsageError if it is not there."""
        pattern = self._by_id.pop(id, None)
        if pattern is None:
            raise UsageError(f"no subscription with id {shown(id)}, so nothing to unsubscribe")
        self._uses[pattern] -= 1
        if not self._uses[pattern]:
            del self._uses[pattern]
            self._order.take(pattern, None)
        return self._order.change()

    @door("listing patterns")
    def forwarded(self) -> list[Pattern]:
        """What is forwarded, in the order of texts."""
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
        """How large it is."""
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
