"""How far a run has come, told to whoever wants to know.

A *stage* is named by what is being worked on. ``done`` and ``total`` count its pieces:
subscriptions, documents listed, Spark tasks. While Spark works, a thread asks it now and then how
many tasks have ended; the pause between questions is all that this costs. A Spark that runs
elsewhere cannot be asked (Spark Connect), but tells by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from twigcast.slips import asked
from twigcast.spark.session.failures import SPARK_FAILURES
from twigcast.spark.session.session import is_connected_to

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
    spark: SparkSession, stage: str, tasks: int | None, listener: Listener | None
) -> Iterator[None]:
    """Tell the listener of ended tasks while the body of the ``with`` makes Spark work.

    ``tasks`` is None where their number is not known; the last word is then how many there were.
    """
    if listener is None:
        yield
        return
    told = 0

    def tell(done: int) -> None:
        # Behind the tasks proper come a few small ones, for sums and for putting away.
        nonlocal told
        done = done if tasks is None else min(done, tasks)
        if done > told:
            told = done
            asked(listener, Progress(stage, done, tasks))

    asked(listener, Progress(stage, 0, tasks))
    with (_hearing if is_connected_to(spark) else _asking)(spark, tell):
        yield
    total = told if tasks is None else tasks
    asked(listener, Progress(stage, total, total))


@contextmanager
def _asking(spark: SparkSession, tell: Callable[[int], None]) -> Iterator[None]:
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, tell, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(spark: SparkSession, tell: Callable[[int], None], over: threading.Event) -> None:
    # Where Spark has gone, whoever waits for its work tells it.
    with suppress(*SPARK_FAILURES):
        tracker = spark.sparkContext.statusTracker()
        while not over.wait(_QUESTION_SECONDS):
            running = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            tell(sum(found.numCompletedTasks for found in running if found is not None))


@contextmanager
def _hearing(spark: SparkSession, tell: Callable[[int], None]) -> Iterator[None]:
    # Spark names all arguments, and may think of more of them.
    def hear(stages: Iterable[Any] | None, **_: object) -> None:
        tell(sum(stage.num_completed_tasks for stage in stages or ()))

    handler: Any = hear
    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)


REPORT_EVERY = 1000
"""Progress is told once for so many subscriptions or documents."""


def reporter(listener: Listener | None) -> Callable[[str, int, int | None], None]:
    """A function that reports a stage's progress to a listener, now and then and at its end."""

    def tell(stage: str, done: int, total: int | None) -> None:
        if listener is not None and (done % REPORT_EVERY == 0 or done == total):
            asked(listener, Progress(stage, done, total))

    return tell
