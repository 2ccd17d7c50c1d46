"""The same race on Spark: what its users have today, beside our function and our job.

An engine takes a table of documents and answers with each document's matches:

- ``spark parse``, the floor: documents travel to Python workers and are parsed there;
- ``spark xpath_boolean``: Spark SQL's own function, one literal expression per column, no Python;
- ``spark one by one``: lxml's compiled expressions in ``mapInArrow``;
- ``spark twigcast_match``: our function of a column;
- ``spark twigcast run``: the whole job, which also writes its tables as Parquet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions

from benchmarks.engines import ENGINES
from benchmarks.measure import Measurement, digest, timed
from benchmarks.workloads import Workload
from twigcast.spark import matches, run_batch, start_session

Answers = dict[int, list[int]]
"""The numbers of the matching expressions by number of document."""

Outcome = tuple[float, float, Answers]
"""Seconds to compile, seconds to match, and the answers."""

SparkEngine = Callable[[DataFrame, Sequence[str]], Outcome]
Plan = Callable[[DataFrame, Sequence[str]], DataFrame]

MASTER = "local[2]"
PARTITIONS = 4
WARM_UP_DOCUMENTS = 8


def measure_on_spark(engine: str, workload: Workload) -> Measurement:
    """Compile, then run over every document once, on the wall clock of a warm session."""
    session = start_session(MASTER)
    documents = _table(session, workload.documents)
    few = _table(session, workload.documents[:WARM_UP_DOCUMENTS])
    run = SPARK_ENGINES[engine]
    run(few, workload.expressions)
    compile_s, match_s, found = run(documents, workload.expressions)
    session.stop()
    answers = [tuple(sorted(found.get(n, ()))) for n in range(len(workload.documents))]
    return Measurement(
        engine=engine,
        matches=sum(map(len, answers)),
        digest=digest(answers),
        clock="wall",
        compile_s=compile_s,
        first_pass_s=None,
        match_s=match_s,
        held_bytes=None,
        peak_bytes=None,
    )


def _planned(plan: Plan) -> SparkEngine:
    """An engine that is one lazy plan: making it is compiling, collecting its rows matching."""

    def run(documents: DataFrame, expressions: Sequence[str]) -> Outcome:
        answering, compile_s = timed(lambda: plan(documents, expressions), time.perf_counter)
        rows, match_s = timed(lambda: answering.toArrow().to_pylist(), time.perf_counter)
        return compile_s, match_s, {row["document"]: row["matches"] for row in rows}

    return run


def _xpath_boolean(documents: DataFrame, expressions: Sequence[str]) -> DataFrame:
    text = functions.decode("content", "UTF-8")
    hits = [
        functions.when(functions.xpath_boolean(text, functions.lit(expression)), number)
        for number, expression in enumerate(expressions)
    ]
    found = functions.array_compact(functions.array(*hits))
    return documents.select("document", found.alias("matches"))


def _in_python(engine: str) -> Plan:
    """An engine of the in-process race, carried to the workers as it is."""

    def plan(documents: DataFrame, expressions: Sequence[str]) -> DataFrame:
        chosen = tuple(expressions)

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            match = ENGINES[engine](chosen)
            for batch in batches:
                contents = cast("list[bytes]", batch.column("content").to_pylist())
                found = pa.array([match(content) for content in contents], pa.list_(pa.int64()))
                yield pa.RecordBatch.from_arrays(
                    [batch.column("document"), found], names=["document", "matches"]
                )

        return documents.mapInArrow(answer, "document long, matches array<long>")

    return plan


def _twigcast_match(documents: DataFrame, expressions: Sequence[str]) -> DataFrame:
    ids = matches("content", dict(enumerate(expressions)))
    return documents.select("document", ids.cast("array<long>").alias("matches"))


def _twigcast_run(documents: DataFrame, expressions: Sequence[str]) -> Outcome:
    with TemporaryDirectory() as folder:
        out = f"{folder}/out"
        session = documents.sparkSession
        run, run_s = timed(
            lambda: run_batch(dict(enumerate(expressions)), documents, out, spark=session),
            time.perf_counter,
        )
        compile_s = run.seconds["subscriptions"]
        answers: Answers = {}
        for row in session.read.parquet(f"{out}/deliveries").collect():
            answers.setdefault(int(row["document"]), []).append(int(row["subscription"]))
        return compile_s, run_s - compile_s, answers


def _table(session: SparkSession, documents: Sequence[bytes]) -> DataFrame:
    """The documents in memory, spread over the cores, so that nobody pays for reading files."""
    arrow = pa.table({"document": range(len(documents)), "content": list(documents)})
    table = session.createDataFrame(arrow).repartition(PARTITIONS).cache()
    table.count()
    return table


SPARK_ENGINES: dict[str, SparkEngine] = {
    "spark parse": _planned(_in_python("parse")),
    "spark xpath_boolean": _planned(_xpath_boolean),
    "spark one by one": _planned(_in_python("one by one")),
    "spark twigcast_match": _planned(_twigcast_match),
    "spark twigcast run": _twigcast_run,
}
