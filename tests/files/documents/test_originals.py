"""Originals that were moved aside come back once, whenever somebody was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from twigcast.files.documents.originals import put_back_left_aside, remove_original


class _Killed(BaseException):
    """What a kill comes to: nothing behind it is done."""


def test_a_kill_behind_the_link_leaves_one_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "a.xml"
    document.write_bytes(b"<new/>")

    def killed(*_: object, **__: object) -> None:
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed)
        with pytest.raises(_Killed):
            remove_original(document, b"<new/>")
    (aside,) = (each for each in tmp_path.iterdir() if each.is_dir())
    assert os.path.samefile(aside / "a.xml", document)  # noqa: PTH121 (of two paths)
    list(put_back_left_aside([tmp_path]))
    assert [each.name for each in tmp_path.iterdir()] == ["a.xml"]


def _left_aside(folder: Path, name: str = "a.xml") -> Path:
    aside = folder / ".twigcast-0123456789abcdef.aside"
    aside.mkdir(exist_ok=True)
    (aside / name).write_bytes(b"<new/>")
    return aside / name


@pytest.mark.parametrize("step", ["open", "flock", "listdir", "link", "unlink"])
def test_what_its_mover_takes_away_at_the_last_moment_is_not_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A mover that is at work finishes in front of each of our steps."""
    moved = _left_aside(tmp_path)

    def after_the_mover(do: Callable[..., object]) -> Callable[..., object]:
        def done(*given: object, **named: object) -> object:
            shutil.rmtree(moved.parent, ignore_errors=True)
            return do(*given, **named)

        return done

    rooms = {"flock": fcntl, "unlink": Path}
    room = rooms.get(step, os)
    with monkeypatch.context() as patched:
        patched.setattr(room, step, after_the_mover(getattr(room, step)))
        told = list(put_back_left_aside([tmp_path]))
    assert not moved.parent.exists()
    assert [each for each in told if "is back" not in each] == []


@pytest.mark.parametrize("step", ["link", "unlink", "listdir"])
def test_what_the_system_refuses_is_one_line_and_the_next_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Nobody may link the file of another owner (protected_hardlinks), for one."""
    places = [tmp_path / "anna", tmp_path / "ben"]
    for place in places:
        place.mkdir()
        _left_aside(place)

    def refused(do: Callable[..., object]) -> Callable[..., object]:
        def done(path: Path, *given: object, **named: object) -> object:
            if "anna" in str(path):
                raise PermissionError(1, "Operation not permitted")
            return do(path, *given, **named)

        return done

    room = Path if step == "unlink" else os
    with monkeypatch.context() as patched:
        patched.setattr(room, step, refused(getattr(room, step)))
        no, back = put_back_left_aside(places)
    assert no.startswith(f"{tmp_path}/anna/.twigcast-")
    assert no.endswith(": Operation not permitted")
    assert back == f"{tmp_path}/ben/a.xml: it was left aside by a killed process, and is back"
    assert (places[1] / "a.xml").read_bytes() == b"<new/>"
