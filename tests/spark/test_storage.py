"""Tables are put in place whole, the manifest last, and nothing of others is touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from twigcast.errors import UsageError
from twigcast.spark.parts import Part
from twigcast.spark.storage import (
    BatchOutput,
    Existing,
    Output,
    Store,
    batches_of,
    hadoop_store,
    local_path,
    local_store,
    readable_store,
    whole_batches,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = ("deliveries", "metrics")


def _write(output: BatchOutput, content: str) -> None:
    """What Spark does: a folder for each table."""
    output.begin()
    for table in TABLES:
        folder = Path(output.location(table).removeprefix("file://"))
        folder.mkdir(parents=True)
        (folder / "part").write_text(f"{content} {table}")


def _run(out: Path, content: str, *, overwrite: bool = False) -> None:
    output = _replacing(out) if overwrite else Output(local_store(str(out)), TABLES).batch(0)
    _write(output, content)
    output.finish({"run": content})


def _replacing(out: Path) -> BatchOutput:
    return Output(local_store(str(out)), TABLES, existing="replace").batch(0)


def _names(out: Path) -> list[str]:
    return sorted(item.name for item in out.iterdir())


def test_a_finished_run_has_its_tables_and_a_manifest(tmp_path: Path) -> None:
    _run(tmp_path / "new" / "out", "one")
    assert _names(tmp_path / "new" / "out") == ["_manifest", "deliveries", "metrics"]
    assert json.loads((tmp_path / "new/out/_manifest/batch=0.json").read_text())["run"] == "one"
    assert (tmp_path / "new/out/deliveries/batch=0/part").read_text() == "one deliveries"


def test_a_finished_run_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    _run(tmp_path, "one")
    with pytest.raises(UsageError, match="holds a finished run"):
        _run(tmp_path, "two")
    assert (tmp_path / "metrics/batch=0/part").read_text() == "one metrics"
    _run(tmp_path, "two", overwrite=True)
    assert (tmp_path / "metrics/batch=0/part").read_text() == "two metrics"
    assert json.loads((tmp_path / "_manifest/batch=0.json").read_text())["run"] == "two"


def test_until_the_end_the_old_run_stays_as_it_is(tmp_path: Path) -> None:
    _run(tmp_path, "one")
    output = _replacing(tmp_path)
    _write(output, "two")
    assert (tmp_path / "deliveries/batch=0/part").read_text() == "one deliveries"
    assert (tmp_path / "_manifest").exists()


def test_a_run_that_dies_while_writing_leaves_no_table(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES).batch(0)
    _write(output, "dead")
    assert _names(tmp_path) == ["_staging"]
    _run(tmp_path, "alive")
    assert _names(tmp_path) == ["_manifest", "deliveries", "metrics"]


@pytest.mark.parametrize("moves", [1, 2])
def test_a_run_that_dies_while_putting_in_place_has_no_manifest_and_is_cleared_up(
    tmp_path: Path, moves: int
) -> None:
    store = _Mortal(local_store(str(tmp_path)), moves)
    output = Output(store, TABLES).batch(0)
    _write(output, "dead")
    with pytest.raises(KeyboardInterrupt):
        output.finish({"run": "dead"})
    assert not (tmp_path / "_manifest").exists()
    _run(tmp_path, "alive")
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
    assert _names(tmp_path) == ["_staging"]
    output.finish({})
    assert _names(tmp_path) == ["_manifest", *TABLES]
    for table in TABLES:
        assert _names(tmp_path / table / "batch=0") == ["good"]


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
    assert _names(tmp_path) == []


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
        _run(tmp_path, "one")
    assert (tmp_path / "metrics" / "mine").read_text() == "precious"


def test_other_files_in_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("precious")
    _run(tmp_path, "one", overwrite=True)
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


def test_batches_lie_side_by_side_and_each_has_its_manifest(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES, existing="keep")
    for number, content in ((0, "one"), (10, "two"), (9, "three")):
        batch = output.batch(number)
        assert not batch.is_whole
        _write(batch, content)
        batch.finish({"run": content})
        assert batch.is_whole
    assert output.whole_batches() == [0, 9, 10]
    assert (tmp_path / "metrics/batch=9/part").read_text() == "three metrics"
    _write(output.batch(9), "again")
    assert output.whole_batches() == [0, 9, 10], "until it is finished again"
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
            _run(tmp_path, "dead")
    assert list((tmp_path / "_manifest").iterdir()) == []
    _run(tmp_path, "alive")
    assert (tmp_path / "deliveries/batch=0/part").read_text() == "alive deliveries"


def test_the_folder_of_a_stream_is_not_for_runs(tmp_path: Path) -> None:
    (tmp_path / "_stream.json").write_text("{}")
    with pytest.raises(UsageError, match="belongs to a stream"):
        _run(tmp_path, "one")
    _run(tmp_path, "one", overwrite=True)
    assert _names(tmp_path) == ["_manifest", *TABLES]


def test_a_store_that_is_only_read_is_neither_made_nor_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(tmp_path / "there", "one")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert whole_batches(readable_store(str(tmp_path / "there"))) == [0]
    assert whole_batches(readable_store(str(tmp_path / "absent"))) == []
    assert _names(tmp_path) == ["there"]


class _Disk:
    """What of a folder would be there after a power cut: what was forced to disk, in order."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.unsafe: list[str] = []
        """What a manifest stood for that was not on disk when the manifest got its name."""
        self.manifests = 0
        self._contents: set[int] = set()
        """Files whose content is on disk."""
        self._names: set[tuple[int, str]] = set()
        """Names that are on disk, each with the folder that it is in."""
        fsync, replace = os.fsync, os.replace

        def recorded_fsync(number: int) -> None:
            fsync(number)
            found = os.fstat(number).st_ino
            self._contents.add(found)
            path = Path(f"/proc/self/fd/{number}").readlink()
            if path.is_dir():
                self._names -= {pair for pair in self._names if pair[0] == found}
                self._names |= {(found, each.name) for each in path.iterdir()}

        def recorded_replace(source: Path, target: Path) -> None:
            if Path(target).parent.name == "_manifest":
                self.manifests += 1
                self.unsafe += self._missing(self.root)
                if Path(source).stat().st_ino not in self._contents:
                    self.unsafe.append("the manifest itself")
            replace(source, target)

        monkeypatch.setattr(os, "fsync", recorded_fsync)
        monkeypatch.setattr(os, "replace", recorded_replace)

    def has_name(self, path: Path) -> bool:
        return (path.parent.stat().st_ino, path.name) in self._names

    def _missing(self, folder: Path) -> list[str]:
        missing = []
        for each in folder.iterdir():
            if each.name.startswith("_"):
                continue
            if not self.has_name(each):
                missing.append(f"the name of {each.name}")
            if each.is_dir():
                missing += self._missing(each)
            elif each.stat().st_ino not in self._contents:
                missing.append(f"the content of {each.name}")
        return missing


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
    disk = _Disk(tmp_path / "out", monkeypatch)
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
    disk = _Disk(tmp_path / "out", monkeypatch)
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


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[]", b"\xff", b'{"run": "one"}'])
def test_a_damaged_manifest_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    _run(tmp_path, "one")
    (tmp_path / "_manifest/batch=0.json").write_bytes(content)
    store = local_store(str(tmp_path))
    with pytest.raises(UsageError, match=r"cannot use .*_manifest/batch=0\.json: .*overwrite"):
        whole_batches(store)
    with pytest.raises(UsageError, match=r"cannot use .*_manifest/batch=0\.json"):
        assert Output(store, TABLES, existing="keep").batch(0).is_whole
    with pytest.raises(UsageError, match="holds a finished run"):
        Output(store, TABLES)
    _run(tmp_path, "two", overwrite=True)
    assert whole_batches(store) == [0]


