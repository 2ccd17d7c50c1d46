"""Batches through the kernel: Arrow buffers in, Arrow buffers out, nothing copied on the way.

The kernel takes the buffers of an array of documents and gives back those of an array of lists of
ids. Rows that it leaves to libxml2, because its reader is not sure of the document or because
patterns outside the exact fragment became candidates, and rows that would take too many steps are
decided one by one
(:mod:`~twigcast.matching.batch`) and put in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from twigcast.errors import UsageError
from twigcast.matching import batch
from twigcast.matching.engines.native import NativeEngine
from twigcast.matching.interface.engine import Decision

if TYPE_CHECKING:
    import pyarrow as pa


def decided_rows(
    engine: NativeEngine,
    documents: pa.Array[Any],
    decide: Callable[[pa.Scalar[Any]], Decision | None],
    *,
    skip: Collection[int],
    threads: int,
) -> tuple[pa.RecordBatch, int]:
    """A record batch as ``match_batch`` promises it, and how many rows ``decide`` was asked for."""
    import pyarrow as pa

    count = len(documents)
    given = _plain(documents)
    if given is None or not count:
        return batch.decided_rows(documents, decide), count
    _, offsets, content = given.buffers()
    assert offsets is not None  # Only an array without rows may have none.
    wide = given.type in {pa.large_binary(), pa.large_string()}
    try:
        ends, ids, candidate_ends, candidates, unsure = engine.match_buffers(
            memoryview(content or b"").cast("B"),
            memoryview(offsets).cast("B"),
            wide=wide,
            decoded=given.type in {pa.string(), pa.large_string()},
            first=given.offset,
            count=count,
            skip=skip,
            threads=threads,
        )
    except OverflowError as error:
        raise UsageError(str(error)) from None
    kind = pa.list_(pa.int64())
    numbers = pa.Array.from_buffers(pa.int64(), len(ids) // 8, [None, pa.py_buffer(ids)])
    matches = pa.Array.from_buffers(kind, count, [None, pa.py_buffer(ends)], children=[numbers])
    nothing = pa.py_buffer(bytes(4 * (count + 1)))
    undecided = pa.Array.from_buffers(
        kind, count, [None, nothing], children=[pa.nulls(0, pa.int64())]
    )
    rows = pa.RecordBatch.from_arrays(
        [matches, pa.nulls(count, pa.string()), undecided], names=["matches", "error", "undecided"]
    )
    alone = set(unsure)
    if given.null_count:
        # There may be bytes below a null.
        alone.update(row for row, null in enumerate(given.is_null().to_pylist()) if null)
    if len(candidates):
        bounds = memoryview(candidate_ends).cast("i").tolist()
        alone.update(row for row in range(count) if bounds[row] != bounds[row + 1])
    return (_with(rows, given, sorted(alone), decide) if alone else rows), len(alone)


def _with(
    rows: pa.RecordBatch,
    given: pa.Array[Any],
    alone: list[int],
    decide: Callable[[pa.Scalar[Any]], Decision | None],
) -> pa.RecordBatch:
    """The batch, with some rows decided on their own."""
    import pyarrow as pa

    batch.check_buffers(given)
    others = batch.decided_rows(given.take(pa.array(alone, pa.int64())), decide)
    order = list(range(len(given)))
    for number, row in enumerate(alone):
        order[row] = len(given) + number
    places = pa.array(order, pa.int64())
    columns = [
        pa.concat_arrays([rows.column(name), others.column(name)]).take(places)
        for name in rows.schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


def _plain(documents: pa.Array[Any]) -> pa.Array[Any] | None:
    """The array with a type whose buffers are offsets and content; None if it has no such form."""
    import pyarrow as pa

    views = {pa.binary_view(): pa.large_binary(), pa.string_view(): pa.large_string()}
    plain = {pa.binary(), pa.large_binary(), pa.string(), pa.large_string()}
    if documents.type in views:
        batch.check_buffers(documents)
        # Strings stay strings: what a document that was decoded declares is not its encoding.
        return documents.cast(views[documents.type])
    return documents if documents.type in plain else None
