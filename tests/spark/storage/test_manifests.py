"""A finished run is what its manifest says, or it is refused by name; links are not followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.finished_runs import TABLES, finish_run, names_of, write_tables
from twigcast.errors import UsageError
from twigcast.spark.storage.batches import (
    Existing,
    Output,
    Store,
    hadoop_store,
    local_store,
    readable_store,
)
from twigcast.spark.storage.manifests import (
    Span,
    drop_before,
    is_finished,
    last_batch,
    manifests_of,
    spans,
    whole_batches,
    write_manifest,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _numbers(store: Store, table: str) -> list[int]:
    """The finished batches, of which a table is all there."""
    return [manifest.batch for manifest in manifests_of(store, table)]


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[]", b"\xff", b'{"run": "one"}'])
def test_a_damaged_manifest_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    finish_run(tmp_path, "one")
    (tmp_path / "_manifest/batch=0.json").write_bytes(content)
    store = local_store(str(tmp_path))
    with pytest.raises(UsageError, match=r"cannot use .*_manifest/batch=0\.json: .*overwrite"):
        whole_batches(store)
    with pytest.raises(UsageError, match=r"cannot use .*_manifest/batch=0\.json"):
        assert Output(store, TABLES, existing="keep").batch(0).is_whole
    with pytest.raises(UsageError, match="holds a finished run"):
        Output(store, TABLES)
    finish_run(tmp_path, "two", overwrite=True)
    assert whole_batches(store) == [0]


def test_the_manifest_of_another_batch_is_refused(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES, existing="keep").batch(4)
    write_tables(output, "one")
    output.finish({"run": "one", "batch": 4})
    assert output.is_whole
    (tmp_path / "_manifest/batch=4.json").rename(tmp_path / "_manifest/batch=5.json")
    with pytest.raises(UsageError, match="it is that of batch 4"):
        whole_batches(local_store(str(tmp_path)))


@pytest.mark.parametrize(
    "name", ["batch=5.json", "batch=007.json", "batch=x.json", "batch=3-2.json", "batch=3-3.json"]
)
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
    finish_run(out, "one")
    finish_run(other, "other")
    store = readable_store(str(out))
    assert _numbers(store, "deliveries") == [0]
    damage(out, other)
    with pytest.raises(UsageError, match=f"cannot use .*/{told}.*; put .* overwrite"):
        _numbers(store, "deliveries")
    assert _numbers(store, "metrics") == [0], "the other tables are whole"


@pytest.mark.parametrize("name", [".part.crc", "_SUCCESS"])
def test_what_no_reader_takes_for_a_part_may_come_and_go(tmp_path: Path, name: str) -> None:
    finish_run(tmp_path, "one")
    (tmp_path / PLACE / name).touch()
    assert _numbers(readable_store(str(tmp_path)), "deliveries") == [0]


def test_the_parts_of_each_batch_are_its_own(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES, existing="keep")
    for number, content in ((0, "one"), (1, "three")):
        write_tables(output.batch(number), content)
        output.batch(number).finish({})
    assert _numbers(output.store, "metrics") == [0, 1]
    (tmp_path / "metrics/batch=1/part").rename(tmp_path / "metrics/batch=0/part")
    with pytest.raises(UsageError, match="metrics/batch=0/part: it has 13 bytes"):
        _numbers(output.store, "metrics")


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
    finish_run(tmp_path, "one")
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
    write_tables(output, "one")
    output.finish({})
    assert _numbers(store, "deliveries") == [0]
    manifest = tmp_path / "_manifest/batch=0.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"manifest", b"Manifest"))
    with pytest.raises(UsageError, match=r"cannot use .*/batch=0\.json: .*Checksum error.*; run"):
        _numbers(store, "deliveries")
    manifest.unlink()
    manifest.mkdir()
    with pytest.raises(UsageError, match=r"cannot use .*/batch=0\.json: .*no file; run"):
        _numbers(store, "deliveries")


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
    assert names_of(out) == [name]
    assert names_of(tmp_path) == ["out", "precious"]
    assert names_of(tmp_path / "precious") == ["file"]


def test_nothing_is_deleted_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    store = local_store(str(tmp_path / "out"))
    (tmp_path / "out" / "link").symlink_to(tmp_path / "precious")
    store.delete("link")
    assert names_of(tmp_path / "out") == []
    assert names_of(tmp_path / "precious") == ["file"]


def _finished(out: Path, *named: Span) -> Store:
    """Manifests of batches that have no tables."""
    store = local_store(str(out))
    for span in named:
        write_manifest(store, span, {"parts": {}})
    return store


def test_a_span_takes_the_place_of_all_that_lie_inside_it(tmp_path: Path) -> None:
    singles = [Span(number, number) for number in range(8)]
    store = _finished(tmp_path, *singles, Span(0, 2), Span(3, 5), Span(0, 5))
    assert spans(store) == [Span(0, 5), Span(6, 6), Span(7, 7)]
    assert whole_batches(store) == list(range(8))
    assert last_batch(store) == 7
    (tmp_path / "_manifest/batch=4.json").unlink()
    assert is_finished(store, 4)
    assert not is_finished(store, 8)


def test_batches_that_are_dropped_are_finished_and_not_there(tmp_path: Path) -> None:
    store = _finished(tmp_path, Span(0, 2), Span(3, 3), Span(4, 4))
    drop_before(store, 3, datetime(2026, 1, 1, tzinfo=UTC))
    assert whole_batches(store) == [3, 4]
    assert is_finished(store, 1)
    (tmp_path / "_manifest/dropped.json").write_bytes(b"{}")
    with pytest.raises(UsageError, match=r"cannot use .*dropped\.json: .*keep what is still there"):
        whole_batches(store)


def test_spans_that_share_a_batch_are_refused(tmp_path: Path) -> None:
    store = _finished(tmp_path, Span(0, 3), Span(3, 5))
    with pytest.raises(UsageError, match="both stand for batch 3"):
        whole_batches(store)


def test_the_manifest_of_a_span_is_held_to_its_name(tmp_path: Path) -> None:
    store = _finished(tmp_path, Span(0, 3))
    (tmp_path / "_manifest/batch=0-3.json").rename(tmp_path / "_manifest/batch=0-4.json")
    with pytest.raises(UsageError, match="it is that of batch 0-3; put back a copy of it"):
        whole_batches(store)


def test_a_run_that_takes_the_place_of_a_stream_is_not_dropped_with_it(tmp_path: Path) -> None:
    store = _finished(tmp_path, Span(4, 4))
    drop_before(store, 4, datetime(2026, 1, 1, tzinfo=UTC))
    finish_run(tmp_path, "new", overwrite=True)
    assert whole_batches(store) == [0]
