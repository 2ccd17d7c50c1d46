"""The tables that a run leaves behind, column by column.

``deliveries`` is the answer; nobody is left out silently, for every subscription that is not
served is in ``rejected`` and every document (or pair of document and subscription) that could not
be decided is in ``dead_letters``. ``metrics`` has one row that tells how the run went.

Each column carries its description as a comment, which Spark keeps in the Parquet files. Ids are
text in all tables, whatever they were in the subscriptions file. A line or column is counted
from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql.types import (
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from twigcast.spark.session.compatibility import utc_arrow_schema

_TEXT = StringType()
_NUMBER = IntegerType()
_COUNT = LongType()
_SECONDS = DoubleType()


def _table(columns: Mapping[str, tuple[DataType, str]]) -> StructType:
    return StructType(
        [
            StructField(name, kind, nullable=True, metadata={"comment": comment})
            for name, (kind, comment) in columns.items()
        ]
    )


DELIVERIES = _table(
    {
        "document": (_TEXT, "name of the document"),
        "document_hash": (_TEXT, "SHA-256 of its bytes as they were published (of text: in UTF-8)"),
        "subscription": (_TEXT, "id of a subscription that it satisfies"),
        "subscriber": (_TEXT, "who asked for it, if the subscription says so"),
        "broker": (_TEXT, "the broker that the subscriber is at"),
        "hops": (_NUMBER, "links between that broker and the one where it was published"),
    }
)

TRAFFIC = _table(
    {
        "broker": (_TEXT, "a broker that sent documents on"),
        "neighbour": (_TEXT, "the broker at the other end of the link"),
        "documents": (_COUNT, "documents that crossed the link in this direction"),
        "bytes": (_COUNT, "bytes of these documents"),
        "needless": (_COUNT, "of the documents, those that nobody behind the link had asked for"),
        "needless_bytes": (_COUNT, "bytes of those"),
    }
)

ROUTES = _table(
    {
        "broker": (_TEXT, "a broker"),
        "neighbour": (_TEXT, "the broker at the other end of one of its links"),
        "pattern": (_TEXT, "documents that match it are sent over the link; canonical text"),
    }
)

DEAD_LETTERS = _table(
    {
        "document": (_TEXT, "name of the document"),
        "subscription": (_TEXT, "id of the subscription; null when the document was refused"),
        "stage": (
            _TEXT,
            "which step gave up: read, parse, route (unknown origin), match, internal (our fault)",
        ),
        "reason": (_TEXT, "why, in words"),
        "line": (_NUMBER, "where in the document, as far as known"),
        "column": (_NUMBER, "where in the line, as far as known"),
    }
)

REJECTED = _table(
    {
        "id": (_TEXT, "id of the subscription, if it can be read"),
        "line": (_NUMBER, "line of the subscriptions file"),
        "xpath": (_TEXT, "the expression, or the line if there is no expression in it"),
        "reason": (_TEXT, "why, in words"),
        "column": (_NUMBER, "where in the expression, as far as known"),
    }
)

METRICS = _table(
    {
        "run": (_TEXT, "what this run is called in its manifest"),
        "strategy": (_TEXT, "how brokers route, with its options"),
        "plan": (_TEXT, "how the work was shared out: fused or hops"),
        "shards": (_COUNT, "into how many shards the subscriptions were split"),
        "brokers": (_COUNT, "brokers of the topology"),
        "started": (TimestampType(), "when it began"),
        "subscriptions": (_COUNT, "subscriptions that took part"),
        "rejected": (_COUNT, "rows of the table rejected"),
        "documents": (_COUNT, "documents, those refused among them"),
        "bytes": (_COUNT, "bytes of the documents that could be read"),
        "deliveries": (_COUNT, "rows of the table deliveries"),
        "dead_letters": (_COUNT, "rows of the table dead_letters"),
        "internal_errors": (_COUNT, "of these, documents that made Twigcast itself fail"),
        "routes": (_COUNT, "routes of all brokers"),
        "crossings": (_COUNT, "documents over links, counted link by link"),
        "needless": (_COUNT, "of these, those that nobody behind the link had asked for"),
        "shard_visits": (_COUNT, "documents that were sent to shards, counted shard by shard"),
        "annotation_bytes": (_COUNT, "bytes of annotations that documents carried"),
        "engine": (_TEXT, "what matched"),
        "matcher_version": (_TEXT, "version of the compiled matcher: a hash of its content"),
        "matcher_loads": (_COUNT, "how often workers loaded it"),
        "workers": (_COUNT, "Python workers that took part"),
        "partitions": (_COUNT, "tasks that the documents were shared out to"),
        "seconds_subscriptions": (_SECONDS, "reading and compiling subscriptions"),
        "seconds_routes": (_SECONDS, "finding out what brokers ask of each other"),
        "seconds_listing": (_SECONDS, "finding out which documents there are"),
        "seconds_matching": (
            _SECONDS,
            "opening, parsing and matching documents; their tables, where workers write them",
        ),
        "seconds_writing": (_SECONDS, "writing what is not written yet, and checking what is"),
        "twigcast": (_TEXT, "version of Twigcast"),
        "spark": (_TEXT, "version of Spark"),
    }
)

BATCH = StructField("batch", _NUMBER, metadata={"comment": "the number of the batch"})
"""The last column of each table, by the names of folders or, of compacted batches, in the files."""

_COMMENTS = "org.apache.spark.sql.parquet.row.metadata"
"""Where Spark looks for its own description of the columns in a Parquet file."""

TABLES: Mapping[str, StructType] = {
    "deliveries": DELIVERIES,
    "traffic": TRAFFIC,
    "dead_letters": DEAD_LETTERS,
    "rejected": REJECTED,
    "routes": ROUTES,
    "metrics": METRICS,
}


def parquet_schema(schema: StructType) -> pa.Schema:
    """The same for whoever writes Parquet without Spark, comments included."""
    return utc_arrow_schema(schema).with_metadata({_COMMENTS: schema.json()})


def arrow_of(rows: Sequence[tuple[object, ...]], schema: StructType) -> pa.Table:
    """Rows of this process as an Arrow table."""
    fields = parquet_schema(schema)
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, fields.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=fields)
