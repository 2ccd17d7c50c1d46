"""Feeds that the command line writes: the same bytes each time.

Archives carry no dates: equal documents make equal archives. Each file is whole or not there
(:mod:`twigcast.files.writing.new_files`).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from twigcast.errors import UsageError

_READABLE = 0o644 << 16
"""The permissions of an archive's member, where zip keeps them."""


def write_folder(folder: Path, named: Iterable[tuple[str, bytes]]) -> None:
    """Write each document into a folder, which must be empty or new: feeds do not mix."""
    from twigcast.files.writing.new_files import cannot_write, new_file
    from twigcast.files.writing.unfinished import remove_left_behind

    with _held(folder):
        try:
            remove_left_behind(folder)
            if any(folder.iterdir()):
                raise UsageError(
                    f"the folder {folder} is not empty; choose another, or clear it first"
                )
        except OSError as error:
            raise cannot_write(folder, error) from error
        for name, content in named:
            with new_file(folder / name) as file:
                file.write(content)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """A folder, made if need be and locked: two that find it empty would both write."""
    from twigcast.files.writing.locks import lock_at_once
    from twigcast.files.writing.new_files import cannot_write

    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        if not lock_at_once(held):
            raise UsageError(f"somebody else is writing into the folder {folder}; choose another")
        yield
    finally:
        os.close(held)


def write_zip(path: Path, named: Iterable[tuple[str, bytes]]) -> None:
    """Write the documents into a new zip archive."""
    from twigcast.files.writing.new_files import new_file

    with new_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in named:
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = _READABLE
            archive.writestr(member, content)
