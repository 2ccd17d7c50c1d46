"""The kind ``on_spark``: documents per CPU second, all processes counted, and per second.

Documents lie in memory as a table, so that no engine pays for reading files. Every engine runs
several times in its session: the first runs start the workers, load what they need, let Java
compile what it wants to and let workers see the documents; the last is measured. A run on Spark
counts from documents in a table to finished tables on disk.

``in process`` is the same matching without Spark, in this process and in batches of the same size,
and nothing is written. Cores that are busy side by side slow each other down, so what runs on one
core stands beside ``in process``, and what runs on two beside ``in process, two threads``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain, islice

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from benchmarks.definition import Definition
from benchmarks.engines import Documents, listed, matcher_of
from benchmarks.measure import Measurement, digest, timed
from benchmarks.spark_engines import SPARK_ENGINES
from benchmarks.workloads import load
from twigcast.spark import start_session

ONE_CORE = ", one core"
IN_PROCESS = {"in process": 1, "in process, two threads": 2}
"""Threads."""

WARMING_RUNS = 2
PARTITIONS = 4
BATCH = 1_000


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    workload = load(definition)
    documents = workload.documents[: definition.documents_for(engine)]
    if engine in IN_PROCESS:
        return _in_process(definition, engine, workload.expressions, documents)
    run = SPARK_ENGINES[engine.removesuffix(ONE_CORE)]
    session = start_session("local[1]" if engine.endswith(ONE_CORE) else "local[2]")
    table = _table(session, documents)
    for _ in range(WARMING_RUNS):
        run(table, workload.expressions, definition.sample)
    outcome = run(table, workload.expressions, definition.sample)
    session.stop()
    answers = [sorted(outcome.sample.get(number, ())) for number in range(definition.sample)]
    figures = {
        "documents": len(documents),
        "compile_cpu_s": outcome.compiling.all_s,
        "documents_per_cpu_s": len(documents) / outcome.matching.all_s,
        "java_share": outcome.matching.java_s / outcome.matching.all_s,
        "documents_per_s": len(documents) / outcome.wall_s,
    }
    return _measurement(definition, engine, figures, (outcome.matches, answers))


def _in_process(
    definition: Definition, engine: str, expressions: Sequence[str], documents: Sequence[bytes]
) -> Measurement:
    threads = IN_PROCESS[engine]
    matcher, compile_s = timed(lambda: matcher_of("native", expressions), time.process_time)
    batches = Documents(documents).batches(BATCH)
    matcher.match_batch(batches[0].array, threads=threads)
    wall = time.perf_counter()
    answers, match_s = timed(
        lambda: [matcher.match_batch(batch.array, threads=threads) for batch in batches],
        time.process_time,
    )
    wall_s = time.perf_counter() - wall
    found = sum(len(pc.list_flatten(batch.column("matches"))) for batch in answers)
    few = list(islice(chain.from_iterable(map(listed, answers)), definition.sample))
    figures = {
        "documents": len(documents),
        "compile_cpu_s": compile_s,
        "documents_per_cpu_s": len(documents) / match_s,
        "documents_per_s": len(documents) / wall_s,
    }
    return _measurement(definition, engine, figures, (found, few))


def _measurement(
    definition: Definition,
    engine: str,
    figures: dict[str, float],
    answers: tuple[int, Sequence[Sequence[int]]],
) -> Measurement:
    """``answers`` are the number of all, and those to the sample."""
    matches, sample = answers
    if engine == "spark parse":  # It answers nothing.
        return Measurement(engine=engine, figures=figures)
    counts = {"sample": sum(map(len, sample))}
    if figures["documents"] == definition.documents:
        counts["all"] = matches
    return Measurement(
        engine=engine, counts=counts, digests={"sample": digest(sample)}, figures=figures
    )


def _table(session: SparkSession, documents: Sequence[bytes]) -> DataFrame:
    """The documents in memory, spread over the cores."""
    arrow = pa.table({"document": range(len(documents)), "content": list(documents)})
    table = session.createDataFrame(arrow).repartition(PARTITIONS).cache()
    table.count()
    return table
