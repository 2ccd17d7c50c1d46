"""XNET's factorization tree: a set of tree patterns in one tree with shared nodes.

Patterns that begin alike share nodes (XNET, Algorithm 1). Each node ``t`` has a label and the set
``sub(t)`` of the patterns that go through it:

    /a/b/c   1          a {1 2 3}  ┬  b {1 2}  ┬  c {1}
    /a/b//d  2                     │           └  //  {2}  ─  d {2}
    /a[c]    3                     └  c {3}

Two branches of *one* pattern never share a node, so where a pattern goes through ``t`` and through
a child of ``t``, that is a step of the pattern. :mod:`~twigcast.covering.papers.xsearch` finds
coverings in one walk of the tree, with the label order and the normal form of
:mod:`~twigcast.covering.papers.tree_pattern`; the result equals homomorphism pair by pair.

Beyond XNET's label and ``sub(t)`` a node records which patterns end at it, which have several
children there, and which names are below it, as bits: these prune searches.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from twigcast.copies import Copied, as_kind, attributes
from twigcast.covering.papers.tree_pattern import PartLabel, TreePart, name_bit, tree_pattern
from twigcast.covering.papers.xsearch import CoveredSearch, covering_search
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.language.condition.model import ValueTest


class FactorizationTreeStatistics(NamedTuple):
    """The sizes of XNET, Table 2."""

    patterns: int
    pattern_nodes: int
    """Nodes of all patterns together: Σ|s|."""
    tree_nodes: int
    """Nodes of the tree: |T(R)|."""


class FactorizationNode:
    """A node of the factorization tree."""

    __slots__ = (
        "branching",
        "children",
        "ending",
        "far",
        "label",
        "levels",
        "name_bit",
        "names_below",
        "names_required",
        "parent",
        "sub",
        "tests",
        "wider",
    )  # fmt: skip

    def __init__(self, part: TreePart, parent: FactorizationNode | None) -> None:
        self.parent = parent
        self.label, self.wider, self.name_bit = part.label, part.wider, name_bit(part)
        self.levels = part.far
        """For a ``//``, the least number of levels it goes down."""
        self.sub: set[int] = set()
        """The patterns that go through it."""
        self.ending: set[int] = set()
        """The patterns that end at it."""
        self.branching: dict[int, int] = {}
        """The patterns that have several children here, with their number."""
        self.children: dict[PartLabel, list[FactorizationNode]] = {}
        self.far: list[FactorizationNode] = []
        """The children that are ``//``."""
        self.tests: list[FactorizationNode] = []
        """The children that are tests."""
        self.names_below = 0
        self.names_required = -1
        """Names that all patterns have below; possibly too few after removals."""

    def child_for(self, pattern: int, part: TreePart) -> FactorizationNode:
        """A child with the label that the pattern does not go through yet, new if necessary."""
        alike = self.children.setdefault(part.label, [])
        for child in alike:
            if pattern not in child.sub:
                return child
        child = FactorizationNode(part, self)
        for siblings in self._lists_with(child):
            siblings.append(child)
        return child

    def drop(self, child: FactorizationNode) -> None:
        """Remove a child that no pattern goes through any more."""
        for siblings in self._lists_with(child):
            siblings.remove(child)
        if not self.children[child.label]:
            del self.children[child.label]
        self.names_below = 0
        for alike in self.children.values():
            for below in alike:
                self.names_below |= below.name_bit | below.names_below

    def _lists_with(self, child: FactorizationNode) -> list[list[FactorizationNode]]:
        lists = [self.children[child.label]]
        if child.levels:
            lists.append(self.far)
        if isinstance(child.label, ValueTest):
            lists.append(self.tests)
        return lists

    def levels_below(self, other: FactorizationNode) -> int:
        """The least number of levels between another node and this; 0 if it is elsewhere."""
        node: FactorizationNode | None = self
        levels = 0
        while node is not None and node is not other:
            levels += node.weight
            node = node.parent
        return levels if node else 0

    @property
    def weight(self) -> int:
        """The levels it adds to those of its parent: none for a ``//``, one for its child."""
        return self.levels - 1 if self.levels else 1


ByLabel: TypeAlias = dict[PartLabel, dict[FactorizationNode, None]]
"""The nodes of a tree by their labels."""


