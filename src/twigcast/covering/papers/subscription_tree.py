"""Dissemination's subscription tree: the covering order, and what to forward after each change.

Dissemination, section 1.5.1 and Figure 1.11. Each subscription covers all that is below it in the
tree. One that several others cover has one *parent* among them; the others reach it by *super
pointers*, so that the tree and the super pointers together have the whole covering order::

    root ─┬─ //b ┄┄┄┄┄┐          //b covers /a//b, too: a super pointer leads there
          └─ /a ─┬─ /a//b
                 └─ /a/c

    >>> tree = SubscriptionTree()
    >>> for id, text in enumerate(["/a", "/a//b", "//b", "/a/c"]):
    ...     tree.add(id, text)
    >>> for node in tree.walk():
    ...     print("  " * node.depth + node.pattern.text, node.super_pointers)
    //b (Pattern('/a//b'),)
    /a ()
      /a//b ()
      /a/c ()
    >>> tree.covered("//b"), tree.covering("/a/b/d")
    ([1, 2], [0, 1, 2])

A broker forwards the children of the root alone. When a subscription is added, those that it covers
are withdrawn; when one is removed, those that it alone was covering are forwarded:

    >>> tree = SubscriptionTree()
    >>> tree.subscribe(1, "/a/b")
    Difference(added=(Pattern('/a/b'),), removed=())
    >>> tree.subscribe(2, "/a//b")
    Difference(added=(Pattern('/a//b'),), removed=(Pattern('/a/b'),))
    >>> tree.unsubscribe(2)
    Difference(added=(Pattern('/a/b'),), removed=(Pattern('/a//b'),))

**Searches** walk the tree from the root and compare patterns one by one, as the paper does. What
does not cover a pattern has nothing below it that does, so a search for covering patterns goes
down only where it finds some. What a pattern covers it covers with the whole subtree, so a search
for covered patterns stops there. Both are linear in the size of the tree at worst. Where the budget
of a comparison does not suffice, a search may miss what :class:`CoverIndex` finds.

**The tree** is kept by :class:`~twigcast.covering.index.incremental_cover.IncrementalCover`, for
any number of links; this is the case of one neighbour, with ids. Super pointers are worked out when
somebody looks at them, as the paper proposes for large trees. The paper does not define the
treatment of equivalent patterns; if each counted as covered by the other, both would be withdrawn
and deliveries lost. The forwarded patterns are always those of :meth:`CoverIndex.roots`, and they
are patterns, not ids: an equal pattern under another id changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from twigcast.copies import Copied, as_kind, attributes
from twigcast.covering.containment.covers import COVER_BUDGET, decide
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


@dataclass(frozen=True, slots=True)
class SubscriptionNode:
    """A node of the tree: a pattern with the ids of its subscriptions, until the tree changes."""

    pattern: Pattern
    depth: int
    """Nodes between it and the root."""
    _tree: _NodeSource

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the subscriptions with this pattern, in the order they came."""
        return tuple(self._tree.ids[self.pattern])

    @property
    def children(self) -> list[SubscriptionNode]:
        """The nodes below it, each of which it covers."""
        below = self._tree.order.children(self.pattern)
        return [SubscriptionNode(each, self.depth + 1, self._tree) for each in below]

    @property
    def super_pointers(self) -> tuple[Pattern, ...]:
        """The patterns outside its subtree that it covers, without those below one of them."""
        inside = {node.pattern for node in self.subtree()}
        covered = {node.pattern: None for node in self._tree.covered(self.pattern)}
        above = self._tree.order.parent
        return tuple(each for each in covered if each not in inside and above(each) not in covered)

    def subtree(self) -> Iterator[SubscriptionNode]:
        """The node, and all nodes below it, each before those below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


class _NodeSource(NamedTuple):
    """What nodes are read from."""

    order: IncrementalCover[str]
    ids: dict[Pattern, dict[int, None]]
    budget: int

    def tops(self) -> list[SubscriptionNode]:
        """The children of the root, in the order of texts."""
        return [SubscriptionNode(each, 0, self) for each in self.order.forwarded(None)]

    def covering(self, narrower: Pattern) -> Iterator[SubscriptionNode]:
        """The nodes that cover a pattern."""
        waiting = self.tops()
        for node in waiting:  # which grows meanwhile
            if decide(wider=node.pattern, narrower=narrower, budget=self.budget).covers:
                yield node
                waiting += node.children

    def covered(self, wider: Pattern) -> Iterator[SubscriptionNode]:
        """The nodes that a pattern covers."""
        waiting = self.tops()
        for node in waiting:
            if decide(wider=wider, narrower=node.pattern, budget=self.budget).covers:
                yield from node.subtree()
            else:
                waiting += node.children


class SubscriptionTree(Copied):
    """Subscriptions in their covering order."""

    @door("making a tree of subscriptions")
    def __init__(self, engine: CoverEngine = "auto", *, budget: int = COVER_BUDGET) -> None:
        self._made_with = engine, budget
        self._order: IncrementalCover[str] = IncrementalCover(engine, budget=budget)
        self._by_id: dict[int, Pattern] = {}
        self._tree = _NodeSource(self._order, {}, budget)

    @door("adding a pattern")
    def add(self, id: int, pattern: Pattern | str) -> None:
        """Add a subscription.

        Raises UsageError if the id is taken, PatternError for a text that is not a pattern.
        """
        if id in self._by_id:
            raise UsageError(
                f"id {shown(id)} is taken by {self._by_id[id].text}; unsubscribe it first"
            )
        parsed = Pattern(pattern)
        self._by_id[id] = parsed
        self._tree.ids.setdefault(parsed, {})[id] = None
        self._order.add(parsed, None)

    @door("removing a pattern")
    def remove(self, id: int) -> None:
        """Remove a subscription; UsageError if it is not there."""
        pattern = self._by_id.pop(id, None)
        if pattern is None:
            raise UsageError(f"no subscription with id {shown(id)}, so nothing to unsubscribe")
        del self._tree.ids[pattern][id]
        if not self._tree.ids[pattern]:
            del self._tree.ids[pattern]
            self._order.remove(pattern, None)

    @door("adding a pattern")
    def subscribe(self, id: int, pattern: Pattern | str) -> Difference:
        """:meth:`add` a subscription; returns what to forward, and then what to withdraw."""
        self.add(id, pattern)
        return self._order.change()

    @door("removing a pattern")
    def unsubscribe(self, id: int) -> Difference:
        """:meth:`remove` a subscription; returns what to forward, and then what to withdraw."""
        self.remove(id)
        return self._order.change()

    @door("listing patterns")
    def forwarded(self) -> list[Pattern]:
        """The forwarded patterns, in the order of texts."""
        return list(self._order.forwarded(None))

    @door("listing a tree")
    def walk(self) -> list[SubscriptionNode]:
        """All nodes, each before those below it; at the top in the order of texts."""
        return [node for top in self._tree.tops() for node in top.subtree()]

    @door("looking for covering patterns")
    def covering(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that cover this one, sorted, its own among them."""
        return _sorted_ids(self._tree.covering(Pattern(pattern)))

    @door("looking for covered patterns")
    def covered(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that this one covers, sorted, its own among them."""
        return _sorted_ids(self._tree.covered(Pattern(pattern)))

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


def _sorted_ids(nodes: Iterable[SubscriptionNode]) -> list[int]:
    return sorted(chain.from_iterable(node.ids for node in nodes))
