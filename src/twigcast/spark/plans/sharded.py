"""The plan ``fused`` with shards: subscriptions that no single worker can hold.

    subscriptions --split--> shards --summary--> hub
                               |                  |
    documents -----------------|------------> which shards?  ==shuffle by shard==>  matched there
                               +-----------------------------------------------------^

The subscriptions of all brokers are split by similarity
(:mod:`~twigcast.spark.sharding.partition`), whichever broker they are at, and each shard is
compiled into a matcher of its own. The hub, over all shards' summaries, is small, and every worker
has it. It reads each document once and finds the shards that may hold a match; the document is
shuffled to these. A task has the visits of one shard, loads its matcher and writes deliveries and
dead letters as in the plan without shards (:mod:`~twigcast.spark.worker.shard_probes`). The tables
are the same, whatever the number of shards.

Tasks of the second step alone write files, and there is nothing behind them: so each has one
receipt, as in :mod:`~twigcast.spark.plans.writers`. What they tell of the links of documents that
visit several shards lies in files, too, and is counted in a step of its own: a few numbers for each
such document, grouped by document and then by link.

An unforeseen error costs a document the answer of the shard, and is a dead letter
of that shard alone; without shards it costs all of its deliveries.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, TypeAlias, cast
from uuid import uuid4

import numpy as np
from pyspark.sql import functions as sql

from twigcast.language import DocumentLimits, Pattern
from twigcast.matching import Matcher
from twigcast.spark.plans.distribution import (
    SharedLabels,
    SharedMatcher,
    part_name,
    share_labels,
    share_matcher,
)
from twigcast.spark.plans.writers import sums_of_receipts, table_writer, traffic_row
from twigcast.spark.session.compatibility import from_arrow_schema, repartition_by_number
from twigcast.spark.session.session import cores_of
from twigcast.spark.sharding.partition import split, summary
from twigcast.spark.storage import tables
from twigcast.spark.storage.batches import literally
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker import shard_probes as visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame, SparkSession

    from twigcast.files import VersionedFile
    from twigcast.spark.plans.compilation import Compilation
    from twigcast.spark.plans.design import Design
    from twigcast.spark.plans.distribution import Batches, Documents, WorkerFunction
    from twigcast.spark.plans.writers import Receipt, Sums, TableWriter
    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree

TrafficRow: TypeAlias = tuple[object, ...]
"""A row of the table ``traffic``."""

_TASKS_PER_CORE = 2
"""Shards are visited unequally, so that a core that has done with one should find another."""


@dataclass(frozen=True, eq=False)
class ShardedPlan:
    """Shards and hub as files that workers can get."""

    tree: BrokerTree | None
    shared: SharedLabels
    hub: SharedMatcher
    owners: NDArray[np.int32]
    """Of each summary in the hub, by position, its shard; routes come behind."""
    shards: tuple[SharedMatcher, ...]

    @classmethod
    def prepare(cls, spark: SparkSession, compilation: Compilation) -> ShardedPlan:
        """Split the subscriptions, compile shards and hub, and make them known to all workers."""
        design = compilation.design
        known = list(compilation.positioned())
        shards: list[list[tuple[int, Pattern]]] = [[] for _ in range(design.shards)]
        numbers = split([one for _, one in known], design.shards)
        for pair, number in zip(known, numbers, strict=True):
            shards[number].append(pair)
        summaries = [
            (number, one)
            for number, pairs in enumerate(shards)
            for one in summary(one for _, one in pairs)
        ]
        in_hub = enumerate([*(one for _, one in summaries), *compilation.behind])
        return cls(
            design.tree,
            share_labels(spark, compilation.labels, compilation.crossings),
            _compiled(spark, in_hub, design),
            np.array([number for number, _ in summaries], np.int32),
            tuple(_compiled(spark, pairs, design) for pairs in shards),
        )

    @property
    def files(self) -> list[VersionedFile]:
        """All that workers are given."""
        matchers = dict.fromkeys(one.file for one in (self.hub, *self.shards))
        return [*matchers, *self.shared.files]

    @contextmanager
    def run(
        self, spark: SparkSession, output: BatchOutput, documents: Documents
    ) -> Iterator[TableWriter]:
        """Match documents; what is kept meanwhile is dropped at the end."""
        visiting = self._visiting(spark, documents)

        def receipts(folder: str | None) -> DataFrame:
            if folder is not None:
                output.attempts(visits.CROSSINGS)
            written = self._writer(folder, documents.limits)
            return visiting.mapInArrow(written, from_arrow_schema(visits.RECEIPTS))

        def summed(receipts: Sequence[Receipt], folder: str) -> Sums:
            return _sums(spark, receipts, folder, self.tree)

        with table_writer(output, receipts, summed) as tables:
            yield tables

    def _visiting(self, spark: SparkSession, documents: Documents) -> DataFrame:
        """The visits of documents, each where its shard is."""
        shared, hub_matcher, owners, shards = self.shared, self.hub, self.owners, len(self.shards)
        limits = documents.limits
        slices = ceil(_TASKS_PER_CORE * cores_of(spark) / shards)

        def answer(batches: Batches) -> Batches:
            crossings = shared.load_crossings()
            hub = visits.Hub(
                hub_matcher.load(limits),
                owners,
                None if crossings is None else visits.hub_crossing_model(crossings, len(owners)),
                version=hub_matcher.file.version,
                slices=slices,
                shards=shards,
            )
            yield from visits.visit_batches(batches, hub)

        found = documents.answered(answer, from_arrow_schema(visits.SHARD_PROBES))
        return repartition_by_number(found, slices * shards, "task")

    def _writer(self, folder: str | None, limits: DocumentLimits) -> WorkerFunction:
        """What writes the answers to visits into parts."""
        run = None if folder else uuid4().hex
        schemas = {table: tables.parquet_schema(tables.TABLES[table]) for table in parts.WRITTEN}
        shared, answered = self.shared, self._answerer(limits)

        def write(batches: Batches) -> Batches:
            yield from visits.write_answers(
                answered(batches),
                folder=folder,
                part=part_name(run),
                schemas=schemas,
                labels=shared.load(),
                crossing_model=shared.load_crossings(),
            )

        return write

    def _answerer(self, limits: DocumentLimits) -> WorkerFunction:
        shared, shards = self.shared, self.shards

        def shard_of(number: int) -> visits.Shard:
            return visits.Shard(shards[number].load(limits), shards[number].file.version)

        def answer(batches: Batches) -> Batches:
            yield from visits.answer_visits(batches, shard_of, shared.load_crossings())

        return answer


def _compiled(
    spark: SparkSession, pairs: Iterable[tuple[int, Pattern]], design: Design
) -> SharedMatcher:
    matcher = Matcher(engine=design.engine)
    for place, pattern in pairs:
        matcher.add(place, pattern)
    return share_matcher(spark, matcher, engine=design.engine)


# What becomes of the answers.


def _sums(
    spark: SparkSession, receipts: Sequence[Receipt], folder: str, tree: BrokerTree | None
) -> Sums:
    """What there is in all; ``folder`` has the links of documents in several shards."""
    loads: dict[tuple[str, int], int] = {}
    for receipt in receipts:
        if receipt["table"] is None:
            at = receipt["worker"], receipt["shard"]
            loads[at] = max(loads.get(at, 0), receipt["loads"])
    sums = sums_of_receipts(receipts, tree)
    written = [receipt["part"] for receipt in receipts if receipt[visits.CROSSINGS]]
    if tree is not None and written:
        place = literally(f"{folder}/{visits.CROSSINGS}")
        crossings = spark.read.parquet(*(f"{place}/{literally(part)}" for part in written))
        sums = replace(sums, traffic=_together(tree, sums.traffic, _shared_links(crossings, tree)))
    return replace(
        sums,
        matcher_loads=sum(loads.values()),
        workers=len({name for name, _ in loads}),
        shard_visits=sum(receipt["visits"] or 0 for receipt in receipts),
    )


def _shared_links(answers: DataFrame, tree: BrokerTree) -> list[TrafficRow]:
    """Rows of the table ``traffic`` for documents that visited several shards.

    A document that is published so many times is answered so many times by each of its shards.
    """
    pairs = answers.select(
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
        traffic_row(tree, row["links"], *(row[name] for name in parts.COUNTED))
        for row in sums.collect()
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
