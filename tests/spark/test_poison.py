"""Documents that were meant to end a run, and names that were, cost themselves alone on Spark."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.worker.test_set_aside import ODD
from twigcast.errors import UsageError
from twigcast.spark import Pipeline, Publications, matches, read_table, register

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TOPOLOGY = {"links": [["hub", "north"]]}
SUBSCRIPTIONS = [
    {"id": "a", "xpath": "//a", "broker": "north"},
    {"id": "b", "xpath": "//b", "broker": "hub"},
]
PLANS = [
    {"plan": "fused"},
    {"plan": "fused", "topology": None},
    {"plan": "fused", "shards": 2},
    {"plan": "hops"},
]
NAMES = ["line\nbreak", "\x1b[2J", "\u202ecod", "same", "same", "", "long" * 10_000]
"""Names of good documents, each of which is answered."""


def _table(spark: SparkSession) -> DataFrame:
    rows = [(name, bytearray(b"<a/>")) for name in NAMES]
    odd = [(f"odd {name}", bytearray(content)) for name, content in ODD.items()]
    return spark.createDataFrame([*rows, *odd, ("null", None)], "document string, content binary")


def _written(folder: Path) -> None:
    for number, content in enumerate([b"<a/>", *ODD.values(), b"<a/>"]):
        (folder / f"{number}\n.xml").write_bytes(content)


def _pipeline(spark: SparkSession, plan: dict[str, object]) -> Pipeline:
    return Pipeline(spark, **{"topology": TOPOLOGY, "subscriptions": SUBSCRIPTIONS, **plan})  # type: ignore[arg-type]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_a_run_goes_on(
    spark: SparkSession, tmp_path: Path, plan: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "twigcast.spark"):
        run = _pipeline(spark, plan).disseminate(_table(spark), tmp_path / "out")
    assert (run.documents, run.deliveries) == (len(NAMES) + len(ODD) + 1, len(NAMES))
    assert run.dead_letters == len(ODD) + 1
    delivered = [row.document for row in run.table("deliveries").collect()]
    assert sorted(name for name in delivered if not name.startswith("sha256:")) == sorted(
        filter(None, NAMES)
    )
    letters = {row.document: row for row in run.table("dead_letters").collect()}
    assert {row.stage for row in letters.values()} <= {"parse", "read", "internal"}
    internal = sum(row.stage == "internal" for row in letters.values())
    (metrics,) = run.table("metrics").collect()
    assert metrics.internal_errors == run.internal_errors == internal
    assert bool(caplog.records) == bool(internal)


def test_files_go_on_as_well(spark: SparkSession, tmp_path: Path) -> None:
    feed = tmp_path / "feed"
    feed.mkdir()
    _written(feed)
    run = _pipeline(spark, {}).disseminate(feed, tmp_path / "out")
    assert (run.documents, run.deliveries, run.dead_letters) == (len(ODD) + 2, 2, len(ODD))


def test_a_stream_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    feed, out = tmp_path / "feed", tmp_path / "out"
    feed.mkdir()
    _written(feed)
    pipeline = _pipeline(spark, {})
    for _ in range(2):
        assert pipeline.stream(feed, out, checkpoint=tmp_path / "checkpoint").wait()
        (feed / "late.xml").write_bytes(b"<a/>")
    assert read_table(spark, out, "deliveries").count() == 3
    # Spark does not show us a file without content.
    letters = read_table(spark, out, "dead_letters").select("document").distinct()
    assert letters.count() == len([content for content in ODD.values() if content])


def test_a_column_and_an_sql_function_give_null(spark: SparkSession) -> None:
    table = _table(spark)
    expected = [["a"]] * len(NAMES) + [None] * (len(ODD) + 1)
    found = table.select(matches("content", {"a": "//a"})).collect()
    assert [row[0] for row in found] == expected
    register(spark, {"a": "//a"}, "poisoned_match")
    table.createOrReplaceTempView("poisoned")
    asked = spark.sql("SELECT poisoned_match(content) FROM poisoned")
    assert [row[0] for row in asked.collect()] == expected


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_texts_that_are_no_unicode_cost_themselves(
    spark: SparkSession, tmp_path: Path, plan: dict[str, object]
) -> None:
    rows = [(b"good", b"<a/>"), (b"caf\xe9", b"<a/>"), (b"bad", b"<a>\xe9</a>")]
    plain = spark.createDataFrame(
        [(bytearray(name), bytearray(content)) for name, content in rows],
        "name binary, content binary",
    )
    texts = plain.selectExpr("CAST(name AS STRING) document", "CAST(content AS STRING) content")
    run = _pipeline(spark, plan).disseminate(texts, tmp_path / "out")
    assert {row.document for row in run.table("deliveries").collect()} == {"good", "caf\\xe9"}
    (letter,) = run.table("dead_letters").collect()
    assert (letter.document, letter.stage) == ("bad", "parse")


def test_contents_of_another_type_are_the_callers_mistake(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = spark.createDataFrame([("a", 7)], "document string, content int")
    with pytest.raises(UsageError, match="documents are binary or text"):
        _pipeline(spark, {}).disseminate(Publications(table), tmp_path / "out")
