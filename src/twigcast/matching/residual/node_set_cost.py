"""What libxml2 does with node-sets, and what it costs: stepping, joining, sorting, reading.

Part of :mod:`twigcast.matching.residual.cost`, which explains the idea. Everything here is an upper
bound for a document of the given sizes, in visits of one node.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from twigcast.language.condition.model import Kind, Label
from twigcast.language.xpath.syntax import Axis
from twigcast.matching.residual.document_stats import Sizes

_COMPARED = 5
"""Comparing the places of two nodes in the document."""
_MERGED = 0.1
"""Finding that two nodes are not the same."""
_NAMESPACES, _NAMESPACE, _NAMESPACE_PAIR = 20, 40, 0.5
"""Gathering the namespaces of an element, a copy of each, and comparing each with each."""
_ASKED = 20
"""Asking a node for its name, in a predicate."""
_LETTER = 0.06
"""Of a namespace, which is compared letter by letter."""


class Nodes(NamedTuple):
    """Node-sets, one for each evaluation of an expression."""

    pairs: float
    """How many nodes they have together."""
    again: float
    """In how many of them one node can be."""
    nested: float
    """How many of the nodes can be inside each other."""
    size: float
    """How many nodes one of them can have."""
    kind: Kind | None
    """What sort of nodes they are, if it is one only."""
    ordered: bool
    """Whether libxml2 finds them in document order."""

    @property
    def leaves(self) -> bool:
        """Whether there is nothing below the nodes."""
        return self.kind is not None and self.kind is not Kind.ELEMENT

    def alone(self) -> Nodes:
        """The nodes as the starting points of paths: sets of one."""
        return self._replace(size=1, ordered=True)

    def without_doubles(self, evaluations: float) -> Nodes:
        """The sets of so many evaluations, in each of which a node is but once."""
        pairs, again = min(self.pairs, evaluations * self.size), min(self.again, evaluations)
        return self._replace(pairs=pairs, again=again)

    def first_of_each(self, evaluations: float) -> Nodes:
        """The first node of each of the sets."""
        return self._replace(pairs=min(self.pairs, evaluations), size=1)


DOCUMENT: Final = Nodes(1, 1, 1, 1, kind=None, ordered=True)
"""The document node, once."""


class NodeSets:
    """The costs of node-sets in one document."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def step(self, axis: Axis, label: Label | None, nodes: Nodes) -> tuple[float, Nodes]:
        """The visits of a step from each of the nodes, and the nodes that have its label."""
        sizes = self._sizes
        pairs, again, size = nodes.pairs, nodes.again, nodes.size
        match axis:
            case Axis.SELF:
                visits, seen, most = pairs, again, size
            case Axis.PARENT:
                visits, most = pairs, size
                family = sizes.attributes_each if nodes.kind is Kind.ATTRIBUTE else sizes.breadth
                seen = min(pairs, again * family)
            case Axis.CHILD:
                visits, seen = min(again * sizes.nodes, pairs * sizes.breadth), again
                most = size * sizes.breadth
            case Axis.ATTRIBUTE:
                visits = min(again * sizes.attributes, pairs * sizes.attributes_each)
                seen, most = again, size
                if label is None or None in label:
                    most *= sizes.attributes_each
            case Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF:
                seen = min(again * nodes.nested, pairs)
                visits = pairs + seen * (sizes.nodes + _attributes(label, sizes))
                most = size + seen * (sizes.nodes + _attributes(label, sizes))
            case Axis.FOLLOWING_SIBLING | Axis.PRECEDING_SIBLING:
                visits, seen = pairs * sizes.breadth, min(pairs, again * sizes.breadth)
                most = size * sizes.breadth
            case Axis.ANCESTOR | Axis.ANCESTOR_OR_SELF:
                visits, seen, most = pairs * (sizes.depth + 1), pairs, size * (sizes.depth + 1)
            case Axis.NAMESPACE:
                spaces = sizes.namespaces
                found = Nodes(
                    pairs * spaces, pairs, 1, size * spaces, kind=Kind.TEXT, ordered=False
                )
                each = _NAMESPACES + spaces * (_NAMESPACE + spaces * _NAMESPACE_PAIR)
                return pairs * (sizes.depth + each), found
            case _:
                visits = most = pairs * (sizes.nodes + sizes.depth)
                seen = pairs
        labelled = sizes.count(label)
        if label is None and axis in _WITH_SELF and nodes.kind is not Kind.ELEMENT:
            labelled += sizes.attributes
        nested = min(sizes.nested(label), max(1, labelled))
        found = Nodes(
            pairs=min(visits, seen * labelled),
            again=seen,
            nested=min(nested, nodes.nested) if axis is Axis.SELF else nested,
            size=min(labelled, most),
            kind=label.kind if label else nodes.kind if axis is Axis.SELF else None,
            ordered=_ordered(axis, nodes),
        )
        return pairs + visits + self._named(label, visits, seen), found

    def _named(self, label: Label | None, visits: float, seen: float) -> float:
        """Comparing names with that of the label, where it takes more than a glance."""
        if label is None or label.kind is Kind.TEXT or label.namespace is label.local is None:
            return 0
        sizes = self._sizes
        if label.namespace is None or (not label.namespace and label.local is None):
            # Written as *[local-name() = 'x'], or *[namespace-uri() = ''], of every node.
            each = sizes.count(Label(label.kind))
            length = 0 if label.namespace is None else sizes.namespace_length
            return min(visits, seen * each) * (_ASKED + length * _LETTER)
        named = sizes.count_anywhere(label)
        return min(visits, seen * named) * len(label.namespace.encode()) * _LETTER

    def merged(self, axis: Axis, before: Nodes, found: Nodes) -> float:
        """Joining what a step finds from several nodes of one set, where they may share some."""
        if before.size <= 1 or axis in _DISJOINT:
            return 0
        return found.pairs * found.size * _MERGED

    def union(self, sets: list[Nodes]) -> tuple[float, Nodes]:
        """The cost of joining node-sets by ``|``, and what it gives."""
        joined = Nodes(
            pairs=sum(nodes.pairs for nodes in sets),
            again=sum(nodes.again for nodes in sets),
            nested=sum(nodes.nested for nodes in sets),
            size=sum(nodes.size for nodes in sets),
            kind=None,
            ordered=False,
        )
        return joined.pairs * joined.size * _MERGED, joined

    def words(self, characters: float, evaluations: float) -> tuple[float, Nodes]:
        """The cost of ``id()`` on so many characters, and the elements found.

        Every word is looked up, and what it names compared with what was found before.
        """
        size = min(characters, self._sizes.attributes)
        pairs = min(characters, evaluations * size)
        found = Nodes(pairs, evaluations, self._sizes.depth, size, kind=Kind.ELEMENT, ordered=False)
        return characters + pairs * size * _MERGED, found

    def above(self) -> float:
        """Going up from a node to the root, and through all attributes on the way."""
        levels = self._sizes.depth + 1
        return levels + min(self._sizes.attributes, levels * self._sizes.attributes_each)

    def nearest(self, axis: Axis, cost: float, found: Nodes, before: Nodes) -> tuple[float, Nodes]:
        """The same for ``*[1]``: the nearest element will do, whatever its name."""
        around = self._sizes.depth + self._sizes.between + 1
        again = found.again
        if axis in _SIBLINGS and before.kind is Kind.ELEMENT:
            # It is the nearest of one element only.
            again = min(again, before.again)
        pairs = min(found.pairs, before.pairs)
        return min(cost, around * before.pairs), found._replace(pairs=pairs, again=again)

    def read(self, nodes: Nodes, weight: float) -> float:
        """Reading the string-value of every node."""
        below = 0 if nodes.leaves else self._times(nodes) * self._sizes.nodes
        return nodes.pairs + below + self.characters(nodes) * weight

    def characters(self, nodes: Nodes) -> float:
        """How many characters the string-values of the nodes have together."""
        return self._times(nodes) * self._sizes.characters

    def _times(self, nodes: Nodes) -> float:
        """How often one text is part of a string-value."""
        return min(nodes.pairs, nodes.again * (1 if nodes.leaves else nodes.nested))

    def sorted(self, nodes: Nodes) -> float:
        """Bringing node-sets into document order.

        Two nodes are compared by going up to a common parent, and from one to the other along
        its children; what is no element, by the element before it.
        """
        if nodes.size <= 1:
            return 0
        sizes = self._sizes
        around = sizes.depth + (0 if nodes.kind is Kind.ELEMENT else sizes.between)
        along = min(nodes.again * sizes.nodes, nodes.pairs * sizes.breadth)
        in_order = nodes.pairs * (_COMPARED + around) + along
        if nodes.ordered:
            return in_order
        return max(in_order, nodes.pairs * math.log2(nodes.size) * (around + sizes.breadth))


def _attributes(label: Label | None, sizes: Sizes) -> int:
    return sizes.attributes if label is not None and label.kind is Kind.ATTRIBUTE else 0


def _ordered(axis: Axis, nodes: Nodes) -> bool:
    if nodes.size <= 1:
        return axis not in _BACKWARD
    in_order = axis in (Axis.ATTRIBUTE, Axis.SELF) or (axis is Axis.CHILD and nodes.nested <= 1)
    return nodes.ordered and in_order


_SIBLINGS: Final = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_DISJOINT: Final = frozenset({Axis.CHILD, Axis.ATTRIBUTE, Axis.SELF, Axis.NAMESPACE})
"""Axes whose nodes belong to one context node only, so that no node is found twice."""
_WITH_SELF: Final = frozenset({Axis.SELF, Axis.ANCESTOR_OR_SELF, Axis.DESCENDANT_OR_SELF})
"""Axes that come to attributes, if they begin there."""
_BACKWARD: Final = frozenset(
    {Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF, Axis.PRECEDING, Axis.PRECEDING_SIBLING, Axis.NAMESPACE}
)
