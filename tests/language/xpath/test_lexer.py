"""Tokens of an expression: what they are, where they begin, and where none can."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expressions import expression
from twigcast.errors import PatternError
from twigcast.language.xpath.lexer import is_name, tokens


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(text)][:-1]


@given(st.integers(0, 2**32), st.integers(0, 4))
def test_tokens_are_the_whole_expression_but_for_spaces(seed: int, depth: int) -> None:
    text = expression(Random(seed), depth)
    end = 0
    for token in tokens(text):
        begin = token.column - 1
        assert text[end:begin].strip(" \t\r\n") == ""
        end = begin + len(token.text)
        assert text[begin:end] == token.text
    assert (token.kind, end) == ("end", len(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a-b", [("name", "a-b")]),
        ("a -b", [("name", "a"), ("symbol", "-"), ("name", "b")]),
        ("a:b", [("name", "a:b")]),
        ("a::b", [("name", "a"), ("symbol", "::"), ("name", "b")]),
        ("a:*", [("name", "a:*")]),
        ("*:a", [("name", "*:a")]),
        ("{u v}a", [("name", "{u v}a")]),
        ("1.e3", [("number", "1.e3")]),
        ("1..2", [("number", "1."), ("number", ".2")]),
        ("1e", [("number", "1"), ("name", "e")]),
        ("'a\"b'", [("literal", "'a\"b'")]),
        ("a<=b", [("name", "a"), ("symbol", "<="), ("name", "b")]),
        ("é·", [("name", "é·")]),
    ],
)
def test_a_token_is_as_long_as_it_can_be(text: str, found: list[tuple[str, str]]) -> None:
    assert kinds(text) == found


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("a = 'b", 5, "a closing ' for the string that begins here"),
        ('a = "b', 5, 'a closing " for the string that begins here'),
        ("//{u", 3, "'{namespace-uri}name'"),
        ("a ! b", 3, "'!='"),
        ("a # b", 3, "no character '#' here: it is not part of XPath"),
    ],
)
def test_where_no_token_can_begin_the_mistake_is_named(
    text: str, column: int, expected: str
) -> None:
    with pytest.raises(PatternError) as caught:
        tokens(text)
    assert (caught.value.column, caught.value.expected) == (column, expected)


@pytest.mark.parametrize("text", ["a", "_", "é", "a.b-c", "a1", "\U00010000"])
def test_names_are_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["", "1a", "-a", ".a", "a:b", "a b", "a ", "×", "\u037e", "*"])
def test_other_texts_are_no_names(text: str) -> None:
    assert not is_name(text)
