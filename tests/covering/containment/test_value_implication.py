"""Implications between value tests: none that libxml2 refutes with a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from twigcast.covering.containment.value_implication import (
    Fact,
    contradictory,
    facts_imply,
    opposite,
    value_implies,
)
from twigcast.language.condition.model import Not, Operator, ValueTest
from twigcast.language.xpath.syntax import Literal, Number

STRINGS = ("", "1", "5", "5.0", " 5 ", "05", "x", "xy", "y", "yx", "-1", "1e3", "1000", "é")
NUMBERS = ("0", "1", "5", "5.0", "-1", "1000", "4.5", "1" + "0" * 400)
VALUES = (
    *STRINGS,
    "2",
    "3",
    "4.7",
    "6",
    "-7",
    "999",
    "1001",
    "xyx",
    "zxy",
    "NaN",
    "1e999",
    "-1e999",
)
ORDERS = (Operator.LESS, Operator.AT_MOST, Operator.GREATER, Operator.AT_LEAST)
EQUALITIES = (Operator.EQUAL, Operator.UNEQUAL)
PARTS = (Operator.CONTAINS, Operator.STARTS_WITH)

numeric = st.builds(
    ValueTest, st.sampled_from(EQUALITIES + ORDERS), st.sampled_from(NUMBERS).map(Number)
)
ordered = st.builds(ValueTest, st.sampled_from(ORDERS), st.sampled_from(STRINGS).map(Literal))
stringly = st.builds(
    ValueTest, st.sampled_from(EQUALITIES + PARTS), st.sampled_from(STRINGS).map(Literal)
)
tests = st.one_of(numeric, ordered, stringly)
facts = st.one_of(tests, tests, tests.map(Not))


def implies(stronger: ValueTest, weaker: ValueTest) -> bool:
    return value_implies(stronger=stronger, weaker=weaker)


def passes_in_libxml2(fact: Fact, value: str) -> bool:
    """Whether libxml2 finds the fact at an element with that value."""
    if isinstance(fact, Not):
        assert isinstance(fact.part, ValueTest)
        return not passes_in_libxml2(fact.part, value)
    element = etree.Element("a")
    element.text = value
    constant = fact.constant
    written = f'"{constant.value}"' if isinstance(constant, Literal) else constant.text
    text = (
        f"{fact.operator}(., {written})"
        if fact.operator in PARTS
        else f". {fact.operator} {written}"
    )
    return bool(etree.XPath(f"boolean(self::node()[{text}])", regexp=False)(element))


@given(st.lists(facts, max_size=3).map(tuple), facts)
def test_what_is_implied_holds_for_every_value(known: tuple[Fact, ...], wanted: Fact) -> None:
    passing = [value for value in VALUES if all(passes_in_libxml2(fact, value) for fact in known)]
    if facts_imply(known, wanted):
        assert all(passes_in_libxml2(wanted, value) for value in passing)
    if contradictory(known):
        assert not passing


@given(numeric, numeric)
def test_numbers_are_decided_exactly(stronger: ValueTest, weaker: ValueTest) -> None:
    limits = [
        float(test.constant.text)
        for test in (stronger, weaker)
        if isinstance(test.constant, Number)
    ]
    near = [limit + step for limit in limits for step in (-0.25, 0, 0.25)]
    values = [
        *(f"{number:f}" for number in near if abs(number) < 1e9),
        "word",
        "1e999",
        "-1e999",
        "7777",
    ]
    counterexample = any(
        passes_in_libxml2(stronger, v) and not passes_in_libxml2(weaker, v) for v in values
    )
    assert implies(stronger, weaker) is not counterexample


@given(tests, st.sampled_from(VALUES))
def test_the_opposite_holds_where_the_test_does_not(test: ValueTest, value: str) -> None:
    assert passes_in_libxml2(opposite(test), value) is not passes_in_libxml2(test, value)


def compared(text: str) -> ValueTest:
    operator, constant = text.split(" ", 1)
    value = Literal(constant[1:-1]) if constant[0] == "'" else Number(constant)
    return ValueTest(Operator(operator), value)


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("> 15", "> 10"), ("> 15", ">= 15"), ("= 15", "> 10"), ("= 15", "!= 10"), ("< 3", "!= 3"),
        ("= '15'", "> 10"), ("= '15'", "= 15"), ("= '15'", "!= '15.0'"), ("> 10", "!= 'x'"),
        ("starts-with 'ab'", "starts-with 'a'"), ("starts-with 'ab'", "contains 'b'"),
        ("contains 'abc'", "contains 'bc'"), ("= 'abc'", "contains 'bc'"), ("> '5'", "> 4"),
        ("!= 15", "!= '15.0'"),
        ("contains 'a'", "!= 'b'"), ("< 'x'", "= 'no value is less than a word'"),
    ],
)  # fmt: skip
def test_implications_people_count_on(stronger: str, weaker: str) -> None:
    assert implies(compared(stronger), compared(weaker))


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("= 15", "= '15'"), ("!= '15'", "!= 15"), ("contains 'a'", "starts-with 'a'"),
        ("> 10", "> 15"), ("!= 5", "< 5"), (">= 15", "> 15"),
    ],
)  # fmt: skip
def test_what_looks_like_an_implication_and_is_none(stronger: str, weaker: str) -> None:
    assert not implies(compared(stronger), compared(weaker))


def test_facts_work_together() -> None:
    between = (compared("> 3"), compared("< 5"))
    assert facts_imply(between, compared("!= 5"))
    assert facts_imply((compared(">= 3"), compared("!= 3")), compared("> 3"))
    assert not facts_imply(between, compared("> 4"))
    assert contradictory((compared("> 5"), compared("< 3")))
    assert contradictory((compared("starts-with 'a'"), compared("starts-with 'b'")))
    assert contradictory((compared("contains 'ab'"), Not(compared("contains 'a'"))))
    assert contradictory((compared("= 'a'"), compared("= 'b'")))


def test_not_less_is_not_the_same_as_at_least() -> None:
    assert facts_imply((compared(">= 5"),), Not(compared("< 5")))
    assert not facts_imply((Not(compared("< 5")),), compared(">= 5"))
