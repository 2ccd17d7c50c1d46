"""One meaning, one pattern; two meanings, two patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.canonical import parsed, reads_back
from tests.oracle import oracle
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions

SAME = [
    # Abbreviations and idle steps.
    ("a", "//a"),
    ("@x", "//@x"),
    ("((a))", "//a"),
    ("(a)[1]", "//a"),
    ("(a)[b]", "//a[b]"),
    ("(a)/b", "//a/b"),
    ("((a)[b])/c", "//a[b]/c"),
    ("(a | b)[c]", "(//a | //b)[c]"),
    ("(a | b)[3]/c | d", "(//a | //b)[3]/c | //d"),
    ("//a/child::b/attribute::c", "//a/b/@c"),
    ("/descendant::a", "//a"),
    ("/descendant-or-self::node()/a", "//a"),
    ("//a/./b", "//a/b"),
    ("//a//.//b", "//a//b"),
    ("//a//descendant::b", "//a//b"),
    ("//a/self::a", "//a"),
    ("//a/self::node()/b", "//a/b"),
    ("//*[self::a]", "//a"),
    ("//*[self::a][b]", "//a/b"),
    ("/", "true()"),
    ("//.", "/"),
    # Branches: order, doubles, what a neighbour implies.
    ("//a[b][c]", "//a[c]/b"),
    ("//a[b and c]", "//a[c][b]"),
    ("//a[b and (c and d)]", "//a[(d and c) and b]"),
    ("//a[b][b]", "//a/b"),
    ("//a[b][b/c]", "//a/b/c"),
    ("//a[.//b][b]", "//a/b"),
    ("//a[*][b]", "//a/b"),
    ("//a[@x != '1' and @x]", "//a[@x != '1']"),
    ("//a[b or c]", "//a[c or b]"),
    ("//a[b or b]", "//a/b"),
    ("//a[b or b/c]", "//a/b"),
    ("//a[b or c][c or b]", "//a[b or c]"),
    ("//a[.//b[c]]", "//a//b/c"),
    # Unions.
    ("a | b", "//b | //a"),
    ("a | b", "//a or //b"),
    ("a | a[b]", "//a"),
    ("/a | //a", "//a"),
    ("//a[b | c]", "//a[b or c]"),
    ("//a[(b | c) = 'x']", "//a[c = 'x' or b = 'x']"),
    # Constants and negations.
    ("//a[true()]", "//a"),
    ("//a[b and true()]", "//a/b"),
    ("//a[b or false()]", "//a/b"),
    ("//a[not(not(b))]", "//a/b"),
    ("//a[boolean(b)]", "//a/b"),
    ("//a[b and not(b)]", "false()"),
    ("//a[b or not(b)]", "//a"),
    ("//a[contains(@x, '')]", "//a"),
    ("//a/b[false()]", "false()"),
    # Comparisons.
    ("//a['1' = @x]", "//a[@x = '1']"),
    ("//a[1 > @x]", "//a[@x < 1]"),
    ("//a[@x = 01.50]", "//a[@x = 1.5]"),
    ("//a[@x = 1.0]", "//a[@x = 1]"),
    ("//a/b[. = 'x']", "//a[b = 'x']"),
    ("//a/text()[. = 'x']", "//a[text() = 'x']"),
    ("//a[@x[starts-with(., 'y')]]", "//a[starts-with(@x, 'y')]"),
    ('//a[@x = "1"]', "//a[@x = '1']"),
    # Existence, written differently.
    ("//a[count(b) > 0]", "//a/b"),
    ("//a[1 <= count(b)]", "//a/b"),
    ("//a[count(b) = 0]", "//a[not(b)]"),
    ("//a[b[1]]", "//a/b"),
    ("(//a)[last()]", "//a"),
    # Namespaces.
    ("//p:a", "//same:a"),
    ("//p:a", "//{urn:p}a"),
    ("//{}a", "//a"),
    ("//*[local-name() = 'a']", "//*:a"),
    ("//*[namespace-uri() = 'urn:p']", "//p:*"),
    ("//*[namespace-uri() = 'urn:p' and local-name() = 'a']", "//p:a"),
    ("//p:*[self::*:a]", "//p:a"),
    ("//@*[local-name() = 'x']", "//@*:x"),
    # The document, from inside.
    ("//a[/b]", "//a and /b"),
    ("//a[/b]/c", "/b and //a[c]"),
    ("/a/b[/a]", "/a/b"),
    ("//a[contains(/b, 'x')]", "//a and contains(/b, 'x')"),
    ("//a[contains(/@y, 'x')]", "false()"),
]

DIFFERENT = [
    ("/a", "//a"),
    ("//a/b", "//a//b"),
    ("//a[b]/b/c", "//a[b]/c"),
    ("//a[b][c]", "//a[b or c]"),
    ("//a[b/c]", "//a[b][c]"),
    ("//a[b/c][b/d]", "//a/b[c][d]"),
    ("//a[@x = '1']", "//a[@x = 1]"),
    ("//a[@x = 'a']", "//a[@x = 'A']"),
    ("//a[not(b = 1)]", "//a[b != 1]"),
    ("//a[not(b)]", "//a[not(b/c)]"),
    ("//a[text() = 'x']", "//a[. = 'x']"),
    ("//a[contains(b, 'x')]", "//a[b[contains(., 'x')]]"),
    ("//a[contains(@*, 'x')]", "//a[@*[contains(., 'x')]]"),
    ("//a[b][2]", "//a[2][b]"),
    ("//a[2]", "(//a)[2]"),
    ("//a[1]/b", "//a/b"),
    ("//a", "//p:a"),
    ("//a", "//*:a"),
    ("//p:a", "//q:a"),
    ("//@x", "//x"),
    ("//@x", "//@p:x"),
    ("//*", "//@*"),
    ("//a[//b]", "//a[.//b]"),
    ("//a[/b]", "//a[b]"),
    ("//a/self::b", "//a/b"),
    ("//a[b = 5]", "//a[b = -5]"),
    ("//a[b < 5]", "//a[b <= 5]"),
    ("//a[b < 5]", "//a[5 < b]"),
    ("a = ''", "//a[. = '']"),
    ("(a) = ''", "//a[. = '']"),
    ("count((a)[1]) > 1", "count((//a)[1]) > 1"),
    ("true()", "false()"),
    ("//a and //b", "//a or //b"),
    ("//a[. = ' x']", "//a[. = 'x']"),
    ("//a[. = 9007199254740993]", "//a[. = 9007199254740995]"),
    ("//é", "//e\u0301"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_one_meaning_are_one_pattern(one: str, other: str) -> None:
    assert parsed(one) is parsed(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_meanings_are_two_patterns(one: str, other: str) -> None:
    assert parsed(one) is not parsed(other)
    assert parsed(one).text != parsed(other).text


@given(subscriptions(), subscriptions(), documents())
def test_patterns_that_are_one_match_the_same(
    one: ExpressionPair, other: ExpressionPair, content: bytes
) -> None:
    if parsed(one.text) is parsed(other.text):
        assert oracle(one.oracle, content, NAMESPACES) == oracle(other.oracle, content, NAMESPACES)
    joined = [parsed(f"true() and ({a}) and ({b})") for a, b in
              ((f"boolean({one.text})", f"boolean({other.text})"),
               (f"boolean({other.text})", f"boolean({one.text})"))]  # fmt: skip
    assert joined[0] is joined[1]


@given(subscriptions())
def test_parentheses_around_the_whole_change_nothing(expression: ExpressionPair) -> None:
    pattern = parsed(expression.text)
    assert parsed(f"({expression.text})") is pattern
    assert parsed(f"(({expression.text}))") is pattern


@given(st.lists(subscriptions(exact=True), min_size=2, max_size=5), st.randoms())
def test_the_order_of_alternatives_does_not_matter(
    expression: list[ExpressionPair], rng: object
) -> None:
    texts = [f"boolean({one.text})" for one in expression]
    for operator in (" or ", " and "):
        pattern = parsed("true() = true() and (" + operator.join(texts) + ")")
        assert parsed("true() = true() and (" + operator.join(reversed(texts)) + ")") is pattern
        rng.shuffle(texts)  # type: ignore[attr-defined]  # Hypothesis hands out a Random.
        assert parsed("true() = true() and (" + operator.join(texts) + ")") is pattern


@pytest.mark.parametrize(
    ("xpath", "text"),
    [
        ("//a[/b or not(/c)]", "(not(/c) or /b) and //a"),
        ("//a[/self::node()[b or c]]", "(/b or /c) and //a"),
        ("//a[not(/b or /c)]/d", "not(/b or /c) and //a/d"),
        ("//a[/b or c]", "//a[/b or c]"),
    ],
)
def test_conditions_on_the_document_alone_are_decided_once(xpath: str, text: str) -> None:
    assert parsed(xpath).text == text
    assert reads_back(parsed(xpath))
