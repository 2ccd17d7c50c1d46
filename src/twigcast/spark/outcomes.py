"""From outcomes to tables by Spark: for places that only Spark can write to.

There the workers answer with one row per document (:mod:`~twigcast.spark.worker`), in which
subscriptions are positions. Taking these rows apart is ordinary Spark: no Python runs here, and
many small rows never cross from Python to Java. Still each delivery becomes a row of Spark's, so
that wherever workers can write, they do (:mod:`~twigcast.spark.parts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as sql

from twigcast.spark.tables import LABELS
from twigcast.spark.worker import UNDECIDED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_BROADCAST_ROWS_MAX = 2_000_000
"""So many labels (about 200 MB) are copied to every machine; beyond, Spark decides on its own."""


def labels_frame(spark: SparkSession, labels: pa.RecordBatch) -> DataFrame:
    """Who stands behind each position."""
    columns = [column.cast(pa.string()) for column in labels.columns]
    positions = pa.array(range(len(labels)), pa.int64())
    table = pa.Table.from_arrays([positions, *columns], names=LABELS.names)
    frame = spark.createDataFrame(table, LABELS)
    return sql.broadcast(frame) if len(labels) <= _BROADCAST_ROWS_MAX else frame


def deliveries_of(outcomes: DataFrame, labels: DataFrame) -> DataFrame:
    """A row for each document and subscription that match."""
    pairs = outcomes.select("document", "document_hash", sql.explode("matches").alias("position"))
    return pairs.join(labels, "position")


def dead_letters_of(outcomes: DataFrame, labels: DataFrame) -> DataFrame:
    """A row for each document that was refused, and for each pair that stays undecided."""
    refusal = _letter(sql.lit(None), "stage", "reason", "line", "column")
    letters = sql.when(sql.col("stage").isNotNull(), sql.array(refusal)).otherwise(
        sql.transform("undecided", _undecided)
    )
    # Exploded in one go: a union of the two kinds would read the outcomes twice.
    pairs = outcomes.select("document", sql.explode(letters).alias("letter"))
    return pairs.select("document", "letter.*").join(labels, "position", "left")


def sums_of(outcomes: DataFrame) -> dict[str, int]:
    """What there is in all: documents, bytes, deliveries, dead letters, workers, their loads."""
    by_worker = outcomes.groupBy("worker").agg(
        sql.count("*").alias("documents"),
        _sum(sql.col("bytes")).alias("bytes"),
        _sum(sql.array_size("matches")).alias("deliveries"),
        (_sum(sql.array_size("undecided")) + sql.count("stage")).alias("dead_letters"),
        sql.max("loads").alias("loads"),
    )
    counted = ("documents", "bytes", "deliveries", "dead_letters")
    (row,) = by_worker.agg(
        *(_sum(sql.col(name)).alias(name) for name in counted),
        _sum(sql.col("loads")).alias("matcher_loads"),
        sql.count("*").alias("workers"),
    ).collect()
    return row.asDict()


def _undecided(position: Column) -> Column:
    nowhere = sql.lit(None)
    return _letter(position, sql.lit("match"), sql.lit(UNDECIDED), nowhere, nowhere)


def _letter(position: Column, *told: Column | str) -> Column:
    stage, reason, line, column = (sql.col(it) if isinstance(it, str) else it for it in told)
    return sql.struct(
        position.cast("long").alias("position"),
        stage.cast("string").alias("stage"),
        reason.cast("string").alias("reason"),
        line.cast("int").alias("line"),
        column.cast("int").alias("column"),
    )


def _sum(column: Column) -> Column:
    return sql.coalesce(sql.sum(column), sql.lit(0)).cast("long")
