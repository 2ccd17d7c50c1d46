"""Disjunctions of twigs: every condition rewritten as a choice among conjunctions.

"Some a below that has b or c" is "some a below that has b, or some a below that has c": choices
can be moved outwards until none is left inside, and each alternative is a twig.

    //a[b or not(c and d)]      →     //a[b],   //a[not(c)],   //a[not(d)]

A part that is then still neither a path nor a value test (``not`` of a path, residuals, a
``contains`` of a first node) stays in the twig as an opaque test of its node. There can be
exponentially many alternatives; beyond :data:`ALTERNATIVES_MAX` a choice stays inside, opaque as
well. All of this preserves the meaning, so whatever holds for the twigs holds for the condition.

The two sides of a covering are compiled differently:

- The *narrower* side states as much as it can. A residual adds its necessary condition, for
  ``contains(a/b, 'x')`` that there is such a node. A document has one root element, so
  ``/a[b] and /*[c]`` is ``/a[b][c]``, and ``/a and //b`` is ``/a//b``. A value found somewhere
  below an element is part of that element's own value. No text node is empty.
- The *wider* side requires as little as it can: conjuncts separately, since each must cover by
  itself, and each of them condensed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Final, TypeAlias

from twigcast.covering.containment.twig import Twig, condensed, twig_of, with_one_of_each_attribute
from twigcast.covering.containment.value_implication import contradictory, opposite
from twigcast.language.condition.model import (
    ANY_ELEMENT,
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Not,
    Operator,
    Reach,
    Residual,
    ValueTest,
    parts_of,
)
from twigcast.language.condition.normal_form import all_of, at_document, exists, on_document
from twigcast.language.translate.relaxation import weakened
from twigcast.language.xpath.syntax import Literal

ALTERNATIVES_MAX: Final = 64
"""More alternatives than people write, and few enough to compare all pairs."""

_TOPS_MAX: Final = 6
"""Conjuncts of a pattern for which both placements, at the root element and below, are tried."""

_Signed: TypeAlias = tuple[Condition, bool]
"""A condition, and whether it is negated."""


def narrower_twigs(condition: Condition, *, of_document: bool = True) -> tuple[Twig, ...]:
    """Twigs of which one holds exactly where the condition does, with all implied tests.

    Without ``of_document`` the condition is about an unknown node.
    """
    found = []
    for alternative in _alternatives(condition, strengthened=True):
        for rooted in _with_one_root(alternative) if of_document else [alternative]:
            twig = _with_implied_tests(_twig(rooted))
            if not any(map(contradictory, twig.tests)):
                found.append(twig)
    return tuple(dict.fromkeys(found))


def wider_twigs(condition: Condition, *, of_document: bool = True) -> tuple[tuple[Twig, ...], ...]:
    """Groups of twigs: the condition holds exactly where one twig of each group does."""
    groups = []
    for part in parts_of(condition):
        alternatives = _alternatives(part, strengthened=False)
        if of_document:
            alternatives = tuple(map(on_document, alternatives))
        groups.append(tuple(condensed(_twig(each)) for each in alternatives if each is not FALSE))
    return tuple(groups)


def _twig(condition: Condition) -> Twig:
    twig = twig_of(condition, opaque=True)
    assert twig is not None
    return with_one_of_each_attribute(twig)


# Moving choices outwards.


def _alternatives(condition: Condition, *, strengthened: bool) -> tuple[Condition, ...]:
    """Conjunctions of which one holds exactly where the condition does.

    ``strengthened`` adds the necessary conditions of residuals and the like.
    """
    if _is_plain(condition):
        return (condition,)
    start = (condition, False)
    found: dict[_Signed, tuple[Condition, ...]] = {}
    left = [start]
    while left:
        here = left[-1]
        parts = _parts(here, strengthened=strengthened)
        missing = [part for part in parts if part not in found]
        if missing:
            left.extend(missing)
            continue
        left.pop()
        if here not in found:
            found[here] = _combined(here, [found[part] for part in parts])
    return tuple(each for each in found[start] if each is not FALSE)


def _is_plain(condition: Condition) -> bool:
    """Whether the condition is a tree of paths and value tests, as most are."""
    left = [condition]
    while left:
        part = left.pop()
        if isinstance(part, Exists):
            left.append(part.where)
        elif isinstance(part, AllOf):
            left += part.parts
        elif not isinstance(part, ValueTest):
            return False
    return True


def _parts(signed: _Signed, *, strengthened: bool) -> list[_Signed]:
    """The conditions whose alternatives make up those of this one."""
    condition, negated = signed
    match condition:
        case Not(part):
            return [(part, not negated)]
        case AllOf(parts) | AnyOf(parts):
            return [(part, negated) for part in parts]
        case AtDocument(inner):
            return [(inner, negated)]
        case Exists() if not negated:
            return [(condition.where, False)]
        case Residual() if strengthened and not negated:
            return [(weakened(condition), False)]
        case FirstValue() if strengthened and not negated:
            return [(_any_value(condition), False)]
        case _:
            return []


def _combined(signed: _Signed, of_parts: list[tuple[Condition, ...]]) -> tuple[Condition, ...]:
    """The alternatives of a condition, from those of its parts."""
    condition, negated = signed
    itself = Not(condition) if negated else condition
    match condition:
        case Not():
            return of_parts[0]
        case AllOf() | AnyOf() if isinstance(condition, AllOf) is not negated:
            if prod(map(len, of_parts)) > ALTERNATIVES_MAX:
                return (itself,)
            return tuple(dict.fromkeys(map(all_of, product(*of_parts))))
        case AllOf() | AnyOf():
            each = tuple(dict.fromkeys(inner for inners in of_parts for inner in inners))
            return each if len(each) <= ALTERNATIVES_MAX else (itself,)
        case AtDocument():
            return tuple(map(at_document, of_parts[0]))
        case Exists(reach, label) if not negated:
            return tuple(exists(reach, label, where) for where in of_parts[0])
        case Residual() | FirstValue() if of_parts:
            return tuple(all_of((condition, needed)) for needed in of_parts[0])
        case ValueTest() if negated:
            return (opposite(condition),)
        case _:
            return (itself,)


def _any_value(first: FirstValue) -> Condition:
    """The condition that some node, not only the first, has the value."""
    where: Condition = first.test
    for step in reversed(first.steps):
        where = exists(step.reach, step.label, all_of((step.where, where)))
    return where


# Properties of all documents.


def _with_one_root(condition: Condition) -> list[Condition]:
    """The alternatives of a condition on the document node, given that it has one child."""
    parts = parts_of(on_document(condition))
    tops = [_below_an_element(part) for part in parts if isinstance(part, Exists)]
    if len(tops) == 1:
        return [all_of([*tops, *(part for part in parts if not isinstance(part, Exists))])]
    others = [part for part in parts if not isinstance(part, Exists)]
    if len(tops) > _TOPS_MAX:
        return [all_of((*tops, *others))]
    roots = [SOME_ROOT]
    for top in tops:
        roots = [both for root in roots for both in _placements(root, top)]
    wholes = [all_of((root, *others)) for root in roots]
    return [whole for whole in wholes if whole is not FALSE]


SOME_ROOT: Final = Exists(Reach.CHILD, ANY_ELEMENT, TRUE)
"""A condition that holds for every document."""


def _below_an_element(top: Exists) -> Exists:
    """The same condition on the parent element, for an attribute or a text."""
    if top.label.kind is Kind.ELEMENT:
        return top
    return Exists(Reach.DESCENDANT, ANY_ELEMENT, Exists(Reach.CHILD, top.label, top.where))


def _placements(root: Exists, top: Exists) -> list[Exists]:
    """The root element with the condition ``top`` on it, or on something below it."""
    places = [exists(Reach.CHILD, root.label, all_of((root.where, top)))]
    label = root.label.meet(top.label)
    at_root = (
        FALSE if label is None else exists(Reach.CHILD, label, all_of((root.where, top.where)))
    )
    places = [at_root] if top.reach is Reach.CHILD else [*places, at_root]
    return [place for place in places if isinstance(place, Exists)]


def _with_implied_tests(twig: Twig) -> Twig:
    """The twig with implied tests: an element's value contains the values below it."""
    if not any(twig.tests):
        return twig
    tests = list(twig.tests)
    for node in range(len(tests) - 1, -1, -1):
        label = twig.labels[node]
        if node and label and label.kind is not Kind.ATTRIBUTE:
            parent = twig.parents[node]
            tests[parent] = _union(tests[parent], _contained_strings(tests[node]))
    return twig._replace(tests=tuple(tests))


_PART_OPERATORS: Final = frozenset({Operator.EQUAL, Operator.CONTAINS, Operator.STARTS_WITH})


def _contained_strings(tests: Iterable[Condition]) -> list[Condition]:
    """The strings that a value with these tests contains, as tests of enclosing values."""
    return [
        ValueTest(Operator.CONTAINS, test.constant)
        for test in tests
        if isinstance(test, ValueTest)
        and test.operator in _PART_OPERATORS
        and isinstance(test.constant, Literal)
        and test.constant.value
    ]


def _union(tests: tuple[Condition, ...], others: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys((*tests, *others)))
