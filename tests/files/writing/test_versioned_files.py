"""Versioned files are whole or absent, and a name never stands for two contents."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.errors import UsageError
from twigcast.files.writing.versioned_files import (
    VersionedFile,
    read_index,
    read_versioned,
    version_of,
    write_index,
    write_versioned,
)
from twigcast.matching import Matcher


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


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_index_that_is_not_what_its_name_tells_is_refused(tmp_path: Path, engine: str) -> None:
    one = write_index(tmp_path, Matcher(["//a"], engine=engine))
    two = write_index(tmp_path, Matcher(["//b"], engine=engine))
    assert read_index(one.path, engine=engine).match("<a/>") == [1]
    two.path.replace(one.path)
    with pytest.raises(UsageError, match=rf"cannot use .*{one.path.name}.*another file"):
        read_index(one.path, engine=engine)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_index_that_was_renamed_is_held_to_its_checksum(tmp_path: Path, engine: str) -> None:
    path = write_index(tmp_path, Matcher(["//a"], engine=engine)).path
    path = path.rename(tmp_path / "mine.index")
    assert read_index(path, engine=engine).match("<a/>") == [1]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot use the compiled matcher .*mine\.index: "):
        read_index(path, engine=engine)


def test_every_bit_of_a_versioned_file_counts(tmp_path: Path) -> None:
    file = write_versioned(tmp_path, stem="labels", ending=".arrow", content=b"some content")
    assert bytes(read_versioned(file.path)) == b"some content"
    for place in range(12):
        for changed in (b"some content"[:place], b"some content"[:place] + b"~" * (12 - place)):
            file.path.write_bytes(changed)
            with pytest.raises(UsageError, match=rf"cannot (use|read) .*{file.path.name}"):
                read_versioned(file.path)


def test_a_file_whose_name_tells_no_version_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "labels.arrow").write_bytes(b"one")
    with pytest.raises(UsageError, match="its name tells no version"):
        read_versioned(tmp_path / "labels.arrow")


def test_a_damaged_file_is_written_anew(tmp_path: Path) -> None:
    file = write_versioned(tmp_path, stem="m", ending="", content=b"one")
    file.path.write_bytes(b"two")
    assert write_versioned(tmp_path, stem="m", ending="", content=b"one") == file
    assert bytes(read_versioned(file.path)) == b"one"
