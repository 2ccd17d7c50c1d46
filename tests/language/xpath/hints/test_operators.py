"""Operators of later versions of XPath, rewritten."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import LOWER, refused, rewritten

REWRITES = [
    ("x eq 'a'", 3, "x = 'a'"),
    ("//a[@x ne 'a' and y ge 5]", 8, "//a[@x != 'a' and y >= 5]"),
    ("//a[b is c]", 7, "//a[b and c and count(b | c) = 1]"),
    ("//a[. is //b[1]]", 7, "//a[//b[1] and count(. | //b[1]) = 1]"),
    ("//a[b idiv 2 = 1]", 7, "//a[(b - b mod 2) div 2 = 1]"),
    ("//a[b castable as xs:boolean]", 7, "//a[b = 'true' or b = 'false' or b = '1' or b = '0']"),
    ("//a[b || c = 'xy']", 7, "//a[concat(b, c) = 'xy']"),
    ("//a union //b", 5, "//a | //b"),
    ("//a intersect //b", 5, "//a[count(. | //b) = count(//b)]"),
    ("//* except //a", 5, "//*[count(. | //a) != count(//a)]"),
    ("//a[* except (b, c)]", 7, "//a[*[not(self::b or self::c)]]"),
    ("//a[@* except @id]", 8, "//a[@*[name() != 'id']]"),
    ("//a ! b", 5, "//a/b"),
    ("//a[b => lower-case() = 'x']", 7, f"//a[translate(b, {LOWER}) = 'x']"),
    ("//a[b cast as xs:integer > 5]", 7, "//a[number(b) > 5]"),
    ("//a[b castable as xs:integer]", 7, "//a[number(b) = floor(b)]"),
    ("//a[xs:decimal(b) gt 5]", 5, "//a[number(b) > 5]"),
    ("//a[b treat as element()]", 7, "//a[b]"),
    ("sum(//a/xs:decimal(b)) > 5", 9, "sum(//a/b) > 5"),
]


@pytest.mark.parametrize(("text", "column", "rewrite"), REWRITES)
def test_later_xpath_is_called_that_and_rewritten(text: str, column: int, rewrite: str) -> None:
    error = refused(text)
    assert error.expected.startswith("XPath 1.0, but ")
    assert (error.column, rewritten(text)) == (column, rewrite)
