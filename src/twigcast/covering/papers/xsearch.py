"""XSEARCH: XNET's searches of a factorization tree for covered and for covering patterns.

XNET, Algorithms 3 to 5, with the corrections that its scans need. With ``t`` a node of the tree and
``u`` one of the pattern searched for:

- *Covered mode* (Algorithm 3) maps the pattern to the tree. The patterns that have an image of
  ``u`` below ``t`` are, over all children ``t'`` whose label ``u`` includes, those that have images
  of every child of ``u`` below ``t'``. A ``//`` tries the children of ``t`` too, and theirs.
- *Cover mode* (Algorithms 4 and 5) maps the tree to the pattern. XNET collects what does *not*
  cover, which is nearly everything; we collect the complement in the same walk: of the patterns
  through ``t``, placed on ``u``, those that end at ``t``, and those of which every branch below
  ``t`` can be placed below ``u``.

A node of the tree can be the end of one pattern and an inner node of another. XNET's algorithms
handle that correctly, read closely: XSEARCH(t, u) is about the nodes *below* ``t`` (or ``u``), so a
leaf ``t`` has no image of ``u`` for any pattern, and a pattern that ends at ``t`` is in no
``sub(t')``.

Results for a ``//`` at a node are cached, so XNET's bound of O(|T(R)| · |s|) holds, times the
levels of rows of ``*``. In covered mode, where a name follows a ``//``, the nodes with that name
are looked up instead of visiting all below.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Final

from twigcast.covering.containment.value_implication import value_implies
from twigcast.covering.papers.tree_pattern import PartLabel, TreePart
from twigcast.language.condition.model import ValueTest

if TYPE_CHECKING:
    from twigcast.covering.papers.factorization_tree import ByLabel, FactorizationNode

_NODES_PER_PATTERN: Final = 4
"""About so many nodes of the tree are below a node for each pattern through it."""

_NONE: Final[frozenset[int]] = frozenset()


class CoveredSearch:
    """One search in covered mode: XNET, Algorithm 3."""

    def __init__(self, by_label: ByLabel) -> None:
        self._by_label = by_label
        self._far: dict[tuple[int, int, int], AbstractSet[int]] = {}

    def on(self, node: FactorizationNode, part: TreePart) -> AbstractSet[int]:
        """The patterns through a node that have images of all that is below a part (line 8)."""
        if part.names_below & ~node.names_below:
            return _NONE
        found: AbstractSet[int] | None = None
        for child in part.children:
            below = self._below(node, child)
            found = below if found is None else found & below
            if not found:
                break
        return node.sub if found is None else found

    def _below(self, node: FactorizationNode, part: TreePart) -> AbstractSet[int]:
        """The patterns that have an image of a part below a node: XSEARCH(t, u)."""
        if part.far:
            return self._far_below(node, part.children[0], part.far)
        return _union([self.on(child, part) for child in _children_in(node, part)])

    def _far_below(self, node: FactorizationNode, part: TreePart, levels: int) -> AbstractSet[int]:
        """The same, so many levels below at least: a path of one step (line 11), or of more."""
        key = id(node), id(part), levels
        if key in self._far:
            return self._far[key]
        named = self._by_label.get(part.label, {}) if part.is_name else None
        if named is not None and len(named) <= _NODES_PER_PATTERN * len(node.sub):
            found = self._among(named, node, part, levels)
        else:
            found = set(self._below(node, part)) if levels <= 1 else set()
            for child in chain.from_iterable(node.children.values()):
                if not child.sub <= found:
                    left = max(levels - child.weight, 1)
                    found |= self._far_below(child, part, left)
        self._far[key] = found
        return found

    def _among(
        self,
        named: dict[FactorizationNode, None],
        node: FactorizationNode,
        part: TreePart,
        levels: int,
    ) -> set[int]:
        """The patterns that have an image of a part among nodes, so many levels below one."""
        found: set[int] = set()
        for each in named:
            if part.names_below & ~each.names_below or each.sub <= found:
                continue
            if each.levels_below(node) >= levels:
                found |= self.on(each, part)
        return found


def _children_in(node: FactorizationNode, part: TreePart) -> Iterator[FactorizationNode]:
    """The children with labels that the part's label includes."""
    label = part.label
    if isinstance(label, ValueTest):
        for child in node.tests:
            assert isinstance(child.label, ValueTest)
            if value_implies(stronger=child.label, weaker=label):
                yield child
    elif part.is_name:
        yield from node.children.get(label, ())
    else:
        for alike in node.children.values():
            if label in alike[0].wider:
                yield from alike


