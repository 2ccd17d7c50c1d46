"""Documents in a tar archive, plain or compressed: one stream, read from its beginning.

Sizes are known only when the stream gets there, so the rule that an archive may not swell
(:mod:`~twigcast.files.archives.members`) is applied to the stream as it is read. Once it is broken,
or the archive turns out to be damaged, everything that follows is one error with the archive's
name.

In front of a member there may be headers without end: records of the member, records of all members
to come, long names, lists of holes. Python's reader takes them all into memory, and the records of
all members once more for each member. So these are bounded before it reads them.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self, cast

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files.archives.contents import documents_in
from twigcast.files.archives.members import (
    BROKEN,
    MemberNames,
    Selection,
    member_refusal,
)
from twigcast.files.archives.unpacking import decompressed
from twigcast.files.limits import (
    READ_BYTES_MAX,
    ByteReader,
    Content,
    PublicationLimits,
    reason_of,
    too_many,
    too_packed,
)
from twigcast.files.opening import open_regular

HEADER_BYTES_MAX = 1 << 18
"""Of all headers in front of one member. A long name has some kilobytes, and what some systems keep
beside a file (its labels and access lists) rarely more than 64."""

GLOBAL_RECORDS_MAX = 256
"""Records that hold for all members. Archives in practice have one: the name of a commit."""


def read_tar(path: Path, archive: str, selection: Selection) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each document of the archive, in its own order."""
    try:
        with _Stream(path, archive, selection.limits) as stream:
            yield from _documents(stream, MemberNames(archive), selection)
    except DocumentError as error:
        yield archive, error
    except BROKEN as error:
        reason = f"not a readable tar archive: {reason_of(error)}"
        yield archive, DocumentError(reason, document=archive)


def _documents(
    stream: _Stream, names: MemberNames, selection: Selection
) -> Iterator[tuple[str, Content]]:
    limits = selection.limits
    with tarfile.TarFile(fileobj=stream) as archive:
        while (member := archive.next()) is not None:
            # tarfile remembers every member it has seen; a feed may have millions.
            archive.members = []  # type: ignore[attr-defined]
            stream.begin_member()
            if len(archive.pax_headers) > GLOBAL_RECORDS_MAX:
                raise _too_many_records(stream.archive, len(archive.pax_headers))
            if member.isdir() or not selection.concerns(member.name):
                continue
            if len(names) == limits.members_max:
                raise too_many(stream.archive, len(names) + 1, limits)
            name = names.unique(member.name)
            refusal = _refusal(member, name, selection)
            if refusal is not None:
                yield name, refusal
                continue
            with stream.inside_member():
                yield from documents_in(_opened(archive, member), name, selection)
    if not stream.ended_properly:
        raise tarfile.ReadError("a header is damaged")


def _opened(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = archive.extractfile(member)
    if file is None:
        raise tarfile.ReadError("a member has no content")
    return file


class _Stream:
    """What tarfile reads from: forward only, and bounded in each read and in all.

    It remembers its last read, because tarfile ends without a word when a header is damaged;
    a proper archive ends with zeros, or with nothing.
    """

    def __init__(self, path: Path, archive: str, limits: PublicationLimits) -> None:
        self.archive = archive
        self._file = _unpacked(path, archive)
        self._position = 0
        self._bytes_max = limits.unpacked_bytes_max(path.stat().st_size)
        self._last_read = b""
        self._header_bytes = 0
        self._in_member = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ended_properly(self) -> bool:
        return not self._last_read.strip(b"\0")

    def begin_member(self) -> None:
        """All headers of a member have been read; those of the next are counted anew."""
        self._header_bytes = 0

    @contextmanager
    def inside_member(self) -> Iterator[None]:
        """What is read in the body of the ``with`` is content, not headers."""
        self._in_member = True
        yield
        self._in_member = False

    def close(self) -> None:
        self._file.close()

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        if not self._in_member and 0 <= size <= READ_BYTES_MAX:
            self._header_bytes += size
            if self._header_bytes > HEADER_BYTES_MAX:
                raise DocumentLimitError(
                    "too many bytes in the headers of a member, the rest is not read",
                    limit="HEADER_BYTES_MAX",
                    given=self._header_bytes,
                    allowed=HEADER_BYTES_MAX,
                    document=self.archive,
                )
        return self._take(size)

    def _take(self, size: int) -> bytes:
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
            if not self._take(min(position - self._position, READ_BYTES_MAX)):
                raise tarfile.ReadError("the archive ends in the middle of a member")

    def write(self, _: bytes) -> int:
        raise AssertionError("nothing writes to an archive that is read")


def _unpacked(path: Path, archive: str) -> IO[bytes]:
    """The file, decompressed on the way if it is compressed by its first bytes."""
    file = open_regular(path)
    try:
        unpacked = decompressed(file, archive)
    except BaseException:
        file.close()
        raise
    return cast("IO[bytes]", _Owning(unpacked, file))


class _Owning:
    """What is in a file, and the file that is closed with it."""

    def __init__(self, unpacked: ByteReader, packed: IO[bytes]) -> None:
        self.read = unpacked.read
        self.close = packed.close


def _too_many_records(archive: str, given: int) -> DocumentLimitError:
    return DocumentLimitError(
        "too many records that hold for all members, the rest is not read",
        limit="GLOBAL_RECORDS_MAX",
        given=given,
        allowed=GLOBAL_RECORDS_MAX,
        document=archive,
    )


def _refusal(member: tarfile.TarInfo, name: str, selection: Selection) -> DocumentError | None:
    if member.issym() or member.islnk():
        return DocumentError("the member is a link, which is not followed", document=name)
    if not member.isreg() or member.issparse():
        return DocumentError("the member is no regular file", document=name)
    return member_refusal(member.name, member.size, name, selection)
