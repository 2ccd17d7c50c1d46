"""Documents by their paths: texts, compressed files, and names that no file can have."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

import twigcast
from tests.library.prices import matcher
from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.language import DocumentLimits


def test_a_relative_path_is_a_path(feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(feed.parent)
    assert matcher().match("feed.xml") == [2, "price"]


@pytest.mark.parametrize("name", ["missing.xml", "no <xml> here", "{'a': 1}", "x" * 5_000, "a\0b"])
def test_a_text_that_is_no_file_is_a_document_error_with_its_name(name: str) -> None:
    with pytest.raises(DocumentError) as caught:
        matcher().match(name)
    assert caught.value.document is not None
    assert name.startswith(caught.value.document[:190])
    assert len(str(caught.value)) < 400


def test_what_to_do_about_a_text_that_is_no_file_is_told() -> None:
    with pytest.raises(
        DocumentError, match=r"no such file; a text is the path of a document unless"
    ):
        matcher().match("hello")
    with pytest.raises(DocumentError, match=r"^document missing.xml: there is no such file$"):
        matcher().match(Path("missing.xml"))


def test_a_blank_text_is_an_empty_document() -> None:
    with pytest.raises(DocumentError, match=r"Document is empty|Start tag expected"):
        matcher().match("")
    with pytest.raises(DocumentError, match=r"Document is empty|Start tag expected"):
        matcher().match(" \n")


def test_a_folder_is_a_document_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="it is a folder"):
        matcher().match(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_file_that_may_not_be_read_is_a_document_error(feed: Path) -> None:
    feed.chmod(0)
    with pytest.raises(DocumentError, match="Permission denied"):
        matcher().match(feed)


def test_errors_in_a_file_have_its_name(feed: Path) -> None:
    feed.write_bytes(b"<a>\n<b></a>")
    asked = matcher()
    with pytest.raises(DocumentError, match=r"feed\.xml, line 2"):
        asked.match(feed)
    assert asked.statistics().refused == 1


def test_a_file_is_held_to_the_limits(feed: Path) -> None:
    small = twigcast.Matcher(["//a"], limits=DocumentLimits(bytes_max=10))
    with pytest.raises(DocumentLimitError, match=r"feed\.xml: too many bytes"):
        small.match(feed)


@pytest.mark.parametrize("path", ["\ud800.xml", Path("\ud800.xml")], ids=["text", "path"])
def test_a_path_that_no_file_can_have_is_refused_with_its_name(path: str | Path) -> None:
    with pytest.raises(DocumentError, match=r"^document \\ud800\.xml: cannot be read"):
        twigcast.Matcher(["//a"]).match(path)


def test_a_compressed_document_is_opened_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(b"<a><b/></a>"))
    assert twigcast.Matcher(["//b", "//c"]).match(path) == [1]
    small = twigcast.Matcher(["//b"], limits=DocumentLimits(bytes_max=5))
    with pytest.raises(DocumentLimitError, match="too many bytes: 6 where at most 5 are allowed"):
        small.match(path)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DocumentError, match="it cannot be unpacked"):
        twigcast.Matcher(["//b"]).match(path)
