"""The plan ``hops``: documents are brought to the brokers, one hop after the other.

    documents --> spool        read once, checked, written down once
              --> hop 0        at their origins
              --> hop 1        at the neighbours that they are sent to
              ...              until none goes on

In each hop a task gets the visits to some brokers, decides the documents there, writes deliveries
and dead letters into parts of their tables, and leaves the visits to come in the staging folder
(:mod:`~twigcast.spark.worker.hops.hop`, :mod:`~twigcast.spark.worker.hops.files`). What comes back
to the driver are receipts, with the place of each piece; by them the driver shares out the next
hop.
A worker needs the tables of the brokers that it is given and no others, so this is the plan for
networks whose subscriptions no worker can hold together, and the one in which documents carry
annotations.

**What a hop costs.** It is one Spark job of one stage: no shuffle, no growing lineage, no row of
Spark's for a document. So hop 50 costs what hop 1 does.

**Why not Spark's checkpoints.** The state between hops is in files that a receipt names, as the
parts of tables are. A local checkpoint is no quicker, and is lost with its executor; and behind its
shuffle, Spark might put together what different attempts of one task have answered.

Where workers cannot write to the output there is nowhere to put a document down between hops: the
plan is for folders that all workers share.

Documents go over a link exactly where the plan ``fused`` says they do, and where routers send them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twigcast.errors import UsageError
from twigcast.spark.plans.distribution import (
    SharedLabels,
    located,
    part_name,
    share,
    share_labels,
    shared_folder,
)
from twigcast.spark.plans.writers import LocalTables, attempts_folder, sums_of_receipts
from twigcast.spark.session.compatibility import from_arrow_schema
from twigcast.spark.storage import tables
from twigcast.spark.storage.batches import literally
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker.hops import hop as hop_worker
from twigcast.spark.worker.hops.files import VisitPiece, read_visits, shared_out, write_plan
from twigcast.spark.worker.hops.hop import HOP_RECEIPTS, HopTaskOutput
from twigcast.spark.worker.hops.needless import NEEDLESS, VISITS_MAX, count_needless, with_needless
from twigcast.spark.worker.hops.tables import HopTables, tables_of, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import Row, SparkSession

    from twigcast.files import VersionedFile
    from twigcast.language import DocumentLimits
    from twigcast.routing.strategy import Strategy
    from twigcast.spark.plans.compilation import Compilation
    from twigcast.spark.plans.distribution import Batches, Documents
    from twigcast.spark.plans.writers import Sums, TableWriter
    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree
    from twigcast.spark.worker.crossings import CrossingModel

_Row = TypeVar("_Row")

HOPS_ELSEWHERE = (
    "the plan hops puts documents down between brokers, in the output folder: give one that all "
    "workers share, or take the plan fused"
)

TASK_VISITS_MIN = 250
"""A task with fewer visits would cost more to start than it has to do."""

COUNTED_HERE_MAX = VISITS_MAX
"""Visits that are counted on the driver: as many as one task would get, and no task to start."""

_RECEIPTS = from_arrow_schema(HOP_RECEIPTS)
_NEEDLESS = from_arrow_schema(NEEDLESS)


@dataclass(frozen=True)
class HopsPlan:
    """The tables of all brokers as one file, of which a worker maps those that it needs."""

    tree: BrokerTree
    labels: pa.RecordBatch
    shared: SharedLabels
    brokers: VersionedFile
    strategy: Strategy
    engine: str

    @classmethod
    def prepare(cls, spark: SparkSession, compilation: Compilation) -> HopsPlan:
        """Write the tables of all brokers, and make them known to workers."""
        design, labels = compilation.design, compilation.labels
        assert design.tree is not None, "without a topology there is nowhere to hop"
        places = np.asarray(labels.column("broker").indices).tolist()  # type: ignore[attr-defined]
        tables = tables_of(
            design.tree,
            design.strategy,
            patterns=compilation.patterns,
            places=places,
            routes=compilation.routes,
        )
        file = write_tables(shared_folder(), tables.values(), design.strategy, engine=design.engine)
        share(spark, file)
        shared = share_labels(spark, labels, compilation.crossings)
        return cls(design.tree, labels, shared, file, design.strategy, design.engine)

    @property
    def files(self) -> list[VersionedFile]:
        """All that workers are given."""
        return [self.brokers, *self.shared.files]

    @contextmanager
    def run(
        self, spark: SparkSession, output: BatchOutput, documents: Documents
    ) -> Iterator[TableWriter]:
        """Bring documents to the brokers."""
        attempts, between = attempts_folder(output), output.attempts("hops")
        if attempts is None or between is None:
            raise UsageError(HOPS_ELSEWHERE)
        yield Hops(spark, output, _Tasks(documents, self, attempts=attempts, between=between))

    @property
    def crosses_needlessly(self) -> bool:
        """Whether a document may cross a link that leads to no match, unless it is flooded."""
        return not (self.strategy.perfect and self.strategy.towards == "all")

    def load_tables(self, limits: DocumentLimits) -> HopTables:
        """The tables of the brokers, for documents within limits, on a worker."""
        path, version = located(self.brokers), self.brokers.version
        return HopTables(path, version, self.strategy, self.engine, limits)

    def load_crossings(self) -> CrossingModel:
        """The crossing model, on a worker."""
        crossings = self.shared.load_crossings()
        assert crossings is not None
        return crossings


class Hops(LocalTables):
    """The tables of a batch on their way, hop by hop."""

    def __init__(self, spark: SparkSession, output: BatchOutput, tasks: _Tasks) -> None:
        super().__init__(output)
        self._spark = spark
        self._tasks = tasks
        self._receipts: list[Row] = []
        self.seconds: list[float] = []
        """What each step took: reading the documents, every hop, counting what was needless."""

    def match(self) -> Sums:
        """Have all documents read, and sent from broker to broker until none goes on."""
        first = self._timed(self._tasks.spool)
        self._receipts, last, hop = [*first], first, 0
        while any(receipt["pieces"] for receipt in last):
            assert hop < len(self._tasks.tree.names), "a document has come back"
            runs = shared_out(*_shares(last, tasks_max=len(first)))
            last = self._timed(lambda: self._tasks.hop(self._spark, runs, hop))  # noqa: B023
            self._receipts += last
            hop += 1
        sums = sums_of_receipts(self._receipts, self._tasks.tree)
        return replace(
            sums,
            documents=sum(receipt["documents"] for receipt in first),
            bytes=sum(receipt["bytes"] for receipt in first),
            annotation_bytes=sum(receipt["annotation_bytes"] for receipt in self._receipts),
            tasks=len(first),
            traffic=with_needless(sums.traffic, self._needless(), self._tasks.tree),
        )

    def write(self) -> None:
        """Take what was written."""
        self.accept_parts(self._receipts, self._tasks.attempts)

    def _needless(self) -> list[dict[str, int]]:
        counted = [receipt for receipt in self._receipts if receipt["visits"]]
        if not counted:
            return []
        return self._timed(lambda: self._tasks.needless(self._spark, counted))

    def _timed(self, step: Callable[[], list[_Row]]) -> list[_Row]:
        begun = perf_counter()
        rows = step()
        self.seconds.append(perf_counter() - begun)
        return rows


def _shares(receipts: Iterable[Row], *, tasks_max: int) -> tuple[list[VisitPiece], int]:
    """The pieces of visits to come, and how many tasks suit them."""
    pieces = [
        VisitPiece(receipt["part"], *piece) for receipt in receipts for piece in receipt["pieces"]
    ]
    visits = sum(piece.rows for piece in pieces)
    return pieces, max(1, min(tasks_max, visits // TASK_VISITS_MIN))


class _Tasks:
    """What Spark has workers do."""

    def __init__(
        self,
        documents: Documents,
        plan: HopsPlan,
        *,
        attempts: Path,
        between: Path,
    ) -> None:
        self.tree = plan.tree
        self.attempts = attempts
        self._documents = documents
        self._between = between
        self._plan = plan

    def spool(self) -> list[Row]:
        """Read all documents, and write them down."""
        folder, plan, write = str(self._between), self._plan, self._writing()
        limits = self._documents.limits

        def answer(batches: Batches) -> Batches:
            def spooled(hop: HopTaskOutput) -> Batches:
                return hop_worker.spool_documents(
                    batches,
                    hop,
                    folder=folder,
                    spool=uuid4().bytes,
                    crossing_model=plan.load_crossings(),
                    engine=plan.engine,
                    limits=limits,
                )

            yield from write(spooled)

        return self._documents.answered(answer, _RECEIPTS).collect()

    def hop(self, spark: SparkSession, runs: Sequence[Sequence[VisitPiece]], hop: int) -> list[Row]:
        """Have documents visit brokers, so many links from their origins."""
        folder, plan, write = str(self._between), self._plan, self._writing()
        path, limits = f"{folder}/hop-{hop}.arrow", self._documents.limits
        write_plan(path, runs)

        def answer(batches: Batches) -> Batches:
            tables = plan.load_tables(limits)

            def visited(hop_files: HopTaskOutput) -> Batches:
                tree = plan.load_crossings().tree
                numbers = (int(n or 0) for batch in batches for n in batch.column("id").to_pylist())
                visits = (each for task in numbers for each in read_visits(folder, path, task))
                return hop_worker.make_visits(
                    visits, hop_files, folder=folder, tree=tree, tables=tables, hops=hop
                )

            yield from write(visited)

        return spark.range(0, len(runs), 1, len(runs)).mapInArrow(answer, _RECEIPTS).collect()

    def needless(self, spark: SparkSession, receipts: Sequence[Row]) -> list[dict[str, int]]:
        """Count the crossings that nobody needed; visits of one document come together for it."""
        tree, folder = self.tree, str(self._between)
        made_visits = [hop_worker.made_path(folder, receipt["part"]) for receipt in receipts]
        visits = sum(receipt["visits"] for receipt in receipts)
        if visits <= COUNTED_HERE_MAX:
            whole = pa.concat_tables(pq.read_table(path) for path in made_visits)
            return [
                row
                for found in count_needless(whole.to_batches(), tree)
                for row in found.to_pylist()
            ]

        def answer(batches: Batches) -> Batches:
            yield from count_needless(batches, tree)

        read = spark.read.parquet(*(literally(f"file://{path}") for path in made_visits))
        together = read.repartition(visits // VISITS_MAX + 1, "spool", "batch")
        return [row.asDict() for row in together.mapInArrow(answer, _NEEDLESS).collect()]

    def _writing(self) -> Callable[[Callable[[HopTaskOutput], Batches]], Batches]:
        """A function on workers that writes outcomes, and gives a receipt."""
        schemas = {table: tables.parquet_schema(tables.TABLES[table]) for table in parts.WRITTEN}
        attempts, folder = str(self.attempts), str(self._between)
        plan = self._plan

        def write(outcomes: Callable[[HopTaskOutput], Batches]) -> Batches:
            part = part_name()
            hop = HopTaskOutput(folder, part, is_counted=plan.crosses_needlessly)
            yield from hop_worker.write_hop(
                outcomes(hop),
                hop,
                folder=attempts,
                part=part,
                schemas=schemas,
                labels=plan.shared.load(),
                crossing_model=plan.load_crossings(),
            )

        return write
