"""Spines of patterns, and their steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from twigcast import Pattern
from twigcast.covering.merging.spine import pattern_of, spine_of, steps_of


def parsed(*texts: str) -> list[Pattern]:
    return [Pattern.parse(text) for text in texts]


@given(st.one_of(paths(), trees()))
def test_a_spine_means_what_its_pattern_means(text: str) -> None:
    pattern = Pattern.parse(text)
    spine = spine_of(pattern)
    assert spine is not None
    assert pattern_of(spine) is pattern


def test_steps_are_counted_wherever_they_are() -> None:
    texts = ["/a", "/a[b/c]//d[@x = 1]", "//a[not(b) or c]", "contains(//a/b, 'x')", "1 = 1"]
    assert [steps_of(pattern) for pattern in parsed(*texts)] == [1, 5, 3, 2, 1]
