"""Value tests, by XPath 1.0 (section 3.4) and libxml2's reading of numbers.

Strings are compared as strings. Against a number, and for the four order operators always, both
sides are read as numbers, by libxml2 itself, so that its syntax (``" 5 "``, ``"1e3"``) and its
rounding apply.

    >>> from twigcast.language.xpath.syntax import Number
    >>> passes(ValueTest(Operator.LESS, Number("1001")), "1e3")
    True
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import contains, eq, ge, gt, le, lt, ne
from typing import Final, cast

from lxml import etree

from twigcast.language.condition.model import Constant, Operator, ValueTest
from twigcast.language.xpath.syntax import Literal

_NUMBERS: Final[dict[Operator, Callable[[float, float], bool]]] = {
    Operator.EQUAL: eq,
    Operator.UNEQUAL: ne,
    Operator.LESS: lt,
    Operator.AT_MOST: le,
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
}
_STRINGS: Final[dict[Operator, Callable[[str, str], bool]]] = {
    Operator.EQUAL: eq,
    Operator.UNEQUAL: ne,
    Operator.CONTAINS: contains,
    Operator.STARTS_WITH: str.startswith,
}


def passes(test: ValueTest, value: str) -> bool:
    """Whether a node with that string-value passes the test."""
    operator, constant = test.operator, test.constant
    if isinstance(constant, Literal) and operator in _STRINGS:
        return _STRINGS[operator](value, constant.value)
    return _NUMBERS[operator](number_of(value), constant_number(constant))


def is_numeric(test: ValueTest) -> bool:
    """Whether the test reads values as numbers."""
    return not (isinstance(test.constant, Literal) and test.operator in _STRINGS)


@lru_cache(maxsize=4096)  # The values of a document or two; most tests are of the same few.
def number_of(value: str) -> float:
    """A string read as a number; NaN for other strings."""
    return cast("float", _as_number(_nowhere, value=value))


@lru_cache(maxsize=65_536)  # As many constants as a large set of subscriptions has.
def constant_number(constant: Constant) -> float:
    """The constant read as a number."""
    if isinstance(constant, Literal):
        return number_of(constant.value)
    return cast("float", etree.XPath(constant.text)(_nowhere))


_nowhere: Final = etree.Element("nowhere")
_as_number: Final = etree.XPath("number($value)")
