"""What a Spark worker does, in plain Python over Arrow batches: open documents and match them.

Nothing here knows Spark; :mod:`~twigcast.spark.job` maps these functions over partitions, and
tests call them as they are. Two steps, each from batches to batches::

    chunk numbers --open_chunks--> documents --match_batches--> outcomes
                                   document                     document, document_hash, bytes
                                   content                      origin, matches, undecided
                                   refusal                      crossed, needless
                                   origin                       stage, reason, line, column
                                                                worker, loads

Documents that come out of a table start at the second step; :mod:`~twigcast.spark.parts` is a third
one, from outcomes to files. An *outcome* is a row for each
document: the positions of the subscriptions that match it and of those that stay undecided, and the
links that it crosses on its way to them (:mod:`~twigcast.spark.ways`); or,
for a document that was refused, the stage that refused it and why. Whatever is wrong with one
document stays in its row. Even an error that nobody foresaw costs only the document that raised
it: its batch is then matched document by document.

Matchers are loaded once per worker and version: :func:`loaded_matcher` keeps what it has loaded,
and ``loads`` in the outcomes says how often that was, so that a table can prove it.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.errors import DocumentError
from twigcast.files import open_entries, read_index
from twigcast.language import Document
from twigcast.language.document import encoded
from twigcast.spark.chunks import read_chunk
from twigcast.spark.ways import UNKNOWN, crossings, departures, lists_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from twigcast.files import PublicationLimits
    from twigcast.matching import Matcher
    from twigcast.spark.ways import Ways

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

_KEPT = 4
"""The current version, and a few that other jobs on this worker may still use."""

UNDECIDED = "undecided: deciding it would cost more than one document may (residual_cost_max)"
"""The reason in the dead letter of a pair that stays undecided."""

_LOADS: Counter[str] = Counter()


class Refusal(NamedTuple):
    """Why a document was refused, by which stage, and where.

    The stages are ``read``, ``parse``, ``route`` and ``match``.
    """

    stage: str
    reason: str
    line: int | None = None
    column: int | None = None


@lru_cache(maxsize=_KEPT)
def loaded_matcher(path: str, version: str, engine: str = "auto") -> Matcher:
    """The matcher in a file, loaded when this worker first asks for the version."""
    _LOADS[version] += 1
    return read_index(path, engine=engine)


def loads(version: str) -> int:
    """How often this worker has loaded a version: once, unless something is wrong."""
    return _LOADS[version]


def open_chunks(
    batches: Iterable[pa.RecordBatch],
    plan: str | bytes,
    *,
    patterns: Sequence[str],
    limits: PublicationLimits,
) -> Iterator[pa.RecordBatch]:
    """The documents of the chunks of a plan, whose numbers come in the column ``id``."""
    rows: list[tuple[str, bytes | None, str | None]] = []
    size = 0
    for batch in batches:
        for number in batch.column("id").to_pylist():
            entries = read_chunk(plan, int(number or 0))
            for name, content in open_entries(entries, patterns=patterns, limits=limits):
                if isinstance(content, DocumentError):
                    rows.append((name, None, content.reason))
                else:
                    rows.append((name, content, None))
                    size += len(content)
                if len(rows) >= BATCH_DOCUMENTS_MAX or size >= BATCH_BYTES_MAX:
                    yield pa.RecordBatch.from_arrays(arrays_of(rows, DOCUMENTS), schema=DOCUMENTS)
                    rows, size = [], 0
    yield pa.RecordBatch.from_arrays(arrays_of(rows, DOCUMENTS), schema=DOCUMENTS)


def match_batches(
    batches: Iterable[pa.RecordBatch],
    matcher: Matcher,
    *,
    version: str = "",
    ways: Ways | None = None,
) -> Iterator[pa.RecordBatch]:
    """The outcomes of documents, batch by batch.

    ``content`` is binary, or text that was decoded already; ``refusal`` and ``origin`` may be
    missing. A document without a name is called by its hash. Without ``ways`` there is one broker.
    """
    for batch in batches:
        given = batch.column("content")
        contents = given.cast(pa.binary()).to_pylist()
        read = readable(given).to_pylist() if is_text(given.type) else contents
        hashes = [None if content is None else sha256(content).hexdigest() for content in contents]
        names = map(_name, batch.column("document").to_pylist(), hashes)
        decided = decide_array(given, matcher)
        errors = decided.column("error").to_pylist()
        refusals = list(map(refusal_of, read, _texts(batch, "refusal"), errors))
        way = _routed(decided, batch, read, refusals=refusals, ways=ways)
        yield pa.RecordBatch.from_arrays(
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


def worker_name() -> str:
    """What this worker is called in the tables: its machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _routed(
    decided: pa.RecordBatch,
    batch: pa.RecordBatch,
    contents: Sequence[bytes | None],
    *,
    refusals: list[Refusal | None],
    ways: Ways | None,
) -> list[Column]:
    """Origins, matches, undecided, links crossed, needless ones; more may be refused."""
    matches, undecided = decided.column("matches"), decided.column("undecided")
    if ways is None:
        nowhere = pa.nulls(len(batch), pa.list_(pa.int32()))
        return [pa.array([0] * len(batch), pa.int32()), matches, undecided, nowhere, nowhere]
    named = _texts(batch, "origin")
    origins = ways.origins(named)
    flooded = np.zeros(len(batch), np.bool_)
    told: list[str | None] = [None] * len(batch)
    if ways.towards != "all":
        told = departures(ways, origins, contents)
        flooded = np.array([departure is not None for departure in told])
    for row, departure in enumerate(told):
        if refusals[row] is not None:
            continue
        if origins[row] == UNKNOWN:
            reason = f"there is no broker {named[row]!r} in the topology to publish it at"
            refusals[row] = Refusal("route", reason)
        elif departure and ways.refuses:
            place = ways.tree.names[origins[row]]
            refusals[row] = Refusal(
                "route", f"it has {departure}, which is not advertised at {place!r}"
            )
    answered = pa.array([refusal is None for refusal in refusals])
    matches, undecided = (pc.if_else(answered, each, None) for each in (matches, undecided))
    found = crossings(ways, origins, matches=matches, undecided=undecided, flooded=flooded)
    return [
        pa.array(origins, pa.int32()),
        _below(matches, ways.subscriptions),
        _below(undecided, ways.subscriptions),
        *found,
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


def _redeclared(text: bytes) -> bytes:
    try:
        content = encoded(text.decode())
    except UnicodeDecodeError:  # Spark does not check what it calls a string.
        return text
    # With blanks at the end of a declaration that has become shorter, what follows stays in place,
    # and with it the columns that errors tell.
    return content.replace(b"?>", b" " * (len(text) - len(content)) + b"?>", 1)


def decide_array(given: Column, matcher: Matcher) -> pa.RecordBatch:
    """What ``Matcher.match_batch`` answers, also when a document makes it fail as a whole."""
    try:
        return matcher.match_batch(given)
    except Exception:  # noqa: BLE001 (whatever it is, it must cost one document only)
        pieces = [_decide_one(given.slice(row, 1), matcher) for row in range(len(given))]
        return pa.Table.from_batches(pieces).combine_chunks().to_batches()[0]


def matching_names(given: Column, matcher: Matcher, names: Column) -> Column:
    """For each document the ids of the subscriptions it satisfies; null where it was refused."""
    matches = decide_array(given, matcher).column("matches")
    lengths = pc.fill_null(pc.list_value_length(matches), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])
    return pa.ListArray.from_arrays(
        offsets, names.take(pc.list_flatten(matches)), mask=matches.is_null()
    )


