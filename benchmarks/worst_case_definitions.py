"""The definitions of the hardest expressions known: how slow one can be, and how that grows."""

from __future__ import annotations

from benchmarks.bars import Bar
from benchmarks.definition import FEWER_TURNS, Definition
from benchmarks.hard_cases import CASES, SIZES

SQUARE = 2.1
"""The power of the size that a quadratic case grows with, and what is linear in it beside that."""


def _bars(case: str) -> tuple[Bar, Bar]:
    return (
        Bar(
            says=f"{case}: no document takes over a second",
            engine=case,
            figure="case_ms",
            at_most=1_000,
        ),
        Bar(
            says=f"{case}: steps grow at most with the square of the document",
            engine=case,
            figure="growth",
            at_most=SQUARE,
        ),
    )


WORST_CASE_DEFINITIONS = (
    Definition(
        name="worst-cases",
        kind="worst_cases",
        workload="hard/expressions",
        subscriptions=sum(len(case.expressions) for case in CASES.values()),
        documents=len(SIZES) * len(CASES),
        engines=tuple(CASES),
        expected={"differences": 0} | dict.fromkeys(CASES, 0) | {"not in not": len(SIZES)},
        bars=tuple(bar for case in CASES for bar in _bars(case)),
        turns=FEWER_TURNS,
    ),
)
