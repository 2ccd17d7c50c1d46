"""Expressions that do not depend on the context node mean what they meant at the document."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from lxml import etree

from tests.expressions import PREFIXES, expression
from twigcast.errors import PatternError
from twigcast.language.condition.writer import Libxml2Writer, Writer
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.language.xpath.absolute import from_document, is_rooted, rooted
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import Expression

CONTENT = (
    b"<a xmlns:p='urn:p' x='1' xml:lang='en'><b>1</b><b x='x'>2<c>x</c></b><p:a>5</p:a>"
    b"<div><a><or/></a></div></a>"
)


def parsed(text: str) -> Expression:
    return parse_expression(text, PREFIXES, CANONICAL_LIMITS)


def truth(expression: Expression, place: str) -> object:
    """Whether the expression is true at a place, by libxml2."""
    writer = Libxml2Writer()
    text, _ = writer.expression(expression)
    tree = etree.XML(CONTENT).getroottree()
    asked = f"boolean({place}[boolean({text})])"
    return tree.xpath(asked, namespaces={**PREFIXES, **writer.namespaces})


@given(st.integers(0, 2**32), st.integers(0, 4))
def test_what_is_made_absolute_is_true_everywhere_as_it_was_at_the_document(
    seed: int, depth: int
) -> None:
    try:
        read = parsed(expression(Random(seed), depth))
    except PatternError:
        reject()
    made = from_document(read)
    assert is_rooted(made)
    expected = truth(read, "/self::node()")
    for place in ("/self::node()", "/*", "//c", "//text()[1]", "//@x"):
        assert truth(made, f"({place})[1]") == expected, place


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("a/b", "//a/b"),
        ("@x", "//@x"),
        ("a | b", "//a | //b"),
        ("(a | b)[c]/d", "(//a | //b)[c]/d"),
        ("count(a) > 1", "count(/a) > 1"),
        ("string()", "string(/)"),
        ("position() = last()", "1 = 1"),
        ("lang('en') or b", "false() or /b"),
        ("/a[string()]", "/a[string()]"),
    ],
)
def test_a_subscription_begins_anywhere_if_it_is_a_path(text: str, absolute: str) -> None:
    found = rooted(parsed(text))
    assert Writer().expression(found)[0] == absolute
    assert is_rooted(found)


@pytest.mark.parametrize("text", ["a", "string()", "lang('en')", "a[1] | /b", "1 + last()", "-a"])
def test_what_depends_on_the_context_node_is_not_rooted(text: str) -> None:
    assert not is_rooted(parsed(text))
