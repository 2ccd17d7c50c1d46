"""From outcomes to tables: who receives what, what could not be decided, and the sums.

The workers answer with one row per document (:mod:`~twigcast.spark.worker`), in which
subscriptions are positions. Taking these rows apart is ordinary Spark: no Python runs here, and
many small rows never cross from Python to Java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sql

from twigcast.spark.tables import LABELS, frame_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

    from twigcast.files import SubscriptionFile

_BROADCAST_ROWS_MAX = 2_000_000
"""So many labels (about 200 MB) are copied to every machine; beyond, Spark decides on its own."""

_UNDECIDED = "undecided: deciding it would cost more than one document may (residual_cost_max)"


def labels_of(spark: SparkSession, file: SubscriptionFile, *, default_broker: str) -> DataFrame:
    """Who stands behind each position; a subscription without a broker is at the first one."""
    named = (item.broker for item in file.subscriptions if item.broker is not None)
    first = next(named, default_broker)
    rows = [
        (position, str(item.id), item.subscriber, item.broker or first)
        for position, item in enumerate(file.subscriptions)
    ]
    labels = frame_of(spark, rows, LABELS)
    return sql.broadcast(labels) if len(rows) <= _BROADCAST_ROWS_MAX else labels


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


def sums_of(outcomes: DataFrame) -> Row:
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
    return row


def _undecided(position: Column) -> Column:
    nowhere = sql.lit(None)
    return _letter(position, sql.lit("match"), sql.lit(_UNDECIDED), nowhere, nowhere)


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
