"""Files that are written once, under a name that tells their content: compiled matchers above all.

A compiled matcher is made in one process and used in many. It travels as a file named by its
*version*, the first 16 hexadecimal digits of the SHA-256 of its content::

    matcher-3f9a6c01d2b4e877.index

Equal content has an equal name, so writing it again changes nothing, and a name never stands for
two contents: whoever keeps what it has loaded per name can never be out of date. The file is
written beside its place (``….tmp``), forced to disk and renamed, so that it is either there as a
whole or not at all, whenever the writer dies.

Readers map the file into memory: processes on one machine share its pages.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.matching import Matcher

_VERSION_DIGITS = 16
"""64 bits: two versions of one name will not meet by chance in the life of a system."""


@dataclass(frozen=True, slots=True)
class VersionedFile:
    """Where a file lies and which content it has."""

    path: Path
    version: str


def write_index(folder: str | os.PathLike[str], matcher: Matcher) -> VersionedFile:
    """Write a compiled matcher into a folder, which is made if need be."""
    return write_versioned(folder, stem="matcher", ending=".index", content=matcher.to_bytes())


def read_index(path: str | os.PathLike[str], *, engine: str = "auto") -> Matcher:
    """The matcher in a file that :func:`write_index` has written, for one of the engines."""
    try:
        with Path(path).open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # a file without content cannot be mapped
        raise UsageError(f"cannot read the compiled matcher {path}: {error}") from error
    from twigcast.matching import Matcher

    return Matcher.from_buffer(memoryview(mapped), engine=engine)


def write_versioned(
    folder: str | os.PathLike[str], *, stem: str, ending: str, content: bytes
) -> VersionedFile:
    """Write content as ``STEM-VERSION`` with this ending, whole or not at all."""
    version = version_of(content)
    path = Path(folder) / f"{stem}-{version}{ending}"
    if path.exists():
        return VersionedFile(path, version)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two writers of one version must not share the file that they write.
    unfinished = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return VersionedFile(path, version)


def version_of(content: bytes | mmap.mmap) -> str:
    """The version that content has.

    >>> version_of(b"")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(content).hexdigest()[:_VERSION_DIGITS]