def test_the_manifest_of_another_batch_is_refused(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES, existing="keep").batch(4)
    _write(output, "one")
    output.finish({"run": "one", "batch": 4})
    assert output.is_whole
    (tmp_path / "_manifest/batch=4.json").rename(tmp_path / "_manifest/batch=5.json")
    with pytest.raises(UsageError, match="it is that of batch 4"):
        whole_batches(local_store(str(tmp_path)))


@pytest.mark.parametrize("name", ["batch=5.json", "batch=007.json", "batch=x.json"])
def test_what_only_looks_like_a_manifest_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "_manifest" / name).mkdir(parents=True)
    with pytest.raises(UsageError, match=rf"cannot use .*/_manifest/{name}: it is no manifest"):
        whole_batches(readable_store(str(tmp_path)))


@pytest.mark.parametrize("name", ["batch=5.json.3f.tmp", ".batch=5.json.crc", "notes.txt"])
def test_what_lies_beside_manifests_does_not_count(tmp_path: Path, name: str) -> None:
    (tmp_path / "_manifest").mkdir()
    (tmp_path / "_manifest" / name).touch()
    assert whole_batches(readable_store(str(tmp_path))) == []


PLACE = Path("deliveries/batch=0")
PART = PLACE / "part"


def _lost(out: Path, other: Path) -> None:
    (out / PART).unlink()


def _lost_with_its_folder(out: Path, other: Path) -> None:
    (out / PART).unlink()
    (out / PLACE).rmdir()


def _added(out: Path, other: Path) -> None:
    (out / PLACE / "part").write_text("one deliveries")
    (out / PLACE / "spare").write_text("one deliveries")


def _added_below(out: Path, other: Path) -> None:
    (out / PLACE / "_x=1").mkdir()


def _cut_off(out: Path, other: Path) -> None:
    (out / PART).write_text("one")


def _exchanged(out: Path, other: Path) -> None:
    (out / PART).unlink()
    (out / PLACE).rmdir()
    (other / PLACE).rename(out / PLACE)


