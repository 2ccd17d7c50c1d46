"""Headers of tar archives are bounded before they are taken into memory, and never leave raw."""

from __future__ import annotations

import gzip
import inspect
import io
import lzma
import os
import sys
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from tests.files.archives.tar_bytes import BLOCK, END, error_of, member, read
from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files import list_documents, open_entries
from twigcast.files.archives.tar import GLOBAL_RECORDS_MAX, HEADER_BYTES_MAX


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _record(key: str, value: str) -> bytes:
    rest = f" {key}={value}\n"
    length = len(rest)
    while len(f"{length}{rest}") != length:
        length = len(f"{length}{rest}")
    return f"{length}{rest}".encode()


def _header(kind: bytes, content: bytes) -> bytes:
    header = tarfile.TarInfo("header")
    header.type, header.size = kind, len(content)
    return header.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % BLOCK)


def _records(number: int) -> bytes:
    return b"".join(_record(f"k{each}", "v") for each in range(number))


def test_records_for_all_members_are_bounded() -> None:
    records = _header(tarfile.XGLTYPE, _records(GLOBAL_RECORDS_MAX + 1))
    found = read(records + member() + END)
    error = error_of(found)
    assert isinstance(error, DocumentLimitError)
    assert (error.limit, error.given) == ("GLOBAL_RECORDS_MAX", GLOBAL_RECORDS_MAX + 1)
    assert list(found) == ["a.tar"]


def test_records_for_all_members_are_bounded_in_all_headers_together() -> None:
    parts = []
    for number in range(GLOBAL_RECORDS_MAX + 1):
        parts += [_header(tarfile.XGLTYPE, _record(f"k{number}", "v")), member(f"{number}.xml")]
    found = read(b"".join(parts) + END)
    error = error_of(found)
    assert isinstance(error, DocumentLimitError)
    assert error.limit == "GLOBAL_RECORDS_MAX"
    assert len(found) == GLOBAL_RECORDS_MAX + 1, "what came before is read"


def test_a_few_records_for_all_members_are_taken() -> None:
    records = _header(tarfile.XGLTYPE, _record("comment", "3a96fb6"))
    assert read(records + member() + END) == {"a.tar!a.xml": b"<a/>"}


@pytest.mark.parametrize(
    "kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK]
)
def test_headers_in_front_of_a_member_are_bounded_in_bytes(kind: bytes) -> None:
    one = _header(kind, _record("comment", "x" * (HEADER_BYTES_MAX // 4)))
    found = read(member("first.xml") + one * 5 + member() + END)
    assert found.pop("a.tar!first.xml") == b"<a/>"
    error = error_of(found)
    assert isinstance(error, DocumentLimitError)
    assert (error.limit, error.allowed) == ("HEADER_BYTES_MAX", HEADER_BYTES_MAX)


def test_headers_of_many_members_are_counted_for_each_anew() -> None:
    one = _header(tarfile.XHDTYPE, _record("comment", "x" * (HEADER_BYTES_MAX // 4)))
    found = read(b"".join(one + member(f"{number}.xml") for number in range(20)) + END)
    assert list(found.values()) == [b"<a/>"] * 20


def test_headers_without_end_cost_bounded_memory() -> None:
    header = _header(tarfile.XGLTYPE, _records(60_000))
    content = gzip.compress(header * 40 + member() + END)
    tracemalloc.start()
    try:
        found = read(content, "a.tar.gz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(error_of(found, "a.tar.gz"), DocumentLimitError)
    assert peak < 8 << 20


def test_a_list_of_holes_without_end_is_bounded() -> None:
    header = bytearray(member("s.xml", kind=tarfile.GNUTYPE_SPARSE)[:BLOCK])
    header[482] = 1  # the list goes on in the next block
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more = bytearray(BLOCK)
    more[504] = 1
    found = read(bytes(header) + bytes(more) * (HEADER_BYTES_MAX // BLOCK + 1) + END)
    error = error_of(found)
    assert isinstance(error, DocumentLimitError)
    assert error.limit == "HEADER_BYTES_MAX"


@pytest.mark.parametrize(
    ("frames", "told"), [(200, "not a readable tar archive"), (5_000, "HEADER_BYTES_MAX")]
)
def test_headers_inside_each_other_are_an_error_of_the_archive(frames: int, told: str) -> None:
    # Python's reader goes one level down with each. Whoever stands deep meets its bound first.
    one = _header(tarfile.XHDTYPE, _record("comment", "x"))
    allowed = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + frames)
    try:
        found = read(one * 2_000 + member() + END)
    finally:
        sys.setrecursionlimit(allowed)
    assert told in error_of(found).reason


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("size", "9" * 5_000),
        ("size", "-5"),
        ("size", "x"),
        ("mtime", "nan"),
        ("uid", "9" * 5_000),
        ("GNU.sparse.map", "0,1,x"),
        ("GNU.sparse.size", "x"),
        ("GNU.sparse.major", "1"),
        ("hdrcharset", "BINARY"),
        ("path", "\0"),
        ("path", "../a.xml"),
    ],
)
def test_records_that_lie_are_documents_or_errors(key: str, value: str) -> None:
    records = _record(key, value) + _record("GNU.sparse.minor", "0")
    found = read(_header(tarfile.XHDTYPE, records) + member() + END)
    assert all(isinstance(content, bytes | DocumentError) for content in found.values())


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_an_archive_cut_anywhere_is_what_came_before_and_an_error(packed: object) -> None:
    assert callable(packed)
    ending = "gz" if packed is gzip.compress else "xz"
    whole = packed(member("a.xml") + member("b.xml", bytes(range(256)) * 40) + END)
    for length in range(6, len(whole) - 40, 7):
        found = read(whole[:length], f"a.tar.{ending}")
        error = found.pop(f"a.tar.{ending}")
        assert isinstance(error, DocumentError)
        assert all(isinstance(content, bytes) for content in found.values())


def test_what_stands_behind_the_end_is_not_read() -> None:
    content = gzip.compress(member() + END)
    assert read(content + b"rubbish", "a.tar.gz") == {"a.tar.gz!a.xml": b"<a/>"}


@pytest.mark.parametrize("name", ["p.xml", "a.tar"])
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(name: str) -> None:
    Path(name).write_bytes(member() + END)
    entries = list(list_documents(name))
    Path(name).unlink()
    os.mkfifo(name)
    (content,) = dict(open_entries(entries)).values()
    assert isinstance(content, DocumentError)
    assert "no regular file" in content.reason


def test_a_tar_of_one_member_many_times_is_told_apart() -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for _ in range(3):
            archive.addfile(tarfile.TarInfo("a.xml"), io.BytesIO())
    assert list(read(plain.getvalue())) == ["a.tar!a.xml", "a.tar!a.xml#2", "a.tar!a.xml#3"]