def _union(found: list[AbstractSet[int]]) -> AbstractSet[int]:
    """The union; a single set is returned without copying."""
    return found[0] if len(found) == 1 else set().union(*found)


def covering_search(
    labels: AbstractSet[PartLabel], root: FactorizationNode, pattern: TreePart
) -> AbstractSet[int]:
    """The search in cover mode: XNET, Algorithm 5; ``labels`` are those in the tree."""
    return _CoveringSearch().on(root, _PatternNode(pattern, labels))


class _PatternNode:
    """A node of the pattern in cover mode, with those below it by the labels they can carry."""

    __slots__ = ("anywhere", "depth", "names_missing", "near", "tests")

    def __init__(self, part: TreePart, labels: AbstractSet[PartLabel], depth: int = 0) -> None:
        self.depth = depth
        self.names_missing = ~part.names_below
        self.tests = [each.label for each in part.children if isinstance(each.label, ValueTest)]
        self.near: dict[PartLabel, list[_PatternNode]] = {}
        """Its children, by each of the labels in the tree that includes theirs."""
        self.anywhere: dict[PartLabel, list[_PatternNode]] = {}
        """All nodes below it, the same way."""
        for child in part.children:
            below = _PatternNode(child, labels, depth + (child.far - 1 if child.far else 1))
            for label in labels & set(child.wider):
                self.near.setdefault(label, []).append(below)
                self.anywhere.setdefault(label, []).append(below)
            for label, parts in below.anywhere.items():
                self.anywhere.setdefault(label, []).extend(parts)


class _CoveringSearch:
    """One search in cover mode: XNET, Algorithm 4, for what covers."""

    def __init__(self) -> None:
        self._far: dict[tuple[int, int], set[int]] = {}

    def on(self, node: FactorizationNode, part: _PatternNode) -> AbstractSet[int]:
        """The patterns through a node whose nodes below it can be placed below a part."""
        placed = [
            each
            for label in node.children.keys() & part.near.keys()
            for child in node.children[label]
            if (each := self._on_some(child, part.near[label]))
        ]
        placed += [
            each
            for child in node.far
            if not child.names_required & part.names_missing
            and (each := self._far_below(child, part))
        ]
        if node.tests and part.tests:
            placed += _tests_placed(node, part)
        if not placed:
            return node.ending
        found = node.ending.union(*placed)
        if node.branching:
            found.difference_update(_lacking(node.branching, placed))
        return found

    def _on_some(self, node: FactorizationNode, parts: list[_PatternNode]) -> AbstractSet[int]:
        """The patterns that can be placed on one of the parts."""
        if not node.children:
            return node.ending
        required = node.names_required
        if len(parts) == 1:
            return _NONE if required & parts[0].names_missing else self.on(node, parts[0])
        return _union([self.on(node, part) for part in parts if not required & part.names_missing])

    def _far_below(self, node: FactorizationNode, part: _PatternNode) -> AbstractSet[int]:
        """The patterns through a ``//`` whose rest can be placed below a part."""
        key = id(node), id(part)
        found = self._far.get(key)
        if found is None:
            found = self._far[key] = set()
            for label in node.children.keys() & part.anywhere.keys():
                parts = part.anywhere[label]
                if node.levels > 1:
                    depth = part.depth + node.levels
                    parts = [each for each in parts if each.depth >= depth]
                for child in node.children[label] if parts else ():
                    found |= self._on_some(child, parts)
        return found


def _lacking(branching: dict[int, int], placed: list[AbstractSet[int]]) -> Iterator[int]:
    """The patterns with several branches of which some, but not all, can be placed."""
    counts: dict[int, int] = {}
    for each in placed:
        for pattern in each:
            if pattern in branching:
                counts[pattern] = counts.get(pattern, 0) + 1
    for pattern, count in counts.items():
        if count < branching[pattern]:
            yield pattern


def _tests_placed(node: FactorizationNode, part: _PatternNode) -> Iterator[AbstractSet[int]]:
    """The patterns of tests at a node that follow from one at a part."""
    for child in node.tests:
        wanted = child.label
        assert isinstance(wanted, ValueTest)
        if any(value_implies(stronger=test, weaker=wanted) for test in part.tests):
            yield child.sub
