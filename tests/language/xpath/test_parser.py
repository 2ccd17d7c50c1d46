"""The parser: texts that are not expressions are refused with a column, and no others.

libxml2 parses them too: what it refuses, at compile time or on a document, must be a PatternError
here. The other way round our parser keeps closer to the recommendation in a few places, each of
them listed in :data:`LENIENT` with its reason.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.oracle import oracle_tree
from tests.strategies import NAMESPACES, THOROUGH
from twigcast.errors import PatternError
from twigcast.language import Pattern

OPERAND = "a path, a value or a function"
OPERATOR = "an operator or the end of the expression"
NAME = "a name or '*'"
STEP = "a parenthesis or a function as a step of a path is a construct"

MISTAKES = [
    # Something is missing.
    ("", 1, OPERAND),
    (" \n", 3, OPERAND),
    ("//", 3, f"{NAME} after '//'"),
    ("/stock//[1]", 9, f"{NAME} after '//'"),
    ("a/", 3, f"{NAME} after '/'"),
    ("///a", 3, f"{NAME} after '//'"),
    ("/ /a", 3, OPERATOR),
    ("@", 2, f"{NAME} after '@'"),
    ("@@x", 2, f"{NAME} after '@'"),
    ("child::", 8, f"{NAME} after '::'"),
    ("child::1", 8, f"{NAME} after '::'"),
    ("child::child::a", 13, OPERATOR),
    ("//a[", 5, OPERAND),
    ("//a[]", 5, OPERAND),
    ("//a[1", 6, "an operator, or ']' to close the '[' in column 4"),
    ("//a]", 4, OPERATOR),
    ("a[b]]", 5, OPERATOR),
    ("a[b c]", 5, "an operator, or ']' to close the '[' in column 2"),
    ("(a", 3, "an operator, or ')' to close the '(' in column 1"),
    ("a)", 2, OPERATOR),
    ("()", 1, "XPath 1.0, but '()' is the empty sequence of XPath 2.0"),
    ("count(a))", 9, OPERATOR),
    ("contains(a 'x')", 12, "')' after the arguments of contains()"),
    ("contains(a,)", 12, OPERAND),
    ("contains(,a)", 10, OPERAND),
    ("'abc", 1, "a closing ' for the string that begins here"),
    ('//a["x]', 5, 'a closing " for the string that begins here'),
    ("text('x')", 6, "')' after 'text('"),
    ("processing-instruction(a)", 24, "')' after 'processing-instruction('"),
    # Operators and operands do not take turns.
    ("a b", 3, OPERATOR),
    ("a,b", 2, "XPath 1.0, but '(…, …)' is a sequence of XPath 2.0"),
    ("a and", 6, OPERAND),
    ("a or or b", 9, OPERATOR),
    ("a == b", 3, "'=' instead of '=='"),
    ("a <> b", 3, "'!=' instead of '<>'"),
    ("+ 1", 1, OPERAND),
    ("1 -", 4, OPERAND),
    ("div 1 2", 5, OPERATOR),
    ("a/foo()", 3, f"XPath 1.0, but {STEP} of XPath 2.0"),
    ("1.5.2", 4, OPERATOR),
    ("1e", 2, OPERATOR),
    ("0x10", 2, OPERATOR),
    ("...", 3, OPERATOR),
    # Characters that begin nothing.
    ("!a", 1, "'not(…)' instead of '!'"),
    ("a ! ", 3, "XPath 1.0, but '!' is an operator of XPath 3.0"),
    ("a # b", 3, "no character '#' here: it is not part of XPath"),
    ("a:", 2, "no character ':' here: it is not part of XPath"),
    ("p:a:b", 4, "no character ':' here: it is not part of XPath"),
    ("*:*", 2, "no character ':' here: it is not part of XPath"),
    ("a\u00a0b", 2, "a plain space instead of the character '\\xa0'"),
    ("é^", 2, "no character '^' here: it is not part of XPath"),
    ("{u}", 1, "'{namespace-uri}name'"),
    ("{a{b}c", 1, "'{namespace-uri}name'"),
    # Characters that no document can hold.
    ("//a[. = '\x00']", 10, "no character '\\x00' here: no XML document can hold it"),
    ("//a[. = '\x1f']", 10, "no character '\\x1f' here: no XML document can hold it"),
    ("//a[. = 'é\ud800']", 11, "no character '\\ud800' here: no XML document can hold it"),
    ("//{urn:\ufffe}a", 8, "no character '\\ufffe' here: no XML document can hold it"),
    # Names that nobody knows.
    ("foo::a", 1, "one of XPath's axes instead of 'foo'"),
    ("foo(1)", 1, "one of XPath 1.0's functions instead of 'foo'"),
    ("//a[ends-with(., 'x')]", 5, "XPath 1.0, but ends-with() is a function of XPath 2.0"),
    ("document('x')", 1, "XPath 1.0, but document() is a function of XSLT"),
    ("re:test(a, 'x')", 1, "XPath 1.0, but re:test() is a function of EXSLT"),
    ("//a[$x]", 5, "no variable: nothing gives $x a value"),
    (
        "//a/@z:b",
        6,
        "a prefix with a namespace instead of 'z' (bound: p, q)",
    ),
    ("z:*", 1, "a prefix with a namespace instead of 'z' (bound: p, q)"),
    # Predicates need the step in full.
    (".[1]", 2, "XPath 1.0, but a predicate behind '.' is a construct of XPath 2.0"),
    ("a/..[b]", 5, "XPath 1.0, but a predicate behind '..' is a construct of XPath 2.0"),
    # Numbers of arguments.
    ("position(a)", 1, "no argument for position(), not 1"),
    ("//a[last(1)]", 5, "no argument for last(), not 1"),
    ("true(1)", 1, "no argument for true(), not 1"),
    ("false(a, b)", 1, "no argument for false(), not 2"),
    ("count()", 1, "one argument for count(), not 0"),
    ("not(a, b)", 1, "one argument for not(), not 2"),
    ("contains(a)", 1, "2 arguments for contains(), not 1"),
    ("concat(a)", 1, "at least 2 arguments for concat(), not 1"),
    ("substring(a,1,2,3)", 1, "2 to 3 arguments for substring(), not 4"),
    ("string(a, b)", 1, "0 to 1 arguments for string(), not 2"),
    # Values where nodes are needed.
    ("count('x')", 7, "nodes for count(), not a string"),
    ("sum(1)", 5, "nodes for sum(), not a number"),
    ("name(a = b)", 6, "nodes for name(), not a boolean"),
    ("local-name('a')", 12, "nodes for local-name(), not a string"),
    ("namespace-uri(-a)", 15, "nodes for namespace-uri(), not a number"),
    ("'x' | a", 1, "nodes for '|', not a string"),
    ("a | b | count(c)", 9, "nodes for '|', not a number"),
    ("'x'/a", 1, "nodes for '/', not a string"),
    ("(a or b)[1]", 1, "nodes for '[', not a boolean"),
]


@pytest.mark.parametrize(("text", "column", "expected"), MISTAKES)
def test_a_mistake_is_reported_with_its_column_and_what_was_expected(
    text: str, column: int, expected: str
) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern.parse(text, NAMESPACES)
    assert (caught.value.column, caught.value.expected) == (column, expected)
    assert caught.value.text == text
    str(caught.value).encode()  # It can be printed, whatever was in the expression.


@pytest.mark.parametrize(
    "namespaces",
    [
        {"": "urn:x"},
        {"p": ""},
        {"p": "urn:{x}"},
        {"p": "urn:\x00"},
        {"p": "urn:\ud800"},
        {None: "urn:x"},
        {"p": None},
        {5: "urn:x"},
        {"p": 5},
    ],
)
def test_a_prefix_map_that_xpath_cannot_use_is_refused(namespaces: dict[str, str]) -> None:
    with pytest.raises(PatternError, match=r"expected (a|no) namespace"):
        Pattern.parse("//a", namespaces)


# What libxml2 takes and refuses.

FORCING = oracle_tree(
    b"<a x='1' xmlns:p='urn:p' p:x='2'><b>2<c/></b><p:a y=''><q:b xmlns:q='urn:q'/></p:a>"
    b"<!--c--><?t x?>t<c><d/></c></a>"
)
PIECES = [
    *"abc*.|[](),=<>+-12;!#&%:é\tあ\N{NO-BREAK SPACE}", "@x", "@*", "..", "/", "//", "and", "or",
    "div", "mod", "not(", "count(", "contains(", "'x'", '"y"', ".5", "5.", "1e3", "1e", "1E+2",
    "!=", "<=", ">=", "::", "child::", "self::", "ancestor::", "text()", "node()", "comment()",
    "p:a", "processing-instruction(", "p:*", "q:b", "z:a", "$v", "true()", "false()", "position()",
    "last()", "string(", "number(", "name(", "local-name(", "sum(", "id(", "lang(", "concat(",
    "substring(", "translate(", "normalize-space(", "floor(", "following-sibling::", "namespace::",
    "attribute::", "preceding::", "foo(", "text", "node", "div:",
]  # fmt: skip
SEEDS = (
    "//a[b='1']/@x", "count(//a) > 1 and not(b)", "a | b[2]/c", "(//a)[1]/b", "* * *",
    "//a[contains(b, 'x') or position() = last()]", "-1 + 2 * 3 div 4", "id('x')/a",
    "string-length(a) = 2", "//p:a[@q:b]", "processing-instruction('t')", "a[b][c]//d/..",
    "self::node()/ancestor::*[1]", "translate(a,'b','c')", "//*[name() = 'a']",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """An expression with a few pieces put in or taken out, so that most are nearly right."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 4)))
        piece = draw(st.sampled_from(["", "", " ", *PIECES]))
        text = text[:start] + piece + text[end:]
    return text


