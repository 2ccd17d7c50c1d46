"""An xz file, decompressed within bounded memory.

The first bytes of an xz file say how much memory its reader needs, up to four gigabytes, and
``lzma.open`` would take that much. The strongest setting of the xz tool needs 65 MiB.
"""

from __future__ import annotations

import io
import lzma
from typing import IO, BinaryIO, cast

from typing_extensions import Buffer

XZ_MEMORY_MAX = 128 << 20
"""Bytes that the decompressor may take: what ``xz -9`` asks for, and as much again."""

_PACKED_BYTES = 1 << 16


def open_xz(file: BinaryIO) -> IO[bytes]:
    """The unpacked bytes of an open file; LZMAError where it is damaged or asks for too much."""
    return cast("IO[bytes]", io.BufferedReader(_Unpacked(file)))


class _Unpacked(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._packed = b""
        self._unpacker = _unpacker()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        with memoryview(buffer) as view:
            content = self._next(len(view))
            view[: len(content)] = content
        return len(content)

    def _next(self, size: int) -> bytes:
        while True:
            if self._unpacker.eof and not self._begin_next():
                return b""
            if self._unpacker.needs_input and not self._packed:
                self._packed = self._file.read(_PACKED_BYTES)
                if not self._packed:
                    raise EOFError("the compressed file ends too soon")
            packed, self._packed = self._packed, b""
            content = self._unpacker.decompress(packed, size)
            if content:
                return content

    def _begin_next(self) -> bool:
        """Several xz files behind one another are one; zeros may stand between them."""
        rest = self._unpacker.unused_data.lstrip(b"\0")
        while not rest:
            packed = self._file.read(_PACKED_BYTES)
            if not packed:
                return False
            rest = packed.lstrip(b"\0")
        self._packed, self._unpacker = rest, _unpacker()
        return True


def _unpacker() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_MAX)
