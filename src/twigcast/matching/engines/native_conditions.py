"""Conditions back from the kernel, which keeps them as its own records.

It gives a condition as nested tuples: the name of its form, then its parts in the order in which
the classes of :mod:`twigcast.language.condition.model` have them.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import isinf
from typing import Any, Final

from twigcast.language.condition.model import (
    AtDocument,
    Condition,
    Exists,
    FirstStep,
    FirstValue,
    Kind,
    Label,
    Not,
    Operator,
    Reach,
    SelfIs,
    ValueTest,
)
from twigcast.language.condition.normal_form import all_of, any_of
from twigcast.language.condition.value_tests import constant_number
from twigcast.language.xpath.syntax import Literal, Number

_BEYOND: Final = "1" + "0" * 309
"""More than the largest number of 64 bits, which libxml2 reads as infinity."""


def condition_of(form: tuple[Any, ...]) -> Condition:
    """The condition of a kernel's form."""
    name, *parts = form
    match name:
        case "exists":
            far, label, where = parts
            return Exists(_reach(far=far), _label(label), condition_of(where))
        case "self":
            return SelfIs(_label(parts[0]))
        case "value":
            return _test(parts)
        case "first":
            steps = [
                FirstStep(_reach(far=far), _label(label), condition_of(where))
                for far, label, where in parts[0]
            ]
            return FirstValue(tuple(steps), _test(parts[1]))
        case "all":
            return all_of(map(condition_of, parts[0]))
        case "any":
            return any_of(map(condition_of, parts[0]))
        case "not":
            return Not(condition_of(parts[0]))
        case _:
            return AtDocument(condition_of(parts[0]))


def _reach(*, far: bool) -> Reach:
    return Reach.DESCENDANT if far else Reach.CHILD


def _label(form: tuple[str, str | None, str | None]) -> Label:
    kind, namespace, local = form
    return Label(Kind(kind), namespace, local)


def _test(form: Iterable[Any]) -> ValueTest:
    operator, constant = form
    if isinstance(constant, str):
        return ValueTest(Operator(operator), Literal(constant))
    return ValueTest(Operator(operator), Number(_written(constant)))


def _written(number: float) -> str:
    """A number as XPath writes it, such that libxml2 reads it back.

    There are no exponents and no infinity, and whole numbers are written without a point. Where
    libxml2 rounds the shortest writing to a neighbour, all digits are written.
    """
    if isinf(number):
        return ("-" if number < 0 else "") + _BEYOND
    short = format(Decimal(repr(number)), "f").removesuffix(".0")
    return short if constant_number(Number(short)) == number else format(Decimal(number), "f")
