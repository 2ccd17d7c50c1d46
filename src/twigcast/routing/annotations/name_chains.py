"""Rows of names that patterns need: the data patterns of Piggyback.

A row is some names joined by ``/``, anywhere in a document: ``//a/b/c``. Without it, no pattern
that needs it can match; and where many patterns need one row, a single bit spares all of them.

    //x//a[d]/b/c     needs   a, a/b, a/b/c, a/d, b, b/c, c, d, x
    //a[b or c]       needs   a               (only what all alternatives have)
    //a[not(b)]       needs   a               (what is forbidden is not needed)
    //a[b = c]        needs   a, a/b, a/c     (also what only libxml2 can decide needs something)

A pattern is taken apart into alternatives, each a twig
(:mod:`twigcast.covering.containment.disjuncts`): a document that matches the pattern satisfies one
of the twigs, with an element for each of its nodes. Nodes with a full name, one the child of the
other, so are elements in a row. What every twig has is needed. Rows that the analysis does not see
are missing, which costs a skip and never a document.

**Where a position suffices.** Let the last element that begins an occurrence of a row end with the
*l*-th end tag. Piggyback (3.1.1) says that behind it no pattern that needs the row can match any
more. That is wrong for ``//a/b and //test``: the ``test`` may come later. It is right if

1. above the node *n* that begins the row in the pattern there is nothing but one path, at its nodes
   at most attributes that must be there or pass a test, and
2. the pattern asks for nothing but what is known within the element that *n* is laid on, by the
   time that it ends: no first value of a path, no absolute path, nothing residual.

*Proof.* Take any way to lay the pattern onto the document. The element under *n* begins an
occurrence of the row, so it ends with the *l*-th end tag or before. All that is asked at *n* and
below it is about nodes within that element, and known with its end tag at the latest, negations and
values included. The elements above it had begun before, and attributes are known with start tags.
So this way of matching was complete by the *l*-th end tag; since it was any, none is completed
behind it. ∎

Hence, of ``//x[@k]/a[b][not(c)]/d``, the rows ``x``, ``x/a``, ``x/a/b``, ``x/a/d``, ``a``, ``a/b``
and ``a/d`` have useful positions, and ``b`` and ``d`` have not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import log
from typing import Final, TypeAlias

from twigcast.covering.containment.disjuncts import narrower_twigs
from twigcast.covering.containment.twig import CHILD, Twig
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    TRUE,
    Condition,
    Exists,
    Kind,
    Label,
    Reach,
    ValueTest,
    parts_of,
)
from twigcast.language.condition.normal_form import exists
from twigcast.matching.streaming.streamable import softened

Row: TypeAlias = tuple[Label, ...]
"""Names of elements, from the top; each is one name, in one namespace or in none."""

ROW_NAMES_MAX: Final = 8
"""Names of a row: as many steps as the patterns of the papers have. Longer ones have parts."""

_PATTERNS_KEPT: Final = 65_536
"""Patterns whose rows are remembered, since the tables of all links are made from the same."""


@lru_cache(maxsize=_PATTERNS_KEPT)
def needed_rows(pattern: Pattern) -> frozenset[Row]:
    """Rows that every document which matches the pattern contains.

    >>> sorted(row_pattern(row).text for row in needed_rows(Pattern.parse("//x//a[b or c]/d")))
    ['//a', '//a/d', '//d', '//x']
    """
    twigs = narrower_twigs(pattern.condition)
    if not twigs:
        return frozenset()
    return frozenset.intersection(*(frozenset(_rows_in(twig)) for twig in twigs))


@lru_cache(maxsize=_PATTERNS_KEPT)
def rows_with_positions(pattern: Pattern) -> frozenset[Row]:
    """Rows behind whose last occurrence no match of the pattern becomes certain any more."""
    if not pattern.exact or softened(pattern.condition) is not pattern.condition:
        return frozenset()
    found: set[Row] = set()
    here: Exists | None = _only_way(pattern.condition)
    while here is not None:
        found.update(_rows_from(here))
        here = _only_way(here.where)
    return frozenset(found)


def best_rows(
    patterns: Iterable[Pattern], *, rows_max: int, patterns_min: int
) -> list[tuple[Row, list[Pattern]]]:
    """The most useful rows that so many patterns need, best first, each with these patterns.

    How useful a row is Piggyback (4.2) puts as ``frequency · ln(names + 1)``. A row within another
    that just as many patterns need is left out: whenever it is absent, so is the other, and the
    same patterns need both. Of equally useful ones the first by name comes first.
    """
    needing: dict[Row, list[Pattern]] = {}
    for pattern in patterns:
        for row in needed_rows(pattern):
            needing.setdefault(row, []).append(pattern)
    spare = {
        part
        for row, needers in needing.items()
        for part in (row[1:], row[:-1])
        if part and len(needing[part]) == len(needers)
    }
    kept = [
        (row, needers)
        for row, needers in needing.items()
        if len(needers) >= patterns_min and row not in spare
    ]
    kept.sort(key=lambda one: (-len(one[1]) * log(len(one[0]) + 1), one[0]))
    return kept[:rows_max]


def row_pattern(row: Row) -> Pattern:
    """The pattern that asks for a row: ``//a/b/c``."""
    condition: Condition = TRUE
    for label in reversed(row[1:]):
        condition = exists(Reach.CHILD, label, condition)
    return Pattern(exists(Reach.DESCENDANT, row[0], condition))


