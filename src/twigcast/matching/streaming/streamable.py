"""Streamable conditions: those that can be decided while a document is read in order.

Two things cannot, because they look across the document: the *first* of all the nodes that a path
leads to (``contains(.//b, 'x')``), and an absolute path in an alternative or a negation of a
predicate (``//a[not(/r/b)]``). The string-value of the whole document waits for its end as well.
A condition with such parts is treated as one that only libxml2 can decide: a weaker one selects
the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import assert_never

from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Not,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.condition.normal_form import all_of, any_of, exists, negation, on_document
from twigcast.language.translate.relaxation import weakened
from twigcast.language.xpath.syntax import Literal


def softened(condition: Condition) -> Condition:
    """The weakest condition decidable on the way that must hold; itself if it is decidable.

    The condition is one on the document node, and exact.
    """
    if _is_decidable(condition, at_document=True):
        return condition
    return on_document(weakened(_marked(condition, count(), at_document=True)))


def _is_decidable(condition: Condition, *, at_document: bool) -> bool:
    match condition:
        case Exists(_, _, where):
            return _is_decidable(where, at_document=False)
        case AllOf(parts) | AnyOf(parts):
            return all(_is_decidable(part, at_document=at_document) for part in parts)
        case Not(part):
            return _is_decidable(part, at_document=at_document)
        case ValueTest():
            return not at_document
        case SelfIs():
            return True
        case AtDocument() | FirstValue() | Residual():
            return False
        case _:
            assert_never(condition)


def _marked(condition: Condition, numbers: Iterator[int], *, at_document: bool) -> Condition:
    """The condition with whatever is not decidable marked as such.

    A mark is a residual condition, from which nothing follows. Each has a number of its own, or one
    of them and the negation of another would contradict each other.
    """
    if _is_decidable(condition, at_document=at_document):
        return condition
    match condition:
        case Exists(reach, label, where):
            return exists(reach, label, _marked(where, numbers, at_document=False))
        case AllOf(parts):
            return all_of(_marked(part, numbers, at_document=at_document) for part in parts)
        case AnyOf(parts):
            return any_of(_marked(part, numbers, at_document=at_document) for part in parts)
        case Not(part):
            return negation(_marked(part, numbers, at_document=at_document))
        case FirstValue(steps):
            path: Condition = all_of(())
            for reach, label, where in reversed(steps):
                path = exists(
                    reach, label, all_of((_marked(where, numbers, at_document=False), path))
                )
            return all_of((path, _mark(numbers)))
        case _:
            return _mark(numbers)


def _mark(numbers: Iterator[int]) -> Residual:
    return Residual(Literal(str(next(numbers))))
