"""Files of record batches, each of which is read on its own, as it was written or not at all.

    twigcast records 1 spool        a head: what it is, which version, which kind
    batch 0   length, checksum, …   frames, each at a multiple of 64 bytes
    batch 1   length, checksum, …
    where each begins, checksum     a tail: a file without one was cut off

Arrow's own files have no checksums. A reader maps the file and looks at the frames it is asked for,
so a worker that needs one batch of a large file reads no more than that. What is damaged, cut off,
of another kind or version is a :class:`~twigcast.errors.UsageError` that names the file.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from pathlib import Path
from typing import Final

import pyarrow as pa

from twigcast.errors import UsageError

_ALIGNMENT: Final = 64
"""Where batches begin, so that they can be used where they lie."""

_HEAD: Final = b"twigcast records 1 "
_END: Final = b"end of records 1"
_FRAME: Final = struct.Struct("<QI52x")
_TAIL: Final = struct.Struct("<QI4x16s")


class RecordFileWriter:
    """Writes batches of one schema, one after the other; ``kind`` is what they are."""

    def __init__(self, path: str, kind: str) -> None:
        self._file = Path(path).open("wb")  # noqa: SIM115 (closed by close)
        self._starts: list[int] = []
        self._head = _head(kind)
        self._file.write(self._head)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""
        content = memoryview(batch.serialize())
        self._starts.append(self._file.tell())
        self._file.write(_FRAME.pack(len(content), zlib.crc32(content)))
        self._file.write(content)
        self._file.write(bytes(-len(content) % _ALIGNMENT))

    def close(self) -> None:
        """Write the tail: from here on it is a file of records."""
        if self._file.closed:
            return
        starts = struct.pack(f"<{len(self._starts)}Q", *self._starts)
        self._file.write(starts)
        checksum = zlib.crc32(self._head + starts)
        self._file.write(_TAIL.pack(len(self._starts), checksum, _END))
        self._file.close()


class RecordFile:
    """Reads what :class:`RecordFileWriter` has written."""

    def __init__(self, path: str, kind: str, schema: pa.Schema) -> None:
        self._path = path
        self._kind = kind
        self._schema = schema
        try:
            with Path(path).open("rb") as file:
                self._content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError) as error:  # a file without content cannot be mapped
            raise self._damaged(str(error)) from error
        self._starts = self._read_starts()
        self._seen: set[int] = set()

    def __len__(self) -> int:
        return len(self._starts)

    def get_batch(self, number: int, *, has_checksums: bool = False) -> pa.RecordBatch:
        """The batch with this number, counted from 0; its checksum is compared the first time.

        Where rows have checksums of their own (``has_checksums``), and few of them are wanted, the
        caller compares those; here it is seen to that nothing points out of the batch.
        """
        if not 0 <= number < len(self._starts):
            raise self._damaged(f"it has {len(self._starts)} batches, and none numbered {number}")
        start, end = self._starts[number], len(self._content)
        if start % _ALIGNMENT or start + _FRAME.size > end:
            raise self._damaged(f"batch {number} is not where it should be")
        length, checksum = _FRAME.unpack_from(self._content, start)
        start += _FRAME.size
        content = self._content[start : start + length]
        if len(content) < length:
            raise self._damaged(f"batch {number} is cut off")
        is_new = number not in self._seen
        if is_new and not has_checksums and zlib.crc32(content) != checksum:
            raise self._damaged(f"the checksum of batch {number} is another")
        try:
            batch = pa.ipc.read_record_batch(pa.py_buffer(content), self._schema)
            if is_new:
                batch.validate(full=True)
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(f"batch {number}: {error}") from error
        self._seen.add(number)
        return batch

    def _read_starts(self) -> tuple[int, ...]:
        head, size = _head(self._kind), len(self._content)
        if bytes(self._content[: len(head)]) != head:
            raise self._damaged(f"it is no file of the kind {self._kind!r}, or of another version")
        if size < len(head) + _TAIL.size:
            raise self._damaged("it is cut off")
        count, checksum, end = _TAIL.unpack_from(self._content, size - _TAIL.size)
        if end != _END or count * 8 > size - _TAIL.size - len(head):
            raise self._damaged("it is cut off, or of another version")
        starts = bytes(self._content[size - _TAIL.size - count * 8 : size - _TAIL.size])
        if zlib.crc32(head + starts) != checksum:
            raise self._damaged("the checksum of its contents is another")
        return struct.unpack(f"<{count}Q", starts)

    def _damaged(self, reason: str) -> UsageError:
        return UsageError(f"cannot use {self._path}: {reason}; delete it and run again")


def _head(kind: str) -> bytes:
    head = _HEAD + kind.encode()
    assert len(head) <= _ALIGNMENT
    return head.ljust(_ALIGNMENT, b"\n")
