"""Files that are there after a power cut: forced to disk, whole or not at all.

A file that was written and closed is in the memory of the machine, and so is its name in its
folder. Whoever names a file in another (a manifest names the parts of a table) has to force both to
disk first, or a power cut leaves a name without a file.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from uuid import uuid4

_NOT_SUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EISDIR}
"""What file systems answer that cannot force a folder to disk; they keep names in another way."""


def sync_file(path: str | os.PathLike[str]) -> None:
    """Force the content of a file to disk, whoever wrote it."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Force the names in a folder to disk, where the file system can."""
    try:
        sync_file(path)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file of which nobody ever sees a part, and which stays.

    It is written beside its place (``….tmp``), forced to disk and renamed; what fails leaves what
    was there before. The folder is made if need be.
    """
    target = Path(path)
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    # Two writers of one file must not share the one that they write.
    unfinished = target.with_name(f"{target.name}.{uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    sync_folder(target.parent)
    for folder in missing:
        sync_folder(folder.parent)
