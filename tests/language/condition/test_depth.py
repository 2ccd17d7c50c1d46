"""The depth of conditions."""

from __future__ import annotations

import pytest

from twigcast.language import Pattern, PatternLimits
from twigcast.language.condition.depth import depth_of
from twigcast.language.pattern import CANONICAL_LIMITS


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("true()", 1),
        ("/a", 2),
        ("//a", 3),
        ("//a" * 9, 19),
        ("//a[b[c[d]]]", 6),
        ("//a[not(b)]", 9),
        ("//a[not(not(b) or c)]", 11),
        ("//a[contains(b/c/d, 'x')]", 7),
        ("//a[2]", 5),
        ("//a[b[c = d][2]]", 8),
        ("id('x')/a/b[c]", 6),
        ("-a + 1 > 2", 6),
    ],
)
def test_the_depth_is_that_of_the_deepest_way_down(text: str, depth: int) -> None:
    assert depth_of(Pattern.parse(text).condition) == depth


def test_wide_conditions_are_not_deep() -> None:
    text = "//a[" + " or ".join(f"b{number}" for number in range(400)) + "]"
    limits = PatternLimits(*[1_000_000] * 7)
    assert depth_of(Pattern.parse(text, limits=limits).condition) == 5


def test_the_depth_of_a_condition_deeper_than_the_stack_is_found() -> None:
    condition = Pattern.parse("//a").condition
    from twigcast.language.condition.model import Not

    for _ in range(10_000):
        condition = Not(condition)
    assert depth_of(condition) == 10_007
    assert CANONICAL_LIMITS.steps_max > 10_000
