"""One meaning, one pattern; two meanings, two patterns."""

from __future__ import annotations

import copy
import pickle
from contextlib import suppress
from random import Random

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from lxml import etree

from tests.expressions import PREFIXES, expression
from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, Said, documents, subscriptions
from twigcast.errors import PatternError
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS


def parsed(xpath: str) -> Pattern:
    return Pattern.parse(xpath, {**NAMESPACES, "same": "urn:p"}, CANONICAL_LIMITS)


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


@given(subscriptions(), subscriptions(), documents())
def test_patterns_that_are_one_match_the_same(one: Said, other: Said, content: bytes) -> None:
    if parsed(one.text) is parsed(other.text):
        assert oracle(one.oracle, content, NAMESPACES) == oracle(other.oracle, content, NAMESPACES)
    joined = [parsed(f"true() and ({a}) and ({b})") for a, b in
              ((f"boolean({one.text})", f"boolean({other.text})"),
               (f"boolean({other.text})", f"boolean({one.text})"))]  # fmt: skip
    assert joined[0] is joined[1]


@given(subscriptions())
def test_parentheses_around_the_whole_change_nothing(expression: Said) -> None:
    pattern = parsed(expression.text)
    assert parsed(f"({expression.text})") is pattern
    assert parsed(f"(({expression.text}))") is pattern


@given(st.lists(subscriptions(exact=True), min_size=2, max_size=5), st.randoms())
def test_the_order_of_alternatives_does_not_matter(expression: list[Said], rng: object) -> None:
    texts = [f"boolean({one.text})" for one in expression]
    for operator in (" or ", " and "):
        pattern = parsed("true() = true() and (" + operator.join(texts) + ")")
        assert parsed("true() = true() and (" + operator.join(reversed(texts)) + ")") is pattern
        rng.shuffle(texts)  # type: ignore[attr-defined]  # Hypothesis hands out a Random.
        assert parsed("true() = true() and (" + operator.join(texts) + ")") is pattern


@given(subscriptions())
def test_a_pattern_is_immutable_and_exists_once(expression: Said) -> None:
    pattern = parsed(expression.text)
    assert parsed(expression.text) is pattern
    assert copy.deepcopy(pattern) is pattern
    assert pickle.loads(pickle.dumps(pattern)) is pattern
    assert str(pattern) == pattern.text
    with pytest.raises(AttributeError):
        pattern.condition = None


@given(subscriptions(exact=True))
def test_the_exact_fragment_is_exact_but_for_names_with_prefixes(expression: Said) -> None:
    assume(
        not any(operator in expression.text for operator in ("name()", "namespace-uri()", "self::"))
    )
    pattern = parsed(expression.text)
    assert pattern.exact
    assert pattern.necessary is pattern


@pytest.mark.parametrize(
    "text",
    ["((a | b)[last()] | c)[d]", "((a | b)[last()][2] | c)[d][e] = 'x'", "((a)[2]/b | c)/d[e]"],
)
def test_a_branch_in_parentheses_has_a_canonical_text_that_reads_back(text: str) -> None:
    pattern = parsed(text)
    assert Pattern.parse(pattern.text, None, CANONICAL_LIMITS) is pattern


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


def reads_back(pattern: Pattern) -> bool:
    again = Pattern.parse(pattern.text, None, CANONICAL_LIMITS)
    return again is pattern and again.text == pattern.text


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
