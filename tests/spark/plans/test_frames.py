"""DataFrames in, DataFrames out: the rows of a run's tables, as plans of Spark's own.

The oracle is the run: what ``disseminate`` writes into its tables.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as sql

from twigcast.errors import UsageError
from twigcast.files import PublicationLimits
from twigcast.spark import Pipeline, Publications
from twigcast.spark.storage.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TOPOLOGY = {
    "brokers": ["hub", "north", "south", "south 1"],
    "links": [["hub", "north"], ["hub", "south"], ["south", "south 1"]],
}
TOO_COSTLY = "//b[. != preceding::b[. != following::b]]"
SUBSCRIPTIONS = [
    {"id": 7, "xpath": "//b", "subscriber": "ann", "broker": "north"},
    {"id": "seven", "xpath": "/a[b > 3]", "subscriber": None, "broker": "south 1"},
    {"id": "ä'", "xpath": "/a/c", "subscriber": "bob", "broker": None},
    {"id": "costly", "xpath": TOO_COSTLY, "subscriber": "eve", "broker": "south"},
    {"id": "bad", "xpath": "//[", "subscriber": "eve", "broker": "south"},
    {"id": "lost", "xpath": "//b", "subscriber": "eve", "broker": "nowhere"},
]
LARGE = b"<a>" + b"<b>1</b>" * 6000 + b"</a>"
ROWS: Sequence[tuple[str | None, bytes | None, str | None, int]] = [
    ("plain", b"<a><b>7</b></a>", "hub", 1),
    ("twice", b"<a><b>1</b></a>", None, 2),
    ("twice", b"<a><b>1</b></a>", None, 3),
    ("twice", b"<a><c/></a>", "south 1", 4),
    (None, "<a><c>é</c><b>9</b></a>".encode("utf-16"), "north", 5),
    ("", b"<a><c/></a>", "hub", 6),
    ("nobody", b"<z/>", "south", 7),
    ("broken", b"<a>\n<b></a>", "hub", 8),
    ("nothing", None, "hub", 9),
    (None, None, None, 10),
    ("astray", b"<a><b/></a>", "atlantis", 11),
    ("large", LARGE, "hub", 12),
]
TABLES_OF_ROWS = ("deliveries", "dead_letters")


@pytest.fixture(scope="module")
def documents(spark: SparkSession) -> DataFrame:
    schema = "document string, content binary, origin string, number int"
    rows = [(name, content and bytearray(content), *more) for name, content, *more in ROWS]
    return spark.createDataFrame(rows, schema).repartition(3).cache()


def _rows(frame: DataFrame, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in frame.select(*columns).collect())


def _table(out: Path, table: str) -> Counter[tuple[Any, ...]]:
    names = TABLES[table].names
    found = pq.read_table(out / table).select(names).to_pylist()
    return Counter(tuple(row[name] for name in names) for row in found)


def _traffic(frame: DataFrame) -> DataFrame:
    """The table ``traffic`` out of its rows, document by document."""
    needless = sql.col("needless")
    return frame.groupBy("broker", "neighbour").agg(
        sql.count("*").alias("documents"),
        sql.sum("bytes").alias("bytes"),
        sql.count_if(needless).alias("needless"),
        sql.sum(sql.when(needless, sql.col("bytes")).otherwise(0)).alias("needless_bytes"),
    )


def _check(pipeline: Pipeline, documents: DataFrame, out: Path) -> None:
    """All frames have the rows of the tables that a run writes."""
    pipeline.disseminate(documents, out)
    outcomes = pipeline.outcomes(documents).cache()
    for table in TABLES_OF_ROWS:
        frame = getattr(pipeline, table)(outcomes)
        assert _rows(frame, TABLES[table].names) == _table(out, table)
    traffic = _traffic(pipeline.traffic(outcomes))
    assert _rows(traffic, TABLES["traffic"].names) == _table(out, "traffic")
    outcomes.unpersist()


@pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")  # nobody advertises here
@pytest.mark.parametrize("strategy", ["flooding", "covering", "prefix(depth=1)", "advertised"])
def test_frames_have_the_rows_of_the_tables_of_a_run(
    strategy: str, documents: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, strategy)
    _check(pipeline, documents, tmp_path)
    stages = [row.stage for row in pipeline.dead_letters(documents).collect()]
    assert Counter(stages) == {"match": 1, "parse": 1, "read": 2, "route": 1}
    assert [each.id for each in pipeline.rejected] == ["bad", "lost"]


def test_one_broker_crosses_no_links(
    documents: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = Pipeline(spark, None, SUBSCRIPTIONS)
    _check(pipeline, documents, tmp_path)
    assert pipeline.traffic(documents).isEmpty()
    (row,) = pipeline.outcomes(documents).where("number = 1").select("outcome").collect()
    assert [each.subscription for each in row.outcome.deliveries] == ["7", "seven", "lost"]
    assert row.outcome.crossed is None


def test_the_columns_of_the_input_are_carried_through(
    documents: DataFrame, spark: SparkSession
) -> None:
    pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS)
    outcomes = pipeline.outcomes(documents)
    assert outcomes.columns == [*documents.columns, "outcome"]
    assert sorted(row.number for row in outcomes.collect()) == list(range(1, 13))
    deliveries = pipeline.deliveries(documents)
    assert deliveries.columns == [*TABLES["deliveries"].names, "content", "origin", "number"]
    comments = {field.name: field.metadata for field in TABLES["deliveries"]}
    assert {each.name: each.metadata for each in deliveries.schema.fields[:6]} == comments
    numbers = Counter(row.number for row in deliveries.collect())
    assert numbers == {1: 2, 2: 1, 3: 1, 4: 1, 5: 3, 6: 1, 12: 1}
    letters = pipeline.dead_letters(documents).select("number", "stage", "content").collect()
    assert {row.number: row.stage for row in letters} == {
        8: "parse", 9: "read", 10: "read", 11: "route", 12: "match",
    }  # fmt: skip
    assert {row.number: row.content for row in letters}[8] == ROWS[7][1]


def test_what_nobody_wants_is_not_carried(documents: DataFrame, spark: SparkSession) -> None:
    deliveries = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS).deliveries(documents)
    plan = deliveries.drop("content", "origin", "number")._jdf.queryExecution().toString()
    (generated,) = [
        line for line in plan.split("Physical Plan")[1].splitlines() if "inline" in line
    ]
    assert "content" not in generated


def test_outcomes_that_are_kept_are_matched_once(
    documents: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS)
    outcomes = pipeline.outcomes(documents)
    outcomes.drop("content").write.parquet(str(tmp_path / "outcomes"))
    kept = spark.read.parquet(str(tmp_path / "outcomes"))
    assert pipeline.outcomes(kept) is kept
    for table in ("deliveries", "dead_letters", "traffic"):
        once, again = (getattr(pipeline, table)(each).drop("content") for each in (outcomes, kept))
        names = once.columns
        assert _rows(again, names) == _rows(once, names)
        assert "ArrowEvalPython" not in again._jdf.queryExecution().toString()
        assert str(once._jdf.queryExecution().executedPlan()).count("ArrowEvalPython") == 1


def test_a_stream_has_the_rows_of_a_batch(
    documents: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    for number in range(3):
        part = documents.where(f"number % 3 = {number}").coalesce(1)
        part.write.mode("append").parquet(str(tmp_path / "feed"))
    pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS)
    source = spark.readStream.schema(documents.schema).option("maxFilesPerTrigger", 1)
    streaming = source.parquet(str(tmp_path / "feed"))
    for table in ("deliveries", "dead_letters", "traffic"):
        rows, place = getattr(pipeline, table), tmp_path / table
        query = (
            rows(streaming)
            .writeStream.option("checkpointLocation", str(tmp_path / f"{table} checkpoint"))
            .trigger(availableNow=True)
            .start(str(place), format="parquet")
        )
        assert query.awaitTermination(120)
        expected = rows(documents)
        assert _rows(spark.read.parquet(str(place)), expected.columns) == (
            _rows(expected, expected.columns)
        )


def test_publications_name_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("k", "<a><b>7</b></a>", "south"), ("l", "<a>", "hub")]
    frame = spark.createDataFrame(rows, "key string, value string, at string")
    pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS)
    columns: dict[str, Any] = {
        "document_column": "key",
        "content_column": "value",
        "origin_column": "at",
    }
    given = Publications(frame, **columns)
    (first, second) = pipeline.deliveries(given).orderBy("subscription").collect()
    assert (first.document, first.key, first.value, first.hops) == (*rows[0][:1], *rows[0][:2], 2)
    assert (second.subscription, second.hops) == ("seven", 1)
    frame.write.parquet(str(tmp_path / "feed"))
    again = pipeline.deliveries(Publications(str(tmp_path / "feed"), format="parquet", **columns))
    assert _rows(again, again.columns) == Counter([tuple(first), tuple(second)])


def test_what_is_over_the_limit_is_refused_in_the_same_words(
    spark: SparkSession, tmp_path: Path
) -> None:
    small, content = PublicationLimits(document_bytes_max=20), "<a><b>" + "7" * 20 + "</b></a>"
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_text(content)
    pipeline = Pipeline(spark, None, ["//b"])
    frame = spark.createDataFrame([("1.xml", content)], "document string, content string")
    reasons = []
    for source in (str(tmp_path / "feed"), frame):
        run = pipeline.disseminate(Publications(source, limits=small))
        reasons += [
            tuple(row) for row in run.table("dead_letters").select("stage", "reason").collect()
        ]
    letters = pipeline.dead_letters(Publications(frame, limits=small))
    reasons += [tuple(row) for row in letters.select("stage", "reason").collect()]
    words = "too many bytes: 34 where at most 20 are allowed (bytes_max)"
    assert reasons == [("read", words), ("parse", words), ("parse", words)]


def test_the_limit_can_be_raised(spark: SparkSession, tmp_path: Path) -> None:
    content = "<a><b>7</b>" + 2 * f"<!--{5_000_000 * ' '}-->" + "</a>"
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_text(content)
    frame = spark.createDataFrame([("1.xml", content)], "document string, content string")
    large = PublicationLimits(document_bytes_max=11_000_000)
    pipeline = Pipeline(spark, None, ["//b"], shards=2)
    assert pipeline.disseminate(frame).dead_letters == 1
    assert pipeline.disseminate(Publications(frame, limits=large)).deliveries == 1
    pipeline = Pipeline(spark, None, ["//b"])
    feed = Publications(str(tmp_path / "feed"), limits=large)
    assert pipeline.disseminate(feed).deliveries == 1
    assert pipeline.deliveries(Publications(frame, limits=large)).count() == 1
    assert pipeline.deliveries(frame).isEmpty()


@pytest.mark.parametrize(
    ("schema", "columns", "told"),
    [
        ("content string, outcome string", {}, "a column 'outcome', which is none of ours"),
        ("content string, document string, name string", {"document_column": "name"}, "rename"),
        ("document string", {"content_column": "document"}, "'document' does not hold the names"),
        ("content string, Document string", {}, "name it with document_column"),
        ("content string, document_hash string", {}, "same name as the documents: document_hash"),
        ("content string, Broker string", {}, "same name as the documents: Broker"),
        ("document string", {}, "no column 'content'"),
        ("content int", {}, "documents are binary or text"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused_when_the_plan_is_made(
    spark: SparkSession, schema: str, columns: dict[str, Any], told: str
) -> None:
    frame = spark.createDataFrame([], schema)
    with pytest.raises(UsageError, match=told):
        Pipeline(spark, None, ["//b"]).deliveries(Publications(frame, **columns))


def test_folders_plans_and_shards_are_for_runs(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"folders are for Pipeline\.disseminate"):
        Pipeline(spark, None, ["//b"]).outcomes(Publications(tmp_path))
    frame = spark.createDataFrame([], "content string")
    for chosen in ({"plan": "hops"}, {"shards": 2}):
        pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, **chosen)
        with pytest.raises(UsageError, match="by the plan fused, without shards"):
            pipeline.outcomes(frame)
