"""Values of the tests' Hypothesis strategies, drawn by a seed rather than by Hypothesis.

So what the tests and the fuzzers make stands in one place. Hypothesis reads bytes in the place of
its own choices (``fuzz_one_input``); here they come from the random numbers of a case.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

__all__ = ["drawer"]

T = TypeVar("T")

_BYTES: Final = 4_000
"""More than any of the strategies reads as a rule; where it needs more, it is asked again."""
_TRIES: Final = 200


def drawer(strategy: st.SearchStrategy[T]) -> Callable[[Random], T]:
    """A function that draws a value of the strategy."""
    drawn: list[T] = []

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def keep(value: T) -> None:
        drawn.append(value)

    read: Callable[[bytes], bytes | None] = keep.hypothesis.fuzz_one_input  # type: ignore[attr-defined]

    def draw(rng: Random) -> T:
        drawn.clear()
        for _ in range(_TRIES):
            read(rng.randbytes(_BYTES))
            if drawn:
                return drawn[-1]
        raise AssertionError(f"{strategy} gave nothing")

    return draw
