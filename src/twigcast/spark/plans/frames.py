"""DataFrames out of DataFrames: the rows of the tables of a run, as plans of Spark's own.

    documents --outcomes--> documents with a column ``outcome``
                              |--> deliveries      a row for each document and subscription
                              |--> dead letters    a row for each refusal and undecided pair
                              +--> traffic         a row for each document and link

The column is the answer of a function in Python (:func:`outcome_function`); all else is Spark's
own, and neither reads nor writes a file of ours. So the frames are what any others are:
they may stream, be joined and filtered, and be written wherever Spark can write. The columns of
the input stand beside ours, but for the one with the names of documents, which ``document`` takes
the place of. Those that nobody wants in the end are not carried at all.

Whoever is handed outcomes takes rows out of them, and whoever is handed documents makes outcomes
first. So outcomes that are kept (``cache``, or a table of one's own) are matched once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, StringType, StructType

from twigcast.errors import UsageError
from twigcast.spark.session.compatibility import (
    arrow_function,
    arrow_stream_function,
    from_arrow_schema,
)
from twigcast.spark.storage.sources import named_columns, quoted
from twigcast.spark.storage.tables import TABLES
from twigcast.spark.worker import columns as worker
from twigcast.spark.worker.outcome_rows import OUTCOME_FIELDS, outcome_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from twigcast.language import DocumentLimits
    from twigcast.spark.plans.distribution import SharedLabels, SharedMatcher
    from twigcast.spark.plans.fused import FusedPlan
    from twigcast.spark.session.compatibility import ColumnFunction
    from twigcast.spark.storage.sources import Publications

OUTCOME = StructType(from_arrow_schema(OUTCOME_FIELDS).fields)
"""All that is known of a document, as a type of Spark's."""

_REASONED = StructType(from_arrow_schema(worker.REASONED_FIELDS).fields)

NAME = "outcome"
"""The column that holds all that is known of a document."""

_DOCUMENT = "document"
_ROWS = "__twigcast_rows"
_ROWS_OF = {
    "deliveries": ("document", "document_hash"),
    "dead_letters": ("document",),
    "traffic": ("document", "bytes"),
}
"""What stands in front of the rows of each frame."""
_LISTS = {"traffic": "crossed"}


def has_outcomes(frame: DataFrame) -> bool:
    """Whether documents have met their subscriptions already."""
    named = [field for field in frame.schema if field.name.lower() == NAME]
    if not named:
        return False
    if named[0].dataType.simpleString() == OUTCOME.simpleString():
        return True
    raise UsageError(f"there is a column {named[0].name!r}, which is none of ours; rename it")


def outcomes_of(frame: DataFrame, publications: Publications, plan: FusedPlan) -> DataFrame:
    """The documents of a table, and their outcomes in a column beside them."""
    names = named_columns(frame, publications)
    taken = [name for name in frame.columns if name.lower() == _DOCUMENT and name != names.document]
    if taken:
        raise UsageError(
            f"the column {taken[0]!r} does not hold the names of documents, which are called so in "
            "what is made of them; rename it, or name it with document_column"
        )
    match = outcome_function(plan.matcher, plan.shared, publications.document_limits)
    return frame.withColumn(NAME, match(*names.read()))


def rows_of(table: str, outcomes: DataFrame) -> DataFrame:
    """The rows that a table has for each of the documents, with all their columns."""
    of_document = _ROWS_OF[table]
    list_name = _LISTS.get(table, table)
    carried = [name for name in outcomes.columns if name.lower() not in {NAME, _DOCUMENT}]
    of_row = OUTCOME[list_name].dataType.elementType.names  # type: ignore[attr-defined]
    _check_free(table, carried, (*of_document, *of_row))
    # Taken out of the structure first, so that rows do not carry the whole of it.
    taken = outcomes.select(
        *(sql.col(f"{NAME}.{name}").alias(name) for name in of_document),
        sql.col(f"{NAME}.{list_name}").alias(_ROWS),
        *map(quoted, carried),
    )
    rows = taken.select(*of_document, sql.inline(_ROWS), *map(quoted, carried))
    comments = {field.name: field.metadata for field in TABLES[table]}
    described = (
        sql.col(name).alias(name, metadata=comments.get(name, {}))
        for name in (*of_document, *of_row)
    )
    return rows.select(*described, *map(quoted, carried))


def _check_free(table: str, carried: Sequence[str], own: Sequence[str]) -> None:
    """A :class:`UsageError` if a column of the input is called like one of ours."""
    taken = [name for name in carried if name.lower() in own]
    if taken:
        raise UsageError(
            f"{table} have columns of the same name as the documents: {', '.join(taken)}; rename "
            "those of the documents, or drop them"
        )


# Functions of columns: all other columns stay in Java, and are put beside the answer there.


def ids_function(
    matcher: SharedMatcher, labels: SharedLabels, limits: DocumentLimits, *, reasons: bool = False
) -> ColumnFunction:
    """A function of a column of documents: the ids of the subscriptions that match.

    With ``reasons`` it is a structure of these and of what went wrong.
    """
    answer = worker.names_or_reasons if reasons else worker.matching_names

    def matching_ids(*columns: pa.Array[Any]) -> pa.Array[Any]:
        contents = worker.documents_in(columns)
        return answer(contents, matcher.load(limits), labels.load_names())

    return arrow_function(matching_ids, _REASONED if reasons else ArrayType(StringType()))


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
            crossing_model=labels.load_crossings(),
            version=matcher.file.version,
        )

    return arrow_stream_function(outcomes, OUTCOME)
