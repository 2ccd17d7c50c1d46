"""Progress of a run, reported to listeners.

A *stage* is named by what is being worked on. ``done`` and ``total`` count its pieces:
subscriptions, documents listed, Spark tasks. While Spark works, a thread polls it for the number of
tasks that have ended. A Spark that runs elsewhere (Spark Connect) cannot be polled, but reports by
itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from twigcast.slips import caller_result
from twigcast.spark.session.failures import SPARK_FAILURES
from twigcast.spark.session.session import is_connected_to

_POLL_SECONDS = 0.25


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
    """Report ended tasks to the listener while the body of the ``with`` makes Spark work.

    ``tasks`` is None where their number is not known; the last report then has it.
    """
    if listener is None:
        yield
        return
    reported = 0

    def report(done: int) -> None:
        # Behind the tasks proper come a few small ones, for sums and for putting away.
        nonlocal reported
        done = done if tasks is None else min(done, tasks)
        if done > reported:
            reported = done
            caller_result(listener, Progress(stage, done, tasks))

    caller_result(listener, Progress(stage, 0, tasks))
    with (_listening if is_connected_to(spark) else _polling)(spark, report):
        yield
    total = reported if tasks is None else tasks
    caller_result(listener, Progress(stage, total, total))


@contextmanager
def _polling(spark: SparkSession, report: Callable[[int], None]) -> Iterator[None]:
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, report, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(spark: SparkSession, report: Callable[[int], None], over: threading.Event) -> None:
    # Where Spark has ended, those who wait for its work raise that.
    with suppress(*SPARK_FAILURES):
        tracker = spark.sparkContext.statusTracker()
        while not over.wait(_POLL_SECONDS):
            running = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            report(sum(found.numCompletedTasks for found in running if found is not None))


@contextmanager
def _listening(spark: SparkSession, report: Callable[[int], None]) -> Iterator[None]:
    # Spark names all arguments, and may think of more of them.
    def on_progress(stages: Iterable[Any] | None, **_: object) -> None:
        report(sum(stage.num_completed_tasks for stage in stages or ()))

    handler: Any = on_progress
    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)


REPORT_EVERY = 1000
"""Progress is reported once for so many subscriptions or documents."""


def reporter(listener: Listener | None) -> Callable[[str, int, int | None], None]:
    """A function that reports a stage's progress to a listener, now and then and at its end."""

    def report(stage: str, done: int, total: int | None) -> None:
        if listener is not None and (done % REPORT_EVERY == 0 or done == total):
            caller_result(listener, Progress(stage, done, total))

    return report
