"""Documents by the batch: Arrow arrays in and out.

A row per document, in the order given. Whatever happens to one document stays in its own row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twigcast.errors import DocumentError, InternalError, UsageError
from twigcast.language.document import encoded
from twigcast.matching.engine import Decision
from twigcast.matching.ids import IdCodes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["array_of", "decided_rows", "with_ids"]


def array_of(documents: object) -> pa.Array[Any]:
    """The documents as one array; those of a table's column may be in several."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise UsageError(
            "match_batch needs pyarrow; install it, or twigcast with the extra 'spark'"
        ) from None
    if isinstance(documents, pa.ChunkedArray):
        documents = documents.combine_chunks()
    if not isinstance(documents, pa.Array):
        kind = type(documents).__name__
        raise UsageError(f"match_batch takes an Arrow array, not {kind}: pyarrow.array(documents)")
    return documents


def decided_rows(documents: pa.Array[Any], decide: Callable[[bytes], Decision]) -> pa.RecordBatch:
    """A record batch with ``matches``, ``error`` and ``undecided`` for each document."""
    import pyarrow as pa

    matches: list[tuple[Any, ...] | None] = []
    errors: list[str | None] = []
    undecided: list[tuple[Any, ...] | None] = []
    for value in documents:
        row = _decided(value.as_py(), decide)
        if isinstance(row, str):
            matches.append(None)
            errors.append(row)
            undecided.append(None)
        else:
            matches.append(row.matches)
            errors.append(None)
            undecided.append(row.undecided)
    ids = pa.list_(pa.int64())
    return pa.RecordBatch.from_arrays(
        [pa.array(matches, ids), pa.array(errors, pa.string()), pa.array(undecided, ids)],
        names=["matches", "error", "undecided"],
    )


def with_ids(rows: pa.RecordBatch, codes: IdCodes) -> pa.RecordBatch:
    """A batch of codes with ids in their place, as strings if one of them is a text."""
    import pyarrow as pa

    found = {
        name: [None if row is None else codes.ids(row) for row in rows.column(name).to_pylist()]
        for name in ("matches", "undecided")
    }
    has_texts = codes.has_texts or any(
        isinstance(one, str) for column in found.values() for row in column for one in row or ()
    )
    kind = pa.list_(pa.string() if has_texts else pa.int64())
    told = {
        name: pa.array(
            [
                None if row is None else [str(one) if has_texts else one for one in row]
                for row in column
            ],
            kind,
        )
        for name, column in found.items()
    }
    return pa.RecordBatch.from_arrays(
        [told["matches"], rows.column("error"), told["undecided"]], names=rows.schema.names
    )


def _decided(content: bytes | str | None, decide: Callable[[bytes], Decision]) -> Decision | str:
    if content is None:
        return "document: there is no content (null)"
    try:
        return decide(encoded(content) if isinstance(content, str) else content)
    except (DocumentError, InternalError) as error:
        return str(error)
