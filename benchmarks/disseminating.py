"""The kind ``disseminating``: the pipeline on Spark, through one broker and through many.

Subscriptions are dealt out to the brokers of a binary tree by their number, or to those of a line;
documents are published at the first broker and lie in memory as a table. Engines:

- ``one broker``: no network at all, the same subscriptions;
- ``fused, STRATEGY``: the plan ``fused``, whose ways are read off one answer;
- ``hops, STRATEGY``: the plan ``hops``, from broker to broker;
- ``hops, flooding``: the naive way: every broker looks at every document;
- ``line of N``: the plan ``hops`` along N brokers, with flooding, so that every document goes to
  the end and each hop has the same to do.

An engine runs several times in its session, and the last run is measured, from documents in a table
to finished tables on disk. What was prepared (compiled subscriptions, routes) is apart.
"""

from __future__ import annotations

import time
from itertools import pairwise
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, digest
from benchmarks.processes import used
from benchmarks.routes import binary_tree
from benchmarks.workloads import load
from twigcast.routing import Topology
from twigcast.spark import Pipeline, start_session

WARMING_RUNS = 2
PARTITIONS = 4


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    workload = load(definition)
    session = start_session("local[2]")
    documents = workload.documents[: definition.documents_for(engine)]
    table = _table(session, documents)
    plan, _, strategy = engine.partition(", ")
    topology = _topology(definition, engine)
    brokers = topology.brokers if topology else ("everywhere",)
    rows = [
        {"id": number, "xpath": expression, "broker": brokers[number % len(brokers)]}
        for number, expression in enumerate(workload.expressions)
    ]
    pipeline = Pipeline(
        session,
        topology,
        rows,
        strategy or "flooding",
        plan="fused" if plan in {"fused", "one broker"} else "hops",
    )
    begun = used()
    assert len(pipeline.prepared.rejected) == 0
    prepared = used() - begun
    for _ in range(WARMING_RUNS):
        _run(pipeline, table)
    found = _run(pipeline, table, definition)
    ended(session)
    return Measurement(
        engine=engine,
        counts=found.counts,
        digests=found.digests,
        figures={
            "documents": len(documents),
            "compile_cpu_s": prepared.all_s,
            **found.figures,
        },
    )


def ended(session: SparkSession) -> None:
    """Let the next engine find a fresh Spark."""
    session.stop()


def _run(
    pipeline: Pipeline, documents: DataFrame, definition: Definition | None = None
) -> Measurement:
    with TemporaryDirectory() as folder:
        begun, wall = used(), time.perf_counter()
        run = pipeline.disseminate(documents, folder, overwrite=True)
        wall_s, spent = time.perf_counter() - wall, used() - begun
        if definition is None:
            return Measurement(engine="", figures={})
        few = _sample(folder, definition.sample)
    part = "all" if run.documents == definition.documents else "sample"
    links = max(1, run.brokers - 1)
    return Measurement(
        engine="",
        counts={part: run.deliveries, "sample": sum(map(len, few))},
        digests={"sample": digest(few)},
        figures={
            "cpu_us": 1e6 * spent.all_s / run.documents,
            "documents_per_cpu_s": run.documents / spent.all_s,
            "documents_per_s": run.documents / wall_s,
            "crossings": run.crossings,
            "needless": run.needless,
            "hop_ms": 1e3 * run.seconds["matching"] / links,
            "loads_per_worker": run.matcher_loads / max(1, run.workers),
        },
    )


def _sample(folder: str, count: int) -> list[list[int]]:
    """Who receives the first documents."""
    rows = pq.read_table(f"{folder}/deliveries", columns=["document", "subscription"])
    found: dict[int, list[int]] = {}
    for row in rows.to_pylist():
        found.setdefault(int(row["document"]), []).append(int(row["subscription"]))
    return [sorted(found.get(number, ())) for number in range(count)]


def _topology(definition: Definition, engine: str) -> Topology | None:
    if engine == "one broker":
        return None
    if not engine.startswith("line of "):
        return binary_tree(definition.brokers)
    names = [f"b{number}" for number in range(int(engine.removeprefix("line of ")))]
    return Topology.of({"brokers": names, "links": [list(pair) for pair in pairwise(names)]})


def _table(session: SparkSession, documents: tuple[bytes, ...]) -> DataFrame:
    """The documents in memory, spread over the cores."""
    arrow = pa.table({"document": range(len(documents)), "content": list(documents)})
    table = session.createDataFrame(arrow).repartition(PARTITIONS).cache()
    table.count()
    return table
