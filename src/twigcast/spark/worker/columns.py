"""The results of column functions, document by document: ids, or ids and what went wrong.

Ids alone are null where nobody has looked. Beside the reason they are a structure::

    <a><b/></a>   matches [x, y]   undecided []    stage null    reason null
    <a>           matches null     undecided null  stage parse   reason Premature end of data ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.errors import UsageError
from twigcast.spark.worker.crossings import lists_of
from twigcast.spark.worker.matching import MATCHING, match_batches
from twigcast.spark.worker.set_aside import each_alone

if TYPE_CHECKING:
    from twigcast.matching import Matcher
    from twigcast.spark.worker.matching import Column

_REASONED: Mapping[str, pa.DataType] = {
    "matches": pa.list_(pa.string()),
    "undecided": pa.list_(pa.string()),
    "stage": pa.string(),
    "reason": pa.string(),
    "line": pa.int32(),
    "column": pa.int32(),
}
REASONED_FIELDS = pa.schema(_REASONED)

_DOCUMENT_KINDS = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_null,
)


def documents_in(columns: Sequence[Column]) -> Column:
    """The one column of documents that a function is called with; all else is a slip."""
    kinds = [column.type for column in columns]
    if len(kinds) != 1:
        found = f"{len(kinds)} columns"
    elif any(is_kind(kinds[0]) for is_kind in _DOCUMENT_KINDS):
        return columns[0]
    else:
        found = f"one of {kinds[0]}"
    raise UsageError(f"the function takes one column of documents, binary or text; it got {found}")


def matching_names(given: Column, matcher: Matcher, names: Column) -> Column:
    """For each document the ids of the subscriptions it satisfies; null where it was refused."""
    nobody = pa.nulls(1, pa.list_(names.type))
    return each_alone(
        MATCHING,
        given,
        lambda documents: named(matcher.match_batch(documents).column("matches"), names),
        aside=lambda _document, _error: nobody,
        joined=pa.concat_arrays,
    )


def names_or_reasons(given: Column, matcher: Matcher, names: Column) -> Column:
    """For each document the ids of the subscriptions it satisfies, and why there are none."""
    content = given.cast(pa.binary()) if pa.types.is_null(given.type) else given
    batch = pa.record_batch({"document": pa.nulls(len(given), pa.string()), "content": content})
    (outcomes,) = match_batches([batch], matcher)
    lists = [named(outcomes.column(name), names) for name in ("matches", "undecided")]
    refusals = [outcomes.column(name) for name in ("stage", "reason", "line", "column")]
    return pa.StructArray.from_arrays([*lists, *refusals], fields=list(REASONED_FIELDS))


def named(lists: Column, names: Column) -> Column:
    """Lists of positions as lists of names."""
    lengths = np.asarray(pc.list_value_length(lists).fill_null(0))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return lists_of(offsets, names.take(pc.list_flatten(lists)), np.asarray(lists.is_null()))
