"""With every version of pyspark the same comes of it; nothing else here knows of them."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, StringType, StructField, StructType, TimestampType

import twigcast.spark
from twigcast.errors import UsageError
from twigcast.spark.session.compatibility import (
    arrow_function,
    repartition_by_number,
    utc_arrow_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[3]

PUBLIC = {
    "",
    ".errors",
    ".sql",
    ".sql.functions",
    ".sql.streaming.listener",
    ".sql.streaming.query",
    ".sql.types",
}
"""Modules of pyspark that are documented as its face."""

NAMES = ArrayType(StringType())


def test_timestamps_are_utc() -> None:
    schema = StructType([StructField("at", TimestampType()), StructField("names", NAMES)])
    assert utc_arrow_schema(schema).types == [pa.timestamp("us", "UTC"), pa.list_(pa.string())]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("numbers", "count"), [(7, 7), (3, 5), (1, 1)])
def test_rows_are_in_the_partition_of_their_number(
    spark: SparkSession, numbers: int, count: int
) -> None:
    frame = spark.range(50).select((sql.col("id") % numbers).cast("int").alias("number"))
    placed = repartition_by_number(frame, count, "number")
    found = placed.select("number", sql.spark_partition_id()).distinct().collect()
    assert sorted(map(tuple, found)) == [(number, number) for number in range(numbers)]
    assert placed.count() == 50


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_function_is_handed_columns_of_arrow(spark: SparkSession) -> None:
    def kinds(column: pa.Array[Any]) -> pa.Array[Any]:
        told = [None if one.as_py() is None else [str(column.type)] for one in column]
        return pa.array(told, pa.list_(pa.string()))

    function = arrow_function(kinds, NAMES)
    frame = spark.createDataFrame([("a", bytearray(b"b")), (None, None)], "text string, raw binary")
    rows = frame.coalesce(1).select(function("text").alias("x"), function("raw").alias("y"))
    assert [tuple(row) for row in rows.collect()] == [(["string"], ["binary"]), (None, None)]


def test_nothing_else_uses_what_is_not_public_in_pyspark() -> None:
    room = ROOT / "src" / "twigcast" / "spark"
    found = {
        path.relative_to(room).as_posix(): sorted(names)
        for path in room.rglob("*.py")
        if (names := set(_private_names(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert set(found) == {"session/compatibility.py"}


def _private_names(tree: ast.AST) -> Iterator[str]:
    """Names of modules of pyspark, and of attributes of its objects, that are not its face."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pyspark"):
            if (node.module or "").removeprefix("pyspark") not in PUBLIC:
                yield str(node.module)
            yield from (one.name for one in node.names if one.name == "java_gateway")
        if isinstance(node, ast.Attribute) and node.attr in JAVA:
            yield node.attr


JAVA = {"_jvm", "_jsc", "_jdf", "_sc", "_gateway", "_jconf", "_active_spark_context"}


def test_the_versions_are_those_that_are_asked_for() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    least, end = twigcast.spark._PYSPARK_MIN, twigcast.spark._PYSPARK_END
    assert f"pyspark>={least}.0,<{end}" in extras["spark"]


@pytest.mark.parametrize("version", ["3.5.9", "5.0.0"])
def test_another_version_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    monkeypatch.delitem(vars(twigcast.spark), "run_batch", raising=False)
    with pytest.raises(UsageError, match=f"needs pyspark 4, and {version} is installed: "):
        _ = twigcast.spark.run_batch
