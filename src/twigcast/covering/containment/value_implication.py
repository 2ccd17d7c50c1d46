"""Implications and contradictions between value tests.

A test compares the string-value of *one* node with a constant (conditions determine which node of a
set it may be). XPath 1.0 (3.4) has two kinds of comparison, and libxml2 implements both:

    strings   = and != with a string, contains, starts-with
    numbers   = and != with a number, and < <= > >= always; what is no number is NaN, which is
              unequal to everything, itself included, and neither less nor greater

So ``. = 5`` and ``. = '5'`` differ (" 5.0 " passes the first only), ``not(. < 5)`` is not
``. >= 5`` (a text that is no number passes the first only), and yet a string can decide a number:
``. = '7'`` fixes the value, so every other test follows from it or contradicts it.

*Facts* are tests, or negations of tests, that all hold at one node. The numbers they allow form an
interval with holes, with or without NaN; that part is exact, and so is ``!=`` with a string: the
facts imply ``. != 'x'`` exactly where 'x' itself would not pass them. The rest is sound: a prefix
implies shorter prefixes, a part implies its own parts.

    >>> from twigcast.language.xpath.syntax import Literal, Number
    >>> above_15 = ValueTest(Operator.GREATER, Number("15"))
    >>> value_implies(stronger=above_15, weaker=ValueTest(Operator.GREATER, Number("10")))
    True
    >>> value_implies(stronger=above_15, weaker=ValueTest(Operator.UNEQUAL, Literal("15.0")))
    True
    >>> contradictory((above_15, ValueTest(Operator.AT_MOST, Number("3"))))
    True

XNET, section 3, orders value tests in the same way (``> 15`` below ``> 10``), but does not define
the order for values that are no numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import inf, isnan
from typing import Final, TypeAlias

from twigcast.language.condition.model import (
    FALSE,
    Condition,
    Not,
    Operator,
    ValueTest,
)
from twigcast.language.condition.value_tests import constant_number, is_numeric, passes
from twigcast.language.xpath.syntax import Literal

Fact: TypeAlias = ValueTest | Not
"""A value test, or the negation of one."""

_OPPOSITE: Final = {Operator.EQUAL: Operator.UNEQUAL, Operator.UNEQUAL: Operator.EQUAL}


def value_implies(*, stronger: ValueTest, weaker: ValueTest) -> bool:
    """Whether every value that passes the one test passes the other."""
    return stronger is weaker or facts_imply((stronger,), weaker)


def opposite(test: ValueTest) -> Fact:
    """The negation of a test: another test for ``=`` and ``!=``, otherwise a ``Not``."""
    operator = _OPPOSITE.get(test.operator)
    return Not(test) if operator is None else ValueTest(operator, test.constant)


def value_facts(conditions: Iterable[Condition]) -> tuple[Fact, ...]:
    """Those of the conditions that are about the node's own value."""
    return tuple(
        condition
        for condition in conditions
        if isinstance(condition, ValueTest)
        or (isinstance(condition, Not) and isinstance(condition.part, ValueTest))
    )


@lru_cache(maxsize=65_536)  # Tests are shared by many patterns, and so are their relations.
def facts_imply(facts: tuple[Fact, ...], wanted: Fact) -> bool:
    """Whether ``wanted`` holds for every value for which all the facts hold."""
    if wanted in facts:
        return True
    if contradictory(facts):
        return True
    for fact in facts:
        if (value := _only_value(fact)) is not None:
            return _holds(wanted, value)
    test, negated = _test_and_sign(wanted)
    if is_numeric(test):
        return reduce(_NumberSet.meet, map(_numbers, facts), _ANYTHING).within(_numbers(wanted))
    assert isinstance(test.constant, Literal)
    if test.operator in _OPPOSITE:
        is_unequal = (test.operator is Operator.UNEQUAL) is not negated
        return is_unequal and not all(_holds(fact, test.constant.value) for fact in facts)
    return any(_string_implies(fact, test.operator, test.constant.value, negated) for fact in facts)


@lru_cache(maxsize=65_536)
def contradictory(facts: tuple[Condition, ...]) -> bool:
    """Whether no value has all these facts, if that is certain; other conditions count as true."""
    if FALSE in facts:
        return True
    known = value_facts(facts)
    for fact in known:
        if (value := _only_value(fact)) is not None:
            return not all(_holds(other, value) for other in known)
        test, negated = _test_and_sign(fact)
        if test.operator in _PARTS and isinstance(test.constant, Literal):
            denied = (test.operator, test.constant.value, not negated)
            if any(_string_implies(other, *denied) for other in known):
                return True
    return reduce(_NumberSet.meet, map(_numbers, known), _ANYTHING).is_empty


