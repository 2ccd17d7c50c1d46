"""Outcomes as rows with names instead of positions: one value for each document.

Where tables are Spark's own affair, a worker answers with a structure for each document, in which
positions have become names and links brokers::

    outcome of a document    deliveries               crossed           dead_letters
    matches [0, 2]           {x, ann, north, 1}       {hub, north, no}
    undecided [1]            {z, bob, south, 2}       {hub, south, no}  {y, match, undecided: ...}
    crossed [4, 6]

Rows of tables are made of that by Spark alone, without a join and without another look at the
document. A document that was refused has no deliveries and crosses nothing (null, for an empty list
would claim that somebody had looked), and one dead letter.

An answer is bounded in documents, bytes and deliveries, however many documents Spark hands over at
a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.spark.worker.crossings import lists_of
from twigcast.spark.worker.matching import (
    BATCH_BYTES_MAX,
    BATCH_DOCUMENTS_MAX,
    match_batches,
    sizes_of,
)
from twigcast.spark.worker.parquet_parts import LETTER, refusals, undecided_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from twigcast.matching import Matcher
    from twigcast.spark.worker.crossings import CrossingModel
    from twigcast.spark.worker.matching import Column

    Labels: TypeAlias = pa.RecordBatch

DELIVERIES_MAX = 1 << 18
"""Deliveries in one answer (some 20 MB), unless a single document has more."""

_DELIVERY: Mapping[str, pa.DataType] = {
    "subscription": pa.string(),
    "subscriber": pa.string(),
    "broker": pa.string(),
    "hops": pa.int32(),
}
_CROSSED: Mapping[str, pa.DataType] = {
    "broker": pa.string(),
    "neighbour": pa.string(),
    "needless": pa.bool_(),
}
_LETTERS = pa.struct([field for field in LETTER if field.name != "document"])

_OUTCOME: Mapping[str, pa.DataType] = {
    "document": pa.string(),
    "document_hash": pa.string(),
    "bytes": pa.int64(),
    "deliveries": pa.list_(pa.struct(list(_DELIVERY.items()))),
    "crossed": pa.list_(pa.struct(list(_CROSSED.items()))),
    "dead_letters": pa.list_(_LETTERS),
}
OUTCOME_FIELDS = pa.schema(_OUTCOME)


def outcome_column(
    columns: Iterable[tuple[Column, ...]],
    matcher: Matcher,
    labels: Labels,
    *,
    crossing_model: CrossingModel | None,
    version: str = "",
) -> Iterator[Column]:
    """The outcomes of documents, whose names, contents and origins come batch by batch."""
    for arrays in columns:
        batch = pa.RecordBatch.from_arrays(list(arrays), ["document", "content", "origin"])
        for piece in pieces(batch):
            for outcomes in match_batches(
                [piece], matcher, version=version, crossing_model=crossing_model
            ):
                yield from answers(outcomes, labels, crossing_model)


def pieces(documents: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Documents as many at a time as a worker should have."""
    sizes = sizes_of(documents.column("content"))
    start, held = 0, 0
    for row, size in enumerate(sizes):
        if row - start >= BATCH_DOCUMENTS_MAX or (held and held + size > BATCH_BYTES_MAX):
            yield documents.slice(start, row - start)
            start, held = row, 0
        held += size
    if start < len(sizes):
        yield documents.slice(start)


def answers(
    outcomes: pa.RecordBatch, labels: Labels, crossing_model: CrossingModel | None
) -> Iterator[Column]:
    """A structure for each outcome, so many at a time as suit."""
    deliveries = pc.sum(pc.list_value_length(outcomes.column("matches"))).as_py() or 0
    if deliveries <= DELIVERIES_MAX or len(outcomes) == 1:
        yield answer(outcomes, labels, crossing_model)
        return
    middle = len(outcomes) // 2
    for half in (outcomes.slice(0, middle), outcomes.slice(middle)):
        yield from answers(half, labels, crossing_model)


