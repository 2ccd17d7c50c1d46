"""What arrives is found once, under its name, wherever it lies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.spark.streams import Place, made, pairs, plain, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> Place:
    return Place(tmp_path, spark)


def test_a_path_may_have_brackets(tmp_path: Path, spark: SparkSession) -> None:
    place = Place(made(tmp_path / "{a}[1]"), spark)
    place.publish("x", 1)
    place.run()
    assert pairs(place.table("deliveries")) == [("x-01.xml", "any"), ("x-01.xml", "small")]


def test_relative_paths_mean_the_folder_in_which_the_stream_was_started(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, spark)
    made(tmp_path / "beside")
    elsewhere = made(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "beside")
    stream = place.pipeline.stream(
        "../documents", "../out", checkpoint="../checkpoint", changes="../changes", trigger=0
    )
    monkeypatch.chdir(elsewhere)
    place.change("1.jsonl", {"op": "remove", "version": 1, "id": "small"})
    place.publish("x", 1)
    stream.catch_up()
    assert not stream.wait(0)
    assert stream.is_active
    stream.stop()
    assert stream.wait(0)
    (row,) = place.table("deliveries")
    assert (row["document"], row["subscription"]) == ("../documents/x-01.xml", "any")
    assert list(elsewhere.iterdir()) == []


def test_a_path_may_begin_with_two_slashes(place: Place) -> None:
    place.publish("x", 7)
    stream = place.pipeline.stream(
        f"/{place.documents}", f"file:///{place.out}", checkpoint=f"/{place.checkpoint}"
    )
    assert stream.wait()
    documents = {row["document"] for row in place.table("deliveries")}
    assert documents == {str(place.documents / "x-07.xml")}


def _write_table(path: Path, *documents: str) -> None:
    table = pa.table({"document": documents, "content": ["<a><b>7</b></a>"] * len(documents)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, path)


def test_a_table_may_be_named_by_its_address(place: Place, tmp_path: Path) -> None:
    _write_table(tmp_path / "table" / "part-0.parquet", "one")
    place.run(f"file://{tmp_path}/table")
    assert pairs(place.table("deliveries")) == [("one", "any"), ("one", "seven")]


def test_rows_of_a_table_whose_name_has_brackets_come_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    for number, name in enumerate(("{t}[1]*?", "plain")):
        place = Place(made(tmp_path / str(number)), spark)
        table = tmp_path / f"{name}.parquet"
        for part in ("one", "two", "{three}[3]"):
            _write_table(table / f"part-{part}.parquet", part)
        place.run(table)
        found = [row["document"] for row in place.table("deliveries")]
        assert sorted(set(found)) == ["one", "two", "{three}[3]"], name
        assert len(found) == 3 * 2, name


def test_a_table_in_folders_by_column_may_have_brackets(place: Place, tmp_path: Path) -> None:
    table = tmp_path / "t[1].parquet"
    for origin in ("south", "pole"):
        for part in ("1", "[2]"):
            _write_table(table / f"origin={origin}" / f"part-{part}.parquet", f"{origin} {part}")
    place.run(table)
    hops = {
        row["document"]: row["hops"]
        for row in place.table("deliveries")
        if row["subscription"] == "any"
    }
    assert hops == {"south 1": 0, "south [2]": 0, "pole 1": 3, "pole [2]": 3}
    assert len(place.table("deliveries")) == 2 * len(hops)


def test_links_in_a_watched_folder_are_followed_as_in_a_run(place: Place, tmp_path: Path) -> None:
    made(tmp_path / "secret")
    (tmp_path / "secret" / "s.xml").write_text("<a><b>7</b></a>", encoding="utf-8")
    place.publish("x", 7)
    made(place.documents / "below")
    (place.documents / "below" / "y.xml").write_text("<a><b>7</b></a>", encoding="utf-8")
    for name, target in {
        "inside.xml": "below/y.xml",
        "way-in": "below",
        "circle": ".",
        "outside.xml": "../secret/s.xml",
        "way-out": "../secret",
    }.items():
        (place.documents / name).symlink_to(target)
    place.run()
    place.pipeline.disseminate(place.documents, tmp_path / "run")
    for table in ("deliveries", "dead_letters"):
        assert plain(place.table(table)) == plain(rows_of(tmp_path / "run", table)), table
    letters = {Path(row["document"]).name: row["reason"] for row in place.table("dead_letters")}
    assert letters == dict.fromkeys(
        ("outside.xml", "way-out"), "it is a link that leads out of the folder"
    )
