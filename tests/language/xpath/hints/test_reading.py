"""Expressions, paths and names of later versions of XPath, rewritten."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import LOWER, refused, rewritten

REWRITES = [
    ("every $x in (//a, //b) satisfies $x/c", 1, "not((//a | //b)[not(c)])"),
    ("(let $x := 2 return //a = $x) and //b", 2, "//a = 2 and //b"),
    ("let $x := 1 return (let $x := 2 return //a = $x) and //b = $x", 1, "//a = 2 and //b = 1"),
    ("let $x := 5, $y := $x return //a = $y", 1, "//a = 5"),
    ("if (//a) then //b else //c", 1, "(//a and //b) or (not(//a) and //c)"),
    ("//a[if (b) then c = 1 else false()]", 5, "//a[b and c = 1]"),
    ("//a[if (b) then c else true()]", 5, "//a[not(b) or c]"),
    ("//a[(if (b) then c else d) = 1]", 6, "//a[(b and c = 1) or (not(b) and d = 1)]"),
    ("for $x in //a return $x/b", 1, "//a/b"),
    ("let $x := //a return $x/b", 1, "//a/b"),
    ("some $i in //p satisfies $i/q", 1, "//p[q]"),
    ("some $i in //p satisfies $i = 'x'", 1, "//p[. = 'x']"),
    ("every $i in //p satisfies $i/q = 'x'", 1, "not(//p[not(q = 'x')])"),
    ("some $i in //p, $j in $i/q satisfies $j/@x", 1, "//p[q[@x]]"),
    (
        "//a[some $w in ('x', 'y') satisfies contains(., $w)]",
        5,
        "//a[contains(., 'x') or contains(., 'y')]",
    ),
    ("//a/(b | c)/d", 5, "(//a/b | //a/c)/d"),
    ("//a/(b, c)", 5, "//a/b | //a/c"),
    ("//a/string() = 'x'", 5, "//a[string() = 'x']"),
    ("//a/lower-case(.) = 'x'", 5, f"//a[translate(., {LOWER}) = 'x']"),
    ("//a/.[b]", 6, "//a/self::node()[b]"),
    ("//element(a)/attribute(x)", 3, "//a/@x"),
    ("//a[self::element()]", 11, "//a[self::*]"),
    ("//Q{urn:x}a[Q{}b]", 3, "//{urn:x}a[b]"),
]


@pytest.mark.parametrize(("text", "column", "rewrite"), REWRITES)
def test_later_xpath_is_called_that_and_rewritten(text: str, column: int, rewrite: str) -> None:
    error = refused(text)
    assert error.expected.startswith("XPath 1.0, but ")
    assert (error.column, rewritten(text)) == (column, rewrite)
