"""Comments and doubled quotes of later versions of XPath, rewritten."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import refused, rewritten

REWRITES = [
    ("//a[b (: or c :) = 'x']", 7, "//a[b = 'x']"),
    ("//a[b = 'it''s']", 9, '//a[b = "it\'s"]'),
    ('//a[b = "it\'s ""x"""]', 9, "//a[b = concat('it', \"'\", 's \"x\"')]"),
]


@pytest.mark.parametrize(("text", "column", "rewrite"), REWRITES)
def test_later_xpath_is_called_that_and_rewritten(text: str, column: int, rewrite: str) -> None:
    error = refused(text)
    assert error.expected.startswith("XPath 1.0, but ")
    assert (error.column, rewritten(text)) == (column, rewrite)
