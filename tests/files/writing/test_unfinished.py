"""What is being written has a name that tells it from what was left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.files.writing.new_files import new_file
from twigcast.files.writing.unfinished import remove_left_behind


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file that is there already."""
    place = tmp_path / "place"
    place.write_bytes(b"before")
    return place


def test_what_is_being_written_is_not_taken_for_left_behind(place: Path) -> None:
    """Another process tidies up: one that files documents, or writes a feed."""
    with new_file(place) as file:
        file.write(b"after")
        remove_left_behind(place.parent)
    assert place.read_bytes() == b"after"
