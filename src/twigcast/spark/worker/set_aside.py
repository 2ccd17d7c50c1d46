"""The door of the workers: a document that makes something fail is set aside, and the others go on.

A worker answers a batch of documents at once. Whatever goes wrong with one of them in a way that
nobody foresaw would cost all of them, and the run. So a batch that fails is halved until the
documents are found that make it fail; each of these becomes a row that records what happened, of
the stage ``internal``, and is counted. It is the one place in which workers take hold of errors
that they do not know.

What concerns all documents (a matcher that cannot be loaded, a disk that is full) is not for this
place: it is done outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol, Self, TypeVar

import pyarrow as pa

from twigcast.door import door
from twigcast.errors import DocumentError, InternalError, TwigcastError

INTERNAL: Final = "internal"
"""The stage of documents that made Twigcast itself fail."""

_REFUSED: Final = re.compile(r"document(?:, line (\d+))?(?:, column (\d+))?: (.*)", re.DOTALL)
"""The text of a :class:`DocumentError` without a name."""


class Refusal(NamedTuple):
    """Why a document was refused, by which stage, and where.

    The stages are ``read``, ``parse``, ``route``, ``match`` and ``internal``.
    """

    stage: str
    reason: str
    line: int | None = None
    column: int | None = None


class _Rows(Protocol):
    def __len__(self) -> int: ...
    def slice(self, offset: int, length: int, /) -> Self: ...


_Given = TypeVar("_Given", bound=_Rows)
_Answer = TypeVar("_Answer")


def each_alone(
    doing: str,
    rows: _Given,
    answer: Callable[[_Given], _Answer],
    *,
    aside: Callable[[_Given, TwigcastError], _Answer],
    joined: Callable[[Sequence[_Answer]], _Answer],
) -> _Answer:
    """The answer to all rows; one that makes it fail is answered by ``aside``.

    ``answer`` must not have lasting effects, for rows may be asked for several times.
    """
    try:
        with door(doing):
            return answer(rows)
    except TwigcastError as error:
        if not len(rows):
            raise
        if len(rows) == 1:
            return aside(rows, error)
    middle = len(rows) // 2
    halves = rows.slice(0, middle), rows.slice(middle, len(rows) - middle)
    return joined([each_alone(doing, half, answer, aside=aside, joined=joined) for half in halves])


def refusal_by(error: TwigcastError) -> Refusal:
    """Why a document was set aside."""
    if isinstance(error, DocumentError):
        return refusal_in(str(DocumentError(error.reason, line=error.line, column=error.column)))
    stage = INTERNAL if isinstance(error, InternalError) else "match"
    return Refusal(stage, str(error))


def refusal_in(error: str) -> Refusal:
    """The refusal in an error text of a matcher's batch: of a document, or an unforeseen one.

    >>> refusal_in("document, line 3, column 7: end tag 'b' does not fit")
    Refusal(stage='parse', reason="end tag 'b' does not fit", line=3, column=7)
    """
    parts = _REFUSED.fullmatch(error)
    if parts is None:
        return Refusal(INTERNAL, error)
    line, column, reason = parts.groups()
    return Refusal("parse", reason, int(line) if line else None, int(column) if column else None)


def joined_rows(several: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches as one, in their order; none of them is empty."""
    (whole,) = pa.Table.from_batches(several).combine_chunks().to_batches()
    return whole


def row_of(schema: pa.Schema, **values: object) -> pa.RecordBatch:
    """A batch of one row, null where no value is given."""
    arrays = [pa.array([values.get(field.name)], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def texts_of(column: pa.Array[Any]) -> list[str | None]:
    """The texts of a column; what is no Unicode, which Spark does not check, is spelled out."""
    try:
        texts: list[str | None] = column.to_pylist()
    except UnicodeDecodeError:
        plain: list[bytes | None] = column.cast(pa.binary()).to_pylist()
        texts = [None if text is None else text.decode(errors="backslashreplace") for text in plain]
    return texts
