"""Documents in a zip archive: a directory first, then each member on its own.

The directory declares every member's size, and Python's reader holds a member to it. So the
rules of :mod:`~twigcast.files.archives.members` are applied to the directory, to each member and to
the running sum of sizes, before anything is unpacked, and the verdict is the same whoever reads
which members: several workers can share an archive by ranges.

Python's reader takes the whole directory into memory, in ten times its size. So it is bounded, too,
before it is read.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files.archives.contents import documents_in
from twigcast.files.archives.members import (
    BROKEN,
    MemberNames,
    Selection,
    is_called_after,
    member_refusal,
)
from twigcast.files.limits import (
    Content,
    reason_of,
    too_many,
    too_packed,
)
from twigcast.files.opening import open_regular

DIRECTORY_BYTES_MAX = 128 << 20
"""Of the list of members: more than a million of them, with names of 80 letters."""

_END_BYTES = 1 << 17
"""More than what may stand behind the directory: a comment of 64 KiB."""

_UNIX_LINK = 0o12
"""The kind of file in the top four bits of a Unix mode, here: a symbolic link."""


@dataclass(frozen=True, slots=True)
class Member:
    """A document in the archive: its number in the directory, and why it is refused, if so."""

    number: int
    name: str
    size: int
    refusal: DocumentError | None = None


def zip_members(path: Path, archive: str, selection: Selection) -> Iterator[Member]:
    """The documents that an archive lists, in its own order, checked as far as the list allows.

    An archive without a readable list is a single refused member with the archive's name.
    """
    opened = open_zip(path, archive)
    if isinstance(opened, DocumentError):
        yield Member(0, archive, 0, opened)
        return
    limits = selection.limits
    with opened:
        directory = opened.infolist()
        total, total_max = 0, limits.unpacked_bytes_max(path.stat().st_size)
    names = MemberNames(archive)
    places = Counter(listed.header_offset for listed in directory)
    for number, listed in enumerate(directory):
        if listed.filename.endswith("/") or not selection.concerns(listed.filename):
            continue
        if len(names) == limits.members_max:
            yield Member(number, archive, 0, too_many(archive, len(directory), limits))
            return
        name = names.unique(listed.filename)
        refusal = _refusal(listed, name, selection)
        if refusal is None and places[listed.header_offset] > 1:
            # Each would be unpacked on its own: a small archive becomes a large one.
            refusal = DocumentError("the member shares its bytes with another", document=name)
        if refusal is None:
            total += listed.file_size
            if total > total_max:
                refusal = too_packed(name, total, total_max)
        yield Member(number, name, listed.file_size, refusal)


def open_zip(path: Path, archive: str) -> zipfile.ZipFile | DocumentError:
    """The archive, open for :func:`read_zip_member`, or why it cannot be opened."""
    try:
        return _opened(path, archive)
    except DocumentError as error:
        return error
    except BROKEN as error:
        return DocumentError(f"not a readable zip archive: {reason_of(error)}", document=archive)


def _opened(path: Path, archive: str) -> zipfile.ZipFile:
    file = open_regular(path)
    try:
        opened = _Zip(cast("BinaryIO", _Bounded(file, archive)))
    except BaseException:
        file.close()
        raise
    opened.packed = file
    return opened


class _Zip(zipfile.ZipFile):
    """An archive that closes its file."""

    packed: BinaryIO | None = None

    def close(self) -> None:
        super().close()
        if self.packed is not None:
            self.packed.close()


class _Bounded:
    """What zipfile reads from: it reads the directory at once, and nothing else that is large."""

    def __init__(self, file: BinaryIO, archive: str) -> None:
        self._archive = archive
        self._file = file
        self.seek, self.tell, self.close = file.seek, file.tell, file.close
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(min(size, DIRECTORY_BYTES_MAX + 1) if size >= 0 else _END_BYTES)
        if len(content) > DIRECTORY_BYTES_MAX:
            raise DocumentLimitError(
                "too many bytes in the list of members",
                limit="DIRECTORY_BYTES_MAX",
                given=size,
                allowed=DIRECTORY_BYTES_MAX,
                document=self._archive,
            )
        return content


def read_zip_member(
    file: zipfile.ZipFile, number: int, name: str, selection: Selection
) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of the documents in the member with this number in the directory.

    Another archive may stand in the place of the one that was listed. What is in it is not given
    under the name of something else, and is held to the same rules.
    """
    try:
        directory = file.infolist()
        if number >= len(directory) or not is_called_after(name, directory[number].filename):
            reason = "the archive was changed since its members were listed"
            yield name, DocumentError(reason, document=name)
            return
        if (refusal := _refusal(directory[number], name, selection)) is not None:
            yield name, refusal
            return
        with file.open(directory[number]) as member:
            yield from documents_in(member, name, selection)
    except BROKEN as error:
        reason = f"the member cannot be unpacked: {reason_of(error)}"
        yield name, DocumentError(reason, document=name)


def _refusal(listed: zipfile.ZipInfo, name: str, selection: Selection) -> DocumentError | None:
    if listed.flag_bits & 0x1:
        return DocumentError("the member is encrypted", document=name)
    if listed.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        # Others may ask for gigabytes before they give the first byte.
        return DocumentError(
            f"the member is compressed by method {listed.compress_type}; use deflate", document=name
        )
    if listed.external_attr >> 28 == _UNIX_LINK:
        return DocumentError("the member is a link, which is not followed", document=name)
    unpacked_max = selection.limits.unpacked_bytes_max(listed.compress_size)
    refusal = member_refusal(listed.filename, listed.file_size, name, selection)
    if refusal is None and listed.file_size > unpacked_max:
        refusal = too_packed(name, listed.file_size, unpacked_max)
    return refusal
