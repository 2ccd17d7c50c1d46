"""Tables are put in place whole, the manifest last, and nothing of others is touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tests.spark.disks import Disk
from tests.spark.finished_runs import TABLES, finish_run, names_of, replacing, write_tables
from twigcast.errors import UsageError
from twigcast.spark.storage.batches import (
    BatchOutput,
    Existing,
    Output,
    Store,
    hadoop_store,
    local_path,
    local_store,
    readable_store,
)
from twigcast.spark.storage.manifests import whole_batches
from twigcast.spark.worker.parquet_parts import Part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_finished_run_has_its_tables_and_a_manifest(tmp_path: Path) -> None:
    finish_run(tmp_path / "new" / "out", "one")
    assert names_of(tmp_path / "new" / "out") == ["_manifest", "deliveries", "metrics"]
    assert json.loads((tmp_path / "new/out/_manifest/batch=0.json").read_text())["run"] == "one"
    assert (tmp_path / "new/out/deliveries/batch=0/part").read_text() == "one deliveries"


def test_a_finished_run_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    finish_run(tmp_path, "one")
    with pytest.raises(UsageError, match="holds a finished run"):
        finish_run(tmp_path, "two")
    assert (tmp_path / "metrics/batch=0/part").read_text() == "one metrics"
    finish_run(tmp_path, "two", overwrite=True)
    assert (tmp_path / "metrics/batch=0/part").read_text() == "two metrics"
    assert json.loads((tmp_path / "_manifest/batch=0.json").read_text())["run"] == "two"


def test_until_the_end_the_old_run_stays_as_it_is(tmp_path: Path) -> None:
    finish_run(tmp_path, "one")
    output = replacing(tmp_path)
    write_tables(output, "two")
    assert (tmp_path / "deliveries/batch=0/part").read_text() == "one deliveries"
    assert (tmp_path / "_manifest").exists()


def test_a_run_that_dies_while_writing_leaves_no_table(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES).batch(0)
    write_tables(output, "dead")
    assert names_of(tmp_path) == ["_staging"]
    finish_run(tmp_path, "alive")
    assert names_of(tmp_path) == ["_manifest", "deliveries", "metrics"]


@pytest.mark.parametrize("moves", [1, 2])
def test_a_run_that_dies_while_putting_in_place_has_no_manifest_and_is_cleared_up(
    tmp_path: Path, moves: int
) -> None:
    store = _Mortal(local_store(str(tmp_path)), moves)
    output = Output(store, TABLES).batch(0)
    write_tables(output, "dead")
    with pytest.raises(KeyboardInterrupt):
        output.finish({"run": "dead"})
    assert not (tmp_path / "_manifest").exists()
    finish_run(tmp_path, "alive")
    assert (tmp_path / "deliveries/batch=0/part").read_text() == "alive deliveries"
    assert (tmp_path / "metrics/batch=0/part").read_text() == "alive metrics"


class _Mortal:
    """A store that dies after so many moves."""

    def __init__(self, store: Store, moves: int) -> None:
        self._store = store
        self._left = moves

    def location(self, name: str) -> str:
        return self._store.location(name)

    def folder(self, name: str) -> Path | None:
        return self._store.folder(name)

    def exists(self, name: str) -> bool:
        return self._store.exists(name)

    def is_file(self, name: str) -> bool:
        return self._store.is_file(name)

    def is_link(self, name: str) -> bool:
        return self._store.is_link(name)

    def names(self, name: str) -> list[str]:
        return self._store.names(name)

    def write_later(self, name: str, content: bytes) -> Future[None]:
        return self._store.write_later(name, content)

    def sizes(self, name: str) -> dict[str, int]:
        return self._store.sizes(name)

    def read(self, name: str) -> bytes:
        return self._store.read(name)

    def delete(self, name: str) -> None:
        self._store.delete(name)

    def move(self, source: str, target: str) -> None:
        self._store.move(source, target)
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt

    def write(self, name: str, content: bytes) -> None:
        self._store.write(name, content)

    def sync(self, name: str) -> None:
        self._store.sync(name)


def test_only_the_files_that_count_become_part_of_a_table(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES).batch(0)
    output.begin()
    for table in TABLES:
        folder, attempts = output.folder(table), output.attempts(table)
        assert folder is not None
        assert attempts is not None
        assert list(folder.iterdir()) == list(attempts.iterdir()) == []
        for name in ("good", "failed"):
            (attempts / name).write_text(name)
        output.keep(table, "good")
    assert names_of(tmp_path) == ["_staging"]
    output.finish({})
    assert names_of(tmp_path) == ["_manifest", *TABLES]
    for table in TABLES:
        assert names_of(tmp_path / table / "batch=0") == ["good"]


def test_a_worker_that_goes_on_writing_does_not_stop_the_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = local_store(str(tmp_path))
    late = store.folder("staging/attempts")
    assert late is not None
    rmdir, times = os.rmdir, iter(range(3))

    def rmdir_too_late(path: str, **place: int) -> None:
        if next(times, None) is not None:
            (late / "part").write_text("late")
        rmdir(path, **place)

    monkeypatch.setattr(os, "rmdir", rmdir_too_late)
    store.delete("staging")
    assert names_of(tmp_path) == []


def test_a_folder_that_cannot_be_removed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = local_store(str(tmp_path))
    store.folder("staging")

    def refuse(path: str, **_: int) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(PermissionError):
        store.delete("staging")


def test_tables_of_another_origin_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "mine").write_text("precious")
    with pytest.raises(UsageError, match="has metrics of another origin"):
        finish_run(tmp_path, "one")
    assert (tmp_path / "metrics" / "mine").read_text() == "precious"


def test_other_files_in_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("precious")
    finish_run(tmp_path, "one", overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "precious"


def test_a_folder_that_cannot_be_made_is_the_callers_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in ("file", "file/below"):
        with pytest.raises(UsageError, match="cannot make the output folder"):
            local_store(str(tmp_path / path))


def test_a_folder_that_cannot_be_written_to_is_the_callers_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match="cannot be written to"):
        local_store(str(tmp_path))


def test_places_elsewhere_are_told_from_paths() -> None:
    assert local_path("a/b") == "a/b"
    assert local_path(Path("a/b")) == "a/b"
    assert local_path("file:/a/b") == local_path("file:///a/b") == "/a/b"
    assert local_path("file://localhost/a/b") == "/a/b"
    assert local_path("s3a://bucket/x") is None
    assert local_path("odd:name") == "odd:name"


@pytest.mark.parametrize("place", ["file:out", "file:", "file://host/out", "file://out"])
def test_an_address_that_names_no_whole_path_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match=f"'{place}' is no address of a file"):
        local_path(place)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("kind", ["local", "hadoop"])
def test_both_kinds_of_store_keep_the_same_promises(
    tmp_path: Path, spark: SparkSession, kind: str
) -> None:
    make: dict[str, Callable[[], Store]] = {
        "local": lambda: local_store(str(tmp_path / "out")),
        "hadoop": lambda: hadoop_store(f"file://{tmp_path}/out/", spark),
    }
    store = make[kind]()
    assert not store.exists("a")
    store.delete("a")
    store.write("a", b"\x00one")
    store.write("a", b"\xfftwo")
    assert (tmp_path / "out" / "a").read_bytes() == store.read("a") == b"\xfftwo"
    store.move("a", "b")
    assert (store.exists("a"), store.exists("b")) == (False, True)
    store.write("deep/er/e", b"e")
    store.write("deep/er/f", b"f")
    assert (store.names("deep/er"), store.names("nowhere")) == (["e", "f"], [])
    sizes = {name: size for name, size in store.sizes("deep/er").items() if name[0] != "."}
    assert (sizes, store.sizes("nowhere")) == ({"e": 1, "f": 1}, {})
    assert store.sizes("deep") == {"er": -1}
    store.move("deep/er/f", "an/other/f")
    assert store.names("an/other") == ["f"]
    (tmp_path / "out" / "c" / "d").mkdir(parents=True)
    store.delete("c")
    assert not store.exists("c")
    folder = store.folder("x/y")
    assert folder == (tmp_path / "out/x/y" if kind == "local" else None)
    assert folder is None or folder.is_dir()
    assert store.location("b").endswith(f"{tmp_path}/out/b")


@pytest.mark.parametrize("place", ["/x/profile:/feed", "out/myfile:/t", "in/file:/b.xml"])
def test_an_address_begins_where_a_place_begins(place: str) -> None:
    assert local_path(place) == place


def test_batches_lie_side_by_side_and_each_has_its_manifest(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES, existing="keep")
    for number, content in ((0, "one"), (10, "two"), (9, "three")):
        batch = output.batch(number)
        assert not batch.is_whole
        write_tables(batch, content)
        batch.finish({"run": content})
        assert batch.is_whole
    assert whole_batches(output.store) == [0, 9, 10]
    assert (tmp_path / "metrics/batch=9/part").read_text() == "three metrics"
    write_tables(output.batch(9), "again")
    assert whole_batches(output.store) == [0, 9, 10], "until it is finished again"
    assert (tmp_path / "metrics/batch=9/part").read_text() == "three metrics"
    output.batch(9).finish({"run": "again"})
    assert (tmp_path / "metrics/batch=9/part").read_text() == "again metrics"
    assert (tmp_path / "metrics/batch=10/part").read_text() == "two metrics"


def test_a_run_that_dies_while_it_writes_its_manifest_is_not_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def refuse(number: int) -> None:
        if Path(f"/proc/self/fd/{number}").readlink().parent.name == "_manifest":
            raise OSError(28, "No space left on device")
        fsync(number)

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse)
        with pytest.raises(OSError, match="No space"):
            finish_run(tmp_path, "dead")
    assert list((tmp_path / "_manifest").iterdir()) == []
    finish_run(tmp_path, "alive")
    assert (tmp_path / "deliveries/batch=0/part").read_text() == "alive deliveries"


def test_the_folder_of_a_stream_is_not_for_runs(tmp_path: Path) -> None:
    (tmp_path / "_stream.json").write_text("{}")
    with pytest.raises(UsageError, match="belongs to a stream"):
        finish_run(tmp_path, "one")
    finish_run(tmp_path, "one", overwrite=True)
    assert names_of(tmp_path) == ["_manifest", *TABLES]


def test_a_store_that_is_only_read_is_neither_made_nor_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_run(tmp_path / "there", "one")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert whole_batches(readable_store(str(tmp_path / "there"))) == [0]
    assert whole_batches(readable_store(str(tmp_path / "absent"))) == []
    assert names_of(tmp_path) == ["there"]


def _with_parts(output: BatchOutput) -> None:
    """What workers do, and then the driver."""
    output.begin()
    schema = pa.schema([pa.field("a", pa.int64())])
    for table in TABLES:
        attempts = output.attempts(table)
        assert attempts is not None
        part = Part(f"{attempts}/part-0.parquet", schema)
        part.write([pa.array([1, 2])])
        part.close()
        output.folder(table)
        output.keep(table, "part-0.parquet")


@pytest.mark.parametrize("existing", ["refuse", "keep", "replace"])
def test_all_that_a_manifest_stands_for_is_on_disk_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existing: Existing
) -> None:
    disk = Disk(tmp_path / "out", monkeypatch)
    for number in range(1 if existing == "refuse" else 3):
        store = local_store(str(tmp_path / "out"))
        output = Output(store, TABLES, existing=existing).batch(0 if existing != "keep" else number)
        _with_parts(output)
        output.finish({"run": str(number)})
    assert disk.manifests == (1 if existing == "refuse" else 3)
    assert disk.unsafe == []
    for path in (tmp_path / "out", *(tmp_path / "out" / "_manifest").iterdir()):
        assert disk.has_name(path), path


def test_deliveries_are_on_disk_before_they_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path / "out", monkeypatch)
    store = local_store(str(tmp_path / "out"))
    placed = tmp_path / "out/deliveries/batch=0/part-0.parquet"
    seen: list[bool] = []
    output = Output(store, TABLES).batch(0, placed=lambda: seen.append(disk.has_name(placed)))
    _with_parts(output)
    output.finish({"run": "one"})
    assert seen == [True]


@pytest.mark.parametrize("place", ["deliveries", "batch=0", "out", "_manifest"])
def test_what_cannot_be_forced_to_disk_is_told_and_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    out = tmp_path / "out"
    output = Output(local_store(str(out)), TABLES).batch(0)
    _with_parts(output)
    fsync = os.fsync

    def refuse(number: int) -> None:
        path = Path(f"/proc/self/fd/{number}").readlink()
        if path.name == place or path.parent.name == place == "_manifest":
            raise OSError(28, "No space left on device")
        fsync(number)

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse)
        with pytest.raises(OSError, match="No space"):
            output.finish({"run": "dead"})
    assert whole_batches(local_store(str(out))) == []
    again = Output(local_store(str(out)), TABLES).batch(0)
    _with_parts(again)
    again.finish({"run": "alive"})
    assert whole_batches(local_store(str(out))) == [0]


def test_links_that_lead_to_each_other_are_no_output_folder(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(UsageError, match="cannot make the output folder"):
        local_store(f"{tmp_path}/circle/../circle")
