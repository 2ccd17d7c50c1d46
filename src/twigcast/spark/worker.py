"""What a Spark worker does, in plain Python over Arrow batches: open documents and match them.

Nothing here knows Spark; :mod:`~twigcast.spark.job` maps these functions over partitions, and
tests call them as they are. Two steps, each from batches to batches::

    chunk numbers --open_chunks--> documents --match_batches--> outcomes
                                   document                     document, document_hash, bytes
                                   content                      matches, undecided
                                   refusal                      stage, reason, line, column
                                                                worker, loads

Documents that come out of a table start at the second step; :mod:`~twigcast.spark.parts` is a third
one, from outcomes to files. An *outcome* is a row for each
document: the positions of the subscriptions that match it and of those that stay undecided, or,
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

import pyarrow as pa
import pyarrow.compute as pc

from twigcast.errors import DocumentError
from twigcast.files import open_entries, read_index
from twigcast.language import Document
from twigcast.spark.chunks import read_chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from twigcast.files import PublicationLimits
    from twigcast.matching import Matcher

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
    "matches": pa.list_(pa.int64()),
    "undecided": pa.list_(pa.int64()),
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
    """Why a document was refused, by which stage (``read``, ``parse`` or ``match``), and where."""

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
    plan: str,
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
                    yield pa.RecordBatch.from_arrays(_arrays(rows, DOCUMENTS), schema=DOCUMENTS)
                    rows, size = [], 0
    yield pa.RecordBatch.from_arrays(_arrays(rows, DOCUMENTS), schema=DOCUMENTS)


def match_batches(
    batches: Iterable[pa.RecordBatch], matcher: Matcher, *, version: str = ""
) -> Iterator[pa.RecordBatch]:
    """The outcomes of documents, batch by batch.

    ``content`` is binary, or text that was decoded already; ``refusal`` may be missing. A
    document without a name is called by its hash.
    """
    for batch in batches:
        given = batch.column("content")
        contents = _as_bytes(given).to_pylist()
        hashes = [None if content is None else sha256(content).hexdigest() for content in contents]
        names = map(_name, batch.column("document").to_pylist(), hashes)
        decided = decide_array(given, matcher)
        errors = decided.column("error").to_pylist()
        refusals = list(map(_refusal, contents, _unread(batch), errors))
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(names, pa.string()),
                pa.array(hashes, pa.string()),
                pa.array([None if c is None else len(c) for c in contents], pa.int64()),
                decided.column("matches"),
                decided.column("undecided"),
                *_arrays(refusals, _REFUSAL),
                pa.array([f"{socket.gethostname()}:{os.getpid()}"] * len(batch), pa.string()),
                pa.array([loads(version)] * len(batch), pa.int32()),
            ],
            schema=OUTCOMES,
        )


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


_REFUSAL = pa.schema([OUTCOMES.field(name) for name in Refusal._fields])


def _decide_one(content: Column, matcher: Matcher) -> pa.RecordBatch:
    try:
        return matcher.match_batch(content)
    except Exception as error:  # noqa: BLE001 (this is the one document that it costs)
        ids = pa.nulls(1, pa.list_(pa.int64()))
        reason = pa.array([f"{type(error).__name__}: {error}"], pa.string())
        return pa.RecordBatch.from_arrays([ids, reason, ids], ["matches", "error", "undecided"])


def _refusal(content: bytes | None, unread: str | None, error: str | None) -> Refusal | None:
    """The refusal behind an error of the matcher, in full; None if there is none.

    The matcher's batch tells errors as text only. Refused documents are few, so they are simply
    read once more to learn line and column.
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


def _unread(batch: pa.RecordBatch) -> list[str | None]:
    if "refusal" in batch.schema.names:
        reasons: list[str | None] = batch.column("refusal").to_pylist()
        return reasons
    return [None] * len(batch)


def _name(name: str | None, digest: str | None) -> str:
    if name:
        return name
    return f"sha256:{digest}" if digest else "unnamed"


def _as_bytes(given: Column) -> Column:
    return given.cast(pa.binary())


def _arrays(rows: Sequence[tuple[object, ...] | None], schema: pa.Schema) -> list[Column]:
    """Rows turned into columns; a row may be missing as a whole."""
    missing = (None,) * len(schema)
    columns = zip(*(row or missing for row in rows), strict=True) if rows else [()] * len(schema)
    return [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
