"""Net changes of a set: what came and went between two reports is in neither."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twigcast.covering.delta import DeltaSet, Difference
from twigcast.language import Pattern

PATTERNS = tuple(Pattern.parse(f"//{name}") for name in "dbca")


@given(st.lists(st.sampled_from([*PATTERNS, None]), max_size=30))
def test_each_report_has_the_net_change_since_the_last(turned: list[Pattern | None]) -> None:
    delta = DeltaSet()
    members: set[Pattern] = set()
    reported: set[Pattern] = set()
    for pattern in [*turned, None]:
        if pattern is None:
            added, removed = delta.difference()
            assert set(added) == members - reported
            assert set(removed) == reported - members
            assert list(added) == sorted(added, key=str)
            assert list(removed) == sorted(removed, key=str)
            reported = set(members)
        elif pattern in delta:
            delta.remove(pattern)
            members.remove(pattern)
        else:
            delta.add(pattern)
            members.add(pattern)
        assert len(delta) == len(members)
        assert delta.patterns() == tuple(sorted(members, key=str))
    assert delta.difference() == Difference()
