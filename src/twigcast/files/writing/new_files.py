"""Files that take their place when they are complete, and whose fault it is if they cannot.

A file is written beside its place and renamed when it is complete, so whoever is interrupted leaves
nothing that looks finished. Until then it is locked (:mod:`twigcast.files.writing.unfinished`). A
device or a pipe stays what it is, and is written to, and so is a file that is open already and goes
by its number: ``/dev/stdout`` is a link that must not be replaced.

A place that cannot be written to is the caller's slip; a disk that is full, or breaks, is nobody's.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from twigcast.errors import TwigcastError, UsageError
from twigcast.files.writing.unfinished import unfinished

_SLIPS: Final = {
    errno.EACCES,
    errno.EEXIST,
    errno.EINVAL,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENODEV,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENOTEMPTY,
    errno.ENXIO,
    errno.EPERM,
    errno.EROFS,
    errno.ETXTBSY,
}
"""Error numbers of a place that was not well chosen."""


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """An open file that takes its place when all went well; :func:`cannot_write` if not.

    A pipe that nobody reads any more is a BrokenPipeError.
    """
    if os.path.isdir(path):  # noqa: PTH112 (of a name that cannot be, Path raises an error)
        raise cannot_write(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    try:
        if (number := _open_number(path)) is not None:
            with os.fdopen(os.dup(number), "wb") as file:
                yield file
            return
        if _is_special(path):
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not made of its name, which may be as long as a name may be.
        with unfinished(path.parent) as (written, held):
            with os.fdopen(os.dup(held), "wb") as file:
                yield file
            written.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from error


def _open_number(path: Path) -> int | None:
    """The number of the open file of this process that a path leads to, as /dev/stdout does."""
    if not path.exists():
        return None  # Links may lead to each other, in a circle.
    while path.is_symlink():
        folder = os.path.realpath(path.parent)
        if folder == f"/proc/{os.getpid()}/fd":
            return int(path.name)
        path = Path(folder) / path.readlink()
    return None


def _is_special(path: Path) -> bool:
    """Whether a path leads to a device or a pipe."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def cannot_write(path: Path, error: OSError) -> TwigcastError:
    """The error to raise: a :class:`UsageError` if another path would help."""
    kind = UsageError if error.errno in _SLIPS else TwigcastError
    return kind(f"cannot write {path}: {error.strerror or error}")
