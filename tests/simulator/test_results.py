"""Figures of a run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twigcast.simulator.results import ResponseTimes, response_times

SECONDS = st.lists(st.integers(0, 50).map(float), min_size=1, max_size=60)


@given(SECONDS)
def test_response_times_are_the_least_that_so_many_do_not_exceed(seconds: list[float]) -> None:
    found = response_times(seconds)
    for share, figure in ((0.5, found.median), (0.95, found.percentile_95), (1, found.longest)):
        assert figure in seconds
        assert sum(each <= figure for each in seconds) >= share * len(seconds)
        assert sum(each < figure for each in seconds) < share * len(seconds)
    assert found.mean * len(seconds) - sum(seconds) < 1e-6


def test_where_nothing_was_delivered_all_figures_are_zero() -> None:
    assert response_times([]) == ResponseTimes(0.0, 0.0, 0.0, 0.0)
