"""What is to happen happens in the order of time, and of putting down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.simulator.engine.event_queue import Agenda


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5]), max_size=20))
def test_the_earliest_happens_first_and_of_equals_what_was_put_down_first(
    moments: list[float],
) -> None:
    agenda, seen = Agenda(), []
    for number, moment in enumerate(moments):
        agenda.put(moment, lambda number=number: seen.append((agenda.now, number)))  # type: ignore[misc]
    while (at := agenda.next_at()) is not None:
        agenda.step()
        assert agenda.now == at
    assert seen == sorted((moment, number) for number, moment in enumerate(moments))
    assert (agenda.steps, len(agenda)) == (len(moments), 0)


def test_what_happens_may_put_down_more_but_nothing_in_the_past() -> None:
    agenda, seen = Agenda(), []

    def first() -> None:
        agenda.put(1.0, lambda: seen.append("at once"))
        agenda.put(3.0, lambda: seen.append("last"))
        with pytest.raises(AssertionError, match="backwards"):
            agenda.put(0.5, lambda: seen.append("never"))

    agenda.put(1.0, first)
    agenda.put(2.0, lambda: seen.append("then"))
    while len(agenda):
        agenda.step()
    assert seen == ["at once", "then", "last"]
