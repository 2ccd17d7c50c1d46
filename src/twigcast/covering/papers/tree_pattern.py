"""XNET's tree patterns: names, ``//`` and value tests are nodes.

XNET, section 3 and Figure 1: ``//Stock[Symbol = "GHI"][Price > 15]`` is the tree

    //  ─  Stock  ┬  Symbol  ─  = "GHI"
                  └  Price   ─  > 15

Labels are ordered: a name is below ``*``, and of tests the stronger is below the weaker, ``> 15``
below ``> 10``. One tree covers another by *homomorphism* if it can be mapped to it with each label
on one that is not above it, where ``//`` stands for a path of any length.

Trees are *normalised* first: the canonical form of patterns has ordered their branches and removed
redundant ones, and a row of bare ``*`` with some ``//`` is one ``//`` with the least number of
levels that it goes down (:func:`~twigcast.covering.containment.twig.condensed`):

    /a/*//b,  /a//*/b     →    a  ─  //2  ─  b

So equivalent rows are equal, and no homomorphism fails because of the position of a ``//``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.containment.twig import Twig, condensed, twig_of
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.language.condition.model import ANY_ELEMENT, TEXT, Condition, Kind, Label, ValueTest

PartLabel: TypeAlias = str | ValueTest
"""A name as it is written, ``*``, ``//`` or ``//2``, or a test. Strings are quick to look up."""

LEVELS_MAX: Final = 200
"""Levels of a tree: more than a pattern has within the usual limits, and well within a stack."""

_MASK_BITS: Final = 251
"""Names as bits: most schemas have about as many, and a prime spreads them."""


class TreePart(NamedTuple):
    """A node of a tree pattern with all that is below it; the topmost is the document node."""

    label: PartLabel
    wider: tuple[str, ...]
    """The names that include the label, itself first: ``a``, ``*`` and so on."""
    is_name: bool
    """Whether the label includes no other."""
    children: tuple[TreePart, ...]
    names_below: int
    """The names of the nodes below, as bits that several names may share."""
    far: int = 0
    """For a ``//``, the least number of levels between its parent and its child."""


def tree_pattern(pattern: Pattern | str) -> TreePart:
    """The normalised tree of a pattern.

    Raises UsageError where it is more than a tree of names and value tests: with ``or``, ``not``
    or a part that only libxml2 can decide.

    >>> def shown(part):
    ...     below = ", ".join(map(shown, part.children))
    ...     return f"{part.label}({below})" if below else part.label
    >>> shown(tree_pattern("/Stock[.//Price]/Symbol").children[0])
    'Stock(//(Price), Symbol)'
    """
    parsed = Pattern.parse(pattern) if isinstance(pattern, str) else pattern
    twig = twig_of(parsed.condition)
    if twig is None or twig.labels[0] is not None:
        raise UsageError(f"{parsed.text} is no tree of names and value tests")
    return _part_of(parsed, condensed(twig))


def _part_of(pattern: Pattern, twig: Twig) -> TreePart:
    levels = [0] * twig.size
    for node in range(1, twig.size):
        levels[node] = levels[twig.parents[node]] + 1 + bool(twig.reaches[node])
    if max(levels) > LEVELS_MAX:
        raise UsageError(f"{pattern.text[:80]}… has more than {LEVELS_MAX} levels")
    below: list[list[TreePart]] = [[] for _ in levels]
    for node in range(twig.size - 1, 0, -1):
        label = twig.labels[node]
        assert label is not None
        part = _part(label, twig.tests[node], below[node])
        if twig.reaches[node]:
            part = _far_above(part, twig.reaches[node])
        below[twig.parents[node]].append(part)
    return _part(ANY_ELEMENT, twig.tests[0], below[0])


def _far_above(part: TreePart, levels: int) -> TreePart:
    label = "//" if levels == 1 else f"//{levels}"
    names = part.names_below | name_bit(part)
    return TreePart(label, (), is_name=False, children=(part,), names_below=names, far=levels)


def _part(label: Label, tests: Sequence[Condition], below: Sequence[TreePart]) -> TreePart:
    """A node with tests and, last first, what else is below it."""
    values = [
        TreePart(test, (), is_name=False, children=(), names_below=0)
        for test in tests
        if isinstance(test, ValueTest)
    ]
    names_below = 0
    for child in below:
        names_below |= name_bit(child) | child.names_below
    wider = _names_around(label)
    return TreePart(
        wider[0],
        wider,
        None not in label or label == TEXT,
        (*values, *reversed(below)),
        names_below,
    )


def name_bit(part: TreePart) -> int:
    """The bit of a name; 0 for ``*`` and the like, tests and ``//``."""
    return 1 << hash(part.label) % _MASK_BITS if part.is_name else 0


@lru_cache(maxsize=4096)  # As many names as a few schemas have.
def _names_around(label: Label) -> tuple[str, ...]:
    """The names of all labels that include one, its own first."""
    kind, namespace, local = label
    wider = {Label(kind, each, name): None for each in (namespace, None) for name in (local, None)}
    return tuple(map(_label_text, wider))


def _label_text(label: Label) -> str:
    """The text of a label: ``a``, ``{urn:p}a``, ``*:a``, ``{urn:p}*``, ``@x``, ``text()``."""
    if label.kind is Kind.TEXT:
        return "text()"
    sign = "@" if label.kind is Kind.ATTRIBUTE else ""
    if label == (label.kind, None, None):
        return f"{sign}*"
    space = "*:" if label.namespace is None else f"{{{label.namespace}}}" if label.namespace else ""
    if not space and label.local is None:
        space = "{}"
    return f"{sign}{space}{label.local or '*'}"
