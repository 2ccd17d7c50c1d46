"""Simulated time: what is to happen, in the order in which it happens.

Time is a number of seconds that only ever grows, and no clock is read. Whatever is to happen is put
down for a moment; taking the earliest thing off makes it *now*. What is put down for one moment
happens in the order in which it was put down, so a run has one course and no other:

    >>> agenda, seen = Agenda(), []
    >>> agenda.put(2.0, lambda: seen.append("late"))
    >>> agenda.put(1.0, lambda: seen.append("first"))
    >>> agenda.put(1.0, lambda: seen.append("second"))
    >>> while agenda:
    ...     agenda.step()
    >>> seen, agenda.now
    (['first', 'second', 'late'], 2.0)
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class Agenda:
    """What is still to happen, and what time it is."""

    def __init__(self) -> None:
        self.now = 0.0
        self.steps = 0
        """How much has happened."""
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = 0

    def put(self, at: float, happening: Callable[[], None]) -> None:
        """Have something happen at a moment, which lies ahead or is now."""
        assert at >= self.now, "time does not run backwards"
        self._numbers += 1
        heappush(self._waiting, (at, self._numbers, happening))

    def step(self) -> None:
        """Let the earliest thing happen; there must be one."""
        self.now, _, happening = heappop(self._waiting)
        self.steps += 1
        happening()

    def next_at(self) -> float | None:
        """When the earliest thing happens, None if nothing is left."""
        return self._waiting[0][0] if self._waiting else None

    def __len__(self) -> int:
        return len(self._waiting)
