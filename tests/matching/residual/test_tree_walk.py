"""Conditions decided by walking through the document, in a bounded number of steps."""

from __future__ import annotations

from hypothesis import assume, given

from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.residual.tree_walk import holds


@THOROUGH
@given(subscriptions(exact=True), documents())
def test_exact_patterns_can_be_decided_by_walking(
    expression: ExpressionPair, content: bytes
) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assume(pattern.exact)
    assert holds(pattern.condition, Document.parse(content)) == oracle(
        expression.oracle, content, NAMESPACES
    )
