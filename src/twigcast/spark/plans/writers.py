"""The two writers of tables: the workers, or the driver.

*By workers*, wherever the output is a folder that they can write to. Each task writes its rows
into parts of its own and answers with a receipt (:mod:`~twigcast.spark.worker.parquet_parts`).
Spark hands over one receipt for each task, however often it was tried; the parts that receipts name
are checked and become the table, all others are left behind::

    attempts/deliveries/part-00000-5d…   120 rows   <- receipt: part-00000-5d…, 120 rows
    attempts/deliveries/part-00001-a1…    cut off      (the attempt failed)
    attempts/deliveries/part-00001-77…    90 rows   <- receipt: part-00001-77…, 90 rows

Receipts are collected in a single step without a shuffle: behind one, Spark might put together
the answers of different attempts.

*By the driver*, in all other places (``hdfs:``, ``s3a:`` and so on), whose addresses and
credentials are known to Spark's Java machine alone. Workers make the same parts in memory, and send
their bytes with the receipts. The driver writes each once, where it stays. A delivery takes three
bytes or so in a part, so there is little to carry. Spark keeps the answers until all is written,
and hands over small parts with the receipts, others some at a time::

    first job     receipts, and parts of up to 1 MB
    more jobs     the parts of up to 256 MB each
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Row
from pyspark.sql import functions as sql

from twigcast.errors import TwigcastError
from twigcast.spark.storage.tables import TABLES, TRAFFIC, arrow_of
from twigcast.spark.worker.parquet_parts import ENDING, WRITTEN, HeldPart, Part, part_of_task

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree

SMALL_PART_BYTES_MAX: Final = 1 << 20
SMALL_PART_TASKS_MAX: Final = 64
"""Parts that come with the receipts, so that a small run is one job: not above 200 MB in all."""

FETCHED_BYTES_MAX: Final = 256 << 20
"""Others are fetched by jobs of so many bytes; by default Spark's driver takes 1 GB at a time, and
has memory for little more."""

Receipt: TypeAlias = Row | dict[str, Any]


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


Summing: TypeAlias = Callable[[Sequence[Receipt], str], Sums]
"""What follows from receipts; parts of tables that are no result lie in the folder."""


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
        """Write a table, unless it has no rows and need not be there; texts may be dictionaries."""
        if not (rows.num_rows or self._output.keeps_empty):
            return
        part = Part(f"{self.folder(table)}/{_own_name()}", arrow_of([], TABLES[table]).schema)
        _fill(part, rows)

    def folder(self, table: str) -> Path:
        """Where the parts of a table go."""
        folder = self._output.folder(table)
        assert folder is not None
        return folder

    def accept_parts(self, receipts: Iterable[Receipt], attempts: Path) -> None:
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
                file = attempts / table / part
                _check(file, file, rows)
                self._output.keep(table, part)


class ByWorkers(LocalTables):
    """The workers write; ``receipts`` make them, and ``summed`` is what follows from them."""

    def __init__(
        self, output: BatchOutput, receipts: DataFrame, attempts: Path, summed: Summing
    ) -> None:
        super().__init__(output)
        self._attempts = attempts
        self._receipts_frame = receipts
        self._summed = summed
        self._receipts: Sequence[Receipt] = ()

    def match(self) -> Sums:
        """Have all documents matched, and their rows written."""
        self._receipts = self._receipts_frame.collect()
        return self._summed(self._receipts, f"file://{self._attempts}")

    def write(self) -> None:
        """Take what was written."""
        self.accept_parts(self._receipts, self._attempts)


class ByDriver:
    """The driver writes the parts that come with ``receipts``, which Spark keeps meanwhile."""

    def __init__(self, output: BatchOutput, receipts: DataFrame, summed: Summing) -> None:
        self._output = output
        self._asked = receipts
        self._summed = summed
        self._parts: Sequence[dict[str, Any]] = ()

    def match(self) -> Sums:
        """Have all documents matched."""
        size = sql.octet_length("content")
        is_small = (size <= SMALL_PART_BYTES_MAX) & (
            sql.col("part") < part_of_task(SMALL_PART_TASKS_MAX)
        )
        content = sql.when(is_small, sql.col("content"))
        rows = self._asked.withColumns({"size": size, "content": content}).toArrow().to_pylist()
        self._parts = [row for row in rows if row["size"] is not None]
        for table in {part["table"] for part in self._parts} - set(WRITTEN):
            others = [part for part in self._parts if part["table"] == table]
            for part, held in self._contents(others):
                self._output.write_staged(f"{table}/{part['part']}", held)
        return self._summed(rows, self._output.location("").rstrip("/"))

    def write(self) -> None:
        """Write deliveries and dead letters."""
        for table in WRITTEN:
            chosen = [part for part in self._parts if part["table"] == table]
            if not chosen:
                self.put(table, arrow_of([], TABLES[table]))
            for part, content in self._contents(chosen):
                self._output.write(table, part["part"], content)

    def put(self, table: str, rows: pa.Table) -> None:
        """Write a table, unless it has no rows and need not be there; texts may be dictionaries."""
        if not (rows.num_rows or self._output.keeps_empty):
            return
        held = HeldPart(_own_name(), arrow_of([], TABLES[table]).schema)
        _fill(held, rows)
        for name, _, content in held.whole:
            self._output.write(table, name, content.to_pybytes())

    def _contents(self, parts: Iterable[dict[str, Any]]) -> Iterator[tuple[Receipt, bytes]]:
        """Parts of one table with their bytes, checked; those not here yet come some at a time."""
        for group in _groups(sorted(parts, key=itemgetter("part"))):
            content = {part["part"]: part.pop("content") for part in group}
            if None in content.values():
                first, last = group[0], group[-1]
                chosen = sql.col("part").between(first["part"], last["part"])
                rows = self._asked.where(chosen & (sql.col("table") == first["table"]))
                found = rows.select("part", "content").toArrow().to_pydict()
                content = dict(zip(found["part"], found["content"], strict=True))
            for part in group:
                held: bytes = content.pop(part["part"], b"")
                _check(pa.BufferReader(held), part["part"], part[part["table"]])
                yield part, held


@contextmanager
def table_writer(
    output: BatchOutput, receipts: Callable[[str | None], DataFrame], summed: Summing
) -> Iterator[ByWorkers | ByDriver]:
    """What writes the tables that ``receipts`` make, in a folder for workers, or in none.

    What is kept meanwhile is dropped at the end.
    """
    attempts = attempts_folder(output)
    if attempts is not None:
        yield ByWorkers(output, receipts(str(attempts)), attempts, summed)
        return
    asked = receipts(None).persist()
    try:
        yield ByDriver(output, asked, summed)
    finally:
        output.wait()
        asked.unpersist()


def _groups(parts: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Runs of parts that are fetched together."""
    group: list[dict[str, Any]] = []
    size = 0
    for part in parts:
        if group and (size + part["size"] > FETCHED_BYTES_MAX):
            yield group
            group, size = [], 0
        group.append(part)
        size += part["size"]
    if group:
        yield group


