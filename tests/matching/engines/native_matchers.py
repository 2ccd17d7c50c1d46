"""Matchers of many kinds of patterns, decided by the kernel or left to libxml2."""

from __future__ import annotations

from collections.abc import Sequence

from tests.strategies import NAMESPACES
from twigcast.matching import Matcher

MIXED = (
    "//a", "//b[2]", "/r[a = 'x']", ". = 'x4'", "contains(/, 'x')", "count(//b) = 2",
    "//a[text()]", "not(//é)", "//b[. > 3.25]", "//p:a/@p:x", "starts-with(/, 'y')",
)  # fmt: skip
"""Exact patterns, some of the document node's own value, and some that only libxml2 decides."""


def matcher_of(xpaths: Sequence[str] = MIXED, engine: str = "native") -> Matcher:
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(xpaths):
        matcher.add(number, xpath, NAMESPACES)
    return matcher