def row_of(pattern: Pattern) -> Row | None:
    """The row that a pattern asks for; None if it asks for anything else."""
    row: list[Label] = []
    here = pattern.condition
    while isinstance(here, Exists):
        if here.reach is (Reach.CHILD if not row else Reach.DESCENDANT) or not _is_name(here.label):
            return None
        row.append(here.label)
        here = here.where
    return tuple(row) if row and here is TRUE else None


def rows_within(row: Row) -> Iterator[Row]:
    """All parts of a row, itself among them."""
    for begin in range(len(row)):
        for end in range(begin + 1, len(row) + 1):
            yield row[begin:end]


def _is_name(label: Label | None) -> bool:
    return label is not None and label.kind is Kind.ELEMENT and None not in label


def _rows_in(twig: Twig) -> Iterator[Row]:
    """The rows of a twig, up from each of its nodes."""
    labels, parents, reaches = twig.labels, twig.parents, twig.reaches
    for last in range(1, twig.size):
        node = last
        row: Row = ()
        while node > 0 and len(row) < ROW_NAMES_MAX:
            label = labels[node]
            if label is None or not _is_name(label):
                break
            row = (label, *row)
            yield row
            if reaches[node] != CHILD:
                break
            node = parents[node]


def _only_way(condition: Condition) -> Exists | None:
    """The one element that is asked for below a node, if beside it only attributes are."""
    parts = parts_of(condition)
    elements = [
        part for part in parts if isinstance(part, Exists) and part.label.kind is Kind.ELEMENT
    ]
    if len(elements) != 1 or not all(part is elements[0] or _is_attribute(part) for part in parts):
        return None
    return elements[0]


def _is_attribute(condition: Condition) -> bool:
    """Whether the condition is known with the start tag: some attribute, perhaps its values."""
    return (
        isinstance(condition, Exists)
        and condition.reach is Reach.CHILD
        and condition.label.kind is Kind.ATTRIBUTE
        and all(isinstance(part, ValueTest) for part in parts_of(condition.where))
    )


def _rows_from(top: Exists) -> Iterator[Row]:
    """The rows that begin with a node."""
    left: list[tuple[Exists, Row]] = [(top, ())]
    while left:
        node, above = left.pop()
        if not _is_name(node.label) or len(above) == ROW_NAMES_MAX:
            continue
        row = (*above, node.label)
        yield row
        left.extend(
            (part, row)
            for part in parts_of(node.where)
            if isinstance(part, Exists) and part.reach is Reach.CHILD
        )
