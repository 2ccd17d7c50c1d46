"""The two writers of tables: the workers, or Spark.

*By workers*, wherever the output is a folder that they can write to. Each task writes its rows
into parts of its own and answers with a receipt (:mod:`~twigcast.spark.worker.parquet_parts`).
Spark hands over one receipt for each task, however often it was tried; the parts that receipts name
are checked and become the table, all others are left behind::

    attempts/deliveries/part-00000-5d…   120 rows   <- receipt: part-00000-5d…, 120 rows
    attempts/deliveries/part-00001-a1…    cut off      (the attempt failed)
    attempts/deliveries/part-00001-77…    90 rows   <- receipt: part-00001-77…, 90 rows

Receipts are collected in a single step without a shuffle: behind one, Spark might put together
the answers of different attempts.

*By Spark*, in all other places (``hdfs:``, ``s3a:`` and so on), whose addresses and credentials
are known to Spark's Java machine alone. Outcomes go to Java, are kept there while sums and tables
are made of them, and Spark writes row by row. It is the slower way: a delivery costs about a
microsecond and more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from twigcast.errors import TwigcastError
from twigcast.spark.plans.outcomes import (
    dead_letters_of,
    deliveries_of,
    labels_frame,
    sums_of,
    traffic_of,
    traffic_row,
)
from twigcast.spark.storage.tables import TABLES, arrow_of
from twigcast.spark.worker.parquet_parts import WRITTEN, Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of a plan when all documents are matched, for the table ``metrics``."""

    documents: int
    bytes: int
    deliveries: int
    dead_letters: int
    internal_errors: int
    matcher_loads: int
    workers: int
    traffic: Sequence[tuple[object, ...]] = field(default=())
    """Rows of the table ``traffic``."""
    shard_visits: int = 0
    annotation_bytes: int = 0
    tasks: int = 0
    """How many there were, for where it cannot be known before."""


class TableWriter(Protocol):
    """The tables of a batch on their way: ``match`` first, then ``write``; ``put`` at any time."""

    def match(self) -> Sums:
        """Have all documents matched."""

    def write(self) -> None:
        """Write deliveries and dead letters, or take what was written meanwhile."""

    def put(self, table: str, rows: pa.Table) -> None:
        """Write a table whose rows are here."""


def attempts_folder(output: BatchOutput) -> Path | None:
    """Where workers write, with a folder for each table; None where only Spark can write."""
    attempts = [output.attempts(table) for table in WRITTEN]
    found = {attempt.parent for attempt in attempts if attempt is not None}
    return found.pop() if found else None


class LocalTables:
    """Tables whose rows are on the driver, written into a folder."""

    def __init__(self, output: BatchOutput) -> None:
        self._output = output

    def put(self, table: str, rows: pa.Table) -> None:
        """Write a table, unless it has no rows and need not be there; texts may be dictionaries.

        Like those of workers, the part has a name that no other has, by which its run is known.
        """
        if not (rows.num_rows or self._output.keeps_empty):
            return
        schema = arrow_of([], TABLES[table]).schema
        part = Part(f"{self.folder(table)}/part-00000-{uuid4().hex}.snappy.parquet", schema)
        part.write([column.combine_chunks() for column in rows.columns])
        part.close()

    def folder(self, table: str) -> Path:
        """Where the parts of a table go."""
        folder = self._output.folder(table)
        assert folder is not None
        return folder

    def accept_parts(self, receipts: Iterable[Row], attempts: Path) -> None:
        """Make the parts that receipts name the tables that workers write."""
        receipts = list(receipts)
        for table in WRITTEN:
            named = [(receipt["part"], receipt[table]) for receipt in receipts]
            written = [(part, rows) for part, rows in named if rows]
            if not written:
                self.put(table, arrow_of([], TABLES[table]))
                continue
            self.folder(table)
            for part, rows in written:
                _check(attempts / table / part, rows)
                self._output.keep(table, part)


