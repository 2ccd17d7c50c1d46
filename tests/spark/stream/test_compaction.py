"""Many batches become one and old ones go, and no reader, stream or crash makes a row of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from tests.spark.disks import Disk
from tests.spark.finished_runs import names_of
from tests.spark.streams import Place, finish_batches
from twigcast.errors import TwigcastError, UsageError
from twigcast.spark import compact, read_table
from twigcast.spark.result import frame_of_batches
from twigcast.spark.storage.batches import local_store
from twigcast.spark.storage.manifests import Span, is_finished, spans, whole_batches
from twigcast.spark.storage.tables import TABLES
from twigcast.spark.stream import compaction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark.storage.batches import Store

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def _rows(spark: SparkSession, out: Path | str) -> dict[str, list[str]]:
    """All rows of all tables, with the numbers of their batches."""
    return {
        name: sorted(str(row.asDict()) for row in read_table(spark, out, name).collect())
        for name in TABLES
    }


def _store(out: Path) -> Store:
    return local_store(str(out))


def test_batches_become_one_and_keep_their_rows_and_numbers(
    spark: SparkSession, tmp_path: Path
) -> None:
    finish_batches(tmp_path, range(6), documents=3)
    before = _rows(spark, tmp_path)
    told = compact(spark, tmp_path, readers_hours=0)
    assert (told.batches, told.folders, told.compacted, told.removed) == (6, 2, 5, 5)
    assert _rows(spark, tmp_path) == before
    assert names_of(tmp_path / "deliveries") == ["batch=0-4", "batch=5"]
    assert names_of(tmp_path / "_manifest") == ["batch=0-4.json", "batch=5.json"]
    assert whole_batches(_store(tmp_path)) == list(range(6))
    finish_batches(tmp_path, [6, 7])
    before = _rows(spark, tmp_path)
    assert compact(spark, tmp_path, readers_hours=0).compacted == 3
    assert spans(_store(tmp_path)) == [Span(0, 6), Span(7, 7)]
    assert _rows(spark, tmp_path) == before
    assert compact(spark, tmp_path).compacted == 0, "there is nothing to do"


def test_what_was_replaced_stays_for_those_who_have_begun_to_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    finish_batches(tmp_path, range(4))
    begun = read_table(spark, tmp_path, "deliveries")
    assert compact(spark, tmp_path).removed == 0
    assert sorted(begun.collect()) == sorted(read_table(spark, tmp_path, "deliveries").collect())
    assert names_of(tmp_path / "deliveries") == [f"batch={each}" for each in ("0", "0-2", 1, 2, 3)]
    assert compact(spark, tmp_path).removed == 0, "an hour is not over"
    assert compact(spark, tmp_path, readers_hours=0).removed == 3
    assert names_of(tmp_path / "deliveries") == ["batch=0-2", "batch=3"]


def test_readers_of_one_subscription_pass_over_row_groups(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "ROW_GROUP_BYTES", 1024)
    finish_batches(tmp_path, range(4), documents=1000)
    compact(spark, tmp_path)
    (part,) = (tmp_path / "deliveries/batch=0-2").glob("part-*")
    told = pq.read_metadata(part)
    places = {told.schema.column(number).name: number for number in range(told.num_columns)}
    bounds = []
    for number in range(told.num_row_groups):
        group = told.row_group(number)
        found = [group.column(places[name]).statistics for name in ("broker", "subscription")]
        bounds.append([(each.min or "", each.max or "") for each in found if each is not None])
    assert len(bounds) > 2
    with_north = [group for group in bounds if group[0][0] <= "north" <= group[0][1]]
    assert len(with_north) < len(bounds)
    wanted = "s3-north"
    kept = [group for group in with_north if group[1][0] <= wanted <= group[1][1]]
    assert 0 < len(kept) < len(with_north)
    table = read_table(spark, tmp_path, "deliveries")
    chosen = table.where("broker = 'north' and subscription = 's3-north'")
    assert chosen.count() == 4 * len(range(3, 1000, 7))


class _Dies(BaseException):
    """What no handler takes for a failure that can be told."""


CRASHES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "before a table is in place": ("move", lambda name: name.endswith("_compacting/deliveries")),
    "before another table is": ("move", lambda name: name.endswith("_compacting/dead_letters")),
    "before the manifest": ("write", lambda name: name == "_manifest/batch=0-2.json"),
    "behind the manifest": ("delete", lambda name: name == "_compacting"),
    "before replaced tables go": ("delete", lambda name: name == "deliveries/batch=1"),
    "before their manifest goes": ("delete", lambda name: name == "_manifest/batch=1.json"),
}


@pytest.mark.parametrize("point", CRASHES)
def test_whatever_is_cut_off_rows_are_there_once_and_the_next_one_clears_up(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    finish_batches(tmp_path, range(4))
    before = _rows(spark, tmp_path)
    operation, is_here = CRASHES[point]
    home: Any = type(_store(tmp_path))
    whole = getattr(home, operation)
    begun: list[str] = []

    def deadly(self: Store, name: str, *more: object) -> None:
        begun.append(name)
        # The first time that its own folder is removed, nothing was done yet.
        if is_here(name) and (name != "_compacting" or begun.count(name) > 1):
            raise _Dies
        whole(self, name, *more)

    with monkeypatch.context() as patched:
        patched.setattr(home, operation, deadly)
        with pytest.raises(_Dies):
            compact(spark, tmp_path, readers_hours=0)
    assert _rows(spark, tmp_path) == before
    finish_batches(tmp_path, [4])
    before = _rows(spark, tmp_path)
    compact(spark, tmp_path, readers_hours=0)
    assert _rows(spark, tmp_path) == before
    assert "_compacting" not in names_of(tmp_path)
    assert names_of(tmp_path / "deliveries") == ["batch=0-3", "batch=4"]
    assert names_of(tmp_path / "_manifest") == ["batch=0-3.json", "batch=4.json"]


def test_all_that_the_manifest_of_a_span_stands_for_is_on_disk_before_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path / "out", monkeypatch)
    finish_batches(tmp_path / "out", range(3))
    assert (disk.manifests, disk.unsafe) == (3, [])
    compact(spark, tmp_path / "out")
    assert (disk.manifests, disk.unsafe) == (4, [])


def test_rows_that_do_not_add_up_are_told_and_nothing_is_changed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_batches(tmp_path, range(4))
    monkeypatch.setattr(
        compaction, "frame_of_batches", lambda *given: frame_of_batches(*given).where("batch > 0")
    )
    with pytest.raises(TwigcastError, match=r"deliveries has 4 rows, and its batches have 6"):
        compact(spark, tmp_path)
    assert spans(_store(tmp_path)) == [Span(each, each) for each in range(4)]


def test_large_spans_are_not_written_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_batches(tmp_path, range(3))
    compact(spark, tmp_path)
    finish_batches(tmp_path, [3, 4])
    (part,) = (tmp_path / "deliveries/batch=0-1").glob("part-*")
    monkeypatch.setattr(compaction, "SPAN_BYTES_MAX", 2 * part.stat().st_size)
    compact(spark, tmp_path)
    assert spans(_store(tmp_path)) == [Span(0, 1), Span(2, 3), Span(4, 4)]


def test_old_batches_are_dropped_and_their_tables_go_later(
    spark: SparkSession, tmp_path: Path
) -> None:
    finish_batches(tmp_path, range(5))
    begun = read_table(spark, tmp_path, "deliveries")
    told = compact(spark, tmp_path, keep_batches=3)
    assert (told.dropped, told.batches, told.folders) == (2, 3, 2)
    assert whole_batches(_store(tmp_path)) == [2, 3, 4]
    assert len(begun.collect()) == 10, "who has begun to read reads on"
    assert {row["batch"] for row in read_table(spark, tmp_path, "deliveries").collect()} == {
        2,
        3,
        4,
    }
    assert compact(spark, tmp_path, keep_batches=1).dropped == 0, "those before are still there"
    told = compact(spark, tmp_path, keep_batches=1, readers_hours=0)
    assert (told.dropped, told.batches) == (2, 1)
    assert names_of(tmp_path / "deliveries") == ["batch=4"]
    assert all(is_finished(_store(tmp_path), number) for number in range(5))
    assert not is_finished(_store(tmp_path), 5)


def test_batches_are_dropped_by_their_age(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_batches(tmp_path, range(5))

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            assert tz is UTC
            return datetime(2026, 1, 4, 12, tzinfo=UTC)

    monkeypatch.setattr(compaction, "datetime", Clock)
    told = compact(spark, tmp_path, keep_days=2)
    assert told.dropped == 2, "of 1 and 2 January"
    told = compact(spark, tmp_path, keep_days=0, readers_hours=0)
    assert (told.dropped, told.batches) == (2, 1), "the last one stays"


def test_a_stream_goes_on_while_its_batches_are_compacted(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(tmp_path, spark)
    stream = place.start(trigger=0)
    for number in range(3):
        place.publish(f"x{number}", number)
        stream.catch_up()
    compact(spark, place.out, readers_hours=0)
    place.publish("y", 7)
    stream.catch_up()
    stream.stop()
    compact(spark, place.out, readers_hours=0)
    before = _rows(spark, place.out)
    assert whole_batches(_store(place.out)) == [0, 1, 2, 3]
    place.forget_commit(3)
    place.run()
    assert _rows(spark, place.out) == before, "a batch that is finished is not done again"
    place.publish("z", 1)
    place.run()
    assert whole_batches(_store(place.out)) == [0, 1, 2, 3, 4]
    documents = [row["document"] for row in read_table(spark, place.out, "deliveries").collect()]
    assert len({Path(name).name for name in documents}) == 5


def test_records_of_subscriptions_that_no_batch_needs_go(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(tmp_path, spark)
    for number in range(6):
        if number in {1, 3}:
            added = {"id": f"new{number}", "xpath": "//b", "broker": "north"}
            place.change(f"{number}.jsonl", {"op": "add", "version": number, **added})
        place.publish("x", number)
        place.run()
    assert compact(spark, place.out).versions == 3
    assert names_of(place.out / "_versions") == [f"batch={number}.json" for number in (1, 3, 5)]
    place.publish("y", 1)
    place.run()
    last = [row for row in place.table("deliveries") if row["batch"] == 6]
    assert {row["subscription"] for row in last} == {"any", "new1", "new3", "small"}
    record = json.loads((place.out / "_versions/batch=6.json").read_bytes())
    assert (record["before"], record["version"]) == (3, 3)


def test_tables_that_only_spark_reaches_are_compacted(spark: SparkSession, tmp_path: Path) -> None:
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set("fs.viewfs.mounttable.compacted.link./here", f"file://{tmp_path}")
    finish_batches(tmp_path / "out", range(4))
    out = "viewfs://compacted/here/out"
    before = _rows(spark, out)
    assert compact(spark, out, keep_batches=3, readers_hours=0).compacted == 2
    kept = {name: [row for row in rows if "'batch': 0" not in row] for name, rows in before.items()}
    assert _rows(spark, out) == kept
    assert names_of(tmp_path / "out/deliveries")[-2:] == ["batch=1-2", "batch=3"]


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no days": ({"keep_days": -1}, "keep_days is a number from 0 to 100,000, not -1"),
    "no batches": ({"keep_batches": 0}, "keep_batches is a whole number, 1 or more, not 0"),
    "half a batch": ({"keep_batches": 1.5}, "keep_batches is a whole number, 1 or more, not 1.5"),
    "no hours": ({"readers_hours": float("nan")}, "readers_hours is a number from 0 to"),
    "nothing": ({}, "holds no finished run"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_cannot_be_meant_is_refused(spark: SparkSession, tmp_path: Path, mistake: str) -> None:
    given, told = MISTAKES[mistake]
    with pytest.raises(UsageError, match=told):
        compact(spark, tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()
