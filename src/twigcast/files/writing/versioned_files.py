"""Files written once, under a name with the hash of their content: compiled matchers above all.

A compiled matcher is made in one process and used in many. It travels as a file named by its
*version*, the first 16 hexadecimal digits of the SHA-256 of its content::

    matcher-3f9a6c01d2b4e877.index

Equal content has an equal name, so writing it again changes nothing, and a name never stands for
two contents: whoever keeps what it has loaded per name can never be out of date. The file is
written beside its place (``….tmp``), forced to disk and renamed, so that it is either there as a
whole or not at all, whenever the writer dies.

Readers map the file into memory: processes on one machine share its pages. They compare the content
with the version in the name, once for each process that loads it: a file that was damaged, cut off
or replaced by another is refused.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.files.opening import checked_path, open_regular
from twigcast.files.writing.durable import write_whole
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.matching import Matcher

_VERSION_DIGITS = 16
"""64 bits: two versions of one name will not meet by chance in the life of a system."""

_VERSION = re.compile(rf"-([0-9a-f]{{{_VERSION_DIGITS}}})(?:\.[a-z]+)?\Z")


@dataclass(frozen=True, slots=True)
class VersionedFile:
    """Where a file lies and which content it has."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class VersionedContent:
    """What is in such a file, for readers who cannot get at the file; equal by its version."""

    version: str
    content: bytes = field(compare=False, repr=False)


@door("writing a compiled matcher")
def write_index(folder: str | os.PathLike[str], matcher: Matcher) -> VersionedFile:
    """Write a compiled matcher into a folder, which is made if need be; UsageError if it cannot."""
    from twigcast.matching import Matcher

    if not isinstance(matcher, Matcher):
        raise UsageError(f"what is written is a Matcher, not {shown(matcher)}")
    content = matcher.to_bytes()
    try:
        return write_versioned(folder, stem="matcher", ending=".index", content=content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot write a compiled matcher into {folder}: {reason}") from error


@door("reading a compiled matcher")
def read_index(
    path: str | os.PathLike[str], *, engine: str = "auto", limits: DocumentLimits = LIBRARY_LIMITS
) -> Matcher:
    """The matcher in a file that :func:`write_index` has written, for one of the engines.

    It refuses documents over the limits.

    A file that was renamed is held to its own checksum alone.
    """
    from twigcast.matching import Matcher

    path = checked_path(path, "a compiled matcher")
    what = f"the compiled matcher {path}"
    content = _mapped(path, what)
    _compare(path, content, what)
    try:
        return Matcher.from_buffer(memoryview(content), engine=engine, limits=limits)
    except UsageError as error:
        raise UsageError(f"cannot use {what}: {error}") from error


def read_versioned(path: str | os.PathLike[str] | VersionedContent) -> memoryview:
    """What :func:`write_versioned` has written into a file, mapped.

    A :class:`UsageError` if it is not there, or is something else by now.
    """
    if isinstance(path, VersionedContent):
        return memoryview(path.content)
    content = _mapped(path, os.fspath(path))
    if not _compare(path, content, os.fspath(path)):
        raise UsageError(f"cannot use {path}: its name tells no version")
    return memoryview(content)


def _mapped(path: str | os.PathLike[str], what: str) -> mmap.mmap:
    try:
        with open_regular(path) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # a file without content cannot be mapped
        raise UsageError(f"cannot read {what}: {error}") from error


def _compare(path: str | os.PathLike[str], content: mmap.mmap, what: str) -> bool:
    """Whether the name has a version; a :class:`UsageError` if the content is of another."""
    version = _VERSION.search(Path(path).name)
    if version is not None and version_of(content) != version[1]:
        raise UsageError(
            f"cannot use {what}: it is damaged, or another file has been put in its place; "
            "delete it and write it again"
        )
    return version is not None


def write_versioned(
    folder: str | os.PathLike[str], *, stem: str, ending: str, content: bytes
) -> VersionedFile:
    """Write content as ``STEM-VERSION`` with this ending, whole or not at all."""
    version = version_of(content)
    path = Path(checked_path(folder, "a folder")) / f"{stem}-{version}{ending}"
    if not _holds(path, content):
        write_whole(path, content)
    return VersionedFile(path, version)


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file is there already, with this content: one that was damaged is written anew."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False


def version_of(content: bytes | mmap.mmap) -> str:
    """The version that content has.

    >>> version_of(b"")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(content).hexdigest()[:_VERSION_DIGITS]