class ByWorkers(LocalTables):
    """The workers write; ``receipts`` make them."""

    def __init__(
        self, output: BatchOutput, receipts: DataFrame, attempts: Path, tree: BrokerTree | None
    ) -> None:
        super().__init__(output)
        self._attempts = attempts
        self._receipts_frame = receipts
        self._tree = tree
        self._receipts: Sequence[Row] = ()

    def match(self) -> Sums:
        """Have all documents matched, and their rows written."""
        self._receipts = self._receipts_frame.collect()
        return sums_of_receipts(self._receipts, self._tree)

    def write(self) -> None:
        """Take what was written."""
        self.accept_parts(self._receipts, self._attempts)


class BySpark:
    """Spark writes the ``outcomes``, row by row."""

    def __init__(
        self,
        spark: SparkSession,
        output: BatchOutput,
        outcomes: DataFrame,
        *,
        labels: pa.RecordBatch,
        tree: BrokerTree | None,
    ) -> None:
        self._spark = spark
        self._output = output
        self._outcomes = outcomes
        self._labels = labels
        self._tree = tree
        self._sums: Mapping[str, int] = {}

    def match(self) -> Sums:
        """Have all documents matched."""
        traffic = [] if self._tree is None else traffic_of(self._outcomes, self._tree)
        self._sums = sums_of(self._outcomes)
        return Sums(**self._sums, traffic=traffic)

    def write(self) -> None:
        """Write deliveries and dead letters."""
        labels = labels_frame(self._spark, self._labels)
        if self._is_kept(self._sums["deliveries"]):
            self._stage("deliveries", deliveries_of(self._outcomes, labels, self._tree))
        if self._is_kept(self._sums["dead_letters"]):
            self._stage("dead_letters", dead_letters_of(self._outcomes, labels))

    def put(self, table: str, rows: pa.Table) -> None:
        """Write a table whose rows are here."""
        if not self._is_kept(rows.num_rows):
            return
        schema = TABLES[table]
        plain = rows.cast(arrow_of([], schema).schema)
        self._stage(table, self._spark.createDataFrame(plain, schema).coalesce(1))

    def _is_kept(self, rows: int) -> bool:
        return bool(rows) or self._output.keeps_empty

    def _stage(self, table: str, frame: DataFrame) -> None:
        frame.to(TABLES[table]).write.parquet(self._output.location(table))


def sums_of_receipts(receipts: Iterable[Row], tree: BrokerTree | None) -> Sums:
    """What there is in all."""
    receipts = list(receipts)
    loads: dict[str, int] = {}
    traffic: dict[int, list[int]] = {}
    for receipt in receipts:
        if receipt["documents"]:
            worker = receipt["worker"]
            loads[worker] = max(loads.get(worker, 0), receipt["loads"])
        for link, *counts in receipt["traffic"]:
            before = traffic.get(link, [0] * len(counts))
            traffic[link] = [one + other for one, other in zip(before, counts, strict=True)]
    counted = ("documents", "bytes", *WRITTEN, "internal_errors")
    return Sums(
        **{name: sum(receipt[name] for receipt in receipts) for name in counted},
        matcher_loads=sum(loads.values()),
        workers=len(loads),
        tasks=len(receipts),
        traffic=[traffic_row(tree, link, *sums) for link, sums in sorted(traffic.items())]
        if tree
        else (),
    )


def _check(part: Path, rows: int) -> None:
    """A :class:`TwigcastError` unless the part is here and has the rows that its receipt says."""
    try:
        written = pq.read_metadata(part).num_rows
    except FileNotFoundError as error:
        raise TwigcastError(
            f"the run did not finish: a worker has written {part}, and it is not there; "
            "the output folder must be the same one on every machine"
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise TwigcastError(f"the run did not finish: {part} is damaged: {error}") from error
    if written != rows:
        raise TwigcastError(
            f"the run did not finish: {part} has {written:,} rows, and its worker wrote {rows:,}"
        )
