"""The kind ``on_spark``: documents per CPU second, all processes counted, and per second.

Documents lie in memory as a table, so that no engine pays for reading files. Every engine runs
twice in its session: the first run starts the workers, loads what they need, lets Java compile what
it wants to and lets workers see the documents; the second is measured. ``in process`` is the same
work without Spark, in this process and in batches of the same size.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain, islice

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from benchmarks.definitions import Definition
from benchmarks.engines import Documents, listed, matcher_of
from benchmarks.measure import Measurement, digest, timed
from benchmarks.spark_engines import SPARK_ENGINES
from benchmarks.workloads import load
from twigcast.spark import start_session

ONE_CORE = ", one core"
PARTITIONS = 4
BATCH = 1_000


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    workload = load(definition)
    documents = workload.documents[: definition.documents_for(engine)]
    if engine == "in process":
        return _in_process(definition, workload.expressions, documents)
    run = SPARK_ENGINES[engine.removesuffix(ONE_CORE)]
    session = start_session("local[1]" if engine.endswith(ONE_CORE) else "local[2]")
    table = _table(session, documents)
    run(table, workload.expressions, definition.sample)
    outcome = run(table, workload.expressions, definition.sample)
    session.stop()
    answers = [sorted(outcome.sample.get(number, ())) for number in range(definition.sample)]
    figures = {
        "documents": len(documents),
        "compile_cpu_s": outcome.compiling.all_s,
        "documents_per_cpu_s": len(documents) / outcome.matching.all_s,
        "whole_per_cpu_s": len(documents) / outcome.whole.all_s,
        "java_share": outcome.whole.java_s / outcome.whole.all_s,
        "documents_per_s": len(documents) / outcome.whole_wall_s,
    }
    return _measurement(definition, engine, figures, (outcome.matches, answers))


def _in_process(
    definition: Definition, expressions: Sequence[str], documents: Sequence[bytes]
) -> Measurement:
    matcher, compile_s = timed(lambda: matcher_of("native", expressions), time.process_time)
    batches = [
        Documents(documents[start : start + BATCH]) for start in range(0, len(documents), BATCH)
    ]
    matcher.match_batch(batches[0].array)
    wall = time.perf_counter()
    answers, match_s = timed(
        lambda: [matcher.match_batch(batch.array) for batch in batches], time.process_time
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
    return _measurement(definition, "in process", figures, (found, few))


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
