"""Files in the staging folder between two hops: documents, once each, and the next visits.

Documents are written once, into a *spool* for each task that reads them. From then on they are
named by reference: which spool, which record batch in it, which row. A *visit* is a document at
a broker; visits to come are small rows, and those that one task leaves behind lie in one file,
sorted by broker, in *pieces* that hold visits to a single broker::

    spool-7c….arrow                      part-00003-7c….ahead.arrow
      batch 0   a.xml  <a>…                batch 0   to hub:    7c… 0 0 (a.xml), 7c… 0 1 (b.xml)
                b.xml  <b>…                batch 1   to south:  7c… 0 1 (b.xml)

So the driver can share out the next hop by pieces: whatever goes to one broker comes together,
however many tasks it came from, and no visit is ever moved by Spark. The files are a checkpoint:
a worker or an executor that is lost takes nothing along that they do not have.

Like parts of tables (:mod:`~twigcast.spark.worker.parquet_parts`), the files of an attempt have
names that no other attempt uses, and count only if its receipt does. Readers map them. All have
checksums (:mod:`~twigcast.spark.worker.record_files`); a spool has one for each document, since
most tasks want a few documents of every batch.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from twigcast.errors import UsageError
from twigcast.spark.worker.matching import BATCH_BYTES_MAX, BATCH_DOCUMENTS_MAX
from twigcast.spark.worker.parquet_parts import PartFile
from twigcast.spark.worker.record_files import RecordFile, RecordFileWriter

_SPOOLED: Mapping[str, pa.DataType] = {
    "document": pa.string(),
    "document_hash": pa.string(),
    "bytes": pa.int64(),
    "origin": pa.int32(),
    "content": pa.binary(),
}
SPOOLED = pa.schema(_SPOOLED)
"""Documents in a spool.

``content`` is to be read by what it declares (``worker.readable``); ``document_hash`` and ``bytes``
are those of the document as it was published.
"""

_STORED = pa.schema([*SPOOLED, pa.field("checksum", pa.int64())])
"""The same as they lie in the file."""

_REFERENCE: Mapping[str, pa.DataType] = {
    "spool": pa.binary(),
    "batch": pa.int32(),
    "row": pa.int32(),
    "bytes": pa.int64(),
}

_VISIT: Mapping[str, pa.DataType] = {
    **_REFERENCE,
    "broker": pa.int32(),
    "came_by": pa.int32(),
    "flooded": pa.bool_(),
    "annotations": pa.binary(),
}
HOP_VISITS = pa.schema(_VISIT)
"""Visits to come. ``came_by`` is the broker that a document comes from, -1 from its publisher."""

_PIECE: Mapping[str, pa.DataType] = {"part": pa.string(), "batch": pa.int32()}
_PIECES = pa.schema(_PIECE)

_KINDS: dict[str, pa.Schema] = {"spool": _STORED, "visits": HOP_VISITS, "pieces": _PIECES}
"""What the files hold."""

NOWHERE = -1
"""The broker that a document comes from at its origin."""

WAITING_BYTES_MAX = 64 << 20
"""Visits that wait to be sorted and written: two million without annotations."""

_FILES_KEPT = 64
"""Files that a task keeps mapped: those of a few dozen tasks are needed again and again."""

_DOCUMENT_WORK = 4096
"""A visit costs about as much as matching this many bytes, whatever the document."""


class VisitPiece(NamedTuple):
    """Visits to one broker in one record batch."""

    part: str
    broker: int
    batch: int
    rows: int
    bytes: int
    """Of the documents."""

    @property
    def work(self) -> int:
        """About how much there is to do."""
        return self.rows * _DOCUMENT_WORK + self.bytes


class RecordPart(PartFile):
    """A file of records, opened with its first batch; ``batches`` have been written so far."""

    def __init__(self, path: str, kind: str) -> None:
        self._path = path
        self._kind = kind
        self._writer: RecordFileWriter | None = None
        self.batches = 0

    def write(self, batch: pa.RecordBatch) -> int:
        """Write a batch; its number."""
        if self._writer is None:
            self._writer = RecordFileWriter(self._path, self._kind)
        self._writer.write_batch(batch)
        self.batches += 1
        return self.batches - 1


class NextVisits:
    """Visits to come, gathered over batches and written by broker, in ``pieces``."""

    def __init__(self, file: RecordPart, part: str) -> None:
        self._file = file
        self._part = part
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        self.pieces: list[VisitPiece] = []

    def add(self, visits: pa.RecordBatch) -> None:
        """Take some visits, to any brokers."""
        if not len(visits):
            return
        self._waiting.append(visits)
        self._bytes += visits.nbytes
        if self._bytes >= WAITING_BYTES_MAX:
            self._write()

    def finish(self) -> None:
        """Write the rest, and close the file."""
        self._write()
        self._file.close()

    def abandon(self) -> None:
        """Remove what there is of the file."""
        self._file.abandon()

    def _write(self) -> None:
        if not self._waiting:
            return
        visits = pa.Table.from_batches(self._waiting)
        self._waiting, self._bytes = [], 0
        brokers = np.asarray(visits.column("broker"))
        order = np.argsort(brokers, kind="stable")
        (whole,) = visits.take(order).combine_chunks().to_batches()
        sizes = np.asarray(whole.column("bytes"))
        for start, end in _cuts(brokers[order], sizes):
            piece = whole.slice(start, end - start)
            batch = self._file.write(piece)
            place = (int(brokers[order[start]]), batch, end - start, int(sizes[start:end].sum()))
            self.pieces.append(VisitPiece(self._part, *place))


def _cuts(brokers: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> Iterator[tuple[int, int]]:
    """Runs of visits to one broker, none larger than a batch should be."""
    start, size = 0, 0
    for row, (broker, one) in enumerate(zip(brokers.tolist(), sizes.tolist(), strict=True)):
        is_full = row - start >= BATCH_DOCUMENTS_MAX or size + one > BATCH_BYTES_MAX
        if row > start and (broker != brokers[start] or is_full):
            yield start, row
            start, size = row, 0
        size += one
    yield start, len(brokers)


# Sharing out.


def shared_out(pieces: Iterable[VisitPiece], tasks: int) -> list[list[VisitPiece]]:
    """The pieces in at most so many runs of about equal work, by broker, none of them empty."""
    ordered = sorted(pieces, key=lambda piece: (piece.broker, piece.part, piece.batch))
    total, done = sum(piece.work for piece in ordered), 0
    runs: dict[int, list[VisitPiece]] = {}
    for piece in ordered:
        # A piece goes where its middle falls.
        runs.setdefault((2 * done + piece.work) * tasks // (2 * total), []).append(piece)
        done += piece.work
    return list(runs.values())


def write_plan(path: str, runs: Sequence[Sequence[VisitPiece]]) -> None:
    """Write which pieces each task gets; the next hop's tasks find them by their numbers."""
    file = RecordPart(path, "pieces")
    for run in runs:
        rows = [{"part": piece.part, "batch": piece.batch} for piece in run]
        file.write(pa.RecordBatch.from_pylist(rows, schema=_PIECES))
    file.close()


