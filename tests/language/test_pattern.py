"""Patterns: made from texts like any other value, once each, and true to the expression."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from lxml import etree

from tests.language.canonical import parsed
from tests.oracle import oracle, oracle_tree
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.errors import PatternError, PatternLimitError, UsageError
from twigcast.language import Pattern, PatternLimits
from twigcast.language.condition.model import TRUE


def test_a_pattern_is_made_from_its_text() -> None:
    assert Pattern("//a[c][b]") is Pattern.parse("//a[b and c]")


def test_prefixes_and_limits_may_be_given_by_name_or_position() -> None:
    bound = {"x": "urn:x"}
    expected = Pattern.parse("//x:a", bound)
    assert Pattern("//x:a", namespaces=bound) is expected
    assert Pattern("//x:a", bound) is expected
    assert Pattern(text="//x:a", namespaces=bound) is expected
    with pytest.raises(PatternLimitError):
        Pattern("/a/b", limits=PatternLimits(steps_max=1))


def test_a_pattern_made_from_a_pattern_is_itself() -> None:
    pattern = Pattern("//a")
    assert Pattern(pattern) is pattern


def test_a_pattern_made_from_its_condition_is_itself() -> None:
    pattern = Pattern("//a/b")
    assert Pattern(pattern.condition) is pattern
    assert Pattern(TRUE).text == "true()"


def test_the_representation_makes_the_same_pattern() -> None:
    pattern = Pattern("//a[b = 'it']/@c")
    assert eval(repr(pattern)) is pattern  # noqa: S307


def test_copies_and_pickles_are_the_pattern_itself() -> None:
    pattern = Pattern("//a[b]")
    assert copy.copy(pattern) is pattern
    assert copy.deepcopy(pattern) is pattern
    assert pickle.loads(pickle.dumps(pattern)) is pattern


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(PatternError):
        Pattern("//a[")
    with pytest.raises(UsageError, match="a pattern is made from the text of an expression"):
        Pattern(5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not bytes"):
        Pattern(b"//a")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not int"):
        Pattern.parse(5)  # type: ignore[arg-type]


@given(subscriptions())
def test_a_pattern_is_immutable_and_exists_once(expression: ExpressionPair) -> None:
    pattern = parsed(expression.text)
    assert parsed(expression.text) is pattern
    assert copy.deepcopy(pattern) is pattern
    assert pickle.loads(pickle.dumps(pattern)) is pattern
    assert str(pattern) == pattern.text
    with pytest.raises(AttributeError):
        pattern.condition = None


def by_libxml2(pattern: Pattern, content: bytes) -> bool:
    text, namespaces = pattern.for_libxml2()
    xpath = etree.XPath(f"boolean({text})", namespaces=namespaces, regexp=False)
    return bool(xpath(oracle_tree(content)))


@THOROUGH
@given(subscriptions(), documents())
def test_the_canonical_form_matches_what_the_expression_matches(
    expression: ExpressionPair, content: bytes
) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert by_libxml2(pattern, content) == oracle(expression.oracle, content, NAMESPACES)


@THOROUGH
@given(subscriptions(), documents())
def test_the_necessary_pattern_is_necessary_and_exact(
    expression: ExpressionPair, content: bytes
) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert pattern.necessary.exact
    if oracle(expression.oracle, content, NAMESPACES):
        assert by_libxml2(pattern.necessary, content)
