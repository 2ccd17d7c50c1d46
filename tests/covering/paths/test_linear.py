"""Which patterns are linear; what comes of counting their paths is in ``merging/test_degree``."""

from __future__ import annotations

from twigcast.covering.paths.linear import linear_path
from twigcast.language import Pattern
from twigcast.language.condition.model import Kind, Reach


def test_a_path_is_a_row_of_steps() -> None:
    steps = linear_path(Pattern.parse("/a//@b").condition)
    assert steps is not None
    assert [step.reach for step in steps] == [Reach.CHILD, Reach.DESCENDANT]
    assert [step.label.kind for step in steps] == [Kind.ELEMENT, Kind.ATTRIBUTE]


def test_patterns_with_branches_or_values_are_not_linear() -> None:
    for text in ("/a[b]/c", "/a[. = 1]", "/a | /b", "not(/a)", "true()", "/a[2]"):
        assert linear_path(Pattern.parse(text).condition) is None
