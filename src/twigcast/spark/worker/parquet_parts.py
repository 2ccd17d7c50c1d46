"""Tables written by workers: every attempt of a task writes files of its own.

Deliveries are many: with 100,000 subscriptions a document of a few kilobytes may have hundreds, and
as rows of text on their way through Spark they would cost more than all the matching. So they
never become rows. A worker writes them as Parquet, column by column, and each column as what it
is, numbers that point into a list of texts::

    matches of the documents   document       document_hash   subscription  broker          hops
    a  [0, 2]                  0 0 1 -> a b   0 0 1 -> 5e 9c  0 2 2 -> x z  0 0 0 -> north  1 1 1
    b  [2]

No text is copied, compared or hashed per row; 700 deliveries cost 40 microseconds, and about three
bytes each on disk.

What goes back to Spark is one *receipt* for each task: which part the attempt has written, how
many rows of each table are in it, the sums of its documents, and the traffic that they make, link
by link (:class:`TrafficSums`). An attempt's parts have a name
that no other attempt has. Spark takes the answer of exactly one attempt of each task, so the
parts that receipts name are the table, and what failed, killed or repeated attempts have left
behind has no receipt. A part that is not whole has none either, for the receipt comes last, when
the part has been forced to disk: a manifest will stand for it.

Where only Spark's Java machine can write, parts go back with the receipts: each is a row of its
own, with its bytes, in front of the receipt (:class:`HeldPart`). The driver writes them.

Row groups are bounded in rows and bytes, and so is what waits to be written.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from twigcast.files.writing.durable import sync_file, sync_folder
from twigcast.spark.worker.matching import OUTCOMES, UNDECIDED, worker_name
from twigcast.spark.worker.set_aside import INTERNAL, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from twigcast.spark.worker.crossings import CrossingModel
    from twigcast.spark.worker.matching import Column
    from twigcast.spark.worker.record_files import RecordFileWriter

    Encoded: TypeAlias = pa.DictionaryArray[Any, Any]

DELIVERIES = "deliveries"
DEAD_LETTERS = "dead_letters"
WRITTEN = (DELIVERIES, DEAD_LETTERS)
"""The tables that workers write."""

COUNTED = ("documents", "bytes", "needless", "needless_bytes")
"""What is counted of each link."""

_RECEIPT: Mapping[str, pa.DataType] = {
    "part": pa.string(),
    "worker": pa.string(),
    "loads": pa.int32(),
    "documents": pa.int64(),
    "bytes": pa.int64(),
    DELIVERIES: pa.int64(),
    DEAD_LETTERS: pa.int64(),
    "internal_errors": pa.int64(),
    "traffic": pa.list_(
        pa.struct([("link", pa.int32()), *((name, pa.int64()) for name in COUNTED)])
    ),
    "table": pa.string(),
    "content": pa.binary(),
}
RECEIPTS = pa.schema(_RECEIPT)

_NOTHING: Mapping[str, object] = {
    "worker": "",
    "traffic": [],
    **{name: 0 for name, kind in _RECEIPT.items() if pa.types.is_integer(kind)},
}
"""What the row of a part adds to the sums of receipts."""

ROW_GROUP_ROWS_MAX = 1 << 20
"""Enough that the lists of texts, written once for each row group, weigh little."""

WAITING_BYTES_MAX = 64 << 20
"""Rows that wait to be written; names of documents and reasons may be long."""

HELD_BYTES_MAX = 16 << 20
"""A part that goes back through Spark is closed when it has so many bytes, and another begun: about
five million deliveries."""

ENDING = ".snappy.parquet"
"""What the name of a part ends in."""

_NONE = pa.scalar(0)

_DICTIONARY_BYTES_MAX = 1 << 30
"""Lists of texts are never given up half-way: the rows would be hashed one by one."""


def write_outcomes(
    outcomes: Iterable[pa.RecordBatch],
    *,
    folder: str | None,
    part: str,
    schemas: Mapping[str, pa.Schema],
    labels: pa.RecordBatch,
    crossing_model: CrossingModel | None = None,
) -> Iterator[pa.RecordBatch]:
    """Write all outcomes into a part of each table, and give one receipt when they are whole.

    ``folder`` has a folder for each table. A table without rows gets no file. When
    something fails, nothing is left that could be taken for a part. Where a document may have
    several outcomes, the column ``is_first`` says with which of them it is counted. Without
    ``folder``, parts are rows in front of the receipt.
    """
    files = {table: part_of(folder, table, part, schemas[table]) for table in WRITTEN}
    deliveries = Deliveries(files[DELIVERIES], labels, crossing_model)
    dead_letters = DeadLetters(files[DEAD_LETTERS], labels)
    traffic = TrafficSums()
    worker, loads, documents, size = worker_name(), 0, 0, 0
    try:
        for batch in outcomes:
            deliveries.add(batch)
            dead_letters.add(batch)
            traffic.add(batch)
            sizes = batch.column("bytes")
            if "is_first" in batch.schema.names:
                sizes = sizes.filter(batch.column("is_first"))
            documents += len(sizes)
            size += pc.sum(sizes, min_count=0).as_py() or 0
            if len(batch):
                worker = batch.column("worker")[0].as_py()
                loads = max(loads, batch.column("loads")[0].as_py())
            yield from held_parts(files, RECEIPTS)
        deliveries.finish()
        dead_letters.finish()
    except BaseException:
        for file in files.values():
            file.abandon()
        raise
    yield from held_parts(files, RECEIPTS)
    rows = (files[table].rows for table in WRITTEN)
    sums = (documents, size, *rows, dead_letters.internal, traffic.rows())
    values = (part, worker, loads, *sums, None, None)
    yield pa.RecordBatch.from_pylist(
        [dict(zip(RECEIPTS.names, values, strict=True))], schema=RECEIPTS
    )


class TrafficSums:
    """Documents and bytes that crossed each link, and what of them crossed needlessly."""

    def __init__(self) -> None:
        self._sums = np.zeros((0, len(COUNTED)), np.int64)

    def add(self, outcomes: pa.RecordBatch) -> None:
        """Take the crossings of some documents."""
        sizes = np.asarray(outcomes.column("bytes").fill_null(0))
        for place, column in ((0, "crossed"), (2, "needless")):
            lists = outcomes.column(column)
            links = np.asarray(pc.list_flatten(lists))
            if not len(links):
                continue
            documents = np.asarray(pc.list_parent_indices(lists))
            missing = int(links.max()) + 1 - len(self._sums)
            if missing > 0:
                self._sums = np.pad(self._sums, ((0, missing), (0, 0)))
            np.add.at(self._sums[:, place], links, 1)
            np.add.at(self._sums[:, place + 1], links, sizes[documents])

    def rows(self) -> list[dict[str, int]]:
        """The sums of each link that something crossed."""
        return [
            {"link": link, **dict(zip(COUNTED, sums, strict=True))}
            for link, sums in enumerate(self._sums.tolist())
            if sums[0]
        ]


def part_of_task(number: int) -> str:
    """How the names of a task's parts begin; they sort as their tasks do, up to 100,000."""
    return f"part-{number:05}"


