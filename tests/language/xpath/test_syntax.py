"""Syntax trees: the types of expressions, and predicates that depend on positions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from lxml import etree

from tests.expressions import PREFIXES, expression
from twigcast.errors import PatternError
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import (
    Binary,
    Expression,
    Filter,
    Number,
    Type,
    all_within,
    is_positional,
    like_operands,
    operands,
    type_of,
)

TYPES = {list: Type.NODES, str: Type.STRING, float: Type.NUMBER, bool: Type.BOOLEAN}


def parsed(text: str) -> Expression:
    return parse_expression(text, PREFIXES, CANONICAL_LIMITS)


@given(st.integers(0, 2**32), st.integers(0, 4))
def test_the_type_of_an_expression_is_that_of_what_libxml2_computes(seed: int, depth: int) -> None:
    text = expression(Random(seed), depth)
    assume("{" not in text and "*:" not in text)
    try:
        tree = parsed(text)
    except PatternError:
        reject()
    evaluate = etree.XPath(text, namespaces=PREFIXES, regexp=False, smart_strings=False)
    try:
        found = evaluate(etree.XML("<a>1<b/></a>"))
    except etree.XPathEvalError:  # It knows no position outside of predicates.
        reject()
    assert type_of(tree) is TYPES[type(found)]


@pytest.mark.parametrize(
    ("predicate", "depends"),
    [
        ("2", True),
        ("count(b)", True),
        ("-b", True),
        ("last()", True),
        ("position() = 1", True),
        ("not(position() < 3) and b", True),
        ("(b)[position() = 1]", False),
        ("b[2]", False),
        ("b = 2", False),
        ("count(b) = 2", False),
        ("'2'", False),
    ],
)
def test_a_predicate_depends_on_positions_or_does_not(predicate: str, *, depends: bool) -> None:
    assert is_positional(parsed(predicate)) is depends
    found = etree.XML("<r><a><b>2</b></a><c/><a><b>2</b></a><a><b>2</b></a></r>").xpath(
        f"a[{predicate}]"
    )
    assert isinstance(found, list)
    if not depends:
        assert len(found) in {0, 3}, "nodes that are alike all pass, or none does"


def test_operands_of_a_long_chain_are_listed_without_recursion() -> None:
    chain: Expression = Number("0")
    for number in range(1, 20_001):
        chain = Binary("or" if number > 10_000 else "+", chain, Number(str(number)))
    assert isinstance(chain, Binary)
    assert [str(each) for each in operands(chain)] == [
        str(Number(str(number))) for number in range(20_001)
    ]
    first, *rest = like_operands(chain)
    assert isinstance(first, Binary)
    assert first.operator == "+"
    assert len(rest) == 10_000
    assert sum(isinstance(each, Number) for each in all_within(chain)) == 20_001


def test_all_that_an_expression_is_made_of_is_met_from_left_to_right() -> None:
    met = list(all_within(parsed("(//a[1])[2]/b[3] = 4 or count(c[5]) > -6")))
    assert [each.text for each in met if isinstance(each, Number)] == list("123456")
    assert sum(isinstance(each, Filter) for each in met) == 1
