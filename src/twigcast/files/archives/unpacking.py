"""Compressed files, read as what is in them: gzip, bzip2, xz and zstd.

Which it is shows in the first bytes, with which no document begins. What is read may be no more
than the packed bytes explain (``ratio_max``), and no reader takes more memory than some 130 MiB,
whatever the file asks for.
"""

from __future__ import annotations

import gzip
import io
from types import ModuleType
from typing import IO, BinaryIO, Final, cast

from twigcast.errors import DocumentError
from twigcast.files.archives.decompressors import open_bz2, open_xz, open_zstd
from twigcast.files.archives.members import BROKEN
from twigcast.files.limits import ByteReader, PublicationLimits, reason_of, too_packed

_MAGIC: Final = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
PACKED_START_BYTES: Final = max(map(len, _MAGIC))
"""Bytes by which a compressed file is recognized."""


def is_packed(start: bytes) -> bool:
    """Whether a file is compressed, by its first bytes."""
    return start.startswith(tuple(_MAGIC))


def decompressed(file: IO[bytes], name: str) -> ByteReader:
    """What is in a file, without a bound; errors are those of the standard library."""
    start = _start_of(file)
    packed = _Counted(start, file)
    return _unpacker(cast("BinaryIO", packed), start, name) or packed


class Unpacked:
    """A file as it is read, unpacked if it is compressed, and held to the ratio then.

    What is wrong with the packing is a DocumentError with the name.
    """

    def __init__(self, file: IO[bytes], name: str, limits: PublicationLimits) -> None:
        self._name = name
        self._limits = limits
        start = _start_of(file)
        self._packed = _Counted(start, file)
        self._size = 0
        self._unpacker = _unpacker(cast("BinaryIO", self._packed), start, name)

    def read(self, size: int) -> bytes:
        """The next bytes; DocumentError if they are damaged, or more than the packed explain."""
        if self._unpacker is None:
            return self._packed.read(size)
        try:
            # What stands in front of the damage comes first, and not together with it.
            content = self._unpacker.read1(size)
        except BROKEN as error:
            reason = f"it cannot be unpacked: {reason_of(error)}"
            raise DocumentError(reason, document=self._name) from error
        self._size += len(content)
        allowed = self._limits.unpacked_bytes_max(self._packed.size)
        if self._size > allowed:
            raise too_packed(self._name, self._size, allowed)
        return content


class _Counted:
    """A file whose first bytes have been read already."""

    def __init__(self, start: bytes, file: IO[bytes]) -> None:
        self._start = start
        self._file = file
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        content = self._start if size < 0 else self._start[:size]
        self._start = self._start[len(content) :]
        if not self._start:
            content += self._file.read(size - len(content) if size >= 0 else -1)
        self.size += len(content)
        return content


def _start_of(file: IO[bytes]) -> bytes:
    start = b""
    while len(start) < PACKED_START_BYTES and (part := file.read(PACKED_START_BYTES - len(start))):
        start += part
    return start


def _unpacker(packed: BinaryIO, start: bytes, name: str) -> io.BufferedIOBase | None:
    match next((ending for magic, ending in _MAGIC.items() if start.startswith(magic)), None):
        case ".gz":
            return gzip.GzipFile(fileobj=packed, mode="rb")
        case ".bz2":
            return open_bz2(packed)
        case ".xz":
            return open_xz(packed)
        case ".zst":
            return open_zstd(packed, _zstandard(name))
    return None


def _zstandard(name: str) -> ModuleType:
    try:
        import zstandard
    except ImportError:
        raise DocumentError(
            "it is compressed with zstd, which needs the extra zstd: pip install 'twigcast[zstd]'",
            document=name,
        ) from None
    return zstandard
