"""Comparisons of values that only later versions of XPath have, rewritten."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import refused, rewritten

REWRITES = [
    ("//a[distinct-values(b) = 'x']", 5, "//a[b = 'x']"),
    ("//a[max(b) > 2]", 5, "//a[b > 2]"),
    ("//a[min(b) > 2]", 5, "//a[b and not(b <= 2)]"),
    ("//a[max(b) = 2]", 5, "//a[b = 2 and not(b > 2)]"),
    ("//a[index-of(('x', 'y'), b)]", 5, "//a[b = 'x' or b = 'y']"),
    ("//a[year-from-date(xs:date(d)) = 2024]", 5, "//a[number(substring(d, 1, 4)) = 2024]"),
    (
        "//a[tokenize(@c, '\\s+') = 'x']",
        5,
        "//a[contains(concat(' ', normalize-space(@c), ' '), ' x ')]",
    ),
    ("//a[tokenize(@c, ',') = 'x']", 5, "//a[contains(concat(',', @c, ','), ',x,')]"),
    (
        "//a[contains-token(@c, 'x')]",
        5,
        "//a[contains(concat(' ', normalize-space(@c), ' '), ' x ')]",
    ),
    ("//a[d lt '2024-01-31']", 7, "//a[translate(d, '-', '') < 20240131]"),
    ("//a[b = (1, 2)]", 9, "//a[b = 1 or b = 2]"),
    ("//a[b = ('x', 'y')]", 9, "//a[b = 'x' or b = 'y']"),
    ("//a[position() = 1 to 2]", 20, "//a[position() = 1 or position() = 2]"),
    ("//a[b = 1 to 90]", 11, "//a[b[. >= 1 and . <= 90 and . = floor(.)]]"),
]


@pytest.mark.parametrize(("text", "column", "rewrite"), REWRITES)
def test_later_xpath_is_called_that_and_rewritten(text: str, column: int, rewrite: str) -> None:
    error = refused(text)
    assert error.expected.startswith("XPath 1.0, but ")
    assert (error.column, rewritten(text)) == (column, rewrite)
