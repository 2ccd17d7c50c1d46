"""What is written whole is forced to disk before its name is, and never half there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from twigcast.files.writing.durable import sync_file, sync_folder, write_whole


class Recorder:
    """What is forced to disk, and what is renamed, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, str]] = []
        fsync, replace = os.fsync, os.replace

        def recorded_fsync(number: int) -> None:
            self.events.append(("sync", Path(f"/proc/self/fd/{number}").readlink().name))
            fsync(number)

        def recorded_replace(source: Path, target: Path) -> None:
            self.events.append(("name", Path(target).name))
            replace(source, target)

        monkeypatch.setattr(os, "fsync", recorded_fsync)
        monkeypatch.setattr(os, "replace", recorded_replace)


def test_the_content_is_on_disk_before_the_name_and_the_name_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    recorder = Recorder(monkeypatch)
    write_whole(tmp_path / "out" / "a.json", b"one")
    (first, written), *rest = recorder.events
    assert first == "sync"
    assert written.endswith(".tmp")
    assert rest == [("name", "a.json"), ("sync", "out")]
    assert (tmp_path / "out" / "a.json").read_bytes() == b"one"


def test_folders_that_are_made_are_on_disk_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(monkeypatch)
    write_whole(tmp_path / "one" / "two" / "a.json", b"one")
    synced = [name for what, name in recorder.events if what == "sync"]
    assert synced[1:] == ["two", "one", tmp_path.name]


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    path = tmp_path / "a.json"
    if before is not None:
        path.write_bytes(before)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([before] if before else [])


@pytest.mark.parametrize(("number", "tells"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_forced_is_left_and_one_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, tells: bool
) -> None:
    def fails(_: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", fails)
    if tells:
        with pytest.raises(OSError, match="no"):
            sync_folder(tmp_path)
    else:
        sync_folder(tmp_path)
    with pytest.raises(OSError, match="no"):
        sync_file(tmp_path)
