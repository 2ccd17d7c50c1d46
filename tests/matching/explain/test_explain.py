"""Explanations: the verdict, where it matched, and what cannot be explained."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.matching.explain.examples import ORDERS
from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.errors import DocumentError, PatternError
from twigcast.language.pattern import Pattern
from twigcast.matching import explain


@THOROUGH
@given(subscriptions(), documents())
def test_the_verdict_is_the_oracles_and_every_miss_has_a_reason(
    said: ExpressionPair, content: bytes
) -> None:
    explanation = explain(said.text, content, NAMESPACES)
    assert explanation.matches == oracle(said.oracle, content, NAMESPACES)
    if not explanation.matches:
        assert explanation.failed
        assert explanation.reasons


def test_a_match_tells_where_it_is() -> None:
    explanation = explain("order/qty", ORDERS)
    assert explanation.matches
    assert (explanation.place, explanation.line) == ("/orders/order[1]/qty", 2)
    assert "2 nodes found" in explanation.text


def test_a_canonical_pattern_can_be_explained_too() -> None:
    assert explain(Pattern.parse("//order[@id='1']"), ORDERS).matches


def test_an_expression_that_costs_too_much_is_undecided() -> None:
    wide = b"<r>" + b"<a/>" * 20_000 + b"</r>"
    explanation = explain("//a[count(following::a) > 20000]", wide)
    assert explanation.matches is None
    assert explanation.text.startswith("undecided: ")


def test_the_parts_are_there_for_programs() -> None:
    parts = explain("/orders/order[3]", ORDERS).as_json()
    assert parts["matches"] is False
    assert parts["failed"] == "[3]"
    assert parts["place"] == "/orders/order[1]"


def test_unreadable_input_is_an_error() -> None:
    with pytest.raises(PatternError):
        explain("//order[", ORDERS)
    with pytest.raises(DocumentError):
        explain("//order", b"<orders>")