def mistake_in(text: str) -> PatternError | None:
    try:
        Pattern.parse(text, NAMESPACES)
    except PatternError as error:
        return error
    return None


def libxml2_takes(text: str) -> bool:
    try:
        etree.XPath(text, regexp=False)
        # A predicate gives position() and last() their meaning, as matching does.
        whole = f"/self::node()[{text}]"
        etree.XPath(whole, namespaces=NAMESPACES, regexp=False)(FORCING)
    except etree.XPathError:
        return False
    return True


LENIENT = {
    "an operator's name may be glued to what follows: 'a orb'": r"(?:and|or|div|mod)[\w.-]",
    "an exponent may lack its digits: '1e'": r"\d[eE](?![+-]?\d)",
    "three slashes are two: '///a', '/ /a'": r"/\s*/\s*/|/\s+/",
    "spaces may stand around the colon of a name: 'p :a'": r"\s:(?!:)|[^:]:\s",
}
"""Where libxml2 departs from the grammar of XPath 1.0 (3.7): a reason, and a test."""

NOT_REACHED = (
    "XPath 1.0, but ",
    "a function of XPath 1.0 instead of ",
    "one of XPath 1.0's functions",
    "a prefix with a namespace",
    "no variable",
    "nodes for ",
    "argument",
)
"""Mistakes that libxml2 notices only if the evaluation comes by; we notice them always."""


