"""Canonical texts read as people write, and read back as the same pattern."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.expressions import PREFIXES, expression
from tests.language.canonical import parsed, reads_back
from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, subscriptions
from twigcast.errors import PatternError
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS


@pytest.mark.parametrize(
    ("xpath", "text"),
    [
        ("a[c][b]", "//a[b]/c"),
        ("//p:a[@q:b = 'x']", "//{urn:p}a[@{urn:q}b = 'x']"),
        ("//a[not(b) and contains(., 'x')]/c", "//a[contains(., 'x')][not(b)]/c"),
        ("//a[b[c='1']/d]", "//a/b[c = '1']/d"),
        ("//a[(b or c) and d]", "//a[b or c]/d"),
        ('//a[. = "it\'s"]', '//a[. = "it\'s"]'),
        ("//a[5 >= @x]", "//a[@x <= 5]"),
        ("//a[ b [ 2 ] / c ]", "//a[b[2]/c]"),
        ("//*:a[ p:* ]", "//*:a/{urn:p}*"),
        ("-a+1>2*b", "-/a + 1 > 2 * /b"),
        ("/ = 'x'", "/ = 'x'"),
        ("1 - (/)", "boolean(1 - (/))"),
        ("//a[2]/b | //c", "//a[2]/b or //c"),
        ("//a[@*:x]/@*", "//a/@*:x"),
        ("id('x')/a[1]", "id('x')/a[1]"),
        ("(//a | //b)[3]", "(//a | //b)[3]"),
        ("//self::node()[last()]", "true()"),
        ("//self::node()[position() > 0]/a", "//a"),
        ("//self::node()[position() > 0]/comment()", "//self::node()/comment()"),
        ("id('x y')[1]/a", "id('x y')[1]/a"),
        ("((id('x y')))[1]/a", "(id('x y'))[1]/a"),
        ("(id('x y')[b][2])[1]/a", "(id('x y')[b][2])[1]/a"),
        ("(id('x y'))[b]/a", "id('x y')[b]/a"),
    ],
)
def test_canonical_text_reads_like_xpath(xpath: str, text: str) -> None:
    assert parsed(xpath).text == text
    assert Pattern.parse(text) is parsed(xpath)


@pytest.mark.parametrize(
    "text",
    ["((a | b)[last()] | c)[d]", "((a | b)[last()][2] | c)[d][e] = 'x'", "((a)[2]/b | c)/d[e]"],
)
def test_a_branch_in_parentheses_has_a_canonical_text_that_reads_back(text: str) -> None:
    pattern = parsed(text)
    assert Pattern.parse(pattern.text, None, CANONICAL_LIMITS) is pattern


@THOROUGH
@given(st.integers(0, 2**32), st.integers(0, 5))
def test_every_expression_has_a_canonical_text_that_reads_back(seed: int, depth: int) -> None:
    rng = Random(seed)
    for _ in range(20):
        text = expression(rng, depth)
        with suppress(PatternError):  # a few are ill-typed, or over a limit
            pattern = Pattern.parse(text, PREFIXES)
            assert reads_back(pattern), text
            assert reads_back(pattern.necessary), text


@pytest.mark.parametrize(
    ("xpath", "text"),
    [
        ("-. div ']'", "boolean(-(/) div ']')"),
        ("-(/) div /@x", "boolean(-(/) div /@x)"),
        ("(a | /.) mod 3", "boolean(/a | (/) mod 3)"),
        ("id(a | (/) or b)", "id(/a | (/) or /b)"),
        ("-. * 'x' > 1", "-(/) * 'x' > 1"),
    ],
)
def test_a_lone_slash_never_swallows_the_operator_behind_it(xpath: str, text: str) -> None:
    assert parsed(xpath).text == text
    assert reads_back(parsed(xpath))


@pytest.mark.parametrize("text", ["/ and (a)", "//a[/ or (b)]", "1 = / div (2)", "/ mod (a)[1]"])
def test_behind_a_slash_no_name_is_an_operator(text: str) -> None:
    with pytest.raises(etree.XPathError):
        oracle(text, b"<a/>")
    with pytest.raises(PatternError):
        parsed(text)
    assert parsed(text.replace("/ ", "(/) ")).text


@pytest.mark.parametrize(
    "xpath",
    [
        "//@c[//d | self::b != (/)[e]]",
        "//@c[string(self::node()/self::or/a | /c)]",
        "//b[parent::c//@d | /self::node()/self::b = string(.)]",
        "(x | //c/@d)[((e)[(1)])[//f | g] | /parent::h/text()[i]]",
    ],
)
def test_a_necessary_pattern_reads_back_as_well(xpath: str) -> None:
    assert reads_back(parsed(xpath).necessary)


@THOROUGH
@given(subscriptions())
def test_canonical_text_parses_to_the_same_pattern(expression: ExpressionPair) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert Pattern.parse(pattern.text) is pattern
