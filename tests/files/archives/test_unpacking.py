"""Compressed documents are read wherever a document may stand, and held to the same bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import zstandard

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files import PublicationLimits, list_documents, open_entries, read_documents

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
EACH = pytest.mark.parametrize("ending", PACKINGS)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _packed(ending: str, content: bytes = b"<a/>", name: str = "a.xml") -> Path:
    path = Path(f"{name}.{ending}")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(PACKINGS[ending](content))
    return path


def _error(found: object) -> DocumentError:
    assert isinstance(found, DocumentError)
    return found


@EACH
def test_a_compressed_document_is_read_as_what_is_in_it(ending: str) -> None:
    path = _packed(ending)
    assert list(read_documents(path)) == [(f"a.xml.{ending}", b"<a/>")]
    assert list(read_documents(path.rename("anything"))) == [("anything", b"<a/>")]


@EACH
def test_it_fits_a_pattern_with_the_name_it_would_have(ending: str) -> None:
    for name in ("feed/a.xml", "feed/b.html", "feed/c"):
        _packed(ending, name=name)
    assert [name for name, _ in read_documents("feed")] == [f"feed/a.xml.{ending}"]
    found = read_documents("feed", patterns=["*.html", f"c.{ending}"])
    assert [name for name, _ in found] == [f"feed/b.html.{ending}", f"feed/c.{ending}"]


@EACH
def test_it_may_be_a_member_of_an_archive(ending: str) -> None:
    content = _packed(ending).read_bytes()
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr(f"a.xml.{ending}", content)
    with tarfile.open("a.tar", "w") as tar:
        header = tarfile.TarInfo(f"a.xml.{ending}")
        header.size = len(content)
        tar.addfile(header, io.BytesIO(content))
    found = dict(read_documents(["a.zip", "a.tar"]))
    assert found == {f"a.zip!a.xml.{ending}": b"<a/>", f"a.tar!a.xml.{ending}": b"<a/>"}


@EACH
def test_it_may_come_on_standard_input(ending: str) -> None:
    stdin = io.BufferedReader(io.BytesIO(_packed(ending).read_bytes()))
    assert list(open_entries(list_documents("-"), stdin=stdin)) == [("-", b"<a/>")]


@EACH
def test_a_compressed_tar_stays_a_tar(ending: str) -> None:
    with tarfile.open("a.tar", "w") as tar:
        header = tarfile.TarInfo("a.xml")
        header.size = 4
        tar.addfile(header, io.BytesIO(b"<a/>"))
    path = _packed(ending, Path("a.tar").read_bytes(), name="a.tar")
    assert list(read_documents(path)) == [(f"a.tar.{ending}!a.xml", b"<a/>")]
    path = path.rename(f"other.{ending}")
    assert list(read_documents(path)) == [(f"other.{ending}!a.xml", b"<a/>")]


@EACH
def test_what_is_too_large_unpacked_is_told_in_the_same_words(ending: str) -> None:
    content = bytes(range(256)) * 40
    limits = PublicationLimits(document_bytes_max=10_000)
    Path("plain.xml").write_bytes(content)
    plain = _error(dict(read_documents("plain.xml", limits=limits))["plain.xml"])
    packed = _error(next(read_documents(_packed(ending, content), limits=limits))[1])
    assert isinstance(packed, DocumentLimitError)
    assert packed.limit == "bytes_max"
    assert packed.reason.partition(":")[0] == plain.reason.partition(":")[0]
    raised = PublicationLimits(document_bytes_max=20_000)
    assert dict(read_documents(_packed(ending, content), limits=raised)) == {
        f"a.xml.{ending}": content
    }


@EACH
def test_what_swells_is_stopped_on_the_way(ending: str) -> None:
    path = _packed(ending, bytes(30 << 20))
    limits = PublicationLimits(document_bytes_max=1 << 40, ratio_max=2)
    error = _error(dict(read_documents(path, limits=limits))[str(path)])
    assert isinstance(error, DocumentLimitError)
    assert error.limit == "ratio_max"


@EACH
def test_what_is_damaged_is_one_error(ending: str) -> None:
    path = _packed(ending, bytes(range(256)) * 400)
    path.write_bytes(path.read_bytes()[:-20])
    Path("b.xml").write_bytes(b"<b/>")
    found = dict(read_documents([path, "b.xml"]))
    assert found.pop("b.xml") == b"<b/>"
    assert "it cannot be unpacked: " in str(found[str(path)])


@EACH
def test_what_is_cut_off_is_an_error_wherever_it_is_cut(ending: str) -> None:
    first, second = (PACKINGS[ending](content) for content in (b"<a>", b"</a>"))
    path = Path("a.xml")
    for cut in range(8, len(first + second)):
        path.write_bytes((first + second)[:cut])
        content = dict(read_documents(path))["a.xml"]
        if cut == len(first):
            assert content == b"<a>"
        else:
            assert "it cannot be unpacked: " in str(content)


@EACH
def test_no_member_of_an_archive_that_is_cut_off_is_passed_over(ending: str) -> None:
    raw = _archive_of(range(600))
    path = _packed(ending, raw, name="a.tar")
    content = path.read_bytes()
    for cut in (len(content) // 3, len(content) // 2, len(content) - len(content) // 9):
        path.write_bytes(content[:cut])
        found = dict(read_documents(path))
        assert len(found) < 600
        _error(found[str(path)])


@EACH
def test_no_member_behind_the_first_part_of_an_archive_is_passed_over(ending: str) -> None:
    raw = _archive_of(range(20))
    first, second = (PACKINGS[ending](half) for half in (raw[:10_240], raw[10_240:]))
    path = Path("a.tar")
    path.write_bytes(first + second)
    assert len(list(read_documents(path))) == 20
    path.write_bytes(first + b"?" + second[1:])
    found = dict(read_documents(path))
    assert len(found) == 11
    _error(found["a.tar"])


def _archive_of(numbers: range) -> bytes:
    """A tar archive of documents of 1,024 bytes each, with their headers."""
    file, rng = io.BytesIO(), Random(1)
    with tarfile.open(fileobj=file, mode="w") as tar:
        for number in numbers:
            content = b"<a>%s</a>" % rng.randbytes(200).hex().encode()
            header = tarfile.TarInfo(f"{number}.xml")
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))
    return file.getvalue()


def test_damaged_zstd_is_an_error() -> None:
    path = _packed("zst", bytes(range(256)) * 400)
    content = bytearray(path.read_bytes())
    content[8] ^= 0xFF
    path.write_bytes(content)
    assert "it cannot be unpacked: " in str(dict(read_documents(path))[str(path)])


def test_zstd_that_asks_for_gigabytes_is_an_error() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=31)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    Path("a.xml.zst").write_bytes(packed.compress(b"<a/>") + packed.flush())
    assert "it cannot be unpacked: " in str(dict(read_documents("a.xml.zst"))["a.xml.zst"])


def test_without_zstandard_what_it_needs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = _packed("zst")
    found = dict(read_documents(path))
    assert "which needs the extra zstd: pip install 'twigcast[zstd]'" in str(found[str(path)])
