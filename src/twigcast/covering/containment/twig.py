"""Twigs: tree patterns as nodes in arrays.

Most conditions are plain conjunctions: some node below with this label, of which some node below,
…, and here and there a test of a value. Such a condition is a tree, and trees are compared best as
small numbers in arrays:

    /a[@x = '1']//*/b      node      0    1    2       3    4
                           label          a    @x      *    b
                           parent   -1    0    1       1    3
                           reach     0    0    0       1    0
                           tests               = '1'

Node 0 is the context: the document node for a whole pattern. Nodes are numbered in preorder, so a
parent comes before its children and the nodes below a node follow it without a gap. Attributes and
text nodes are children with labels of their own kind, as in conditions.

The *reach* of a node is how far below its parent it is: ``CHILD`` (0) for exactly one level, ``k``
for at least ``k`` levels. A plain ``//`` is 1; larger numbers come from :func:`condensed`, the form
in which ``/a/*//b`` and ``/a//*/b`` are one twig.

Every function here takes one pass over the nodes, without recursion: a twig may be as deep as its
pattern's limits allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from twigcast.language.condition.model import (
    ANY_ELEMENT,
    FALSE,
    AllOf,
    Condition,
    Exists,
    Kind,
    Label,
    Reach,
    SelfIs,
    ValueTest,
)

CHILD: Final = 0
"""The reach of a node exactly one level below its parent."""

_OUTSIDE: Final = -1
"""The parent of the context."""


class Twig(NamedTuple):
    """A conjunction of paths and tests as a tree of numbered nodes; node 0 is the context."""

    labels: tuple[Label | None, ...]
    """None where the node may be of any kind: the context, unless its label is tested."""
    parents: tuple[int, ...]
    reaches: tuple[int, ...]
    tests: tuple[tuple[Condition, ...], ...]
    """Conditions on the node beyond its label and the nodes below it: value tests, and in a twig
    with opaque tests any other condition."""
    children: tuple[tuple[int, ...], ...]
    is_path: bool
    """Whether no node has two children."""
    has_far_edges: bool
    """Whether some node may be any number of levels below its parent."""

    @property
    def size(self) -> int:
        """The number of nodes, the context included."""
        return len(self.labels)


def twig_from_arrays(
    labels: Sequence[Label | None],
    parents: Sequence[int],
    reaches: Sequence[int],
    tests: Sequence[tuple[Condition, ...]],
) -> Twig:
    """The twig of these arrays; children are derived from parents."""
    below: list[list[int]] = [[] for _ in parents]
    for node in range(1, len(parents)):
        below[parents[node]].append(node)
    children = tuple(map(tuple, below))
    return Twig(
        tuple(labels), tuple(parents), tuple(reaches), tuple(tests), children,
        is_path=max(map(len, children)) <= 1, has_far_edges=any(reaches),
    )  # fmt: skip


def twig_of(condition: Condition, *, opaque: bool = False) -> Twig | None:
    """The condition as a twig; None where it is more than paths and value tests.

    With ``opaque``, every condition is a twig: what is neither a path nor a value test (``or``,
    ``not``, residuals …) becomes a test of its node, to be compared as it stands.

    >>> from twigcast.language import Pattern
    >>> twig = twig_of(Pattern.parse("/a[@x = '1']//*/b").condition)
    >>> [label and label.local for label in twig.labels]
    [None, 'a', 'x', None, 'b']
    >>> twig.parents, twig.reaches
    ((-1, 0, 1, 1, 3), (0, 0, 0, 1, 0))
    >>> twig_of(Pattern.parse("//a[b or c]").condition) is None
    True
    """
    labels: list[Label | None] = [None]
    parents, reaches = [_OUTSIDE], [CHILD]
    tests: list[tuple[Condition, ...]] = [()]
    left: list[tuple[Condition, int]] = [(condition, 0)]
    while left:
        part, node = left.pop()
        if isinstance(part, Exists):
            left.append((part.where, len(labels)))
            labels.append(part.label)
            parents.append(node)
            reaches.append(1 if part.reach is Reach.DESCENDANT else CHILD)
            tests.append(())
            continue
        if isinstance(part, AllOf):
            left.extend((inner, node) for inner in reversed(part.parts))
            continue
        if isinstance(part, SelfIs):
            here = labels[node]
            met = part.label if here is None else here.meet(part.label)
            if met is not None:
                labels[node] = met
                continue
            part = FALSE
        if not opaque and not isinstance(part, ValueTest):
            return None
        tests[node] += (part,)
    return twig_from_arrays(labels, parents, reaches, tests)


def condensed(twig: Twig) -> Twig:
    """An equivalent twig with fewer nodes: rows of ``*`` and ``//`` expressed by reaches.

    Between two nodes, a run of bare ``*`` of which one step is ``//`` only requires a least number
    of levels between them, wherever the ``//`` stands; at the end of a path a run of ``*`` requires
    so many levels, whether its steps are ``/`` or ``//``:

        /a/*//b, /a//*/b    →   a, and at least 2 levels below it b
        /a/*/*, /a//*//*    →   a, and at least 2 levels below it some element

    A homomorphism *from* the condensed form finds more than one from the form as written. (Into
    it, it would find less: nodes that are gone cannot be images.)

    >>> from twigcast.language import Pattern
    >>> condensed(twig_of(Pattern.parse("/a/*//b").condition)).reaches
    (0, 0, 2)
    """
    if ANY_ELEMENT not in twig.labels:
        return twig
    labels, children, tests = twig.labels, twig.children, twig.tests
    reaches = list(twig.reaches)
    removed = [False] * len(labels)
    seen = 0
    for node in range(1, len(labels)):
        if node <= seen:
            continue
        # The run of bare stars that begins here, and the node behind it: they are neighbours.
        end = node
        while labels[end] == ANY_ELEMENT and not tests[end] and len(children[end]) == 1:
            end += 1
        seen = end
        is_bare_leaf = labels[end] == ANY_ELEMENT and not tests[end] and not children[end]
        if is_bare_leaf or any(reaches[node : end + 1]):
            reaches[end] = sum(max(reach, 1) for reach in reaches[node : end + 1])
            removed[node:end] = [True] * (end - node)
    return _without(twig, removed, reaches, tests)


def with_one_of_each_attribute(twig: Twig) -> Twig:
    """An equivalent twig with tests of one attribute joined: ``[@x > 3][@x < 5]`` is one node.

    An element has no two attributes of one name, so all tests of ``@x`` are tests of one node. This
    does not hold for elements and texts, nor for ``@*`` and ``.//@x``.
    """
    first: dict[tuple[int, Label], int] = {}
    tests = list(twig.tests)
    gone = [False] * len(tests)
    for node, label in enumerate(twig.labels):
        if label is None or label.kind is not Kind.ATTRIBUTE or None in label or twig.reaches[node]:
            continue
        kept = first.setdefault((twig.parents[node], label), node)
        if kept != node:
            tests[kept] += tuple(test for test in tests[node] if test not in tests[kept])
            gone[node] = True
    return _without(twig, gone, twig.reaches, tests) if any(gone) else twig


class ElementChain(NamedTuple):
    """The replacement of a ``//``: these elements, then one level, or any number."""

    elements: tuple[Label, ...]
    is_open: bool


