"""The ways to match on Spark: what its users have today, beside our function and our job.

An engine takes a table of documents and expressions:

- ``spark parse``, the floor: documents travel to Python workers and are parsed there;
- ``spark xpath_boolean``: Spark SQL's own function, one literal expression per column, no Python;
- ``spark one by one``: lxml's compiled expressions in ``mapInArrow``;
- ``spark twigcast_match``: our function of a column;
- ``spark run``: the whole job, which also writes its tables as Parquet;
- ``spark deliveries``: the same deliveries as a DataFrame, which Spark writes as Parquet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import cast

import pyarrow as pa
from pyspark.sql import DataFrame, functions

from benchmarks.engines import ENGINES, Documents
from benchmarks.processes import Used, used
from twigcast.spark import Pipeline, Progress, matches, run_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an engine used, and its answers to the sample.

    ``matching`` is from documents in a table to answers, those of a run written into its tables;
    only compiling is apart.
    """

    compiling: Used
    matching: Used
    wall_s: float
    matches: int
    sample: Mapping[int, Sequence[int]]


SparkEngine = Callable[[DataFrame, Sequence[str], int], Outcome]
"""From documents, expressions and the size of the sample."""

Plan = Callable[[DataFrame, Sequence[str]], DataFrame]


def _planned(plan: Plan) -> SparkEngine:
    """An engine that is one lazy plan: making it is compiling, collecting its rows matching."""

    def run(documents: DataFrame, expressions: Sequence[str], sample: int) -> Outcome:
        begun = used()
        answering = plan(documents, expressions)
        compiled, wall = used(), time.perf_counter()
        rows = answering.toArrow()
        wall_s = time.perf_counter() - wall
        matching = used() - compiled
        answers = {row["document"]: row["matches"] for row in rows.to_pylist()}
        return Outcome(
            compiling=compiled - begun,
            matching=matching,
            wall_s=wall_s,
            matches=sum(map(len, answers.values())),
            sample={number: ids for number, ids in answers.items() if number < sample},
        )

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
                answers = match(Documents(contents)) or [()] * len(contents)
                yield pa.RecordBatch.from_arrays(
                    [batch.column("document"), pa.array(answers, pa.list_(pa.int64()))],
                    names=["document", "matches"],
                )

        return documents.mapInArrow(answer, "document long, matches array<long>")

    return plan


def _twigcast_match(documents: DataFrame, expressions: Sequence[str]) -> DataFrame:
    ids = matches("content", dict(enumerate(expressions)))
    return documents.select("document", ids.cast("array<long>").alias("matches"))


def _run(documents: DataFrame, expressions: Sequence[str], sample: int) -> Outcome:
    """Our job; compiling is what it does until it begins to match."""
    compiled: list[tuple[Used, float]] = []

    def listen(progress: Progress) -> None:
        if progress.stage == "matching" and not compiled:
            compiled.append((used(), time.perf_counter()))

    session = documents.sparkSession
    with TemporaryDirectory() as folder:
        out, begun = f"{folder}/out", used()
        subscriptions = dict(enumerate(expressions))
        run = run_batch(subscriptions, documents, out, spark=session, progress=listen)
        ended, wall = used(), time.perf_counter()
        answers = _sample(session.read.parquet(f"{out}/deliveries"), sample)
    ((ready, ready_wall),) = compiled
    return Outcome(
        compiling=ready - begun,
        matching=ended - ready,
        wall_s=wall - ready_wall,
        matches=run.deliveries,
        sample=answers,
    )


def _deliveries(documents: DataFrame, expressions: Sequence[str], sample: int) -> Outcome:
    """Our DataFrame, without the content, in a table that Spark writes."""
    session, begun = documents.sparkSession, used()
    pipeline = Pipeline(session, subscriptions=dict(enumerate(expressions)))
    deliveries = pipeline.deliveries(documents).drop("content")
    ready, wall = used(), time.perf_counter()
    with TemporaryDirectory() as folder:
        deliveries.write.parquet(f"{folder}/deliveries")
        ended, ended_wall = used(), time.perf_counter()
        written = session.read.parquet(f"{folder}/deliveries")
        return Outcome(
            compiling=ready - begun,
            matching=ended - ready,
            wall_s=ended_wall - wall,
            matches=written.count(),
            sample=_sample(written, sample),
        )


def _sample(deliveries: DataFrame, sample: int) -> dict[int, list[int]]:
    few = deliveries.where(functions.col("document").cast("long") < sample)
    answers: dict[int, list[int]] = {}
    for row in few.select("document", "subscription").collect():
        answers.setdefault(int(row["document"]), []).append(int(row["subscription"]))
    return answers


SPARK_ENGINES: dict[str, SparkEngine] = {
    "spark parse": _planned(_in_python("parse")),
    "spark xpath_boolean": _planned(_xpath_boolean),
    "spark one by one": _planned(_in_python("one by one")),
    "spark twigcast_match": _planned(_twigcast_match),
    "spark run": _run,
    "spark deliveries": _deliveries,
}
