"""Functions that XPath 1.0 lacks, rewritten."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import LOWER, UPPER, refused, rewritten

REWRITES = [
    ("lower-case(title) = 'x'", 1, f"translate(title, {LOWER}) = 'x'"),
    ("//a[upper-case(b) = 'X']", 5, f"//a[translate(b, {UPPER}) = 'X']"),
    ("//a[contains(lower-case(.), 'x')]", 14, f"//a[contains(translate(., {LOWER}), 'x')]"),
    ("//a[fn:lower-case(b) = 'x']", 5, f"//a[translate(b, {LOWER}) = 'x']"),
    ("fn:contains(//a, 'x')", 1, "contains(//a, 'x')"),
    ("//a[ends-with(b, 'xyz')]", 5, "//a[substring(b, string-length(b) - 2) = 'xyz']"),
    ("//a[ends-with(b, 'x')]", 5, "//a[substring(b, string-length(b)) = 'x']"),
    (
        "//a[ends-with(b, c)]",
        5,
        "//a[substring(b, string-length(b) - string-length(string(c)) + 1) = string(c)]",
    ),
    ("//a[exists(b)]", 5, "//a[b]"),
    ("exists(//a) = true()", 1, "boolean(//a) = true()"),
    ("//a[empty(b)]", 5, "//a[not(b)]"),
    ("//a[data(b) = 'x']", 5, "//a[b = 'x']"),
    ("//a[replace(b, '-', '') = 'x']", 5, "//a[translate(b, '-', '') = 'x']"),
    ("//a[abs(b) > 2]", 5, "//a[b * (1 - 2 * (b < 0)) > 2]"),
    ("//a[avg(b) > 2]", 5, "//a[sum(b) div count(b) > 2]"),
    ("head(//a)/b", 1, "(//a)[1]/b"),
    ("subsequence(//a, 2, 3)", 1, "(//a)[position() >= 2 and position() < 5]"),
    ("//a[has-children(b)]", 5, "//a[b/node()]"),
]


@pytest.mark.parametrize(("text", "column", "rewrite"), REWRITES)
def test_later_xpath_is_called_that_and_rewritten(text: str, column: int, rewrite: str) -> None:
    error = refused(text)
    assert error.expected.startswith("XPath 1.0, but ")
    assert (error.column, rewritten(text)) == (column, rewrite)
