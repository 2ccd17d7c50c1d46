"""Documents opened and matched on a Spark worker, in plain Python over Arrow batches.

Nothing here knows Spark; :mod:`~twigcast.spark.plans.distribution` maps these functions over
partitions, and tests call them as they are. Two steps, each from batches to batches::

    chunk numbers --open_chunks--> documents --match_batches--> outcomes
                                   document                     document, document_hash, bytes
                                   content                      origin, matches, undecided
                                   refusal                      crossed, needless
                                   origin                       stage, reason, line, column
                                                                worker, loads

Documents that come out of a table start at the second step;
:mod:`~twigcast.spark.worker.parquet_parts` is a third one, from outcomes to files. An *outcome* is
a row for each document: the positions of the subscriptions that match it and of those that stay
undecided, and the links that it crosses on its way to them
(:mod:`~twigcast.spark.worker.crossings`); or, for a document that was refused, the stage that
refused it and why. Whatever is wrong with one document stays in its row. Even an error that nobody
foresaw costs only the document that raised it (:mod:`~twigcast.spark.worker.set_aside`).

Matchers are loaded once per worker and version: :func:`loaded_matcher` keeps what it has loaded,
and ``loads`` in the outcomes says how often that was, so that a table can prove it.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.display import printable
from twigcast.door import door
from twigcast.errors import DocumentError, TwigcastError
from twigcast.files import list_documents, open_entries, read_index
from twigcast.files.writing.versioned_files import VersionedContent
from twigcast.language import LIBRARY_LIMITS
from twigcast.language.document.parse import encoded
from twigcast.matching import Matcher
from twigcast.spark.worker.chunks import read_chunk
from twigcast.spark.worker.crossings import UNKNOWN, advertisement_violations, crossings, lists_of
from twigcast.spark.worker.set_aside import (
    INTERNAL,
    Refusal,
    each_alone,
    joined_rows,
    refusal_by,
    refusal_in,
    row_of,
    texts_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from twigcast.files import Entry, PublicationLimits
    from twigcast.language import DocumentLimits
    from twigcast.spark.worker.crossings import CrossingModel

    Column: TypeAlias = pa.Array[Any]

_DOCUMENT: Mapping[str, pa.DataType] = {
    "document": pa.string(),
    "content": pa.binary(),
    "refusal": pa.string(),
}
DOCUMENTS = pa.schema(_DOCUMENT)

_OUTCOME: Mapping[str, pa.DataType] = {
    "document": pa.string(),
    "document_hash": pa.string(),
    "bytes": pa.int64(),
    "origin": pa.int32(),
    "matches": pa.list_(pa.int64()),
    "undecided": pa.list_(pa.int64()),
    "crossed": pa.list_(pa.int32()),
    "needless": pa.list_(pa.int32()),
    "stage": pa.string(),
    "reason": pa.string(),
    "line": pa.int32(),
    "column": pa.int32(),
    "worker": pa.string(),
    "loads": pa.int32(),
}
OUTCOMES = pa.schema(_OUTCOME)

BATCH_DOCUMENTS_MAX = 1000
BATCH_BYTES_MAX = 4 << 20
"""Batches of this size were measured twice as fast as ones ten times larger."""

FILE_BYTES_MAX = 128 << 20
"""Of a file that Spark reads whole: Java has it in memory three times on its way here."""

_ENDING_MAX = 40

_KEPT = 4
"""The current version, and a few that other jobs on this worker may still use."""

UNDECIDED = (
    "undecided: deciding it would cost more than one document may "
    "(residual_cost_max, document_cost_max)"
)
"""The reason in the dead letter of a pair that stays undecided."""

_LOADS: Counter[str] = Counter()


MATCHING = "matching a document"
_OPENING = "opening a document"


@lru_cache(maxsize=_KEPT)
def loaded_matcher(
    place: str | VersionedContent,
    version: str,
    engine: str = "auto",
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> Matcher:
    """The matcher in a file, loaded when this worker first asks for the version."""
    _LOADS[version] += 1
    if isinstance(place, VersionedContent):
        return Matcher.from_buffer(memoryview(place.content), engine=engine, limits=limits)
    return read_index(place, engine=engine, limits=limits)


def loads(version: str) -> int:
    """How often this worker has loaded a version: once, unless something is wrong."""
    return _LOADS[version]


def open_chunks(
    batches: Iterable[pa.RecordBatch],
    plan: str | bytes,
    *,
    patterns: Sequence[str],
    limits: PublicationLimits,
    record: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """The documents of the chunks of a plan, whose numbers come in the column ``id``."""
    numbers = (number for batch in batches for number in batch.column("id").to_pylist())
    yield from _gathered(
        document
        for number in numbers
        for document in _opened(read_chunk(plan, int(number or 0)), patterns, limits, record)
    )


def open_contents(
    batches: Iterable[pa.RecordBatch],
    *,
    patterns: Sequence[str],
    limits: PublicationLimits,
    record: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """The documents of files whose bytes are here: ``path``, ``length`` and ``content``.

    A file is laid down while its documents are read, for archives are read here and there.
    """
    with TemporaryDirectory(prefix="twigcast-file-") as folder:

        def documents_of(path: str) -> Iterator[tuple[str, bytes | str]]:
            entries = list_documents(path, patterns=patterns, limits=limits, record=record)
            return _opened(entries, patterns, limits, record)

        rows = (row for batch in batches for row in batch.to_pylist())
        yield from _gathered(
            document for row in rows for document in _contained(row, folder, documents_of)
        )


def _contained(
    row: Mapping[str, Any],
    folder: str,
    documents_of: Callable[[str], Iterator[tuple[str, bytes | str]]],
) -> Iterator[tuple[str, bytes | str]]:
    name, content, length = row["path"], row["content"], row["length"]
    if content is None:
        gone = "it cannot be read: it is not there any more"
        yield (
            name,
            gone
            if length is None
            else (
                f"too many bytes for a file that Spark reads: {length:,}, and at most "
                f"{FILE_BYTES_MAX:,} are allowed; make several of it, or share it with the workers"
            ),
        )
        return
    # What kind of file it is, its ending may tell.
    ending = "".join(PurePosixPath(name).suffixes[-2:])[-_ENDING_MAX:]
    file = Path(folder, f"file{ending}")
    file.write_bytes(content)
    try:
        for found, document in documents_of(str(file)):
            yield name + found.removeprefix(printable(str(file))), document
    finally:
        file.unlink()


def _gathered(documents: Iterable[tuple[str, bytes | str]]) -> Iterator[pa.RecordBatch]:
    """Batches of documents: their names, and their contents or why there are none."""
    rows: list[tuple[str, bytes | None, str | None]] = []
    size = 0
    for name, content in documents:
        if isinstance(content, bytes):
            rows.append((printable(name), content, None))
            size += len(content)
        else:
            rows.append((printable(name), None, printable(content)))
        if len(rows) >= BATCH_DOCUMENTS_MAX or size >= BATCH_BYTES_MAX:
            yield pa.RecordBatch.from_arrays(arrays_of(rows, DOCUMENTS), schema=DOCUMENTS)
            rows, size = [], 0
    yield pa.RecordBatch.from_arrays(arrays_of(rows, DOCUMENTS), schema=DOCUMENTS)


def _opened(
    entries: Iterable[Entry],
    patterns: Sequence[str],
    limits: PublicationLimits,
    record: str | None,
) -> Iterator[tuple[str, bytes | str]]:
    """Name and content of each document, or why there is none; the others are opened all the same.

    An archive that nobody foresaw is a row under its own name.
    """
    left = iter(entries)
    last: list[Entry] = []

    def noted() -> Iterator[Entry]:
        for entry in left:
            last[:] = [entry]
            yield entry

    while True:
        try:
            with door(_OPENING):
                for name, content in open_entries(
                    noted(), patterns=patterns, limits=limits, record=record
                ):
                    yield name, content.reason if isinstance(content, DocumentError) else content
                return
        except TwigcastError as error:
            if not last:
                raise
            yield last.pop().name, str(error)


def match_batches(
    batches: Iterable[pa.RecordBatch],
    matcher: Matcher,
    *,
    version: str = "",
    crossing_model: CrossingModel | None = None,
) -> Iterator[pa.RecordBatch]:
    """The outcomes of documents, batch by batch.

    ``content`` is binary, or text that was decoded already; ``refusal`` and ``origin`` may be
    missing. A document without a name is called by its hash. Without a ``crossing_model`` there is
    one broker.
    """
    for batch in batches:
        yield each_alone(
            MATCHING,
            batch,
            lambda rows: outcomes_of(rows, matcher, version=version, crossing_model=crossing_model),
            aside=lambda row, error: outcome_aside(row, error, version=version),
            joined=joined_rows,
        )


def outcomes_of(
    batch: pa.RecordBatch, matcher: Matcher, *, version: str, crossing_model: CrossingModel | None
) -> pa.RecordBatch:
    """The outcomes of one batch, unless a document in it makes this fail."""
    given = batch.column("content")
    contents = given.cast(pa.binary()).to_pylist()
    plain = readable(given)
    read = plain.to_pylist()
    garbled = {row for row, content in enumerate(contents) if not _is_readable(content, given.type)}
    hashes = [None if content is None else sha256(content).hexdigest() for content in contents]
    names = map(_name, texts_of(batch.column("document")), hashes)
    accepted = [None if row in garbled else content for row, content in enumerate(read)]
    decided = matcher.match_batch(pa.array(accepted, pa.binary()) if garbled else plain)
    errors = decided.column("error").to_pylist()
    refusals = list(map(refusal_of, read, _texts(batch, "refusal"), errors))
    for row in garbled:
        refusals[row] = Refusal("parse", "it is text by its column, and no Unicode (UTF-8)")
    way = _routed(decided, batch, read, refusals=refusals, crossing_model=crossing_model)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(names, pa.string()),
            pa.array(hashes, pa.string()),
            pa.array([None if c is None else len(c) for c in contents], pa.int64()),
            *way,
            *arrays_of(refusals, REFUSAL),
            pa.array([worker_name()] * len(batch), pa.string()),
            pa.array([loads(version)] * len(batch), pa.int32()),
        ],
        schema=OUTCOMES,
    )


def outcome_aside(row: pa.RecordBatch, error: TwigcastError, *, version: str) -> pa.RecordBatch:
    """The outcome of a document that made the others fail."""
    (name,) = texts_of(row.column("document"))
    return row_of(
        OUTCOMES,
        document=name or "unnamed",
        bytes=size_of(row.column("content")),
        origin=0,
        worker=worker_name(),
        loads=loads(version),
        **refusal_by(error)._asdict(),
    )


def sizes_of(contents: Column) -> list[int]:
    """The bytes of each document, 0 where there is none."""
    sizes = pc.binary_length(cast("pa.BinaryArray", contents))
    return [size or 0 for size in sizes.to_pylist()]


def size_of(content: Column) -> int | None:
    """The bytes of a single document."""
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, is_text)
    if not any(kind(content.type) for kind in kinds):
        return None
    found: bytes | None = content.cast(pa.large_binary())[0].as_py()
    return None if found is None else len(found)


def worker_name() -> str:
    """What this worker is called in the tables: its machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _routed(
    decided: pa.RecordBatch,
    batch: pa.RecordBatch,
    contents: Sequence[bytes | None],
    *,
    refusals: list[Refusal | None],
    crossing_model: CrossingModel | None,
) -> list[Column]:
    """Origins, matches, undecided, links crossed, needless ones; more may be refused."""
    matches, undecided = decided.column("matches"), decided.column("undecided")
    if crossing_model is None:
        nowhere = pa.nulls(len(batch), pa.list_(pa.int32()))
        return [pa.array([0] * len(batch), pa.int32()), matches, undecided, nowhere, nowhere]
    named = _texts(batch, "origin")
    origins = crossing_model.origins(named)
    flooded = np.zeros(len(batch), np.bool_)
    violations: list[str | None] = [None] * len(batch)
    if crossing_model.towards != "all":
        accepted = [
            content if refusal is None else None
            for content, refusal in zip(contents, refusals, strict=True)
        ]
        violations = advertisement_violations(crossing_model, origins, accepted)
        flooded = np.array([departure is not None for departure in violations])
    for row, departure in enumerate(violations):
        if refusals[row] is not None:
            continue
        if origins[row] == UNKNOWN:
            reason = f"there is no broker {named[row]!r} in the topology to publish it at"
            refusals[row] = Refusal("route", reason)
        elif departure and crossing_model.refuses:
            place = crossing_model.tree.names[origins[row]]
            refusals[row] = Refusal(
                "route", f"it has {departure}, which is not advertised at {place!r}"
            )
    answered = pa.array([refusal is None for refusal in refusals])
    matches, undecided = (pc.if_else(answered, each, None) for each in (matches, undecided))
    crossed = crossings(
        crossing_model, origins, matches=matches, undecided=undecided, flooded=flooded
    )
    return [
        pa.array(origins, pa.int32()),
        _below(matches, crossing_model.subscriptions),
        _below(undecided, crossing_model.subscriptions),
        *crossed,
    ]


