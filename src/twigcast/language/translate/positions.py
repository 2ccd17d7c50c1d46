"""Predicates on positions, and comparisons of counts, that are about existence only.

Where only existence matters, the first node or the last one is as good as all: ``a[1]`` means
``a``, and so do ``a[last()]``, ``a[position() < 3]`` and ``a[position() = last()]``. Some such
predicates hold for every node, ``[position() > 0]``, and can go wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from twigcast.language.condition.model import Constant
from twigcast.language.xpath.syntax import Binary, Call, Expression, Negative, Number

__all__ = ["always", "compared", "without_idle", "without_trailing"]

_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DIGITS_PLAIN_MAX: Final = 15
"""Longer numbers, and those with an exponent, may be rounded by libxml2 in its own way."""

_POSITION: Final = Call("position", ())
_LAST: Final = Call("last", ())


def compared(number: int, operator: str, constant: Constant) -> bool | None:
    """Whether a number compares with the constant; None if only libxml2 can decide."""
    value = _value(constant)
    return None if value is None else _OPERATORS[operator](number, value)


def always(operator: str, constant: Constant) -> bool | None:
    """A comparison's result for all numbers 1, 2, 3 …; None if they differ, or for libxml2."""
    value = _value(constant)
    if value is None:
        return None
    first = _OPERATORS[operator](1, value)
    match operator:
        case ">" | ">=":
            return True if first else None
        case "<" | "<=":
            return None if first else False
        case _:
            is_one_of_them = value >= 1 and value == int(value)
            return None if is_one_of_them else operator == "!="


def without_idle(predicates: tuple[Expression, ...], *, single: bool) -> tuple[Expression, ...]:
    """The predicates without those on positions that always hold.

    With ``single`` there is one node at most, which is the first and the last.
    """
    if not predicates:
        return predicates
    return tuple(
        each for each in predicates if not (_is_idle(each) or (single and _keeps_one(each)))
    )


def without_trailing(predicates: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The predicates without the last ones that keep the first node, or the last one, at least."""
    while predicates and (_keeps_one(predicates[-1]) or _is_idle(predicates[-1])):
        predicates = predicates[:-1]
    return predicates


def _value(constant: Constant | Negative) -> float | None:
    if not isinstance(constant, Number):
        return None
    digits = constant.text.removeprefix("-")
    if len(digits) > _DIGITS_PLAIN_MAX or not digits.replace(".", "", 1).isdigit():
        return None
    return float(constant.text)


def _sides(predicate: Expression) -> tuple[Expression, str, Expression] | None:
    """A comparison with a position on its left side."""
    if not isinstance(predicate, Binary) or predicate.operator not in _OPERATORS:
        return None
    if predicate.left in (_POSITION, _LAST):
        return predicate.left, predicate.operator, predicate.right
    return predicate.right, _MIRRORED[predicate.operator], predicate.left


def _is_idle(predicate: Expression) -> bool:
    match _sides(predicate):
        case (Call("position" | "last", ()), operator, Number() as constant):
            return always(operator, constant) is True
        case _:
            return False


def _keeps_one(predicate: Expression) -> bool:
    if predicate in (Number("1"), _LAST):
        return True
    match _sides(predicate):
        case (Call("position", ()), operator, Number() as constant):
            return compared(1, operator, constant) is True
        case (Call("position", ()), "=" | "<=", Call("last", ())):
            return True
        case (Call("last", ()), "=" | ">=", Call("position", ())):
            return True
        case _:
            return False
