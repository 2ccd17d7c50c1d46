"""Linear parts: what a pattern needs of a document that travels path by path.

A pattern with branches cannot be decided on one root-to-leaf path, so *linear parts* are asked of
neighbours in its stead: rows of elements, each with tests of its own label and attributes, at the
end perhaps of a value. They are such that the pattern holds of the document if and only if it holds
of what the paths make up that match a part; more paths do no harm::

    //a[@x = 1][b]/c[. > 5]        //a[@x = 1]/b    //a[@x = 1]/c[. > 5]    //a[@x = 1]/c/*

A document satisfies a linear part if and only if one of its paths does, for what the part asks of
lies on one path. And parts can be held back: if r covers s, every document that satisfies s
satisfies r, and a path is a document, so what is wanted for s travels for r. (The same under a
schema, which says nothing but which label paths there are.) With the patterns themselves that would
be wrong: ``//a/b`` covers ``//a[b]/c``, but lets no path to a ``c`` through.

**Why parts suffice.** Let K be what is left. For each condition C on a node reached by the way π,
by induction: (1) a node on π where C holds is in K; (2) at a node on π in K, C holds in K if and
only if it does in the document.

===================================  =========================================================
C                                    parts
===================================  =========================================================
own label and attributes, any logic  π[C]: nothing that is cut away has to do with C
an element below, where D            those of D on the way π/element
an attribute or text below           π/@x, π/text(), with its value: it travels with its element
both C and D; one of C and D         those of C and those of D, own tests first added to the way
string-value of the node             π[C] for a leaf, which is whole; π/* for others: if anything
                                     travels of what is in them, all does
not C                                π, and the parts of C: whatever is in such a node travels
first of some nodes                  all these nodes: nothing before the first is missing
absolute path                        π, and the parts of the path from the document node
residual                             every path
===================================  =========================================================

A leaf is an element without elements inside, and where texts go is described in
:mod:`twigcast.routing.path_unit.path_messages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final, assert_never

from twigcast.covering.merging.spine import Spine, SpineStep, pattern_of
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    ANY_ELEMENT,
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstStep,
    FirstValue,
    Kind,
    Not,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
    parts_of,
    without_redundant,
)
from twigcast.language.condition.normal_form import on_document

EVERY_PATH: Final = Pattern.parse("/*")
"""The linear part that all paths match."""


def linear_parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """Single paths that decide between them which paths of a document a pattern needs.

    In the order of their texts; none if no document satisfies the pattern. The pattern itself, if
    it is a single path that compares no string-value of an element.

    >>> [part.text for part in linear_parts(Pattern.parse("//a[@x = 1][b]/c[. > 5]"))]
    ['//a[@x = 1]/b', '//a[@x = 1]/c/*', '//a[@x = 1][c > 5]']
    >>> linear_parts(Pattern.parse("/a/b[2]"))
    (Pattern('/*'),)
    """
    if not pattern.exact:
        return (EVERY_PATH,)
    if pattern.condition is FALSE:
        return ()
    found: list[Condition] = []
    for way in _parts(pattern.condition, ()):
        if not way or (len(way) == 1 and way[0][1:] == (ANY_ELEMENT, ())):
            return (EVERY_PATH,)
        part = on_document(pattern_of(way).condition)
        if part is not FALSE:
            found.append(part)
    kept = without_redundant(found, conjunction=False)
    return tuple(sorted(map(Pattern, kept), key=lambda part: part.text))


def _parts(condition: Condition, way: Spine) -> Iterator[Spine]:
    """The ways to all that a condition on the node at the end of a way has to do with.

    A way without steps stands for every path.
    """
    rest = parts_of(condition)
    if way:
        own = tuple(part for part in rest if _reads(part) is _Reads.ITSELF)
        at_leaf = tuple(part for part in rest if part not in own and _is_known_at_leaf(part))
        rest = tuple(part for part in rest if part not in own and part not in at_leaf)
        way = _with_tests(way, own)
        if at_leaf:
            yield (*way, SpineStep(Reach.CHILD, ANY_ELEMENT))
            way = _with_tests(way, at_leaf) if not rest else way
    if not rest:
        yield way
    for part in rest:
        yield from _further(part, way)


def _further(part: Condition, way: Spine) -> Iterator[Spine]:
    """The same for one condition that has to do with more than its node."""
    match part:
        case Exists(reach, label, where) if label.kind is Kind.ELEMENT:
            yield from _parts(where, (*way, SpineStep(reach, label)))
        case Exists(reach, label, where):
            yield (*way, SpineStep(reach, label, parts_of(where))) if _is_of_value(where) else ()
        case FirstValue(steps):
            yield from _reached(steps, way)
        case AnyOf(parts) | AllOf(parts):
            for each in parts:
                yield from _parts(each, way)
        case Not(inner):
            yield way
            yield from _parts(inner, way)
        case AtDocument(inner):
            yield way
            yield from _parts(inner, ())
        case SelfIs() | ValueTest():
            yield way
        case Residual():
            yield ()
        case _:
            assert_never(part)


def _reached(steps: Sequence[FirstStep], way: Spine) -> Iterator[Spine]:
    """The ways to all nodes that some steps lead to, and to what decides whether they do."""
    for reach, label, where in steps:
        if label.kind is not Kind.ELEMENT:
            yield from _further(Exists(reach, label, where), way)
            return
        way = (*way, SpineStep(reach, label))
        if where is not TRUE:
            yield from _parts(where, way)
    yield way


def _with_tests(way: Spine, tests: tuple[Condition, ...]) -> Spine:
    reach, label, before = way[-1]
    return (*way[:-1], SpineStep(reach, label, (*before, *tests)))


class _Reads(IntEnum):
    """What of an element a condition has to do with; the higher, the more can be cut away."""

    ITSELF = 0
    """Its label and attributes, which every path has."""
    VALUE = 1
    """Its string-value."""
    TEXTS = 2
    """The texts that are its children."""
    MORE = 3


def _reads(condition: Condition) -> _Reads:
    match condition:
        case SelfIs():
            return _Reads.ITSELF
        case ValueTest():
            return _Reads.VALUE
        case Exists(Reach.CHILD, label, where) | FirstValue(
            (FirstStep(Reach.CHILD, label, where),)
        ):
            return _READS_OF[label.kind] if _is_of_value(where) else _Reads.MORE
        case AllOf(parts) | AnyOf(parts):
            return max(map(_reads, parts), default=_Reads.ITSELF)
        case Not(part):
            return _reads(part)
        case _:
            return _Reads.MORE


_READS_OF: Final = {
    Kind.ATTRIBUTE: _Reads.ITSELF,
    Kind.TEXT: _Reads.TEXTS,
    Kind.ELEMENT: _Reads.MORE,
}


def _is_known_at_leaf(part: Condition) -> bool:
    """Whether a condition is best left as it is at a leaf, with all paths of other elements.

    That some text is there can be asked for more narrowly, by a way to that text.
    """
    return _reads(part) <= (_Reads.TEXTS if isinstance(part, Not) else _Reads.VALUE)


def _is_of_value(condition: Condition) -> bool:
    """Whether a condition on an attribute or text has to do with its name and value alone."""
    match condition:
        case SelfIs() | ValueTest():
            return True
        case AllOf(parts) | AnyOf(parts):
            return all(map(_is_of_value, parts))
        case Not(part):
            return _is_of_value(part)
        case _:
            return False