@THOROUGH
@given(mutated())
@example("position(a)")
@example("a[last(b)]")
@example("1e")
@example("///a")
@example("a orb")
def test_what_libxml2_refuses_is_refused_and_what_it_takes_is_taken(text: str) -> None:
    mistake = mistake_in(text)
    if mistake is None:
        assert libxml2_takes(text) or "*:" in text
    elif libxml2_takes(text):
        late = any(kind in mistake.expected for kind in NOT_REACHED)
        assert late or any(re.search(sign, text) for sign in LENIENT.values()), str(mistake)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a orb", "an operator's name may be glued to what follows: 'a orb'"),
        ("1e", "an exponent may lack its digits: '1e'"),
        ("///a", "three slashes are two: '///a', '/ /a'"),
        ("p :a", "spaces may stand around the colon of a name: 'p :a'"),
    ],
)
def test_the_exceptions_are_those_libxml2_makes(text: str, reason: str) -> None:
    assert libxml2_takes(text)
    assert re.search(LENIENT[reason], text)
    with pytest.raises(PatternError):
        Pattern.parse(text, NAMESPACES)


@given(st.text(max_size=30))
def test_any_text_is_an_expression_or_a_pattern_error(text: str) -> None:
    mistake = mistake_in(text)
    assert mistake is None or 1 <= mistake.column <= len(text) + 1
