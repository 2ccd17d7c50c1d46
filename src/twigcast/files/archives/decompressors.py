"""Files of bzip2, xz and zstd, decompressed within bounded memory and to their ends.

The first bytes of an xz file say how much memory its reader needs, up to four gigabytes, and
``lzma.open`` would take that much. The strongest setting of the xz tool needs 65 MiB.

Several files behind one another are one. The readers that Python has for bzip2 and zstd do not say
where such a file is cut off, or where the second part of it is damaged: they end there, and of an
archive the members behind that place would be passed over.
"""

from __future__ import annotations

import bz2
import io
import lzma
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

if TYPE_CHECKING:
    from types import ModuleType

    from _typeshed import WriteableBuffer

XZ_MEMORY_MAX: Final = 128 << 20
"""Bytes that the decompressor may take: what ``xz -9`` asks for, and as much again."""

ZSTD_WINDOW_MAX: Final = 128 << 20
"""Bytes that zstd looks back at most: what its strongest ordinary setting needs."""

_PACKED_BYTES = 1 << 16

_Decompressor: TypeAlias = bz2.BZ2Decompressor | lzma.LZMADecompressor


def open_bz2(file: BinaryIO) -> io.BufferedReader:
    """The unpacked bytes of an open file; OSError or EOFError where it is damaged."""
    return _buffered(_InTurn(file, bz2.BZ2Decompressor))


def open_xz(file: BinaryIO) -> io.BufferedReader:
    """The same for xz; LZMAError where it is damaged or asks for too much."""
    return _buffered(_InTurn(file, _xz_decompressor))


def open_zstd(file: BinaryIO, zstandard: ModuleType) -> io.BufferedReader:
    """The same for zstd, by the module that reads it."""
    return _buffered(_Zstd(file, zstandard))


def _xz_decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_MAX)


def _buffered(unpacked: _Unpacked) -> io.BufferedReader:
    return io.BufferedReader(unpacked)


class _Unpacked(io.RawIOBase):
    """What is read of an unpacked file, whatever unpacks it."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        with memoryview(buffer) as view:
            content = self._next(len(view))
            view[: len(content)] = content
        return len(content)

    @abstractmethod
    def _next(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""


class _InTurn(_Unpacked):
    """Files behind one another, each by a decompressor of its own."""

    def __init__(self, file: BinaryIO, decompressor: Callable[[], _Decompressor]) -> None:
        self._file = file
        self._packed = b""
        self._decompressor = decompressor
        self._unpacker = decompressor()

    def _next(self, size: int) -> bytes:
        while True:
            if self._unpacker.eof and not self._begin_next():
                return b""
            if self._unpacker.needs_input and not self._packed:
                self._packed = self._file.read(_PACKED_BYTES)
                if not self._packed:
                    raise _cut_off()
            packed, self._packed = self._packed, b""
            content = self._unpacker.decompress(packed, size)
            if content:
                return content

    def _begin_next(self) -> bool:
        """Whether there is another file; zeros may stand in front of it."""
        rest = self._unpacker.unused_data.lstrip(b"\0")
        while not rest:
            packed = self._file.read(_PACKED_BYTES)
            if not packed:
                return False
            rest = packed.lstrip(b"\0")
        self._packed, self._unpacker = rest, self._decompressor()
        return True


class _Zstd(_Unpacked):
    """A file of zstd, with a mark behind it: where that is not unpacked, the file is cut off."""

    _MARK: Final = b"the end of the file"

    def __init__(self, file: BinaryIO, zstandard: ModuleType) -> None:
        mark = zstandard.ZstdCompressor(write_checksum=True).compress(self._MARK)
        reader = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_MAX)
        self._unpacker = reader.stream_reader(_Followed(file, mark), read_across_frames=True)
        self._error = zstandard.ZstdError
        self._held = b""

    def _next(self, size: int) -> bytes:
        try:
            while part := self._unpacker.read1(size):
                content: bytes = self._held + part
                end = max(0, len(content) - len(self._MARK))
                self._held = content[end:]
                if end:
                    return content[:end]
        except self._error as error:
            raise OSError(str(error)) from error
        if self._held != self._MARK:
            raise _cut_off()
        return b""


class _Followed:
    """A file, and some bytes behind it."""

    def __init__(self, file: BinaryIO, rest: bytes) -> None:
        self._file = file
        self._rest = rest

    def read(self, size: int) -> bytes:
        content = self._file.read(size)
        if not content:
            # Byte by byte: a frame that is there as a whole would be read from its own beginning,
            # though it stands in the middle of another one.
            content, self._rest = self._rest[:1], self._rest[1:]
        return content


def _cut_off() -> EOFError:
    return EOFError("the compressed file ends too soon")