def sums_of_receipts(receipts: Iterable[Receipt], tree: BrokerTree | None) -> Sums:
    """What there is in all."""
    receipts = list(receipts)
    loads: dict[str, int] = {}
    traffic: dict[int, list[int]] = {}
    for receipt in receipts:
        if receipt["documents"]:
            worker = receipt["worker"]
            loads[worker] = max(loads.get(worker, 0), receipt["loads"])
        for crossed in receipt["traffic"]:
            link, *counts = (crossed[name] for name in ("link", *TRAFFIC.names[2:]))
            before = traffic.get(link, [0] * len(counts))
            traffic[link] = [one + other for one, other in zip(before, counts, strict=True)]
    counted = ("documents", "bytes", *WRITTEN, "internal_errors")
    return Sums(
        **{name: sum(receipt[name] for receipt in receipts) for name in counted},
        matcher_loads=sum(loads.values()),
        workers=len(loads),
        tasks=sum(receipt["table"] is None for receipt in receipts),
        traffic=[traffic_row(tree, link, *sums) for link, sums in sorted(traffic.items())]
        if tree
        else (),
    )


def traffic_row(tree: BrokerTree, link: int, *sums: int) -> tuple[object, ...]:
    """A row of the table ``traffic``."""
    broker, neighbour = tree.links[link]
    return tree.names[broker], tree.names[neighbour], *sums


def _own_name() -> str:
    """A name for a part that no other has, by which its run is known, as those of workers are."""
    return f"{part_of_task(0)}-{uuid4().hex}{ENDING}"


def _fill(part: Part, rows: pa.Table) -> None:
    part.write([column.combine_chunks() for column in rows.columns])
    part.close()


def _check(held: Path | pa.NativeFile, name: object, rows: int) -> None:
    """A :class:`TwigcastError` unless the part is here and has the rows that its receipt says."""
    try:
        written = pq.read_metadata(held).num_rows
    except FileNotFoundError as error:
        raise TwigcastError(
            f"the run did not finish: a worker has written {name}, and it is not there; "
            "the output folder must be the same one on every machine"
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise TwigcastError(f"the run did not finish: {name} is damaged: {error}") from error
    if written != rows:
        raise TwigcastError(
            f"the run did not finish: {name} has {written:,} rows, and its worker wrote {rows:,}"
        )
