"""Functions of columns: what Spark asks of Python where a table stays a table.

A function gets columns of documents and gives one column back; all other columns stay in Java, and
are put beside it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType, StringType, StructType

from twigcast.spark.session.compatibility import (
    arrow_function,
    arrow_stream_function,
    from_arrow_schema,
)
from twigcast.spark.worker import columns as worker
from twigcast.spark.worker.outcome_rows import OUTCOME_FIELDS, outcome_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import pyarrow as pa

    from twigcast.language import DocumentLimits
    from twigcast.spark.plans.distribution import SharedLabels, SharedMatcher
    from twigcast.spark.session.compatibility import ColumnFunction

OUTCOME = StructType(from_arrow_schema(OUTCOME_FIELDS).fields)
"""All that is known of a document, in Spark's words."""

_REASONED = StructType(from_arrow_schema(worker.REASONED_FIELDS).fields)


def matching_function(
    matcher: SharedMatcher, labels: SharedLabels, limits: DocumentLimits
) -> ColumnFunction:
    """A function of a column of documents: the ids of the subscriptions that match."""

    def matching_ids(*columns: pa.Array[Any]) -> pa.Array[Any]:
        contents = worker.documents_in(columns)
        return worker.matching_names(contents, matcher.load(limits), labels.load_names())

    return arrow_function(matching_ids, ArrayType(StringType()))


def reasoning_function(
    matcher: SharedMatcher, labels: SharedLabels, limits: DocumentLimits
) -> ColumnFunction:
    """A function of a column of documents: the same ids, and what went wrong (a structure)."""

    def ids_or_reasons(*columns: pa.Array[Any]) -> pa.Array[Any]:
        contents = worker.documents_in(columns)
        return worker.names_or_reasons(contents, matcher.load(limits), labels.load_names())

    return arrow_function(ids_or_reasons, _REASONED)


def outcome_function(
    matcher: SharedMatcher, labels: SharedLabels, limits: DocumentLimits
) -> ColumnFunction:
    """A function of name, content and origin: all that is known of a document (``OUTCOME``).

    Its answers may be smaller than the batches of a session that was set up for something else.
    """

    def outcomes(columns: Iterator[tuple[pa.Array[Any], ...]]) -> Iterator[pa.Array[Any]]:
        yield from outcome_column(
            columns,
            matcher.load(limits),
            labels.load(),
            ways=labels.load_crossings(),
            version=matcher.file.version,
        )

    return arrow_stream_function(outcomes, OUTCOME)