# Reading.


def ahead_path(folder: str, part: str) -> str:
    """Where the visits lie that a part's task has left behind."""
    return f"{folder}/{part}.ahead.arrow"


def spool_path(folder: str, spool: bytes) -> str:
    """Where a spool lies."""
    return f"{folder}/spool-{spool.hex()}.arrow"


def read_visits(folder: str, plan: str, task: int) -> Iterator[pa.RecordBatch]:
    """The visits of a task, those to one broker together in batches of a good size."""
    waiting: list[pa.RecordBatch] = []
    broker, rows, size = NOWHERE, 0, 0
    for row in _mapped(plan, "pieces").get_batch(task).to_pylist():
        piece = _mapped(ahead_path(folder, row["part"]), "visits").get_batch(row["batch"])
        piece_broker = piece.column("broker")[0].as_py()
        more = int(np.asarray(piece.column("bytes")).sum())
        is_full = rows + len(piece) > BATCH_DOCUMENTS_MAX or size + more > BATCH_BYTES_MAX
        if waiting and (piece_broker != broker or is_full):
            yield _joined(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(piece)
        broker, rows, size = piece_broker, rows + len(piece), size + more
    if waiting:
        yield _joined(waiting)


def read_documents(folder: str, visits: pa.RecordBatch) -> pa.RecordBatch:
    """The documents of visits, in the same order."""
    columns = (visits.column(name).to_pylist() for name in ("spool", "batch"))
    places: dict[tuple[Any, Any], int] = {}
    codes = np.array(
        [places.setdefault(place, len(places)) for place in zip(*columns, strict=True)]
    )
    rows = np.asarray(visits.column("row"))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(places)))
    found = [
        _spooled(spool_path(folder, spool), batch, rows[chosen])
        for (spool, batch), chosen in zip(places, np.split(order, ends[:-1]), strict=True)
    ]
    return _joined(found).take(np.argsort(order, kind="stable"))


def _spooled(path: str, batch: int, rows: np.ndarray[Any, Any]) -> pa.RecordBatch:
    """Some documents of a batch, as they were written; UsageError if they are not."""
    whole = _mapped(path, "spool").get_batch(batch, has_checksums=True)
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(whole):
        raise UsageError(f"cannot use {path}: batch {batch} has no such rows; run again")
    found = whole.take(pa.array(rows))
    if _checksums(found) != found.column("checksum").to_pylist():
        raise UsageError(f"cannot use {path}: batch {batch} is damaged; run again")
    return found.select(SPOOLED.names)


def _checksums(documents: pa.RecordBatch) -> list[int | None]:
    columns = (documents.column(name).to_pylist() for name in SPOOLED.names)
    return [
        zlib.crc32(content or b"", zlib.crc32(repr(about).encode()))
        for *about, content in zip(*columns, strict=True)
    ]


def spooled(documents: pa.RecordBatch) -> pa.RecordBatch:
    """Documents of :data:`SPOOLED` as they are written down."""
    checksums = pa.array(_checksums(documents), pa.int64())
    return pa.RecordBatch.from_arrays([*documents.columns, checksums], schema=_STORED)


def forget_files() -> None:
    """Let go of all files: what is mapped takes room on the disk even when it was deleted."""
    _mapped.cache_clear()


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    (whole,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return whole


@lru_cache(maxsize=_FILES_KEPT)
def _mapped(path: str, kind: str) -> RecordFile:
    return RecordFile(path, kind, _KINDS[kind])