_PARTS: Final = frozenset({Operator.CONTAINS, Operator.STARTS_WITH})


def _test_and_sign(fact: Fact) -> tuple[ValueTest, bool]:
    """The test and whether it is negated."""
    if isinstance(fact, ValueTest):
        return fact, False
    assert isinstance(fact.part, ValueTest)
    return fact.part, True


def _only_value(fact: Fact) -> str | None:
    """The only value that the fact allows, or None if it allows more."""
    test, negated = _test_and_sign(fact)
    wanted = Operator.UNEQUAL if negated else Operator.EQUAL
    if test.operator is wanted and isinstance(test.constant, Literal):
        return test.constant.value
    return None


def _holds(fact: Fact, value: str) -> bool:
    """Whether a node with that string-value has the fact."""
    test, negated = _test_and_sign(fact)
    return passes(test, value) is not negated


def _string_implies(fact: Fact, operator: Operator, wanted: str, negated: bool) -> bool:  # noqa: FBT001
    """Whether the fact about a string implies that it contains, or lacks, the part ``wanted``."""
    test, denied = _test_and_sign(fact)
    if not isinstance(test.constant, Literal) or test.operator not in _PARTS:
        return False
    part, at_start = test.constant.value, test.operator is Operator.STARTS_WITH
    if not negated:
        if operator is Operator.CONTAINS:
            return not denied and wanted in part
        return not denied and at_start and part.startswith(wanted)
    if denied:
        # A string without the part has no longer part that contains it.
        if not at_start:
            return part in wanted
        return operator is Operator.STARTS_WITH and wanted.startswith(part)
    apart = not part.startswith(wanted) and not wanted.startswith(part)
    return at_start and operator is Operator.STARTS_WITH and apart


# Numbers.


@dataclass(frozen=True, slots=True)
class _NumberSet:
    """A set of numbers: from ``low`` to ``high``, without the holes, and perhaps NaN."""

    low: float = -inf
    high: float = inf
    holes: frozenset[float] = frozenset()
    nan: bool = True

    def meet(self, other: _NumberSet) -> _NumberSet:
        """The intersection."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return _NumberSet(low, high, self.holes | other.holes, self.nan and other.nan)

    @property
    def has_numbers(self) -> bool:
        """Whether it has more than NaN; holes between adjacent floats are not considered."""
        return self.low < self.high or (self.low == self.high and self.low not in self.holes)

    @property
    def is_empty(self) -> bool:
        """Whether the set is empty."""
        return not self.nan and not self.has_numbers

    def within(self, other: _NumberSet) -> bool:
        """Whether it is a subset of the other."""
        if self.nan and not other.nan:
            return False
        return not self.has_numbers or (
            other.low <= self.low
            and self.high <= other.high
            and all(hole in self.holes or not self.low <= hole <= self.high for hole in other.holes)
        )


_ANYTHING: Final = _NumberSet()
_NOTHING: Final = _NumberSet(inf, -inf, nan=False)


def _numbers(fact: Fact) -> _NumberSet:
    """The numbers of the values with the fact."""
    test, negated = _test_and_sign(fact)
    if not is_numeric(test):
        return _ANYTHING
    operator, limit = test.operator, constant_number(test.constant)
    if operator in _OPPOSITE and negated:
        operator, negated = _OPPOSITE[operator], False
    if isnan(limit):
        # Every comparison with NaN is false, except that everything is unequal to it.
        return _ANYTHING if negated or operator is Operator.UNEQUAL else _NOTHING
    match operator:
        case Operator.EQUAL:
            return _NumberSet(limit, limit, nan=False)
        case Operator.UNEQUAL:
            return _NumberSet(holes=frozenset({limit}))
        case Operator.LESS | Operator.AT_MOST:
            below = not negated
        case _:
            below = negated
    # A strict comparison leaves the limit out, and so does the negation of one that is not.
    strict = operator in {Operator.LESS, Operator.GREATER}
    holes = frozenset({limit}) if strict is not negated else frozenset()
    return (
        _NumberSet(high=limit, holes=holes, nan=negated)
        if below
        else _NumberSet(low=limit, holes=holes, nan=negated)
    )
