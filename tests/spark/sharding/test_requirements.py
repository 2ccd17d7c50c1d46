"""What patterns require, alone and together."""

from __future__ import annotations

import pytest

from twigcast import Pattern
from twigcast.spark.sharding.requirements import required_by, shared_by


def parsed(*texts: str) -> list[Pattern]:
    return [Pattern.parse(text) for text in texts]


@pytest.mark.parametrize(
    ("patterns", "shared"),
    [
        (["/a/b[. = 'x']/c", "/a/b[. = 'x']//d"], "/a/b[. = 'x']"),
        (["/a[b = 'x']/c", "//d[b = 'x'][c]"], "//b[. = 'x'] and //c"),
        (["/a[b or c]", "/a[b]"], "/a"),
        (["/a[b/d or c/d]", "//d"], "//d"),
        (["//a[contains(b, 'x')]", "//a[contains(b, 'x')][c]"], "//a/b[contains(., 'x')]"),
        (["//a[b = c]", "//b"], "//b"),
        (["//a[not(b)]", "//b"], "true()"),
    ],
)
def test_what_several_patterns_require(patterns: list[str], shared: str) -> None:
    found = shared_by([required_by(pattern) for pattern in parsed(*patterns)])
    assert Pattern(found) is Pattern.parse(shared)
