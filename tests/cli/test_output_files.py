"""Folders and archives that a verb writes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.cli.output_files import write_folder
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


def test_documents_go_to_a_folder_that_is_empty_or_new(twigcast: Twigcast, tmp_path: Path) -> None:
    words = ("generate", "documents", "--count", "12", "--out", "feed")
    assert twigcast(*words).stderr == "12 documents in feed\n"
    names = sorted(path.name for path in (tmp_path / "feed").iterdir())
    assert names == [f"news-{number:02}.xml" for number in range(1, 13)]
    again = twigcast(*words)
    assert again.exit_code == 2
    assert "not empty" in again.stderr


def test_documents_go_to_an_archive_with_the_same_bytes_each_time(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    for name in ("a.zip", "b.ZIP"):
        assert twigcast("generate", "documents", "--count", "3", "--out", name).exit_code == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.ZIP").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["news-1.xml", "news-2.xml", "news-3.xml"]
        first = archive.read("news-1.xml")
    lines = twigcast("generate", "documents", "--count", "3", "--json").stdout.splitlines()
    assert json.loads(lines[0]) == {"document": "news-1.xml", "content": first.decode()}


def test_of_two_feeds_for_one_folder_at_once_one_is_written(tmp_path: Path) -> None:
    feed = tmp_path / "feed"

    def drawn() -> Iterator[tuple[str, bytes]]:
        """The second begins when the first has looked, and not yet written."""
        with pytest.raises(UsageError, match="somebody else is writing into the folder"):
            write_folder(feed, [("other.xml", b"<other/>")])
        yield "a.xml", b"<a/>"

    write_folder(feed, drawn())
    assert [path.name for path in feed.iterdir()] == ["a.xml"]


def test_a_folder_with_what_a_killed_process_left_behind_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".twigcast-0123456789abcdef.tmp").write_bytes(b"<a")
    write_folder(tmp_path, [("a.xml", b"<a/>")])
    assert [path.name for path in tmp_path.iterdir()] == ["a.xml"]