def answer(
    outcomes: pa.RecordBatch, labels: Labels, crossing_model: CrossingModel | None
) -> Column:
    """A structure for each outcome."""
    columns = [
        *(outcomes.column(name) for name in ("document", "document_hash", "bytes")),
        _deliveries(outcomes, labels, crossing_model),
        _crossed(outcomes, crossing_model),
        _dead_letters(outcomes, labels),
    ]
    made: Column = pa.StructArray.from_arrays(columns, fields=list(OUTCOME_FIELDS))
    return made


def _deliveries(
    outcomes: pa.RecordBatch, labels: Labels, crossing_model: CrossingModel | None
) -> Column:
    lists = outcomes.column("matches")
    positions = pc.list_flatten(lists)
    if crossing_model is None:
        hops = np.zeros(len(positions), np.int32)
    else:
        origins = outcomes.column("origin").take(pc.list_parent_indices(lists))
        hops = crossing_model.hops(
            np.asarray(origins), crossing_model.brokers[np.asarray(positions)]
        )
    names = [column.take(positions).cast(pa.string()) for column in labels.columns]
    rows = pa.StructArray.from_arrays([*names, pa.array(hops)], names=list(_DELIVERY))
    return lists_of(_offsets(lists), rows, np.asarray(lists.is_null()))


def _crossed(outcomes: pa.RecordBatch, crossing_model: CrossingModel | None) -> Column:
    if crossing_model is None:
        return pa.array([None] * len(outcomes), _OUTCOME["crossed"])
    lists, links = outcomes.column("crossed"), len(crossing_model.tree.links)
    crossed, needless = (
        _numbered(outcomes.column(name), links) for name in ("crossed", "needless")
    )
    names = pa.array(crossing_model.tree.names, pa.string())
    ends = np.array(crossing_model.tree.links, np.int64).reshape(-1, 2)[crossed % max(1, links)]
    rows = pa.StructArray.from_arrays(
        [
            *(names.take(_indices(ends[:, end])) for end in (0, 1)),
            pa.array(np.isin(crossed, needless)),
        ],
        names=list(_CROSSED),
    )
    return lists_of(_offsets(lists), rows, np.asarray(lists.is_null()))


def _dead_letters(outcomes: pa.RecordBatch, labels: Labels) -> Column:
    refused = np.flatnonzero(np.asarray(outcomes.column("stage").is_valid()))
    undecided = outcomes.column("undecided")
    documents = np.concatenate([refused, np.asarray(pc.list_parent_indices(undecided))])
    letters = pa.concat_tables([refusals(outcomes), undecided_pairs(outcomes, labels)])
    ordered = letters.take(_indices(np.argsort(documents, kind="stable"))).combine_chunks()
    rows = pa.StructArray.from_arrays(
        [_one(ordered.column(field.name)) for field in _LETTERS], fields=list(_LETTERS)
    )
    counts = np.bincount(documents, minlength=len(outcomes))
    return lists_of(_sums(counts), rows, np.zeros(len(outcomes), np.bool_))


def _numbered(lists: Column, links: int) -> NDArray[np.int64]:
    """The links in some lists, each with the row it is in."""
    rows = np.asarray(pc.list_parent_indices(lists), np.int64)
    return rows * max(1, links) + np.asarray(pc.list_flatten(lists), np.int64)


def _offsets(lists: Column) -> NDArray[np.int64]:
    """Where each list begins among the values of all."""
    return _sums(np.asarray(pc.list_value_length(lists).fill_null(0), np.int64))


def _sums(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _indices(rows: NDArray[Any]) -> pa.Int64Array:
    return pa.array(rows, pa.int64())


def _one(column: pa.ChunkedArray[Any]) -> Column:
    """A column without chunks."""
    return column.combine_chunks() if column.num_chunks else pa.array([], column.type)
