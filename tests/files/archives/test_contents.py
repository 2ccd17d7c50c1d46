"""Records of dumps, wherever a dump may lie."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from twigcast.errors import DocumentError, DocumentLimitError, UsageError
from twigcast.files import PublicationLimits, list_documents, open_entries, read_documents
from twigcast.files.documents.publications import Entry, EntryKind, file_name
from twigcast.language.records.prolog import PROLOG_BYTES_MAX

DUMP = b"<r xmlns:p='urn:p'><a>1</a> <a><b/></a></r>"
NAMED = {"#1@19": b"<a xmlns:p='urn:p'>1</a>", "#2@28": b"<a xmlns:p='urn:p'><b/></a>"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _named(dump: str) -> dict[str, bytes]:
    return {f"{dump}{place}": content for place, content in NAMED.items()}


def test_records_are_named_by_their_number_and_place() -> None:
    Path("dump.xml").write_bytes(DUMP)
    assert dict(read_documents("dump.xml", record="a")) == _named("dump.xml")
    assert dict(read_documents("dump.xml", record="/r/a")) == _named("dump.xml")
    assert dict(read_documents("dump.xml", record="c")) == {}


def test_dumps_may_be_compressed_in_archives_and_on_standard_input() -> None:
    Path("dump.xml.gz").write_bytes(gzip.compress(DUMP))
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("dump.xml", DUMP, zipfile.ZIP_DEFLATED)
        archive.writestr("dump.xml.gz", gzip.compress(DUMP))
    with tarfile.open("a.tar.gz", "w:gz") as tar:
        for name in ("x.xml", "y.xml"):
            header = tarfile.TarInfo(name)
            header.size = len(DUMP)
            tar.addfile(header, io.BytesIO(DUMP))
    found = dict(read_documents(["dump.xml.gz", "a.zip", "a.tar.gz"], record="a"))
    dumps = ("dump.xml.gz", "a.zip!dump.xml", "a.zip!dump.xml.gz", "a.tar.gz!x.xml")
    expected = {**_named("a.tar.gz!y.xml")}
    for dump in dumps:
        expected.update(_named(dump))
    assert found == expected
    stdin = io.BufferedReader(io.BytesIO(DUMP))
    assert dict(open_entries(list_documents("-"), stdin=stdin, record="a")) == _named("-")


def test_damage_is_one_error_behind_the_records_in_front_of_it() -> None:
    Path("dump.xml").write_bytes(DUMP.replace(b"</r>", b"</x>"))
    found = dict(read_documents("dump.xml", record="a"))
    error = found.pop("dump.xml#3@39")
    assert found == _named("dump.xml")
    assert isinstance(error, DocumentError)
    assert error.reason == (
        "the dump is damaged at byte 39, and not read from there on: </x>, where </r> is due"
    )


def test_a_packed_dump_that_is_cut_short_is_one_error_behind_its_records() -> None:
    content = b"<r>" + b"".join(b"<a>%d</a>" % (n * n) for n in range(100_000)) + b"</r>"
    Path("dump.xml.gz").write_bytes(gzip.compress(content)[:-5000])
    *records, (name, error) = read_documents("dump.xml.gz", record="a")
    assert len(records) > 90_000
    assert all(isinstance(content, bytes) for _, content in records)
    assert name == "dump.xml.gz"
    assert "it cannot be unpacked" in str(error)


def test_records_are_held_to_the_limit_of_documents_and_dumps_are_not() -> None:
    Path("dump.xml").write_bytes(b"<r><a>" + b"x" * 100 + b"</a><a/></r>")
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.write("dump.xml")
    limits = PublicationLimits(document_bytes_max=50)
    for path, name in (("dump.xml", "dump.xml"), ("a.zip", "a.zip!dump.xml")):
        found = dict(read_documents(path, record="a", limits=limits))
        error = found[f"{name}#1@3"]
        assert isinstance(error, DocumentLimitError)
        assert error.reason == "too many bytes: 107 where at most 50 are allowed (bytes_max)"
        assert found[f"{name}#2@110"] == b"<a/>"


def test_a_dump_without_a_readable_prolog_is_one_error() -> None:
    Path("a.xml").write_bytes(b"<?xml version='1.0' encoding='UTF-7'?><r><a/></r>")
    Path("b.xml").write_bytes(b"<!DOCTYPE r [<!ENTITY x>]><r><a/></r>")
    Path("c.xml").write_bytes(b"<!--" + b"x" * 2 * PROLOG_BYTES_MAX + b"--><r><a/></r>")
    found = dict(read_documents(["a.xml", "b.xml", "c.xml"], record="a"))
    assert list(found) == ["a.xml", "b.xml", "c.xml"]
    assert "encoding 'UTF-7' is not read here" in str(found["a.xml"])
    assert "ENTITY" in str(found["b.xml"]).upper()
    assert "PROLOG_BYTES_MAX" in str(found["c.xml"])


def test_a_dump_is_read_without_being_held() -> None:
    record = b"<a>" + bytes(range(65, 91)) * 400 + b"</a>"
    Path("dump.xml.gz").write_bytes(gzip.compress(b"<r>" + record * 4_000 + b"</r>", 1))
    count = 0
    limits = PublicationLimits(ratio_max=1000)
    tracemalloc.start()
    try:
        for _, content in read_documents("dump.xml.gz", record="a", limits=limits):
            assert content == record
            count += 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 4_000
    assert peak < 10 << 20


@pytest.mark.parametrize("record", ["", "a[", "a[b]", "@a", "a | b", "text()", "/"])
def test_what_names_no_elements_is_a_slip(record: str) -> None:
    with pytest.raises(UsageError, match="a record is "):
        read_documents("dump.xml", record=record)


def test_copies_of_records_keep_the_ending_of_the_dump() -> None:
    entry = Entry(EntryKind.FILE, "feed/dump.xml", "feed/dump.xml")
    assert file_name(entry, "feed/dump.xml#17@81920") == "dump#17@81920.xml"
    entry = Entry(EntryKind.TAR, "a.tar", "a.tar")
    assert file_name(entry, "a.tar!x/dump.xml#2#17@81920") == "dump#2#17@81920.xml"
