"""How far a run has come, told to whoever wants to know.

A *stage* is named by what is being worked on. ``done`` and ``total`` count its pieces:
subscriptions, documents listed, Spark tasks. While Spark works, a thread asks it now and then how
many tasks have ended; the pause between questions is all that this costs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUESTION_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage of a run and how much of it is done; ``total`` is None while it is not known."""

    stage: str
    done: int
    total: int | None


Listener: TypeAlias = Callable[[Progress], None]


@contextmanager
def watched(
    spark: SparkSession, stage: str, tasks: int, listener: Listener | None
) -> Iterator[None]:
    """Tell the listener of ended tasks while the body of the ``with`` makes Spark work."""
    if listener is None:
        yield
        return

    def tell(done: int) -> None:
        # Behind the tasks proper come a few small ones, for sums and for putting away.
        listener(Progress(stage, min(done, tasks), tasks))

    tell(0)
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, tell, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    tell(tasks)


def _watch(spark: SparkSession, tell: Callable[[int], None], over: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    told = 0
    while not over.wait(_QUESTION_SECONDS):
        running = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        done = sum(found.numCompletedTasks for found in running if found is not None)
        if done > told:
            told = done
            tell(done)