REFUSAL = pa.schema([OUTCOMES.field(name) for name in Refusal._fields])


def _decide_one(content: Column, matcher: Matcher) -> pa.RecordBatch:
    try:
        return matcher.match_batch(content)
    except Exception as error:  # noqa: BLE001 (this is the one document that it costs)
        ids = pa.nulls(1, pa.list_(pa.int64()))
        reason = pa.array([f"{type(error).__name__}: {error}"], pa.string())
        return pa.RecordBatch.from_arrays([ids, reason, ids], ["matches", "error", "undecided"])


def refusal_of(content: bytes | None, unread: str | None, error: str | None) -> Refusal | None:
    """The refusal behind an error of the matcher, in full; None if there is none.

    The matcher's batch tells errors as text only. Refused documents are few, so they are simply
    read once more to learn line and column; ``content`` is what :func:`readable` gives.
    """
    if content is None:
        return Refusal("read", unread or "there is no content (null)")
    if error is None:
        return None
    try:
        Document.parse(content)
    except DocumentError as refused:
        return Refusal("parse", refused.reason, refused.line, refused.column)
    return Refusal("match", error)


def _texts(batch: pa.RecordBatch, column: str) -> list[str | None]:
    """A column of texts, which may be missing."""
    if column in batch.schema.names:
        texts: list[str | None] = batch.column(column).to_pylist()
        return texts
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
