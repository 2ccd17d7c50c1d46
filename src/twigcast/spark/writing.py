"""The two ways from documents to tables: written by the workers, or by Spark.

*By workers*, wherever the output is a folder that they can write to. Each task writes its rows
into parts of its own and answers with a receipt (:mod:`~twigcast.spark.parts`). Spark hands over
one receipt for each task, however often it was tried; the parts that receipts name are checked
and become the table, all others are left behind::

    attempts/deliveries/part-00000-5d…   120 rows   <- receipt: part-00000-5d…, 120 rows
    attempts/deliveries/part-00001-a1…    cut off      (the attempt failed)
    attempts/deliveries/part-00001-77…    90 rows   <- receipt: part-00001-77…, 90 rows

Receipts are asked for in a single step without a shuffle: behind one, Spark might put together
the answers of different attempts.

*By Spark*, in all other places (``hdfs:``, ``s3a:`` and so on), whose addresses and credentials
are known to Spark's Java machine alone. Outcomes go to Java, are kept there while sums and tables
are made of them, and Spark writes row by row. It is the slower way: a delivery costs about a
microsecond and more.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from twigcast.errors import TwigcastError
from twigcast.spark.job import outcomes_of, receipts_of
from twigcast.spark.outcomes import dead_letters_of, deliveries_of, labels_frame, sums_of
from twigcast.spark.parts import WRITTEN, Part
from twigcast.spark.tables import TABLES, arrow_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from twigcast.spark.job import Compiled, Documents
    from twigcast.spark.storage import Output


class Writing(Protocol):
    """The tables of a run on their way: ``match`` first, then ``write``; ``put`` at any time."""

    def match(self) -> Mapping[str, int]:
        """Have all documents matched; the sums for the table ``metrics``."""

    def write(self) -> None:
        """Write deliveries and dead letters, or take what was written meanwhile."""

    def put(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write a table whose rows are here."""


@contextmanager
def writing(
    spark: SparkSession,
    output: Output,
    documents: Documents,
    *,
    compiled: Compiled,
    labels: pa.RecordBatch,
) -> Iterator[Writing]:
    """The way that suits the output; what it keeps is dropped at the end."""
    output.begin()
    attempts = [output.attempts(table) for table in WRITTEN]
    if None not in attempts:
        (folder,) = {attempt.parent for attempt in attempts if attempt is not None}
        yield _ByWorkers(output, receipts_of(documents, compiled, str(folder)), folder)
        return
    outcomes = outcomes_of(documents, compiled).persist()
    try:
        yield _BySpark(spark, output, outcomes, labels)
    finally:
        outcomes.unpersist()


class _ByWorkers:
    def __init__(self, output: Output, receipts: DataFrame, attempts: Path) -> None:
        self._output = output
        self._attempts = attempts
        self._asked = receipts
        self._receipts: Sequence[Row] = ()

    def match(self) -> Mapping[str, int]:
        self._receipts = self._asked.collect()
        return _sums(self._receipts)

    def write(self) -> None:
        for table in WRITTEN:
            named = [(receipt["part"], receipt[table]) for receipt in self._receipts]
            written = [(part, rows) for part, rows in named if rows]
            if not written:
                self.put(table, [])
            self._folder(table)
            for part, rows in written:
                _check(self._attempts / table / part, rows)
                self._output.keep(table, part)

    def put(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        whole = arrow_of(rows, TABLES[table])
        part = Part(f"{self._folder(table)}/part-00000.snappy.parquet", whole.schema)
        part.write([column.combine_chunks() for column in whole.columns])
        part.close()

    def _folder(self, table: str) -> Path:
        folder = self._output.folder(table)
        assert folder is not None
        return folder


class _BySpark:
    def __init__(
        self, spark: SparkSession, output: Output, outcomes: DataFrame, labels: pa.RecordBatch
    ) -> None:
        self._spark = spark
        self._output = output
        self._outcomes = outcomes
        self._labels = labels

    def match(self) -> Mapping[str, int]:
        return sums_of(self._outcomes)

    def write(self) -> None:
        labels = labels_frame(self._spark, self._labels)
        self._stage("deliveries", deliveries_of(self._outcomes, labels))
        self._stage("dead_letters", dead_letters_of(self._outcomes, labels))

    def put(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        self._stage(table, frame_of(self._spark, rows, TABLES[table]).coalesce(1))

    def _stage(self, table: str, frame: DataFrame) -> None:
        frame.to(TABLES[table]).write.parquet(self._output.location(table))


def _sums(receipts: Sequence[Row]) -> dict[str, int]:
    loads: dict[str, int] = {}
    for receipt in receipts:
        if receipt["documents"]:
            worker = receipt["worker"]
            loads[worker] = max(loads.get(worker, 0), receipt["loads"])
    counted = ("documents", "bytes", *WRITTEN)
    sums = {name: sum(receipt[name] for receipt in receipts) for name in counted}
    return {**sums, "matcher_loads": sum(loads.values()), "workers": len(loads)}


def _check(part: Path, rows: int) -> None:
    """A :class:`TwigcastError` unless the part is here and has the rows that its receipt says."""
    try:
        found = pq.read_metadata(part).num_rows
    except FileNotFoundError as error:
        raise TwigcastError(
            f"the run did not finish: a worker has written {part}, and it is not there; "
            "the output folder must be the same one on every machine"
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise TwigcastError(f"the run did not finish: {part} is damaged: {error}") from error
    if found != rows:
        raise TwigcastError(
            f"the run did not finish: {part} has {found:,} rows, and its worker wrote {rows:,}"
        )
