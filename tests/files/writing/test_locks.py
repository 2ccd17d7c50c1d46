"""Locks on files: one holds it, and a disk without locks stops nobody."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from twigcast.files.writing.locks import lock, lock_at_once


def test_a_lock_is_held_by_one_until_the_file_is_closed(tmp_path: Path) -> None:
    one, other = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    try:
        lock(one)
        assert lock_at_once(one)
        assert not lock_at_once(other)
        os.close(one)
        assert lock_at_once(other)
    finally:
        os.close(other)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_the_disk_has_no_locks_nobody_waits(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(_opened: int, _how: int) -> None:
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    lock(0)
    assert lock_at_once(0)


def test_another_failure_of_the_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(_opened: int, _how: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(fcntl, "flock", flock)
    for locking in (lock, lock_at_once):
        with pytest.raises(OSError, match="the disk is broken"):
            locking(0)
