"""The plan ``hops`` where only Spark can write: documents travel with the rows.

Without a folder that all workers share there is nowhere to put a document down, so each visit is a
row of Spark's that carries it (:mod:`~twigcast.spark.worker.hops.rows`). After each hop the rows
are kept where they are, by a local checkpoint, without which every hop would begin with all those
before it; for the next they are shuffled by broker, so evenly that a broker with many visits is
shared out::

    documents --> visits to origins --checkpoint--> visits to neighbours --checkpoint--> ...
                         |                                  |
                         +------------- outcomes -----------+---> tables, written by Spark

It is the slower way, as it is in the plan ``fused`` (:mod:`~twigcast.spark.plans.writers`), and
what an executor holds is lost with it: the run has to be made again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import functions as sql

from twigcast.spark.plans.writers import BySpark
from twigcast.spark.session.compatibility import from_arrow_schema
from twigcast.spark.worker.hops.needless import NEEDLESS, VISITS_MAX, count_needless, with_needless
from twigcast.spark.worker.hops.rows import ANSWERED, GOING, carry_documents, make_row_visits
from twigcast.spark.worker.matching import OUTCOMES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from twigcast.spark.plans.distribution import Batches, Documents, WorkerFunction
    from twigcast.spark.plans.hops import HopsPlan
    from twigcast.spark.plans.writers import Sums
    from twigcast.spark.storage.batches import BatchOutput

_ANSWERED = from_arrow_schema(ANSWERED)

_ANNOTATION_BYTES = "aggregate(onward, 0L, (sum, to) -> sum + ifnull(length(to.annotations), 0))"


class HopsBySpark:
    """The tables of a batch on their way, hop by hop; Spark writes them."""

    def __init__(
        self, spark: SparkSession, output: BatchOutput, documents: Documents, plan: HopsPlan
    ) -> None:
        self._spark = spark
        self._output = output
        self._documents = documents
        self._plan = plan
        self._frames: list[DataFrame] = []
        self.seconds: list[float] = []
        """What each step took: reading the documents, and every hop."""

    def match(self) -> Sums:
        """Have all documents read, and sent from broker to broker until none goes on."""
        first = self._kept(self._documents.answered(self._carry(), _ANSWERED))
        tree, going = self._plan.tree, _going(first)
        while not going.isEmpty():
            assert len(self._frames) <= len(tree.names), "a document has come back"
            visit = self._visit(len(self._frames) - 1)
            # Brokers with many visits are shared out, those with few put together.
            near = going.hint("rebalance", "broker").sortWithinPartitions("broker")
            going = _going(self._kept(near.mapInArrow(visit, _ANSWERED)))
        sums = self._tables.match()
        (read,) = first.agg(sql.count("*"), sql.sum("bytes")).collect()
        (told,) = self._all.select(sql.sum(sql.expr(_ANNOTATION_BYTES))).collect()
        return replace(
            sums,
            documents=read[0],
            bytes=read[1] or 0,
            annotation_bytes=told[0] or 0,
            traffic=with_needless(sums.traffic, self._needless(), tree),
        )

    def write(self) -> None:
        """Write deliveries and dead letters."""
        self._tables.write()

    def put(self, table: str, rows: pa.Table) -> None:
        """Write a table whose rows are here."""
        self._tables.put(table, rows)

    @property
    def _all(self) -> DataFrame:
        return reduce(lambda one, other: one.unionByName(other), self._frames)

    @property
    def _tables(self) -> BySpark:
        outcomes = self._all.select(*OUTCOMES.names)
        plan = self._plan
        return BySpark(self._spark, self._output, outcomes, labels=plan.labels, tree=plan.tree)

    def _kept(self, frame: DataFrame) -> DataFrame:
        begun = perf_counter()
        kept = frame.localCheckpoint(eager=True)
        self._frames.append(kept)
        self.seconds.append(perf_counter() - begun)
        return kept

    def _needless(self) -> list[dict[str, int]]:
        """Count the crossings that nobody needed; visits of one document come together for it."""
        tree = self._plan.tree
        if not self._plan.crosses_needlessly:
            return []

        def answer(batches: Batches) -> Batches:
            yield from count_needless(batches, tree)

        visits = self._all.filter("hops >= 0").select(
            *("spool", "batch", "row", "bytes", "broker", "came_by", "hops"),
            sql.expr("ifnull(array_size(matches) + array_size(undecided), 0) > 0").alias("wanted"),
        )
        together = visits.repartition(visits.count() // VISITS_MAX + 1, "spool", "batch")
        found = together.mapInArrow(answer, from_arrow_schema(NEEDLESS)).collect()
        return [row.asDict() for row in found]

    def _carry(self) -> WorkerFunction:
        plan, limits = self._plan, self._documents.limits

        def answer(batches: Batches) -> Batches:
            yield from carry_documents(
                batches,
                spool=uuid4().bytes,
                ways=plan.load_crossings(),
                engine=plan.engine,
                limits=limits,
            )

        return answer

    def _visit(self, hops: int) -> WorkerFunction:
        plan, limits = self._plan, self._documents.limits

        def answer(batches: Batches) -> Batches:
            yield from make_row_visits(
                batches, tree=plan.tree, tables=plan.load_tables(limits), hops=hops
            )

        return answer


def _going(answered: DataFrame) -> DataFrame:
    """The visits to come."""
    on = answered.withColumn("came_by", sql.col("broker")).withColumn("to", sql.explode("onward"))
    there = on.withColumn("broker", sql.col("to.broker"))
    return there.withColumn("annotations", sql.col("to.annotations")).select(*GOING)
