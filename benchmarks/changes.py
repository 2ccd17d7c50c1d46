"""The kind ``changes``: subscriptions that come and go while there are many.

Every tenth subscription is removed and added again under a new id, ten times over with another
tenth each, so that in the end every subscription has been both, and the answers must be those of a
matcher that never changed. An add begins with the expression's text. The clock of a single change
is the thread's CPU time; the slowest by the wall clock is told too, and contains whatever else the
machine did at that moment.

Two "engines": ``native, alone``, and ``native, documents in between``, which matches a document
after every so many changes, as a broker would. Only the changes are timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle

from benchmarks.definition import Definition
from benchmarks.engines import matcher_of
from benchmarks.measure import Measurement, digest
from benchmarks.workloads import Workload, load

TENTHS = 10
CHANGES_PER_DOCUMENT = 50


@dataclass(slots=True)
class Times:
    """Seconds of single changes, by the thread's clock and by the wall's."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def time(self, change: Callable[[], None]) -> None:
        """Make a change and note how long it took."""
        wall, cpu = time.perf_counter(), time.thread_time()
        change()
        self.cpu.append(time.thread_time() - cpu)
        self.wall.append(time.perf_counter() - wall)

    @property
    def per_s(self) -> float:
        """Changes per CPU second."""
        return len(self.cpu) / sum(self.cpu)


def measured(definition: Definition, variant: str) -> Measurement:
    """Measure one variant."""
    return changed(load(definition), variant)


def changed(workload: Workload, variant: str) -> Measurement:
    """The same on a workload that is there already."""
    engine, _, manner = variant.partition(", ")
    matcher = matcher_of(engine, workload.expressions)
    total = len(workload.expressions)
    between = cycle(workload.documents)
    adds, removes = Times(), Times()

    def make(change: Callable[[], None], times: Times) -> None:
        times.time(change)
        if manner == "documents in between" and len(times.cpu) % CHANGES_PER_DOCUMENT == 0:
            matcher.match(next(between))

    for tenth in range(TENTHS):
        for one in range(tenth, total, TENTHS):
            make(partial(matcher.remove, one), removes)
        for one in range(tenth, total, TENTHS):
            make(partial(matcher.add, total + one, workload.expressions[one]), adds)
    answers = [
        sorted(one % total for one in matcher.match(document)) for document in workload.documents
    ]
    return Measurement(
        engine=variant,
        counts={"after": sum(map(len, answers))},
        digests={"after": digest(answers)},
        figures={
            "adds_per_s": adds.per_s,
            "removes_per_s": removes.per_s,
            "slowest_add_ms": 1e3 * max(adds.cpu),
            "slowest_remove_ms": 1e3 * max(removes.cpu),
            "slowest_wall_ms": 1e3 * max(adds.wall + removes.wall),
        },
    )
