"""Bars: bounds that figures are meant to keep. A missed bar is reported; only wrong answers fail.

    Bar(says="first sight costs at most 4 times as much as a document seen before",
        engine="native", figure="first_sight_us", over=("native", "warm_us"), at_most=4)

With ``over`` the figure is divided by another of the same turn, so that a machine that was slow
in one turn was slow for both; the value is the median over the turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Runs = Mapping[str, Sequence[Mapping[str, float]]]
"""The figures of each turn, by engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bound: ``at_most`` or ``at_least``.

    A value above ``possible_max`` cannot be, and shows that the machine was disturbed.
    """

    says: str
    engine: str
    figure: str
    over: tuple[str, str] | None = None
    at_most: float | None = None
    at_least: float | None = None
    possible_max: float | None = None

    def __post_init__(self) -> None:
        assert (self.at_most is None) != (self.at_least is None), self.says


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a bar; the value is None if nothing was measured."""

    bar: Bar
    value: float | None

    @property
    def credible(self) -> bool:
        """Whether the value can be."""
        limit = self.bar.possible_max
        return limit is None or self.value is None or self.value <= limit

    @property
    def met(self) -> bool:
        """Whether the bound was kept, by a value that can be."""
        if self.value is None or not self.credible:
            return False
        if self.bar.at_most is not None:
            return self.value <= self.bar.at_most
        assert self.bar.at_least is not None
        return self.value >= self.bar.at_least

    @property
    def text(self) -> str:
        """One line in plain words: the bar, the value, whether it was met."""
        if self.value is None:
            return f"not measured: {self.bar.says}"
        if not self.credible:
            return (
                f"disturbed: {self.bar.says}; it was {shown(self.value)}, which cannot be: "
                "measure again on a quiet machine"
            )
        outcome = "met" if self.met else "missed"
        return f"{outcome}: {self.bar.says}; it was {shown(self.value)}"


def bar_verdicts(bars: Sequence[Bar], runs: Runs) -> list[Verdict]:
    """The verdict on each bar."""
    return [Verdict(bar, _value(bar, runs)) for bar in bars]


def _value(bar: Bar, runs: Runs) -> float | None:
    values = _figures(runs, bar.engine, bar.figure)
    if bar.over is not None:
        below = _figures(runs, *bar.over)
        values = [over / under for over, under in zip(values, below, strict=False)]
    return median(values) if values else None


def _figures(runs: Runs, engine: str, figure: str) -> list[float]:
    return [run[figure] for run in runs.get(engine, ()) if figure in run]


def shown(value: float) -> str:
    """A number in three digits that mean something.

    >>> [shown(value) for value in (0.12345, 12.345, 123456.7, 50.0)]
    ['0.123', '12.3', '123,457', '50']
    """
    if value == int(value):
        return f"{int(value):,}"
    size = abs(value)
    digits = 0
    while size < 100 and digits < 3:  # noqa: PLR2004 - three digits that mean something
        size *= 10
        digits += 1
    return f"{value:,.{digits}f}"
