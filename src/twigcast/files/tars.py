"""Documents in a tar archive, plain or compressed: one stream, read from its beginning.

Sizes are known only when the stream gets there, so the rule that an archive may not swell
(:mod:`~twigcast.files.archives`) is applied to the stream as it is read. Once it is broken, or
the archive turns out to be damaged, everything that follows is one error with the archive's name.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Self, cast

from twigcast.errors import DocumentError
from twigcast.files.archives import (
    BROKEN,
    READ_BYTES_MAX,
    Content,
    Names,
    PublicationLimits,
    Selection,
    bounded_read,
    member_refusal,
    reason_of,
    too_many,
    too_packed,
)

if TYPE_CHECKING:
    from pathlib import Path


def read_tar(path: Path, archive: str, selection: Selection) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each document of the archive, in its own order."""
    try:
        with _Stream(path, archive, selection.limits) as stream:
            yield from _documents(stream, Names(archive), selection)
    except DocumentError as error:
        yield archive, error
    except BROKEN as error:
        reason = f"not a readable tar archive: {reason_of(error)}"
        yield archive, DocumentError(reason, document=archive)


def _documents(
    stream: _Stream, names: Names, selection: Selection
) -> Iterator[tuple[str, Content]]:
    limits = selection.limits
    with tarfile.TarFile(fileobj=stream) as archive:
        while (member := archive.next()) is not None:
            # tarfile remembers every member it has seen; a feed may have millions.
            archive.members = []  # type: ignore[attr-defined]
            if member.isdir() or not selection.concerns(member.name):
                continue
            if len(names) == limits.members_max:
                raise too_many(stream.archive, len(names) + 1, limits)
            name = names.unique(member.name)
            content: Content | None = _refusal(member, name, limits)
            if content is None:
                file = archive.extractfile(member)
                assert file is not None, "only regular members come here"
                content = bounded_read(file, name, limits)
            yield name, content
    if not stream.ended_properly:
        raise tarfile.ReadError("a header is damaged")


class _Stream:
    """What tarfile reads from: forward only, and bounded in each read and in all.

    It remembers its last read, because tarfile ends without a word when a header is damaged;
    a proper archive ends with zeros, or with nothing.
    """

    def __init__(self, path: Path, archive: str, limits: PublicationLimits) -> None:
        self.archive = archive
        self._file = _unpacked(path)
        self._position = 0
        self._bytes_max = limits.unpacked_bytes_max(path.stat().st_size)
        self._last_read = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ended_properly(self) -> bool:
        return not self._last_read.strip(b"\0")

    def close(self) -> None:
        self._file.close()

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        if not 0 <= size <= READ_BYTES_MAX:
            raise tarfile.ReadError("a header claims to be larger than any header is")
        self._last_read = self._file.read(size)
        self._position += len(self._last_read)
        if self._position > self._bytes_max:
            raise too_packed(self.archive, self._position, self._bytes_max)
        return self._last_read

    def seek(self, position: int) -> None:
        if position < self._position:
            raise tarfile.ReadError("a header points backwards")
        while self._position < position:
            if not self.read(min(position - self._position, READ_BYTES_MAX)):
                raise tarfile.ReadError("the archive ends in the middle of a member")

    def write(self, _: bytes) -> int:
        raise AssertionError("nothing writes to an archive that is read")


def _unpacked(path: Path) -> IO[bytes]:
    """The file, decompressed on the way if its first bytes say that it is compressed."""
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path))
    if start.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.open(path))
    if start == b"\xfd7zXZ\0":
        return lzma.open(path)
    return path.open("rb")


def _refusal(member: tarfile.TarInfo, name: str, limits: PublicationLimits) -> DocumentError | None:
    if member.issym() or member.islnk():
        return DocumentError("the member is a link, which is not followed", document=name)
    if not member.isreg() or member.issparse():
        return DocumentError("the member is no regular file", document=name)
    return member_refusal(member.name, member.size, name, limits)
