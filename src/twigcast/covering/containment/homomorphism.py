"""Homomorphisms between twigs: the sound and quick way to decide that one covers another.

If the nodes of the wider twig can be mapped to nodes of the narrower one, so that labels include,
tests follow from tests, a child lies on a child and a node far below on one at least as far below,
then wherever the narrower twig is found in a document, the wider one is found with it:

    wider      //a[.//b]/c          a → a,  b → b,  c → c
    narrower   /x/a[c]/*/b

The converse holds where one of ``//``, ``*`` and branches is missing from both twigs (Miklau and
Suciu, *Containment and equivalence for a fragment of XPath*, 2004); XNET, section 3, takes the
homomorphism for covering itself. Between twigs with all three there can be coverings without a
homomorphism; :mod:`~twigcast.covering.containment.canonical_models` finds them.

One pass over the wider twig, from its leaves to its root, computes for each of its nodes the set of
the narrower's nodes it can lie on, as the bits of one integer. Whether such a set has a node below
node ``v`` is one ``&`` with the mask of the nodes below ``v``. The cost is the product of the sizes
at worst, and a few operations for each node where labels are rare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from twigcast.covering.bits import numbers_of
from twigcast.covering.containment.twig import Twig
from twigcast.covering.containment.value_implication import facts_imply, value_facts
from twigcast.language.condition.model import ANY_ELEMENT, Condition, Kind, Label, Not, ValueTest


class TargetTwig(NamedTuple):
    """A narrower twig as the target of homomorphisms. Masks have one bit for each node."""

    twig: Twig
    everywhere: int
    by_label: dict[Label | None, int]
    elements: int
    children: tuple[int, ...]
    """For each node, those exactly one level below it."""
    below: tuple[int, ...]
    """For each node, all below it."""
    depths: tuple[int, ...]
    """For each node, the least number of levels below the context."""
    deep: tuple[int, ...]
    """For each depth, the nodes at this depth or deeper."""
    near: int
    """The nodes exactly one level below their parents, and the context."""


def target_twig(twig: Twig) -> TargetTwig:
    """The twig with its masks."""
    labels, parents, reaches = twig.labels, twig.parents, twig.reaches
    size = len(labels)
    children, below, depths = [0] * size, [0] * size, [0] * size
    by_label: dict[Label | None, int] = {}
    elements, near = 0, 1
    for node in range(size - 1, 0, -1):
        bit, parent, label = 1 << node, parents[node], labels[node]
        below[parent] |= bit | below[node]
        if not reaches[node]:
            children[parent] |= bit
            near |= bit
        by_label[label] = by_label.get(label, 0) | bit
        if label is not None and label.kind is Kind.ELEMENT:
            elements |= bit
    if (label := labels[0]) is not None:
        by_label[label] = by_label.get(label, 0) | 1
        elements |= label.kind is Kind.ELEMENT
    for node in range(1, size):
        depths[node] = depths[parents[node]] + (reaches[node] or 1)
    return TargetTwig(
        twig, (1 << size) - 1, by_label, elements, tuple(children), tuple(below), tuple(depths),
        _deep(depths), near,
    )  # fmt: skip


def _deep(depths: list[int]) -> tuple[int, ...]:
    """For each depth, the nodes at this depth or deeper."""
    deep = [0] * (max(depths) + 1)
    for node, depth in enumerate(depths):
        deep[depth] |= 1 << node
    for depth in range(len(deep) - 2, -1, -1):
        deep[depth] |= deep[depth + 1]
    return tuple(deep)


Follows: TypeAlias = Callable[[TargetTwig, int, Condition], bool]
"""Whether a test follows from what is known of a node of the narrower twig."""


def plainly_follows(target: TargetTwig, node: int, wanted: Condition) -> bool:
    """Whether a test is one of the node, or follows from its value tests."""
    tests = target.twig.tests[node]
    if wanted in tests:
        return True
    if isinstance(wanted, ValueTest) or (
        isinstance(wanted, Not) and isinstance(wanted.part, ValueTest)
    ):
        return bool(tests) and facts_imply(value_facts(tests), wanted)
    return False


def lies_on(wider: Twig, narrower: TargetTwig, follows: Follows = plainly_follows) -> bool:
    """Whether there is a homomorphism from the wider twig to the narrower one.

    >>> from twigcast.covering.containment.twig import twig_of
    >>> from twigcast.language import Pattern
    >>> wider, narrower = (
    ...     twig_of(Pattern.parse(text).condition) for text in ("//a[.//b]/c", "/x/a[c]/*/b")
    ... )
    >>> lies_on(wider, target_twig(narrower))
    True
    """
    labels, tests, reaches, below = wider.labels, wider.tests, wider.reaches, wider.children
    images = [0] * len(labels)
    for node in range(len(labels) - 1, -1, -1):
        here = with_label(narrower, labels[node]) if node else 1 & with_label(narrower, labels[0])
        for child in below[node]:
            here = _above(narrower, here, images[child], reaches[child])
        for wanted in tests[node]:
            here = where(narrower, here, wanted, follows)
        if not here:
            return False
        images[node] = here
    return True


def with_label(narrower: TargetTwig, label: Label | None) -> int:
    """The nodes whose images in all documents have the label."""
    if label is None:
        return narrower.everywhere
    if label == ANY_ELEMENT:
        return narrower.elements
    if None not in label:
        return narrower.by_label.get(label, 0)
    found = 0
    for other, mask in narrower.by_label.items():
        if other is not None and label.includes(other):
            found |= mask
    return found


def where(narrower: TargetTwig, nodes: int, wanted: Condition, follows: Follows) -> int:
    """Those of the nodes at which the test certainly passes."""
    found = 0
    for node in numbers_of(nodes):
        if follows(narrower, node, wanted):
            found |= 1 << node
    return found


def _above(narrower: TargetTwig, nodes: int, images: int, reach: int) -> int:
    """The nodes that have an image as a child, or below by at least ``reach`` levels."""
    mapped = 0
    if not reach:
        masks = narrower.children
        for node in numbers_of(nodes):
            if masks[node] & images:
                mapped |= 1 << node
        return mapped
    masks, depths, deep = narrower.below, narrower.depths, narrower.deep
    for node in numbers_of(nodes):
        there = masks[node] & images
        if there and reach > 1:
            depth = depths[node] + reach
            there = there & deep[depth] if depth < len(deep) else 0
        if there:
            mapped |= 1 << node
    return mapped
