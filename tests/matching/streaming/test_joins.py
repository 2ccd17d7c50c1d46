"""Branches of a pattern hold at the same element, or not at all."""

from __future__ import annotations

import pytest

from tests.matching.streaming.small_engines import engine_of, matches


@pytest.mark.parametrize(
    ("xpath", "content", "expected"),
    [
        ("//a[b][c]", b"<r><a><b/></a><a><c/></a></r>", False),
        ("//a[b][c]", b"<r><a><b/></a><a><c/><b/></a></r>", True),
        ("//a[.//b[c][d]][e]", b"<a><b><c/></b><b><d/></b><e/></a>", False),
        ("//a[.//b[c][d]][e]", b"<a><a><b><c/><d/></b></a><e/></a>", True),
        ("//a[.//a][b]", b"<a><b/></a>", False),
        ("//a[.//a][b]", b"<a><b/><a/></a>", True),
    ],
)
def test_branches_are_joined_at_the_same_element(
    xpath: str, content: bytes, *, expected: bool
) -> None:
    # Checked independently, as in YAK 4.1, the branches would hold in all of these documents.
    assert matches(engine_of(xpath), content) == ((0,) if expected else ())
