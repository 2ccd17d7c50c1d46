"""Originals that were moved aside come back once, whenever somebody was killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from twigcast.files.originals import put_back_left_aside, remove_original


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
