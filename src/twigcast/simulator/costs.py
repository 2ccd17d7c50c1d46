"""How long a broker is busy with what comes to it.

A broker does one thing after the other. How long each takes is a matter of a *cost model*: named
constants, in seconds, which give the same figures on every machine. What they are by default is of
the order of magnitude that one core with the kernel takes; a scenario sets its own.

Or the time is *measured*: the router is asked, and the clock says how long it took. Such a run is
nearer to this machine, and never the same twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol, TypeVar

from twigcast.routing.events import (
    Advertise,
    Change,
    Decide,
    Event,
    Received,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)

__all__ = ["CostModel", "Costs", "Measured"]

_Answer = TypeVar("_Answer")


class Costs(Protocol):
    """What tells how long something takes while having it done."""

    def of_event(self, event: Event, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        """What comes of an event, and after how many seconds."""

    def of_document(
        self, decide: Decide, routes: int, work: Callable[[], _Answer]
    ) -> tuple[_Answer, float]:
        """Where a document has to go, by so many routes, and after how many seconds."""


@dataclass(frozen=True, slots=True)
class CostModel:
    """Constants in seconds."""

    per_event: float = 0.000_01
    """For whatever comes in, to begin with."""
    per_route: float = 0.000_05
    """For each pattern that is put into the tables or taken out of them."""
    per_advertisement: float = 0.001
    """For each advertisement that is put into the tables or taken out of them."""
    per_document: float = 0.000_02
    """For each document to be decided, to begin with."""
    per_byte: float = 1e-8
    """For each byte of such a document."""
    per_table_route: float = 1e-8
    """For each route in the table that it is decided by."""

    def of_event(self, event: Event, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        """What comes of an event; how long that takes depends on what is in it alone."""
        routes, advertisements = _contents(event)
        seconds = self.per_event + routes * self.per_route
        return work(), seconds + advertisements * self.per_advertisement

    def of_document(
        self, decide: Decide, routes: int, work: Callable[[], _Answer]
    ) -> tuple[_Answer, float]:
        """Where a document has to go; how long that takes depends on its size and the tables."""
        reading = self.per_document + len(decide.publication.content) * self.per_byte
        return work(), reading + routes * self.per_table_route


class Measured:
    """The time that it takes here and today, by a clock."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock

    def of_event(self, event: Event, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        """What comes of an event, and how long that took."""
        del event
        return self._timed(work)

    def of_document(
        self, decide: Decide, routes: int, work: Callable[[], _Answer]
    ) -> tuple[_Answer, float]:
        """Where a document has to go, and how long that took."""
        del decide, routes
        return self._timed(work)

    def _timed(self, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        begun = self._clock()
        answer = work()
        return answer, self._clock() - begun


def _contents(event: Event) -> tuple[int, int]:
    """How many patterns and how many advertisements an event puts or takes."""
    match event:
        case Subscribe() | Unsubscribe():
            return 1, 0
        case Advertise() | Unadvertise():
            return 0, 1
        case Received(message=Change() as change):
            routes = len(change.routes) + len(change.withdrawn)
            return routes, len(change.advertisements) + len(change.unadvertised)
        case _:
            return 0, 0
