"""Tables written by Spark from outcomes: for places that only Spark can write to.

There the workers answer with one row per document (:mod:`~twigcast.spark.worker.matching`), in
which subscriptions are positions. Taking these rows apart is ordinary Spark: no Python runs here,
and many small rows never cross from Python to Java. Still each delivery becomes a row of Spark's,
so that wherever workers can write, they do (:mod:`~twigcast.spark.worker.parquet_parts`).
"""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.matching import UNDECIDED
from twigcast.spark.worker.parquet_parts import COUNTED
from twigcast.spark.worker.set_aside import INTERNAL

_BROADCAST_ROWS_MAX = 2_000_000
"""So many labels (about 200 MB) are copied to every machine; beyond, Spark decides on its own."""


def labels_frame(spark: SparkSession, labels: pa.RecordBatch) -> DataFrame:
    """Who stands behind each position."""
    columns = {name: labels.column(name).cast(pa.string()) for name in labels.schema.names}
    positions = pa.array(range(len(labels)), pa.int64())
    brokers = cast("pa.DictionaryArray[Any, Any]", labels.column("broker"))
    places = brokers.indices.cast(pa.int32())
    frame = spark.createDataFrame(pa.table({"position": positions, **columns, "place": places}))
    return sql.broadcast(frame) if len(labels) <= _BROADCAST_ROWS_MAX else frame


def deliveries_of(
    outcomes: DataFrame, labels: DataFrame, tree: BrokerTree | None = None
) -> DataFrame:
    """A row for each document and subscription that match."""
    position = sql.explode("matches").alias("position")
    if tree is None:
        # All is at broker 0. A column renamed any later would lose its comment in the files.
        hops = sql.col("origin").alias("hops")
        return outcomes.select("document", "document_hash", hops, position).join(labels, "position")
    pairs = outcomes.select("document", "document_hash", "origin", position)
    return pairs.join(labels, "position").join(_hops_frame(outcomes, tree), ["origin", "place"])


def _hops_frame(outcomes: DataFrame, tree: BrokerTree) -> DataFrame:
    """How far each broker is from each origin that documents have."""
    origins = [row["origin"] for row in outcomes.select("origin").distinct().collect()]
    rows = [
        (origin, place, hops)
        for origin in origins
        if origin >= 0
        for place, hops in enumerate(tree.walk(origin).hops.tolist())
    ]
    frame = outcomes.sparkSession.createDataFrame(rows, "origin int, place int, hops int")
    return sql.broadcast(frame)


def traffic_of(outcomes: DataFrame, tree: BrokerTree) -> list[tuple[object, ...]]:
    """The rows of the table ``traffic``: sums for each link that something crossed."""
    crossed = outcomes.select(sql.explode("crossed").alias("link"), "bytes", "needless")
    needless = sql.array_contains("needless", sql.col("link"))
    sums = crossed.groupBy("link").agg(
        sql.count("*").alias("documents"),
        sql.sum("bytes").alias("bytes"),
        sql.count_if(needless).alias("needless"),
        sum_of(sql.when(needless, sql.col("bytes"))).alias("needless_bytes"),
    )
    rows = sums.orderBy("link").collect()
    return [traffic_row(tree, *(row[name] for name in ("link", *COUNTED))) for row in rows]


def traffic_row(tree: BrokerTree, link: int, *sums: int) -> tuple[object, ...]:
    """A row of the table ``traffic``."""
    broker, neighbour = tree.links[link]
    return tree.names[broker], tree.names[neighbour], *sums


def dead_letters_of(outcomes: DataFrame, labels: DataFrame) -> DataFrame:
    """A row for each document that was refused, and for each pair that stays undecided."""
    refusal = _letter(sql.lit(None), "stage", "reason", "line", "column")
    letters = sql.when(sql.col("stage").isNotNull(), sql.array(refusal)).otherwise(
        sql.transform("undecided", _undecided)
    )
    # Exploded in one go: a union of the two kinds would read the outcomes twice.
    pairs = outcomes.select("document", sql.explode(letters).alias("letter"))
    return pairs.select("document", "letter.*").join(labels, "position", "left")


def counts_of(is_counted: Column) -> tuple[Column, ...]:
    """What is counted of outcomes, where each document has one of which ``is_counted`` holds."""
    return (
        sql.count_if(is_counted).alias("documents"),
        sum_of(sql.when(is_counted, sql.col("bytes"))).alias("bytes"),
        sum_of(sql.array_size("matches")).alias("deliveries"),
        (sum_of(sql.array_size("undecided")) + sql.count("stage")).alias("dead_letters"),
        sql.count_if(sql.col("stage") == INTERNAL).alias("internal_errors"),
    )


def sums_of(outcomes: DataFrame) -> dict[str, int]:
    """What there is in all: documents, bytes, deliveries, dead letters, workers, their loads."""
    by_worker = outcomes.groupBy("worker").agg(
        *counts_of(sql.lit(True)),  # noqa: FBT003 (a column of it)
        sql.max("loads").alias("loads"),
    )
    counted = ("documents", "bytes", "deliveries", "dead_letters", "internal_errors")
    (row,) = by_worker.agg(
        *(sum_of(sql.col(name)).alias(name) for name in counted),
        sum_of(sql.col("loads")).alias("matcher_loads"),
        sql.count("*").alias("workers"),
    ).collect()
    return row.asDict()


def _undecided(position: Column) -> Column:
    nowhere = sql.lit(None)
    return _letter(position, sql.lit("match"), sql.lit(UNDECIDED), nowhere, nowhere)


def _letter(position: Column, *fields: Column | str) -> Column:
    stage, reason, line, column = (sql.col(it) if isinstance(it, str) else it for it in fields)
    return sql.struct(
        position.cast("long").alias("position"),
        stage.cast("string").alias("stage"),
        reason.cast("string").alias("reason"),
        line.cast("int").alias("line"),
        column.cast("int").alias("column"),
    )


def sum_of(column: Column) -> Column:
    """The sum of a column; 0 where there is nothing."""
    return sql.coalesce(sql.sum(column), sql.lit(0)).cast("long")
