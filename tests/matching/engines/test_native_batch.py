"""Batches that the kernel decides."""

from __future__ import annotations

import struct
import threading
from typing import Any

import pyarrow as pa

from tests.engines import NATIVE
from twigcast.matching import Matcher

pytestmark = NATIVE


def test_documents_in_a_buffer_that_is_being_written_to_get_some_answer_each() -> None:
    content = bytearray(b"<r><a/></r>" * 500)
    offsets = struct.pack("<501i", *range(0, 11 * 501, 11))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    documents: Any = pa.Array.from_buffers(pa.binary(), 500, buffers)
    matcher = Matcher({1: "//a", 2: "//b"}, engine="native")
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            for number in range(500):
                content[11 * number + 4] ^= 3  # a, b, a, …

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            rows = matcher.match_batch(documents, threads=2).column("matches").to_pylist()
            assert all(row in ([1], [2]) for row in rows)
    finally:
        over.set()
        writer.join()