def stretched(twig: Twig, chains: Mapping[int, ElementChain]) -> Twig:
    """The twig with chains inserted above some of its nodes.

    >>> from twigcast.language import Pattern
    >>> twig = twig_of(Pattern.parse("/a//b").condition)
    >>> stretched(twig, {2: ElementChain((ANY_ELEMENT,), is_open=False)}).reaches
    (0, 0, 0, 0)
    """
    labels: list[Label | None] = []
    parents: list[int] = []
    reaches: list[int] = []
    tests: list[tuple[Condition, ...]] = []
    places: list[int] = []
    for node, label in enumerate(twig.labels):
        parent = places[twig.parents[node]] if node else _OUTSIDE
        chain = chains.get(node)
        for element in chain.elements if chain else ():
            parents.append(parent)
            parent = len(labels)
            labels.append(element)
            reaches.append(CHILD)
            tests.append(())
        places.append(len(labels))
        labels.append(label)
        parents.append(parent)
        reaches.append(int(chain.is_open) if chain else twig.reaches[node])
        tests.append(twig.tests[node])
    return twig_from_arrays(labels, parents, reaches, tests)


def _without(
    twig: Twig,
    gone: Sequence[bool],
    reaches: Sequence[int],
    tests: Sequence[tuple[Condition, ...]],
) -> Twig:
    """The twig without the nodes that are gone; their children are their parents' children."""
    places: list[int] = []
    kept: list[int] = []
    for node, is_gone in enumerate(gone):
        if is_gone:
            places.append(places[twig.parents[node]])
        else:
            places.append(len(kept))
            kept.append(node)
    return twig_from_arrays(
        [twig.labels[node] for node in kept],
        [places[twig.parents[node]] if node else _OUTSIDE for node in kept],
        [reaches[node] for node in kept],
        [tests[node] for node in kept],
    )
