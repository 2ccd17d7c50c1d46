"""Files that the command line writes: whole or not at all, and the same bytes each time.

A file is written beside its place and renamed when it is complete, so an interrupted verb leaves
nothing that looks finished. Archives carry no dates: equal documents make equal archives.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from twigcast.errors import UsageError

__all__ = ["new_file", "write_folder", "write_zip"]

_READABLE = 0o644 << 16
"""The permissions of an archive's member, where zip keeps them."""


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """An open file that takes its place when all went well; UsageError if it cannot be written."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if unfinished.exists():
            unfinished.unlink()


def write_folder(folder: Path, named: Iterable[tuple[str, bytes]]) -> None:
    """Write each document into a folder, which must be empty or new: feeds do not mix."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"the folder {folder} is not empty; choose another, or clear it first")
        for name, content in named:
            (folder / name).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror or error}") from error


def write_zip(path: Path, named: Iterable[tuple[str, bytes]]) -> None:
    """Write the documents into a new zip archive."""
    with new_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in named:
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = _READABLE
            archive.writestr(member, content)
