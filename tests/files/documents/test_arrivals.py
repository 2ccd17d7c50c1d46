"""Files as they arrive: each once, when it has settled, and again when it has changed."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from twigcast.files.documents import arrivals as room
from twigcast.files.documents.arrivals import Arrivals


def _names(arrivals: Arrivals, folder: Path) -> list[str]:
    return [entry.name.removeprefix(f"{folder}/") for entry in arrivals.look()]


def test_a_file_is_handed_out_once_when_two_looks_found_it_the_same(tmp_path: Path) -> None:
    (tmp_path / "b.xml").write_text("<b/>")
    (tmp_path / "a.xml").write_text("<a/>")
    arrivals = Arrivals([tmp_path])
    assert _names(arrivals, tmp_path) == []
    assert _names(arrivals, tmp_path) == ["a.xml", "b.xml"]
    assert _names(arrivals, tmp_path) == []


def test_a_file_in_two_of_the_folders_is_handed_out_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.xml").write_text("<a/>")
    arrivals = Arrivals([tmp_path, tmp_path / "in"])
    assert [_names(arrivals, tmp_path) for _ in range(3)] == [[], ["in/a.xml"], []]


def test_a_file_that_is_still_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    arrivals = Arrivals([tmp_path])
    seen = []
    for length in (1, 2, 3, None, None):
        if length is not None:
            path.write_text("<a/>"[:length])
            os.utime(path, ns=(length, length))
        seen.append(_names(arrivals, tmp_path))
    assert seen == [[], [], [], ["a.xml"], []]


def test_a_file_that_is_replaced_is_a_new_arrival(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a/>")
    arrivals = Arrivals([tmp_path])
    assert [_names(arrivals, tmp_path) for _ in range(3)] == [[], ["a.xml"], []]
    path.write_text("<changed/>")
    assert [_names(arrivals, tmp_path) for _ in range(3)] == [[], ["a.xml"], []]


def test_a_file_that_only_looks_like_the_one_before_is_a_new_arrival(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies keep times, and disks give numbers again; but the disk's own time goes on."""
    stat = os.stat

    def numbered(path: str) -> SimpleNamespace:
        found = stat(path)
        told = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**{**told, "st_ino": 1, "st_ctime_ns": len(seen)})

    path = tmp_path / "a.xml"
    arrivals = Arrivals([tmp_path])
    seen: list[list[list[str]]] = []
    for content in ("<a>1</a>", "<a>2</a>"):
        path.unlink(missing_ok=True)
        path.write_text(content)
        os.utime(path, ns=(1, 1))
        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", numbered)
            seen.append([_names(arrivals, tmp_path) for _ in range(3)])
    assert seen == [[[], ["a.xml"], []]] * 2


def test_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a/>")
    arrivals = Arrivals([tmp_path])
    assert [_names(arrivals, tmp_path) for _ in range(2)] == [[], ["a.xml"]]
    path.unlink()
    assert _names(arrivals, tmp_path) == []
    assert arrivals._seen == {}


def test_hidden_files_and_other_names_are_not_seen(tmp_path: Path) -> None:
    for name in (".a.xml", "a.xml.part", "a.tmp"):
        (tmp_path / name).write_text("<a/>")
    arrivals = Arrivals([tmp_path])
    assert [_names(arrivals, tmp_path) for _ in range(2)] == [[], []]


def test_an_archive_is_opened_when_it_has_settled(tmp_path: Path) -> None:
    arrivals = Arrivals([tmp_path], patterns=["*.zip", "*.xml"])
    (tmp_path / "feed.zip").write_bytes(b"PK")  # half of it
    assert _names(arrivals, tmp_path) == []
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
        archive.writestr("c.xml", "<c/>")
    assert [_names(arrivals, tmp_path) for _ in range(2)] == [[], ["feed.zip!c.xml"]]


def test_a_folder_that_is_gone_is_told_once(tmp_path: Path) -> None:
    arrivals = Arrivals([tmp_path / "nowhere"])
    told = [len(list(arrivals.look())) for _ in range(4)]
    assert told == [0, 1, 0, 0]


def test_no_more_files_than_allowed_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "WATCHED_FILES_MAX", 2)
    for name in "abc":
        (tmp_path / f"{name}.xml").write_text("<a/>")
    arrivals = Arrivals([tmp_path])
    assert [_names(arrivals, tmp_path) for _ in range(2)] == [[], ["a.xml", "b.xml"]]
    assert arrivals.overflowing
    (tmp_path / "a.xml").unlink()
    assert [_names(arrivals, tmp_path) for _ in range(2)] == [[], ["c.xml"]]
    assert not arrivals.overflowing