class FactorizationTree(Copied):
    """A changing set of tree patterns, each under an id.

    >>> tree = FactorizationTree()
    >>> for id, text in enumerate(["/a/b/c", "/a/b//d", "/a[c]"]):
    ...     tree.add(id, text)
    >>> tree.covered("/a/b"), tree.covering("/a[c]/b/*/d"), tree.statistics().tree_nodes
    ([0, 1], [1, 2], 6)
    """

    @door("making a tree of patterns")
    def __init__(self) -> None:
        self._root = FactorizationNode(tree_pattern("true()"), None)
        self._by_label: ByLabel = {}
        self._nodes_by_id: dict[int, list[FactorizationNode]] = {}
        """The nodes of each pattern, parents first."""
        self._patterns: dict[int, Pattern] = {}
        self._tree_nodes = self._pattern_nodes = 0

    @door("adding a pattern")
    def add(self, id: int, pattern: Pattern | str) -> None:
        """XNET, Algorithm 1, over all parts of the pattern.

        Raises UsageError if the id is taken, or if the pattern is no tree (``or``, ``not`` …).
        """
        if id in self._nodes_by_id:
            raise UsageError(f"id {shown(id)} is taken; remove it first")
        pattern = Pattern(pattern)
        nodes = [self._root]
        pending = [(self._root, tree_pattern(pattern))]
        while pending:
            node, part = pending.pop()
            node.sub.add(id)
            node.names_below |= part.names_below
            node.names_required &= part.names_below
            if not part.children:
                node.ending.add(id)
            elif len(part.children) > 1:
                node.branching[id] = len(part.children)
            for below in part.children:
                child = node.child_for(id, below)
                if not child.sub:
                    self._count(child)
                child.sub.add(id)
                nodes.append(child)
                pending.append((child, below))
        self._nodes_by_id[id] = nodes
        self._patterns[id] = pattern
        self._pattern_nodes += len(nodes) - 1

    @door("removing a pattern")
    def remove(self, id: int) -> None:
        """XNET, Algorithm 2. Raises UsageError if there is no such id."""
        nodes = self._nodes_by_id.pop(id, None)
        if nodes is None:
            raise UsageError(f"no pattern with id {shown(id)}, so nothing to remove")
        del self._patterns[id]
        self._pattern_nodes -= len(nodes) - 1
        for node in reversed(nodes):
            node.sub.discard(id)
            node.ending.discard(id)
            node.branching.pop(id, None)
            if node.parent and not node.sub:
                node.parent.drop(node)
                self._uncount(node)

    def _count(self, node: FactorizationNode) -> None:
        self._tree_nodes += 1
        self._by_label.setdefault(node.label, {})[node] = None

    def _uncount(self, node: FactorizationNode) -> None:
        self._tree_nodes -= 1
        del self._by_label[node.label][node]
        if not self._by_label[node.label]:
            del self._by_label[node.label]

    @door("searching for patterns")
    def covered(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that this one covers by homomorphism, sorted."""
        return sorted(CoveredSearch(self._by_label).on(self._root, tree_pattern(pattern)))

    @door("searching for patterns")
    def covering(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that cover this one by homomorphism, sorted."""
        return sorted(covering_search(self._by_label.keys(), self._root, tree_pattern(pattern)))

    @door("copying a tree of patterns")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: a tree of its own, with the same patterns."""
        others = attributes(self, but=vars(FactorizationTree()))
        return _restored, (type(self), dict(self._patterns)), others

    def __len__(self) -> int:
        return len(self._nodes_by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._nodes_by_id

    @door("counting")
    def statistics(self) -> FactorizationTreeStatistics:
        """The sizes of XNET, Table 2; document nodes are not counted."""
        return FactorizationTreeStatistics(
            len(self._nodes_by_id), self._pattern_nodes, self._tree_nodes
        )


def _restored(kind: type[FactorizationTree], patterns: dict[int, Pattern]) -> FactorizationTree:
    """A copy of a tree, but for what a subclass keeps beside the patterns."""
    copy = FactorizationTree()
    for number, pattern in patterns.items():
        copy.add(number, pattern)
    return as_kind(kind, copy)
