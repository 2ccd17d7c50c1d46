"""Climbs to the maximal class above a pattern."""

from __future__ import annotations

from twigcast.covering.index.maximal_classes import MaximalClasses


def test_a_climb_closes_circles() -> None:
    above = {1: [2], 2: [3], 3: [2, 4], 4: [3], 5: [1]}
    climb = MaximalClasses()
    top = climb.top(1, above.__getitem__, frozenset())
    assert sorted(top or ()) == [2, 3, 4]
    assert MaximalClasses().top(5, above.__getitem__, frozenset({2})) is None
