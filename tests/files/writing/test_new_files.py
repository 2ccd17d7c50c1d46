"""New files: complete or not there, and a sentence that says whose fault it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from twigcast.errors import TwigcastError, UsageError
from twigcast.files.writing.new_files import new_file


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file that is there already."""
    place = tmp_path / "place"
    place.write_bytes(b"before")
    return place


def _write(place: Path, stopped_by: BaseException) -> None:
    with new_file(place) as file:
        file.write(b"after")
        raise stopped_by


def test_a_file_takes_its_place_when_it_is_complete(place: Path) -> None:
    with new_file(place) as file:
        file.write(b"after")
        assert place.read_bytes() == b"before"
    assert place.read_bytes() == b"after"
    assert list(place.parent.iterdir()) == [place]


def test_what_is_stopped_on_the_way_leaves_what_was_there(place: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _write(place, KeyboardInterrupt())
    assert place.read_bytes() == b"before"
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("name", ["place/below", "folder", "n" * 300])
def test_a_place_that_cannot_be_is_a_slip(place: Path, name: str) -> None:
    (place.parent / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot write"), new_file(place.parent / name):
        pass


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_what_leads_to_an_open_file_is_written_to_that_and_stays_a_link(place: Path) -> None:
    with place.open("r+b") as held:
        held.seek(0, os.SEEK_END)
        link = place.with_name("stdout")
        link.symlink_to(f"/proc/self/fd/{held.fileno()}")
        with new_file(link) as file:
            file.write(b" and after")
        assert link.is_symlink()
        held.write(b", and more")
    assert place.read_bytes() == b"before and after, and more"


def test_a_link_that_leads_to_itself_is_replaced(tmp_path: Path) -> None:
    link = tmp_path / "circle"
    link.symlink_to("circle")
    with new_file(link) as file:
        file.write(b"after")
    assert link.read_bytes() == b"after"


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_that_has_no_name_of_its_own_is_a_slip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="Is a directory"), new_file(Path(name)):
        pass
    assert not list(tmp_path.iterdir())


def test_a_name_may_be_as_long_as_the_disk_allows(tmp_path: Path) -> None:
    with new_file(tmp_path / ("n" * 255)) as file:
        file.write(b"after")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def test_a_full_disk_is_no_slip(place: Path) -> None:
    with pytest.raises(TwigcastError, match="No space left") as caught:
        _write(place, OSError(28, "No space left on device"))
    assert not isinstance(caught.value, UsageError)
    assert list(place.parent.iterdir()) == [place]


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with new_file(pipe) as file:
        file.write(b"content")
    assert os.read(reader, 100) == b"content"
    os.close(reader)
    assert pipe.is_fifo()


def test_of_two_writers_of_one_file_each_has_its_own_and_the_last_stays(place: Path) -> None:
    with new_file(place) as first:
        first.write(b"first")
        with new_file(place) as second:
            second.write(b"second")
        assert place.read_bytes() == b"second"
    assert place.read_bytes() == b"first"
    assert list(place.parent.iterdir()) == [place]
