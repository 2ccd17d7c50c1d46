"""The plan ``fused`` with shards: subscriptions that no single worker can hold.

    subscriptions --split--> shards --summary--> hub
                               |                  |
    documents -----------------|------------> which shards?  ==shuffle by shard==>  matched there
                               +-----------------------------------------------------^

The subscriptions of all brokers are split by similarity
(:mod:`~twigcast.spark.sharding.partition`), whichever broker they are at, and each shard is
compiled into a matcher of its own. The hub, over all shards' summaries, is small, and every worker
has it. It reads each document once and says which shards may hold a match; the document is shuffled
to these. A task has the visits of one shard, loads its matcher and writes deliveries and dead
letters as in the plan without shards (:mod:`~twigcast.spark.worker.shard_probes`). The tables are
the same, whatever the number of shards.

Tasks of the second step alone write files, and there is nothing behind them: so each has one
receipt, as in :mod:`~twigcast.spark.plans.writing`. What they tell of the links of documents that
visit several shards lies in files, too, and is counted in a step of its own: a few numbers for each
such document, grouped by document and then by link.

An error that nobody foresaw costs a document what the shard would have said, and is a dead letter
of that shard alone; without shards it costs all of its deliveries.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, TypeAlias, cast
from uuid import uuid4

import numpy as np
from pyspark import TaskContext
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema

from twigcast.files import VersionedFile, write_index
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.spark.plans.distribution import located, share, shared_folder, ways_here
from twigcast.spark.plans.outcomes import traffic_of, traffic_row
from twigcast.spark.plans.writing import BySpark, Put, Sums, attempts_folder, sums_of_receipts
from twigcast.spark.session.session import cores_of
from twigcast.spark.sharding.partition import split, summary
from twigcast.spark.storage import tables
from twigcast.spark.storage.batches import literally
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker import shard_probes as visits
from twigcast.spark.worker.labels import loaded_labels
from twigcast.spark.worker.set_aside import INTERNAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame, Row, SparkSession

    from twigcast.spark.plans.distribution import Batches, Documents, WorkerFunction
    from twigcast.spark.plans.prepare import Design, Prepared
    from twigcast.spark.plans.writing import Writing
    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree

TrafficRow: TypeAlias = tuple[object, ...]
"""A row of the table ``traffic``."""

_TASKS_PER_CORE = 2
"""Shards are visited unequally, so that a core that has done with one should find another."""

_COUNTED = ("documents", "bytes", "needless", "needless_bytes")


@dataclass(frozen=True, eq=False)
class Sharded:
    """Shards and hub as files that workers can get."""

    hub: VersionedFile
    owners: NDArray[np.int32]
    """Of each summary in the hub, by position, its shard; routes come behind."""
    shards: tuple[VersionedFile, ...]
    engine: str


@contextmanager
def sharded(
    spark: SparkSession, output: BatchOutput, documents: Documents, prepared: Prepared
) -> Iterator[Writing]:
    """The plan, in the way that suits the output; what it keeps is dropped at the end."""
    attempts = attempts_folder(output)
    visiting = _visiting(spark, documents, prepared)
    if attempts is not None:
        output.attempts(visits.CROSSINGS)
        receipts = visiting.mapInArrow(
            _writer(prepared, str(attempts)), from_arrow_schema(visits.RECEIPTS)
        )
        yield _ByWorkers(output, receipts, attempts, prepared.tree)
        return
    answers = visiting.mapInArrow(_answerer(prepared), from_arrow_schema(visits.ANSWERS)).persist()
    try:
        yield _BySpark(spark, output, answers, prepared)
    finally:
        answers.unpersist()


def shard(
    spark: SparkSession,
    design: Design,
    *,
    patterns: Sequence[Pattern | None],
    routes: Sequence[Pattern],
) -> Sharded:
    """Split the subscriptions, compile shards and hub, and make them known to all workers.

    ``patterns`` are by position, None where there is nothing to match; ``routes`` are those that
    stand behind the subscriptions, as the ways count them.
    """
    known = [(place, one) for place, one in enumerate(patterns) if one is not None]
    shards: list[list[tuple[int, Pattern]]] = [[] for _ in range(design.shards)]
    for pair, number in zip(known, split([one for _, one in known], design.shards), strict=True):
        shards[number].append(pair)
    summaries = [
        (number, one)
        for number, pairs in enumerate(shards)
        for one in summary(one for _, one in pairs)
    ]
    hub = _compiled(enumerate([*(one for _, one in summaries), *routes]), design)
    files = tuple(_compiled(pairs, design) for pairs in shards)
    share(spark, *{file.path: file for file in (hub, *files)}.values())
    owners = np.array([number for number, _ in summaries], np.int32)
    return Sharded(hub, owners, files, design.engine)


def _compiled(pairs: Iterable[tuple[int, Pattern]], design: Design) -> VersionedFile:
    matcher = Matcher(engine=design.engine)
    for place, pattern in pairs:
        matcher.add(place, pattern)
    return write_index(shared_folder(), matcher)


# What workers do.


def _visiting(spark: SparkSession, documents: Documents, prepared: Prepared) -> DataFrame:
    """The visits of documents, each where its shard is."""
    compiled, sharded = prepared.compiled, _sharded(prepared)
    slices = ceil(_TASKS_PER_CORE * cores_of(spark) / len(sharded.shards))

    def answer(batches: Batches) -> Batches:
        ways = ways_here(compiled)
        hub = visits.Hub(
            _loaded(sharded.hub, sharded.engine),
            sharded.owners,
            None if ways is None else visits.hub_ways(ways, len(sharded.owners)),
            version=sharded.hub.version,
            slices=slices,
            shards=len(sharded.shards),
        )
        yield from visits.visit_batches(batches, hub)

    found = documents(answer, from_arrow_schema(visits.SHARD_PROBES))
    return found.repartitionById(slices * len(sharded.shards), "task")


def _writer(prepared: Prepared, folder: str) -> WorkerFunction:
    """What writes the answers to visits into parts."""
    schemas = {table: tables.parquet_schema(tables.TABLES[table]) for table in parts.WRITTEN}
    compiled, answered = prepared.compiled, _answerer(prepared)

    def write(batches: Batches) -> Batches:
        context = TaskContext.get()
        number = context.partitionId() if context else 0
        yield from visits.write_answers(
            answered(batches),
            folder=folder,
            part=f"part-{number:05}-{uuid4()}.snappy.parquet",
            schemas=schemas,
            labels=loaded_labels(located(compiled.labels)),
            ways=ways_here(compiled),
        )

    return write


def _answerer(prepared: Prepared) -> WorkerFunction:
    compiled, sharded = prepared.compiled, _sharded(prepared)

    def shard_of(number: int) -> visits.Shard:
        file = sharded.shards[number]
        return visits.Shard(_loaded(file, sharded.engine), file.version)

    def answer(batches: Batches) -> Batches:
        yield from visits.answer_visits(batches, shard_of, ways_here(compiled))

    return answer


def _sharded(prepared: Prepared) -> Sharded:
    assert prepared.sharded is not None
    return prepared.sharded


def _loaded(file: VersionedFile, engine: str) -> Matcher:
    return worker.loaded_matcher(located(file), file.version, engine)


# What becomes of the answers.


class _ByWorkers(Put):
    """Workers write; ``receipts`` make them."""

    def __init__(
        self, output: BatchOutput, receipts: DataFrame, attempts: Path, tree: BrokerTree | None
    ) -> None:
        super().__init__(output)
        self._asked = receipts
        self._attempts = attempts
        self._tree = tree
        self._receipts: Sequence[Row] = ()

    def match(self) -> Sums:
        """Have all documents matched, and their rows written."""
        self._receipts = self._asked.collect()
        loads: dict[tuple[str, int], int] = {}
        for one in self._receipts:
            at = one["worker"], one["shard"]
            loads[at] = max(loads.get(at, 0), one["loads"])
        sums = sums_of_receipts(self._receipts, self._tree)
        return replace(
            sums,
            matcher_loads=sum(loads.values()),
            workers=len({name for name, _ in loads}),
            traffic=self._traffic(sums),
            shard_visits=sum(one["visits"] for one in self._receipts),
        )

    def write(self) -> None:
        """Take what was written."""
        self.keep(self._receipts, self._attempts)

    def _traffic(self, sums: Sums) -> Sequence[TrafficRow]:
        written = [one["part"] for one in self._receipts if one[visits.CROSSINGS]]
        if self._tree is None or not written:
            return sums.traffic
        folder = self._attempts / visits.CROSSINGS
        told = self._asked.sparkSession.read.parquet(
            *(literally(f"file://{folder}/{part}") for part in written)
        )
        return _together(self._tree, sums.traffic, _shared_links(told, self._tree))


class _BySpark(BySpark):
    """Spark writes what ``answers`` tell."""

    def match(self) -> Sums:
        """Have all documents matched."""
        answers, tree = self._outcomes, self._tree
        first = sql.col("is_first")
        by_shard = answers.groupBy("worker", "shard").agg(sql.max("loads").alias("loads"))
        loads = by_shard.collect()
        (row,) = answers.agg(
            sql.count_if(first).alias("documents"),
            _sum(sql.when(first, sql.col("bytes"))).alias("bytes"),
            _sum(sql.array_size("matches")).alias("deliveries"),
            (_sum(sql.array_size("undecided")) + sql.count("stage")).alias("dead_letters"),
            sql.count_if(sql.col("stage") == INTERNAL).alias("internal_errors"),
            sql.count_if(sql.col("shard") != visits.NO_SHARD).alias("shard_visits"),
        ).collect()
        return Sums(
            **row.asDict(),
            matcher_loads=sum(one["loads"] for one in loads),
            workers=len({one["worker"] for one in loads}),
            traffic=()
            if tree is None
            else _together(tree, traffic_of(answers, tree), _shared_links(answers, tree)),
        )


def _shared_links(told: DataFrame, tree: BrokerTree) -> list[TrafficRow]:
    """Rows of the table ``traffic`` for documents that visited several shards.

    A document that is published so many times is told so many times by each of its shards.
    """
    pairs = told.select(
        "key", "shard", "bytes", sql.explode(sql.arrays_zip("links", "needed")).alias("pair")
    ).select("key", "shard", "bytes", "pair.links", "pair.needed")
    by_shard = pairs.groupBy("key", "links", "shard").agg(
        sql.count("*").alias("times"),
        sql.max("needed").alias("needed"),
        sql.first("bytes").alias("bytes"),
    )
    crossings = by_shard.groupBy("key", "links").agg(
        sql.max("times").alias("times"),
        sql.max("needed").alias("needed"),
        sql.first("bytes").alias("bytes"),
    )
    times, size = sql.col("times"), sql.col("times") * sql.col("bytes")
    needless = ~sql.col("needed")
    sums = crossings.groupBy("links").agg(
        _sum(times).alias("documents"),
        _sum(size).alias("bytes"),
        _sum(sql.when(needless, times)).alias("needless"),
        _sum(sql.when(needless, size)).alias("needless_bytes"),
    )
    return [
        traffic_row(tree, row["links"], *(row[name] for name in _COUNTED)) for row in sums.collect()
    ]


def _together(tree: BrokerTree, *several: Iterable[TrafficRow]) -> list[TrafficRow]:
    """Rows of the table ``traffic`` added up, in the order of links."""
    sums: dict[tuple[object, object], list[int]] = {}
    for broker, neighbour, *counts in (row for rows in several for row in rows):
        added = sums.setdefault((broker, neighbour), [0] * len(counts))
        for place, count in enumerate(counts):
            added[place] += cast("int", count)
    ends = ((tree.names[near], tree.names[far]) for near, far in tree.links)
    return [(*link, *sums[link]) for link in ends if link in sums]


def _sum(column: Column) -> Column:
    return sql.coalesce(sql.sum(column), sql.lit(0)).cast("long")