def _below(lists: Column, end: int) -> Column:
    """Lists of positions without those from ``end`` on, which are routes."""
    positions = pc.list_flatten(lists)
    kept = pc.less(positions, pa.scalar(end, pa.int64()))
    if pc.all(kept, min_count=0).as_py():
        return lists
    documents = pc.list_parent_indices(lists).filter(kept)
    counts = np.bincount(np.asarray(documents), minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return lists_of(offsets, positions.filter(kept), np.asarray(lists.is_null()))


def readable(given: Column) -> Column:
    """Contents as bytes that can be read on their own, by what they declare.

    Text was decoded already, whatever it declares. As bytes it is UTF-8, and has to say so.
    """
    contents: Column = given.cast(pa.binary())
    if not is_text(given.type):
        return contents
    texts = contents.to_pylist()
    return pa.array([None if text is None else _redeclared(text) for text in texts], pa.binary())


def is_text(kind: pa.DataType) -> bool:
    """Whether contents of that type are text, and not bytes."""
    return kind in {pa.string(), pa.large_string(), pa.string_view()}


def _is_readable(content: bytes | None, kind: pa.DataType) -> bool:
    """Whether what a column holds is what the column says: Spark does not check its texts."""
    if content is None or not is_text(kind):
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _redeclared(text: bytes) -> bytes:
    try:
        content = encoded(text.decode())
    except UnicodeDecodeError:  # Spark does not check what it calls a string.
        return text
    # With blanks at the end of a declaration that has become shorter, what follows stays in place,
    # and with it the columns that errors tell.
    return content.replace(b"?>", b" " * (len(text) - len(content)) + b"?>", 1)


REFUSAL = pa.schema([OUTCOMES.field(name) for name in Refusal._fields])


def refusal_of(content: bytes | None, unread: str | None, error: str | None) -> Refusal | None:
    """The refusal behind an error of the matcher's batch; None if there is none.

    ``unread`` is why there is no content, if there is none.
    """
    if content is None:
        failed = unread is not None and unread.startswith(f"{_OPENING} failed: ")
        return Refusal(INTERNAL if failed else "read", unread or "there is no content (null)")
    return None if error is None else refusal_in(error)


def _texts(batch: pa.RecordBatch, column: str) -> list[str | None]:
    """A column of texts, which may be missing."""
    if column in batch.schema.names:
        return texts_of(batch.column(column))
    return [None] * len(batch)


def _name(name: str | None, digest: str | None) -> str:
    if name:
        return name
    return f"sha256:{digest}" if digest else "unnamed"


def arrays_of(rows: Sequence[tuple[object, ...] | None], schema: pa.Schema) -> list[Column]:
    """Rows turned into columns; a row may be missing as a whole."""
    missing = (None,) * len(schema)
    columns = zip(*(row or missing for row in rows), strict=True) if rows else [()] * len(schema)
    return [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
