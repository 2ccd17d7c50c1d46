"""Expressions mean what libxml2 computes, and exactly so inside the fragment."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from tests.expressions import PREFIXES, expression
from tests.language.canonical import parsed, reads_back
from tests.oracle import oracle
from tests.strategies import THOROUGH, ExpressionPair, subscriptions
from twigcast.errors import PatternError
from twigcast.language import Pattern


@given(subscriptions(exact=True))
def test_the_exact_fragment_is_exact_but_for_names_with_prefixes(
    expression: ExpressionPair,
) -> None:
    assume(
        not any(operator in expression.text for operator in ("name()", "namespace-uri()", "self::"))
    )
    pattern = parsed(expression.text)
    assert pattern.exact
    assert pattern.necessary is pattern


def test_unions_inside_the_predicates_of_unions_are_not_multiplied() -> None:
    text = "x"
    for _ in range(8):
        text = f"(a | b | c | d | e | f | g)[{text}]"
    assert len(parsed(text).text) < 2 * len(text)


DOCUMENTS = (
    b"<a/>",
    (
        b"<a xmlns:p='urn:p' x='1' p:x='2' xml:lang='en'><b>1</b><b x='x'>2<c>x</c></b><p:a>5</p:a>"
        b"<!--x--><?t x?><div>it's</div><c xmlns='urn:p'><a/></c></a>"
    ),
    b"<!--1--><?t?><a><a><a><b/></a></a></a>",
    b"<p:a xmlns:p='urn:p' xml:lang='en-GB'> 5 <p:div><and a='a'/></p:div></p:a>",
    b"<mod><div>1</div><or>x</or><c><a b='1'><b/>1<b/></a><a><c/></a></c></mod>",
)


@THOROUGH
@given(st.integers(0, 2**32), st.integers(0, 4))
def test_every_expression_means_what_libxml2_computes(seed: int, depth: int) -> None:
    # Behind an operator a path begins at the document node, for us as for libxml2.
    text = f"true() and ({expression(Random(seed), depth)})"
    assume("{" not in text and "*:" not in text)
    try:
        pattern = Pattern.parse(text, PREFIXES)
    except PatternError:
        reject()
    written, namespaces = pattern.for_libxml2()
    for content in DOCUMENTS:
        expected = oracle(text, content, PREFIXES)
        assert oracle(written, content, namespaces) == expected, content


@pytest.mark.parametrize(
    ("xpath", "text"),
    [
        ("/self::node()[name()]/a", "name(/) and /a"),
        ("/self::node()[string-length() > 1]/a", "string-length(/) > 1 and /a"),
        ("/self::node()[lang('en')]/a", "false()"),
        ("/self::node()[namespace-uri(b)]/a", "namespace-uri(/b) and /a"),
        ("/self::node()[id(normalize-space())]/a", "id(normalize-space(/)) and /a"),
        ("not(/self::node()[lang('en') = 'x']/a)", "true()"),
        ("//c[/self::node()[name()]/a]", "name(/) and //c and /a"),
    ],
)
def test_a_predicate_on_the_document_node_asks_about_the_document(xpath: str, text: str) -> None:
    assert parsed(xpath).text == text
    assert reads_back(parsed(xpath))
