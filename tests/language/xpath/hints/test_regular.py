"""Regular expressions that XPath 1.0 can do without."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import LOWER, refused, rewritten

REWRITES = [
    ("//a[matches(b, 'x')]", 5, "//a[contains(b, 'x')]"),
    ("//a[matches(b, '^x')]", 5, "//a[starts-with(b, 'x')]"),
    ("//a[matches(b, '^x$')]", 5, "//a[b = 'x']"),
    ("//a[matches(b, '^x\\.y')]", 5, "//a[starts-with(b, 'x.y')]"),
    ("//a[matches(b, '.*x.*')]", 5, "//a[contains(b, 'x')]"),
    ("//a[matches(b, 'x|^y')]", 5, "//a[contains(b, 'x') or starts-with(b, 'y')]"),
    ("//a[matches(b, '^(x|y)$')]", 5, "//a[b = 'x' or b = 'y']"),
    ("//a[matches(b, 'X', 'i')]", 5, f"//a[contains(translate(b, {LOWER}), 'x')]"),
    ("re:test(//a, '^x')", 1, "starts-with(//a, 'x')"),
    ("//a[matches(b, '^$')]", 5, "//a[string(b) = '']"),
]


@pytest.mark.parametrize(("text", "column", "rewrite"), REWRITES)
def test_later_xpath_is_called_that_and_rewritten(text: str, column: int, rewrite: str) -> None:
    error = refused(text)
    assert error.expected.startswith("XPath 1.0, but ")
    assert (error.column, rewritten(text)) == (column, rewrite)
