"""The benchmark's ways to match on Spark all give the same answers."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from benchmarks.spark_engines import SPARK_ENGINES

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

DOCUMENTS = (b"<a><b/></a>", b"<a><c/></a>", b"<d/>")
EXPRESSIONS = ("/a", "//b", "/a/c")
ROUNDING = 0.001
"""Seconds by which sums of clock ticks may be off."""


@pytest.mark.parametrize("engine", sorted(SPARK_ENGINES.keys() - {"spark parse"}))
def test_every_way_on_spark_finds_the_same_matches(spark: SparkSession, engine: str) -> None:
    arrow = pa.table({"document": range(len(DOCUMENTS)), "content": list(DOCUMENTS)})
    outcome = SPARK_ENGINES[engine](spark.createDataFrame(arrow), EXPRESSIONS, 2)
    assert outcome.matches == 4
    answers = {number: sorted(ids) for number, ids in outcome.sample.items() if ids}
    assert answers == {0: [0, 1], 1: [0, 2]}
    assert outcome.wall_s > 0
    assert outcome.matching.all_s + ROUNDING >= outcome.matching.java_s >= 0


def test_the_floor_on_spark_answers_nothing(spark: SparkSession) -> None:
    arrow = pa.table({"document": [0], "content": [DOCUMENTS[0]]})
    outcome = SPARK_ENGINES["spark parse"](spark.createDataFrame(arrow), EXPRESSIONS, 1)
    assert outcome.matches == 0
