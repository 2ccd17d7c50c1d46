"""Locks on files, which end with the process however that ends."""

from __future__ import annotations

import errno
import fcntl
from typing import Final

_NO_LOCKS: Final = {
    errno.ENOLCK,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EINVAL,
    errno.EBADF,
}
"""What disks answer that have no locks, or none for folders."""


def lock(opened: int) -> None:
    """Lock an open file or folder, where the disk has locks."""
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def lock_at_once(opened: int) -> bool:
    """Lock it like :func:`lock`; False if somebody else holds the lock."""
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True
