"""``matches`` is a column like any other, in Python and in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PythonException

from tests.spark.sessions import hide_session
from twigcast.errors import UsageError
from twigcast.language import DocumentLimits
from twigcast.spark import matches, matches_or_reason, register

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROWS = {
    "plain": b"<a><b>7</b></a>",
    "latin": '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1"),
    "other": b"<c/>",
    "broken": b"<a>",
    "null": None,
}


@pytest.fixture(scope="module")
def documents(spark: SparkSession) -> Iterator[DataFrame]:
    rows = [(name, content and bytearray(content)) for name, content in ROWS.items()]
    frame = spark.createDataFrame(rows, "name string, content binary").repartition(3)
    frame.createOrReplaceTempView("documents")
    yield frame
    spark.catalog.dropTempView("documents")


def _answers(frame: DataFrame) -> dict[str, list[str] | None]:
    return {row[0]: row[1] for row in frame.collect()}


def test_the_answer_is_the_ids_as_text_and_null_where_refused(documents: DataFrame) -> None:
    column = matches("content", {"seven": "//b[. = 7]", 3: "/a", "accent": "/a[. = 'é']"})
    frame = documents.select("name", column.alias("who"))
    assert frame.schema["who"].dataType.simpleString() == "array<string>"
    assert _answers(frame) == {
        "plain": ["seven", "3"],
        "latin": ["3", "accent"],
        "other": [],
        "broken": None,
        "null": None,
    }


def test_where_there_is_no_answer_there_is_a_reason(documents: DataFrame) -> None:
    rules = {"seven": "//b[. = 7]", 3: "/a"}
    frame = documents.select("name", matches_or_reason("content", rules)).select(
        "name", "outcome.*"
    )
    columns = ["name", "matches", "undecided", "stage", "reason", "line", "column"]
    assert frame.columns == columns
    found = {row.name: tuple(row)[1:] for row in frame.collect()}
    ends = "Premature end of data in tag a line 1"
    assert found == {
        "plain": (["seven", "3"], [], None, None, None, None),
        "latin": (["3"], [], None, None, None, None),
        "other": ([], [], None, None, None, None),
        "broken": (None, None, "parse", ends, 1, 4),
        "null": (None, None, "read", "there is no content (null)", None, None),
    }


def test_what_is_over_the_limit_has_the_reason_that_runs_give(documents: DataFrame) -> None:
    few = DocumentLimits(bytes_max=14)
    plain = documents.where("name = 'plain'")
    (row,) = plain.select(matches_or_reason("content", ["//b"], limits=few)).collect()
    words = "too many bytes: 15 where at most 14 are allowed (bytes_max)"
    assert (row.outcome.matches, row.outcome.stage, row.outcome.reason) == (None, "parse", words)
    (row,) = plain.select(matches("content", ["//b"], limits=few)).collect()
    assert row.matches is None


@pytest.mark.parametrize("kind", ["int", "array<binary>", "struct<content: string>", "double"])
def test_what_is_neither_text_nor_binary_is_refused_when_the_plan_is_made(
    spark: SparkSession, kind: str
) -> None:
    frame = spark.createDataFrame([], f"content {kind}")
    for function in (matches, matches_or_reason):
        with pytest.raises(AnalysisException, match='requires the "BINARY" type'):
            frame.select(function("content", ["//a"]))


def test_text_columns_are_matched_as_well(documents: DataFrame) -> None:
    frame = documents.selectExpr("name", "decode(content, 'ISO-8859-1') AS text")
    answers = _answers(frame.select("name", matches(frame.text, ["/a", "/a[. = 'é']"])))
    assert answers["plain"] == ["1"]
    assert answers["latin"] == ["1", "2"]


def test_subscriptions_may_be_a_file_or_a_dataframe(
    documents: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "s.csv").write_text("id,xpath\nx,//b\ny,/c\n")
    rows = spark.createDataFrame([("x", "//b"), ("y", "/c")], "subscription string, xpath string")
    for given in (tmp_path / "s.csv", rows):
        answers = _answers(documents.select("name", matches("content", given)))
        assert (answers["plain"], answers["other"]) == (["x"], ["y"])


def test_sql_has_the_function_once_it_is_registered(
    documents: DataFrame, spark: SparkSession
) -> None:
    register(spark, {"x": "//b"})
    query = "SELECT name, twigcast_match(content) FROM documents"
    assert _answers(spark.sql(query))["plain"] == ["x"]
    register(spark, {"y": "/a[b]", "z": "/a"})
    assert _answers(spark.sql(query))["plain"] == ["y", "z"]
    query = "SELECT name, twigcast_match_or_reason(content).stage FROM documents"
    assert {row[0]: row[1] for row in spark.sql(query).collect()}["broken"] == "parse"
    register(spark, ["/c"], name="my_match")
    who = "SELECT name, who FROM documents LATERAL VIEW explode(my_match(content)) AS who"
    assert [tuple(row) for row in spark.sql(who).collect()] == [("other", "1")]


@pytest.mark.parametrize(
    ("subscriptions", "complaint"),
    [
        (["//a", "//["], r"'//\[', line 2, column 3: expected a name"),
        ({"x": "//[", "y": "//["}, r"and 1 more"),
        ([{"id": 1, "xpath": "//a"}, {"id": 1, "xpath": "//b"}], "taken by line 1"),
        ({7: "//a", "7": "//b"}, "as text the id is that of line 1"),
    ],
)
def test_a_bad_subscription_is_an_error_at_once(
    spark: SparkSession, subscriptions: list[str], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        matches("content", subscriptions)


def test_matches_needs_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_session(monkeypatch)
    with pytest.raises(UsageError, match="no Spark session"):
        matches("content", ["//a"])


@pytest.mark.parametrize(
    ("call", "given"),
    [("twigcast_match(5)", "int32"), ("twigcast_match('<a/>', 'b')", "2 columns")],
)
def test_what_are_no_documents_is_refused(spark: SparkSession, call: str, given: str) -> None:
    register(spark, ["//a"])
    with pytest.raises(PythonException, match=f"UsageError: .* binary or text.*{given}"):
        spark.sql(f"SELECT {call}").collect()


def test_what_is_not_there_matches_nothing(spark: SparkSession) -> None:
    register(spark, ["//a"])
    (row,) = spark.sql("SELECT twigcast_match(NULL) AS who").collect()
    assert row["who"] is None
