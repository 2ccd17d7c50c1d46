"""Choices and conjunctions of any patterns."""

from __future__ import annotations

from hypothesis import given

from tests.strategies import NAMESPACES, ExpressionPair, subscriptions
from twigcast.covering import covers
from twigcast.language import Pattern, PatternLimits


@given(subscriptions(), subscriptions())
def test_a_disjunction_covers_its_parts_and_a_conjunction_is_covered_by_them(
    one: ExpressionPair, other: ExpressionPair
) -> None:
    first, second = (Pattern.parse(expression.text, NAMESPACES).text for expression in (one, other))
    limits = PatternLimits(*[1 << 20] * 7)
    both = Pattern.parse(f"({first}) and ({second})", limits=limits)
    either = Pattern.parse(f"({first}) or ({second})", limits=limits)
    part = Pattern.parse(f"true() and ({first})", limits=limits)
    assert covers(wider=part, narrower=both)
    assert covers(wider=either, narrower=part)