def _a_folder(out: Path, other: Path) -> None:
    (out / PART).unlink()
    (out / PART).mkdir()


def _a_link_to_nothing(out: Path, other: Path) -> None:
    (out / PART).unlink()
    (out / PART).symlink_to("nothing")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_lost, r"deliveries/batch=0/part: it is not there"),
        (_lost_with_its_folder, r"deliveries/batch=0/part: it is not there"),
        (_added, r"deliveries/batch=0/spare: the run did not write it"),
        (_added_below, r"deliveries/batch=0/_x=1: the run did not write it"),
        (_cut_off, r"deliveries/batch=0/part: it has 3 bytes, and the run wrote 14"),
        (_exchanged, r"deliveries/batch=0/part: it has 16 bytes, and the run wrote 14"),
        (_a_folder, r"deliveries/batch=0/part: it is no file"),
        (_a_link_to_nothing, r"deliveries/batch=0/part: it is no file"),
    ],
)
def test_a_table_is_what_its_run_wrote_or_is_refused(
    tmp_path: Path, damage: Callable[[Path, Path], None], told: str
) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    _run(out, "one")
    _run(other, "other")
    store = readable_store(str(out))
    assert batches_of(store, "deliveries") == [0]
    damage(out, other)
    with pytest.raises(UsageError, match=f"cannot use .*/{told}.*; put .* overwrite"):
        batches_of(store, "deliveries")
    assert batches_of(store, "metrics") == [0], "the other tables are whole"


@pytest.mark.parametrize("name", [".part.crc", "_SUCCESS"])
def test_what_no_reader_takes_for_a_part_may_come_and_go(tmp_path: Path, name: str) -> None:
    _run(tmp_path, "one")
    (tmp_path / PLACE / name).touch()
    assert batches_of(readable_store(str(tmp_path)), "deliveries") == [0]


def test_the_parts_of_each_batch_are_its_own(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES, existing="keep")
    for number, content in ((0, "one"), (1, "three")):
        _write(output.batch(number), content)
        output.batch(number).finish({})
    assert batches_of(output.store, "metrics") == [0, 1]
    (tmp_path / "metrics/batch=1/part").rename(tmp_path / "metrics/batch=0/part")
    with pytest.raises(UsageError, match="metrics/batch=0/part: it has 13 bytes"):
        batches_of(output.store, "metrics")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [_pipe, _link_to_itself])
def test_what_is_no_file_is_no_manifest(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "_manifest").mkdir()
    make(tmp_path / "_manifest/batch=0.json")
    with pytest.raises(UsageError, match=r"cannot use .*/batch=0\.json: .*no file"):
        whole_batches(readable_store(str(tmp_path)))


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        readable_store(str(tmp_path)).read("pipe")


def test_a_manifest_that_cannot_be_read_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(tmp_path, "one")
    store = readable_store(str(tmp_path))

    def fails(_: str) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(store, "read", fails)
    with pytest.raises(UsageError, match=r"cannot use .*/batch=0\.json: Input/output error; run"):
        whole_batches(store)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_manifest_that_hadoop_finds_damaged_is_refused_by_its_name(
    tmp_path: Path, spark: SparkSession
) -> None:
    store = hadoop_store(f"file://{tmp_path}", spark)
    output = Output(store, TABLES).batch(0)
    _write(output, "one")
    output.finish({})
    assert batches_of(store, "deliveries") == [0]
    manifest = tmp_path / "_manifest/batch=0.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"manifest", b"Manifest"))
    with pytest.raises(UsageError, match=r"cannot use .*/batch=0\.json: .*Checksum error.*; run"):
        batches_of(store, "deliveries")
    manifest.unlink()
    manifest.mkdir()
    with pytest.raises(UsageError, match=r"cannot use .*/batch=0\.json: .*no file; run"):
        batches_of(store, "deliveries")


@pytest.mark.parametrize("name", ["deliveries", "_staging", "_manifest", "_versions"])
@pytest.mark.parametrize("target", ["precious", "nothing"])
@pytest.mark.parametrize("existing", ["refuse", "keep", "replace"])
def test_a_link_is_refused_before_anything_is_changed(
    tmp_path: Path, name: str, target: str, existing: Existing
) -> None:
    out = tmp_path / "out"
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    out.mkdir()
    (out / name).symlink_to(tmp_path / target)
    with pytest.raises(UsageError, match=f"cannot use .*/{name}: it is a link"):
        Output(local_store(str(out)), TABLES, existing=existing)
    assert _names(out) == [name]
    assert _names(tmp_path) == ["out", "precious"]
    assert _names(tmp_path / "precious") == ["file"]


def test_nothing_is_deleted_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    store = local_store(str(tmp_path / "out"))
    (tmp_path / "out" / "link").symlink_to(tmp_path / "precious")
    store.delete("link")
    assert _names(tmp_path / "out") == []
    assert _names(tmp_path / "precious") == ["file"]
