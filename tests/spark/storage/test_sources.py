"""Subscriptions and publications can be said in many ways and mean the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from twigcast.errors import UsageError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.spark import KafkaTopic, run_batch
from twigcast.spark.storage.sources import (
    Publications,
    Subscriptions,
    format_of,
    load_subscriptions,
    needed_columns,
    table_of,
)


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (["//a", "//b"], [1, 2]),
        (("//a", "//b"), [1, 2]),
        ({"x": "//a", 7: "//b"}, ["x", 7]),
        ([{"id": "x", "xpath": "//a"}, {"id": 7, "xpath": "//b"}], ["x", 7]),
        ([Row(id="x", xpath="//a"), Row(subscription=7, xpath="//b")], ["x", 7]),
        (SubscriptionFile((Subscription("x", "//a"), Subscription("y", "//b"))), ["x", "y"]),
        ([], []),
    ],
)
def test_subscriptions_come_in_many_shapes(given: Subscriptions, ids: list[object]) -> None:
    file = load_subscriptions(given)
    assert [item.id for item in file.subscriptions] == ids
    assert [item.xpath for item in file.subscriptions] == ["//a", "//b"][: len(ids)]
    assert file.rejected == ()


def test_a_text_is_the_path_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//a\n")
    for path in (tmp_path / "s.txt", str(tmp_path / "s.txt")):
        assert load_subscriptions(path).subscriptions == (Subscription(1, "//a", line=1),)


def test_rows_carry_all_that_a_file_can_say() -> None:
    row = Row(id=1, xpath="//p:a", subscriber="ann", broker="b", namespaces={"p": "urn:p"})
    (found,) = load_subscriptions([row]).subscriptions
    assert found == Subscription(1, "//p:a", "ann", "b", {"p": "urn:p"}, line=1)


def test_a_bad_row_is_set_aside_by_its_number() -> None:
    file = load_subscriptions(
        [{"id": 1, "xpath": "//a"}, {"id": 1, "xpath": "//b"}, {"xpath": "//c"}]
    )
    assert [(item.line, item.xpath) for item in file.rejected] == [(2, "//b"), (3, "//c")]
    assert file.rejected[0].reason == "the id 1 is taken by line 1"


@pytest.mark.parametrize("given", [7, [7], [["//a"]]])
def test_what_are_no_subscriptions_is_the_callers_mistake(given: object) -> None:
    with pytest.raises(UsageError, match="subscription"):
        load_subscriptions(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.parquet", "parquet"),
        ("a.JSONL", "json"),
        ("a.ndjson", "json"),
        ("a.json", "json"),
        ("a.csv", "csv"),
        ("a.orc", "orc"),
        ("a.xml", None),
        ("a.zip", None),
        ("feed", None),
    ],
)
def test_the_name_tells_the_format(tmp_path: Path, name: str, expected: str | None) -> None:
    assert format_of([str(tmp_path / name)]) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (["part-0.snappy.parquet", "_SUCCESS"], "parquet"),
        (["part-0.json"], "json"),
        (["a.xml", "b.parquet"], None),
        ([], None),
    ],
)
def test_a_folder_that_spark_wrote_is_a_table(
    tmp_path: Path, content: list[str], expected: str | None
) -> None:
    for name in content:
        (tmp_path / name).write_text("")
    assert format_of([str(tmp_path)]) == expected


@pytest.mark.parametrize("begin", ["file://", "file:", "file://localhost", "file:///", "/"])
def test_an_address_means_what_the_path_means(tmp_path: Path, begin: str) -> None:
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "part-0.snappy.parquet").write_text("")
    assert format_of([f"{begin}{tmp_path}/table"]) == "parquet"
    assert not Publications(f"{begin}{tmp_path}/table").are_files
    (tmp_path / "rules.txt").write_text("//a\n")
    assert [
        one.xpath for one in load_subscriptions(f"{begin}{tmp_path}/rules.txt").subscriptions
    ] == ["//a"]


def test_subscriptions_of_a_file_system_that_nobody_knows_are_one_sentence(
    spark: SparkSession,
) -> None:
    told = r"cannot read the subscriptions in bogus://host/rules\.csv: .*bogus"
    with pytest.raises(UsageError, match=told):
        load_subscriptions("bogus://host/rules.csv", lambda: spark)


def test_one_run_reads_one_kind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="of several kinds"):
        format_of([str(tmp_path / "a.parquet"), str(tmp_path / "b.xml")])


def test_paths_may_be_one_or_many() -> None:
    assert Publications("a").paths == ["a"]
    assert Publications(Path("a")).paths == ["a"]
    assert Publications(["a", Path("b")]).paths == ["a", "b"]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", ["x`ml", "`", "a.b", "x y"])
def test_columns_may_have_any_name(spark: SparkSession, name: str) -> None:
    frame = spark.createDataFrame([("<a/>", "n")], [name, f"{name}2"])
    given = Publications(frame, content_column=name, document_column=f"{name}2")
    (row,) = needed_columns(frame, given).collect()
    assert (row["document"], row["content"], row["origin"]) == ("n", "<a/>", None)


def _written(spark: SparkSession, folder: Path, names: list[str]) -> None:
    """A table of documents, each in a file of its own."""
    made = folder.with_name("made")
    frame = spark.createDataFrame([("<a/>", name) for name in names], ["content", "document"])
    frame.repartition(len(names), "document").write.parquet(f"file://{made}")
    made.rename(folder)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "name", ["feed[1]", "feed*", "feed?", "feed{1,2}", "feed\\1", "feed[", "{"]
)
def test_a_path_means_the_table_of_that_name_alone(
    tmp_path: Path, spark: SparkSession, name: str
) -> None:
    for beside in ("feed1", "feed2"):
        _written(spark, tmp_path / f"{beside}.parquet", ["another"])
    _written(spark, tmp_path / f"{name}.parquet", ["one", "two", "three"])
    for paths in ([f"{name}.parquet"], [f"{name}.parquet", "feed1.parquet"]):
        found = table_of(spark, Publications([tmp_path / path for path in paths]))
        assert found is not None
        documents = sorted(row["document"] for row in found.collect())
        assert documents == sorted(["one", "two", "three", *["another"] * (len(paths) - 1)])


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_path_means_the_file_of_that_name_alone(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "feed1.csv").write_text("document,content\nanother,<a/>\n")
    (tmp_path / "feed[1].csv").write_text("document,content\none,<a/>\n")
    for place in (str(tmp_path / "feed[1].csv"), f"file://{tmp_path}/feed[1].csv"):
        found = table_of(spark, Publications(place, format="csv"))
        assert found is not None
        assert [row["document"] for row in found.collect()] == ["one"]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_folder_above_is_that_behind_a_link(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "far" / "inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "inside")
    for folder, name in ((tmp_path, "near"), (tmp_path / "far", "far")):
        (folder / "feed.csv").write_text(f"document,content\n{name},<a/>\n")
    found = table_of(spark, Publications(tmp_path / "link" / ".." / "feed.csv"))
    assert found is not None
    assert [row["document"] for row in found.collect()] == ["far"]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_table_may_be_named_by_its_address(tmp_path: Path, spark: SparkSession) -> None:
    _written(spark, tmp_path / "table", ["one", "two"])
    run = run_batch(["/a"], f"file://{tmp_path}/table", tmp_path / "out", spark=spark)
    assert (run.documents, run.dead_letters, run.deliveries) == (2, 0, 2)


def test_a_row_with_two_columns_of_one_name_is_refused() -> None:
    row = Row("id", "xpath", "xpath")(1, "//a", "//b")
    with pytest.raises(UsageError, match="subscription 1 has several columns of one name"):
        load_subscriptions([row])


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("names", [("content", "content"), ("content", "Content")])
@pytest.mark.parametrize("origin", ["document", "origin"])
def test_columns_that_spark_cannot_tell_apart_are_refused(
    tmp_path: Path, spark: SparkSession, names: tuple[str, str], origin: str
) -> None:
    frame = spark.createDataFrame([("<a/>", "<b/>", "x")], [*names, "origin"])
    with pytest.raises(UsageError, match=r"several columns .*content.*; rename"):
        run_batch(["//a"], frame, tmp_path / "out", spark=spark)
    frame = frame.toDF("content", origin, origin.upper())
    with pytest.raises(UsageError, match=rf"several columns .*{origin}.*; rename"):
        run_batch(["//a"], frame, tmp_path / "out", spark=spark)
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_table_that_streams_is_no_batch(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.readStream.schema("content string").json(f"file://{tmp_path}")
    with pytest.raises(UsageError, match=r"streams, .*Pipeline\.stream"):
        run_batch(["//a"], frame, tmp_path / "out", spark=spark)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "field", ["format", "options", "content_column", "patterns", "limits", "folder_names"]
)
def test_publications_are_described_by_what_they_ask_for(field: str) -> None:
    with pytest.raises(UsageError, match=f"Publications: {field} is .*, not 5"):
        Publications("feed", **{field: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["servers", "topic", "options", "origin_header"])
def test_a_topic_is_described_by_what_it_asks_for(field: str) -> None:
    given = {"servers": "host:9092", "topic": "feed", field: 5}
    with pytest.raises(UsageError, match=f"KafkaTopic: {field} is .*, not 5"):
        KafkaTopic(**given)  # type: ignore[arg-type]
