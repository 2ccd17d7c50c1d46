"""Cost models: how long a broker is busy with each event.

A broker does one thing after the other. How long each takes is given by a *cost model*: named
constants, in seconds, which give the same figures on every machine. The defaults are of the order
of magnitude that one core with the kernel takes; a scenario sets its own.

A document may be answered in parts (see :class:`~twigcast.routing.events.Decided`). Each answer
takes the time of its own work: one that annotations were enough for costs next to nothing, the
first one that the document is read for pays for the reading, and every one for the checks that led
to it, where an engine counts them.

Or the time is *measured*: the router does the work, and a clock is read around it. Such a run is
nearer to this machine, and never the same twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol, TypeAlias, TypeVar

from twigcast.routing.events import (
    Advertise,
    Change,
    Decide,
    Decided,
    Effect,
    Event,
    Received,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from twigcast.slips import caller_result

_Answer = TypeVar("_Answer")

Answered: TypeAlias = tuple[Decided, tuple[Effect, ...]]
"""An answer, and what comes of it."""


class Costs(Protocol):
    """Has work done, and gives the seconds that it took."""

    def of_event(self, event: Event, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        """What comes of an event, and after how many seconds."""

    def of_document(
        self, decide: Decide, before: Decided | None, routes: int, work: Callable[[], Answered]
    ) -> tuple[Answered, float]:
        """The next answer to where a document has to go, by so many routes, and its seconds.

        ``before`` is the answer before it, None for the first.
        """


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
    """For each document that is read to be decided, to begin with."""
    per_byte: float = 1e-8
    """For each byte of such a document."""
    per_table_route: float = 1e-8
    """For each route in the table that it is decided by."""
    per_check: float = 0.0
    """For each comparison of a pattern with an element, where the engine counts them."""
    per_annotation: float = 0.000_02
    """For the annotations of a document that are looked at, and for those made for a link."""

    def of_event(self, event: Event, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        """What comes of an event; how long that takes depends on what is in it alone."""
        routes, advertisements = _contents(event)
        seconds = self.per_event + routes * self.per_route
        return work(), seconds + advertisements * self.per_advertisement

    def of_document(
        self, decide: Decide, before: Decided | None, routes: int, work: Callable[[], Answered]
    ) -> tuple[Answered, float]:
        """The next answer; how long it takes depends on the document, the tables and the checks."""
        answer, effects = work()
        annotations = (
            len(answer.links) - answer.annotations.count(None) if answer.annotations else 0
        )
        if before is None and decide.annotations is not None:
            annotations += 1
        seconds = annotations * self.per_annotation + answer.checks * self.per_check
        if not answer.is_unread and (before is None or before.is_unread):
            reading = self.per_document + len(decide.publication.content) * self.per_byte
            seconds += reading + routes * self.per_table_route
        return (answer, effects), seconds


class Measured:
    """The time that it takes here and today, by a clock."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock

    def of_event(self, event: Event, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        """What comes of an event, and how long that took."""
        del event
        return self._timed(work)

    def of_document(
        self, decide: Decide, before: Decided | None, routes: int, work: Callable[[], Answered]
    ) -> tuple[Answered, float]:
        """The next answer to where a document has to go, and how long that took."""
        del decide, before, routes
        return self._timed(work)

    def _timed(self, work: Callable[[], _Answer]) -> tuple[_Answer, float]:
        begun = caller_result(self._clock)
        answer = work()
        return answer, caller_result(self._clock) - begun


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
