"""Bars: medians against a bound, ratios turn by turn, told in plain words."""

from __future__ import annotations

import pytest

from benchmarks.bars import Bar, bar_verdicts

RUNS = {
    "fast": [{"warm_us": 1.0}, {"warm_us": 30.0}, {"warm_us": 3.0}],
    "slow": [{"warm_us": 10.0}, {"warm_us": 90.0}, {"warm_us": 6.0}],
}


def told(**bar: object) -> str:
    (verdict,) = bar_verdicts([Bar(says="this", figure="warm_us", **bar)], RUNS)  # type: ignore[arg-type]
    return verdict.text


def test_a_figure_is_the_median_of_its_turns() -> None:
    assert told(engine="fast", at_most=3) == "met: this; it was 3"
    assert told(engine="fast", at_most=2.9) == "missed: this; it was 3"


def test_a_ratio_is_taken_turn_by_turn() -> None:
    # Medians of each side would give 10 / 3.
    assert told(engine="slow", over=("fast", "warm_us"), at_least=3) == "met: this; it was 3"


def test_what_was_not_measured_is_not_met() -> None:
    (verdict,) = bar_verdicts([Bar(says="this", engine="no", figure="warm_us", at_most=1)], RUNS)
    assert not verdict.met
    assert verdict.text == "not measured: this"


@pytest.mark.parametrize("bounds", [{}, {"at_most": 1.0, "at_least": 1.0}])
def test_a_bar_has_one_bound(bounds: dict[str, float]) -> None:
    with pytest.raises(AssertionError):
        Bar(says="this", engine="fast", figure="warm_us", **bounds)  # type: ignore[arg-type]


def test_a_value_that_cannot_be_meets_nothing() -> None:
    said = told(engine="slow", over=("fast", "warm_us"), at_least=1, possible_max=2)
    assert said.startswith("disturbed: this; it was 3, which cannot be")
