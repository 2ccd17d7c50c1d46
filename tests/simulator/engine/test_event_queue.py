"""Events happen in the order of their times, and of equal times in the order they were queued."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.simulator.engine.event_queue import EventQueue


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5]), max_size=20))
def test_the_earliest_event_is_first_and_of_equals_the_one_queued_first(
    times: list[float],
) -> None:
    queue = EventQueue()
    seen: list[tuple[float, int]] = []

    def happens(number: int) -> None:
        seen.append((queue.now, number))

    for number, at in enumerate(times):
        queue.put(at, partial(happens, number))
    while (next_at := queue.next_at()) is not None:
        queue.step()
        assert queue.now == next_at
    assert seen == sorted((at, number) for number, at in enumerate(times))
    assert (queue.steps, len(queue)) == (len(times), 0)


def test_an_event_may_queue_others_but_none_in_the_past() -> None:
    queue = EventQueue()
    seen: list[str] = []

    def first() -> None:
        queue.put(1.0, partial(seen.append, "at once"))
        queue.put(3.0, partial(seen.append, "last"))
        with pytest.raises(AssertionError, match="backwards"):
            queue.put(0.5, partial(seen.append, "never"))

    queue.put(1.0, first)
    queue.put(2.0, partial(seen.append, "then"))
    while len(queue):
        queue.step()
    assert seen == ["at once", "then", "last"]
