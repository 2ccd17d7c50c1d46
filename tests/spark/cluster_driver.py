"""A program with Spark's driver in it: runs on a cluster, step by step, for tests.

    cluster_driver.py FOLDER SETTINGS TOPOLOGY STEP...

It is started with a master among the settings (JSON), or submitted without one. It prints a line of
JSON for where it runs, and one for each step: its name, deliveries, workers. A step is

    files:PLAN  the documents in the folder, by a plan
    slow        documents from tasks, of which the first waits until it is tried a second time
    …           any other: documents from tasks that stop half way, until a gate is opened
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

from twigcast.spark import Publications, run_batch, start_session

DOCUMENTS = 40
TASKS = 4
"""More than the cluster has cores, so that some are done when others are slow."""

_QUESTION_SECONDS = 0.05

Batches = Iterator[pa.RecordBatch]


def main(folder: Path, settings: dict[str, str], topology: str, *steps: str) -> None:
    """Take the steps one by one."""
    spark = start_session(settings=settings, quick=True)
    _tell(facts(spark))
    for step in steps:
        kind, _, plan = step.partition(":")
        feed: Publications = Publications(folder / "feed")
        if not plan:
            gate = folder / f"gate-{kind}"
            work = tried_twice(gate) if kind == "slow" else half_by_half(gate)
            rows = spark.range(0, DOCUMENTS, 1, TASKS)
            feed = Publications(rows.mapInArrow(work, "document string, content string"))
        run = run_batch(
            folder / "subscriptions.csv",
            feed,
            folder / step,
            spark=spark,
            topology=json.loads(topology),
            strategy="covering",
            plan=plan or "fused",
            partitions=TASKS if plan else None,
        )
        _tell([step, run.deliveries, run.workers])
    spark.stop()


def facts(spark: SparkSession) -> dict[str, object]:
    """Where this program runs and with which settings."""
    context = spark.sparkContext
    names = ("spark.app.name", "spark.local.dir", "spark.sql.execution.arrow.maxRecordsPerBatch")
    return {
        "master": context.master,
        "application": context.applicationId,
        "has web page": context.uiWebUrl is not None,
        **{name: context.getConf().get(name) for name in names},
    }


def half_by_half(gate: Path) -> Callable[[Batches], Batches]:
    """Documents, of which the second half comes when the gate is open."""

    def documents(batches: Batches) -> Batches:
        numbers = _numbers(batches)
        for half in (numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]):
            yield _documents(half)
            (gate / str(os.getpid())).write_text(str(Path.cwd()), encoding="utf-8")
            _until(gate / "go")

    return documents


def tried_twice(gate: Path) -> Callable[[Batches], Batches]:
    """Documents, of which the first come when another attempt has been made to get them."""

    def documents(batches: Batches) -> Batches:
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0:
            if context.attemptNumber() > 0:
                (gate / "go").touch()
            _until(gate / "go")
        yield _documents(_numbers(batches))

    return documents


def _tell(found: object) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def _numbers(batches: Batches) -> list[int]:
    return [int(number.as_py()) for batch in batches for number in batch.column("id")]


def _documents(numbers: list[int]) -> pa.RecordBatch:
    names = [f"{number:03}.xml" for number in numbers]
    contents = [f"<a><b>{number}</b></a>" for number in numbers]
    return pa.RecordBatch.from_pydict({"document": names, "content": contents})


def _until(mark: Path) -> None:
    pause = threading.Event()
    while not mark.exists():
        pause.wait(_QUESTION_SECONDS)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), *sys.argv[3:])
