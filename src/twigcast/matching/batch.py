"""Documents by the batch: Arrow arrays in and out.

A row per document, in the order given. Whatever happens to one document stays in its own row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twigcast.errors import DocumentError, InternalError, UsageError
from twigcast.language.document.parse import encoded
from twigcast.matching.interface.engine import Decision
from twigcast.matching.interface.ids import IdCodes

if TYPE_CHECKING:
    import pyarrow as pa


def array_of(documents: object) -> pa.Array[Any]:
    """The documents as one array; those of a table's column may be in several."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise UsageError(
            "match_batch needs pyarrow; install it, or twigcast with the extra 'spark'"
        ) from None
    if isinstance(documents, pa.ChunkedArray):
        for chunk in documents.chunks:
            check_buffers(chunk)
        documents = documents.combine_chunks()
    if not isinstance(documents, pa.Array):
        kind = type(documents).__name__
        raise UsageError(f"match_batch takes an Arrow array, not {kind}: pyarrow.array(documents)")
    return documents


def check_buffers(documents: pa.Array[Any]) -> None:
    """Raise :class:`UsageError` for an array with offsets or indices that lead out of its buffers.

    Arrow itself trusts them, and would end the process. Strings need not be UTF-8: that is a matter
    of each row (:func:`content_of`).
    """
    import pyarrow as pa

    try:
        _as_binary(documents).validate(full=True)
    except pa.ArrowInvalid as error:
        raise UsageError(
            f"the array of documents is damaged: {error}; make it by pyarrow.array(documents)"
        ) from None


def _as_binary(documents: pa.Array[Any]) -> pa.Array[Any]:
    """The same array, with bytes in the place of strings."""
    import pyarrow as pa

    kinds: dict[pa.DataType, pa.DataType] = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }
    if isinstance(documents, pa.DictionaryArray):
        values = _as_binary(documents.dictionary)
        return pa.DictionaryArray.from_arrays(documents.indices, values, safe=False)
    kind = kinds.get(documents.type)
    return documents if kind is None else documents.view(kind)


def content_of(value: pa.Scalar[Any]) -> bytes | None:
    """The document in a row, None for a null.

    Raises :class:`DocumentError` for a string that is not UTF-8: files and casts can have such.
    """
    try:
        content: Any = value.as_py()
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"byte {error.start + 1:,} of the string is not UTF-8; a document in another encoding "
            "comes as binary"
        ) from None
    return encoded(content) if isinstance(content, str) else content


def decided_rows(
    documents: pa.Array[Any], decide: Callable[[pa.Scalar[Any]], Decision | None]
) -> pa.RecordBatch:
    """A record batch with ``matches``, ``error`` and ``undecided`` for each document.

    ``decide`` gives None for a null.
    """
    import pyarrow as pa

    check_buffers(documents)
    matches: list[tuple[Any, ...] | None] = []
    errors: list[str | None] = []
    undecided: list[tuple[Any, ...] | None] = []
    for value in documents:
        row = _decided(value, decide)
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
    columns = {
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
        [columns["matches"], rows.column("error"), columns["undecided"]], names=rows.schema.names
    )


def _decided(
    value: pa.Scalar[Any], decide: Callable[[pa.Scalar[Any]], Decision | None]
) -> Decision | str:
    try:
        return decide(value) or "document: there is no content (null)"
    except (DocumentError, InternalError) as error:
        return str(error)
