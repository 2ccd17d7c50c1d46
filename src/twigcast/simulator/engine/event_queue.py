"""The event queue of simulated time.

Time is a number of seconds that only ever grows, and no clock is read. An event is queued for a
time; when the earliest is taken, its time becomes *now*. Events of one time happen in the order in
which they were queued, so a run has one course and no other:

    >>> queue, seen = EventQueue(), []
    >>> queue.put(2.0, lambda: seen.append("late"))
    >>> queue.put(1.0, lambda: seen.append("first"))
    >>> queue.put(1.0, lambda: seen.append("second"))
    >>> while queue:
    ...     queue.step()
    >>> seen, queue.now
    (['first', 'second', 'late'], 2.0)
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class EventQueue:
    """The events still to come, and the time that it is."""

    def __init__(self) -> None:
        self.now = 0.0
        self.steps = 0
        """Events that have happened."""
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = 0

    def put(self, at: float, timed: Callable[[], None]) -> None:
        """Queue an event for a time, which lies ahead or is now."""
        assert at >= self.now, "time does not run backwards"
        self._numbers += 1
        heappush(self._waiting, (at, self._numbers, timed))

    def step(self) -> None:
        """Let the earliest event happen; there must be one."""
        self.now, _, timed = heappop(self._waiting)
        self.steps += 1
        timed()

    def next_at(self) -> float | None:
        """The time of the earliest event, None if nothing is left."""
        return self._waiting[0][0] if self._waiting else None

    def __len__(self) -> int:
        return len(self._waiting)
