"""Meanings of expressions, compared with libxml2."""

from __future__ import annotations

from hypothesis import assume, given
from lxml import etree

from tests.oracle import oracle, oracle_tree
from tests.strategies import NAMESPACES, THOROUGH, Said, documents, subscriptions
from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.residual.tree_walk import holds


def by_libxml2(pattern: Pattern, content: bytes) -> bool:
    text, namespaces = pattern.for_libxml2()
    xpath = etree.XPath(f"boolean({text})", namespaces=namespaces, regexp=False)
    return bool(xpath(oracle_tree(content)))


@THOROUGH
@given(subscriptions(), documents())
def test_the_canonical_form_matches_what_the_expression_matches(
    expression: Said, content: bytes
) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert by_libxml2(pattern, content) == oracle(expression.oracle, content, NAMESPACES)


@THOROUGH
@given(subscriptions(exact=True), documents())
def test_exact_patterns_can_be_decided_by_walking(expression: Said, content: bytes) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assume(pattern.exact)
    assert holds(pattern.condition, Document.parse(content)) == oracle(
        expression.oracle, content, NAMESPACES
    )


@THOROUGH
@given(subscriptions())
def test_canonical_text_parses_to_the_same_pattern(expression: Said) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert Pattern.parse(pattern.text) is pattern


@THOROUGH
@given(subscriptions(), documents())
def test_the_necessary_pattern_is_necessary_and_exact(expression: Said, content: bytes) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert pattern.necessary.exact
    if oracle(expression.oracle, content, NAMESPACES):
        assert by_libxml2(pattern.necessary, content)