def part_of(folder: str | None, table: str, part: str, schema: pa.Schema) -> Part:
    """A part of a table, in its folder or, without one, in memory."""
    return HeldPart(part, schema) if folder is None else Part(f"{folder}/{table}/{part}", schema)


def held_parts(files: Mapping[str, Part], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The parts that are whole and held in memory, each a row like a receipt, and let go."""
    for table, file in files.items():
        while file.whole:
            name, rows, content = file.whole.pop(0)
            row = {"part": name, table: rows, "table": table, "content": content.to_pybytes()}
            yield pa.RecordBatch.from_pylist([{**_NOTHING, **row}], schema=schema)


class PartFile:
    """A file that a worker writes; it is opened when there is something to write."""

    _path: str
    _writer: pq.ParquetWriter | RecordFileWriter | None

    def close(self) -> None:
        """Make the file whole."""
        if self._writer is not None:
            self._writer.close()

    def abandon(self) -> None:
        """Remove what there is of the file."""
        if self._writer is not None:
            Path(self._path).unlink(missing_ok=True)
            with suppress(OSError, pa.ArrowException):  # What failed before may fail again.
                self._writer.close()


class Part(PartFile):
    """One Parquet file, opened with its first row group; ``rows`` have been written so far.

    The schema's metadata goes into the file, Spark's description of the columns among it.
    """

    def __init__(self, path: str, schema: pa.Schema) -> None:
        self._path = path
        self._schema = schema
        self._writer: pq.ParquetWriter | None = None
        self.rows = 0
        self.whole: list[tuple[str, int, pa.Buffer]] = []
        """Name, rows and bytes of what is held in memory; nothing of a file."""

    def write(self, columns: Sequence[Column]) -> None:
        """Write one row group; texts may be dictionaries, and are plain texts in the file."""
        table = pa.table(dict(zip(self._schema.names, columns, strict=True)))
        if self._writer is None:
            # Least and greatest values would cost as much as everything else together.
            self._writer = pq.ParquetWriter(
                self._target(),
                table.schema,
                compression="snappy",
                write_statistics=False,
                dictionary_pagesize_limit=_DICTIONARY_BYTES_MAX,
                store_schema=False,
                write_page_checksum=True,
            )
            # Without Arrow's own schema, in which texts are dictionaries, it takes no metadata.
            self._writer.add_key_value_metadata(
                {key.decode(): text.decode() for key, text in (self._schema.metadata or {}).items()}
            )
        self._writer.write_table(table, row_group_size=max(1, len(table)))
        self.rows += len(table)

    def close(self) -> None:
        """Make the file whole, and force it to disk."""
        super().close()
        if self._writer is not None:
            sync_file(self._path)
            sync_folder(Path(self._path).parent)

    def _target(self) -> str | pa.NativeFile:
        return self._path


class HeldPart(Part):
    """The same in memory; when it has :data:`HELD_BYTES_MAX`, it is whole, and another begins."""

    def __init__(self, name: str, schema: pa.Schema) -> None:
        super().__init__(name, schema)
        self._sink = pa.BufferOutputStream()
        self._count = 0

    def write(self, columns: Sequence[Column]) -> None:
        """Write one row group."""
        super().write(columns)
        if self._sink.tell() >= HELD_BYTES_MAX:
            self.close()

    def close(self) -> None:
        """Make it whole."""
        PartFile.close(self)
        if self._writer is not None:
            name = f"{self._path.removesuffix(ENDING)}-{self._count}{ENDING}"
            self.whole.append((name, self.rows, self._sink.getvalue()))
            self._writer, self.rows = None, 0
            self._count += 1
            self._sink = pa.BufferOutputStream()

    def abandon(self) -> None:
        """Let go of what there is."""

    def _target(self) -> pa.NativeFile:
        return self._sink


class Deliveries:
    """The rows of the table ``deliveries``, gathered over batches until they fill a row group."""

    def __init__(
        self, part: Part, labels: pa.RecordBatch, crossing_model: CrossingModel | None = None
    ) -> None:
        self._part = part
        self._labels = labels
        self._crossing_model = crossing_model
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0

    def add(self, outcomes: pa.RecordBatch) -> None:
        """Take the matches of some documents."""
        chosen = outcomes.select(["document", "document_hash", "origin", "matches"])
        served = chosen.filter(pc.greater(pc.list_value_length(chosen.column("matches")), _NONE))
        rows = len(pc.list_flatten(served.column("matches")))
        if self._rows + rows > ROW_GROUP_ROWS_MAX or self._bytes > WAITING_BYTES_MAX:
            self._write()
        self._waiting.append(served)
        self._rows += rows
        self._bytes += served.nbytes

    def finish(self) -> None:
        """Write the rest, and close the part."""
        self._write()
        self._part.close()

    def _write(self) -> None:
        if not self._rows:
            return
        served = pa.Table.from_batches(self._waiting).combine_chunks()
        self._waiting, self._rows, self._bytes = [], 0, 0
        (lists,) = served.column("matches").chunks
        documents, positions = pc.list_parent_indices(lists), pc.list_flatten(lists)
        # Documents may be published twice, and a Parquet dictionary names everything once.
        named = [
            _whole(served.column(name)).dictionary_encode()
            for name in ("document", "document_hash")
        ]
        for start in range(0, len(positions), ROW_GROUP_ROWS_MAX):
            which = documents.slice(start, ROW_GROUP_ROWS_MAX)
            who = positions.slice(start, ROW_GROUP_ROWS_MAX)
            self._part.write(
                [
                    *(_spread(column, which) for column in named),
                    *(_spread(cast("Encoded", column), who) for column in self._labels.columns),
                    self._hops(_whole(served.column("origin")).take(which), who),
                ]
            )

    def _hops(self, origins: Column, positions: Column) -> Column:
        if self._crossing_model is None:
            return pa.array(np.zeros(len(positions), np.int32))
        brokers = self._crossing_model.brokers[np.asarray(positions)]
        return pa.array(self._crossing_model.hops(np.asarray(origins), brokers))


class DeadLetters:
    """The rows of the table ``dead_letters``: documents refused, and pairs left undecided.

    ``internal`` counts those of the stage of that name.
    """

    def __init__(self, part: Part, labels: pa.RecordBatch) -> None:
        self._part = part
        self._labels = labels
        self.internal = 0
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._bytes = 0

    def add(self, outcomes: pa.RecordBatch) -> None:
        """Take what could not be decided of some documents."""
        failed = pc.equal(outcomes.column("stage"), pa.scalar(INTERNAL))
        self.internal += failed.to_pylist().count(True)
        for letters in (refusals(outcomes), undecided_pairs(outcomes, self._labels)):
            if len(letters):
                self._waiting.append(letters)
                self._rows += len(letters)
                self._bytes += letters.nbytes
        if self._rows >= ROW_GROUP_ROWS_MAX or self._bytes >= WAITING_BYTES_MAX:
            self._write()

    def finish(self) -> None:
        """Write the rest, and close the part."""
        self._write()
        self._part.close()

    def _write(self) -> None:
        if not self._rows:
            return
        letters = pa.concat_tables(self._waiting)
        self._waiting, self._rows, self._bytes = [], 0, 0
        for start in range(0, len(letters), ROW_GROUP_ROWS_MAX):
            rows = letters.slice(start, ROW_GROUP_ROWS_MAX)
            self._part.write([_whole(column) for column in rows.columns])


LETTER = pa.schema(
    [
        pa.field("document", pa.string()),
        pa.field("subscription", pa.string()),
        *(OUTCOMES.field(name) for name in Refusal._fields),
    ]
)


def refusals(outcomes: pa.RecordBatch) -> pa.Table:
    """A dead letter for each document that was refused."""
    refused = outcomes.filter(pc.is_valid(outcomes.column("stage")))
    columns = {name: refused.column(name) for name in LETTER.names if name != "subscription"}
    columns["subscription"] = pa.nulls(len(refused), pa.string())
    return pa.table({name: columns[name] for name in LETTER.names}, schema=LETTER)


def undecided_pairs(outcomes: pa.RecordBatch, labels: pa.RecordBatch) -> pa.Table:
    """A dead letter for each pair of document and subscription that stays undecided."""
    lists = outcomes.column("undecided")
    documents, positions = pc.list_parent_indices(lists), pc.list_flatten(lists)
    rows = len(positions)
    nowhere = pa.nulls(rows, pa.int32())
    return pa.Table.from_arrays(
        [
            outcomes.column("document").take(documents),
            labels.column("subscription").take(positions).cast(pa.string()),
            pa.repeat("match", rows),
            pa.repeat(UNDECIDED, rows),
            nowhere,
            nowhere,
        ],
        schema=LETTER,
    )


def _spread(column: Encoded, rows: Column) -> Column:
    """What a dictionary-encoded column has at some rows, with no more texts than it takes."""
    codes, texts = column.indices.take(rows), column.dictionary
    if len(codes) < len(texts):
        fewer = codes.dictionary_encode()
        codes, texts = fewer.indices, texts.take(fewer.dictionary)
    return pa.DictionaryArray.from_arrays(codes, texts)


def _whole(column: pa.ChunkedArray[Any]) -> Column:
    return column.combine_chunks()
