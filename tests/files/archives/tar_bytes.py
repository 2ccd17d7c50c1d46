"""Members of tar archives in bytes, and what is read of them."""

from __future__ import annotations

import tarfile
from pathlib import Path

from twigcast.errors import DocumentError
from twigcast.files import read_documents

BLOCK = tarfile.BLOCKSIZE
END = bytes(2 * BLOCK)


def member(name: str = "a.xml", content: bytes = b"<a/>", kind: bytes = tarfile.REGTYPE) -> bytes:
    header = tarfile.TarInfo(name)
    header.type, header.size = kind, len(content)
    return header.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % BLOCK)


def read(content: bytes, name: str = "a.tar") -> dict[str, bytes | DocumentError]:
    Path(name).write_bytes(content)
    return dict(read_documents(name))


def error_of(found: dict[str, bytes | DocumentError], name: str = "a.tar") -> DocumentError:
    error = found[name]
    assert isinstance(error, DocumentError)
    assert error.document == name
    return error
