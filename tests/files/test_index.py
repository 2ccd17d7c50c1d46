"""Versioned files are whole or absent, and a name never stands for two contents."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from twigcast.errors import UsageError
from twigcast.files.index import VersionedFile, read_index, version_of, write_versioned


def test_the_version_is_in_the_name_and_follows_the_content(tmp_path: Path) -> None:
    one = write_versioned(tmp_path / "new", stem="matcher", ending=".index", content=b"one")
    two = write_versioned(tmp_path / "new", stem="matcher", ending=".index", content=b"two")
    assert one.path.name == f"matcher-{one.version}.index"
    assert one.version == version_of(b"one") != two.version
    assert one.path.read_bytes() == b"one"


def test_equal_content_is_written_once(tmp_path: Path) -> None:
    first = write_versioned(tmp_path, stem="m", ending="", content=b"one")
    before = first.path.stat()
    assert write_versioned(tmp_path, stem="m", ending="", content=b"one") == first
    assert first.path.stat().st_ino == before.st_ino
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_versioned(tmp_path, stem="m", ending="", content=b"one")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b""])
def test_a_missing_or_empty_index_is_the_callers_mistake(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "matcher.index"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match="cannot read the compiled matcher"):
        read_index(path)


def test_two_threads_may_write_one_version_at_once(tmp_path: Path) -> None:
    start = Barrier(8)

    def write(_: int) -> VersionedFile:
        start.wait()
        return write_versioned(tmp_path, stem="x", ending=".bin", content=b"same" * 50_000)

    with ThreadPoolExecutor(8) as pool:
        files = list(pool.map(write, range(8)))
    assert len(set(files)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [files[0].path.name]
