"""Sources of documents: bytes, text, open files, trees of lxml."""

from __future__ import annotations

import io
from pathlib import Path, PurePath
from typing import Any

import pytest
from hypothesis import given
from lxml import etree, html, objectify

from tests.strategies import documents
from twigcast.errors import DocumentError, DocumentLimitError, UsageError
from twigcast.language import Document, DocumentLimits

FEED = b"<feed><note lang='de'>Gr\xc3\xbc\xc3\x9fe</note></feed>"


class Pieces:
    """An open file that returns given values."""

    def __init__(self, *pieces: object) -> None:
        self._pieces = list(pieces)

    def read(self, size: int, /) -> Any:  # noqa: ANN401, ARG002
        piece = self._pieces.pop(0) if self._pieces else b""
        if isinstance(piece, Exception):
            raise piece
        return piece


@pytest.mark.parametrize(
    "given",
    [
        FEED,
        bytearray(FEED),
        memoryview(FEED),
        memoryview(b"x" + FEED)[1:],
        FEED.decode(),
        "\ufeff" + FEED.decode(),
        io.BytesIO(FEED),
        io.StringIO(FEED.decode()),
        Pieces(FEED[:5], FEED[5:]),
        Pieces(FEED.decode()[:5], FEED.decode()[5:], ""),
        etree.fromstring(FEED),
        etree.ElementTree(etree.fromstring(FEED)),
        objectify.fromstring(FEED),
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_form_is_the_same_document(given: Any) -> None:  # noqa: ANN401
    document = Document.parse(given)
    assert document.tree.xpath("string(/feed/note[@lang='de'])") == "Grüße"


@given(documents())
def test_a_tree_of_lxml_is_the_document_it_was_read_from(content: bytes) -> None:
    document = Document.parse(content)
    again = Document.parse(document.tree)
    assert etree.tostring(again.tree, method="c14n") == etree.tostring(document.tree, method="c14n")


def test_a_text_is_read_as_the_text_it_is_whatever_it_declares() -> None:
    text = "<?xml version='1.0' encoding='latin-1'?><a>ü</a>"
    assert Document.parse(text).tree.getroot().text == "ü"


def test_an_element_is_a_document_of_its_own() -> None:
    tree = etree.fromstring(b"<r xmlns:p='urn:p'><!--before--><p:a><b/></p:a>tail<c/></r>")
    for form in (tree[1], etree.ElementTree(tree[1])):
        document = Document.parse(form)
        assert document.element_count == 2
        assert document.tree.getroot().tag == "{urn:p}a"
        assert document.tree.xpath("count(//node())") == 2


def test_an_open_file_lends_its_name_to_errors(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_bytes(b"<a>")
    with path.open("rb") as file, pytest.raises(DocumentError, match=r"bad\.xml, line 1"):
        Document.parse(file)
    with path.open() as text, pytest.raises(DocumentError, match=r"document mine, line 1"):
        Document.parse(text, name="mine")
    with path.open("rb") as file:
        pass
    with pytest.raises(DocumentError, match="closed file"):
        Document.parse(file)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (Pieces(5), "gives int, where bytes or text are expected"),
        (Pieces(None), "gives None, so it is not ready"),
        (Pieces(b"<a>", "</a>"), "gives str, where"),
        (Pieces(bytearray(b"<a/>")), "gives bytearray"),
        (Pieces(OSError("the disk is gone")), "the disk is gone"),
        (Pieces(EOFError("cut off")), "cut off"),
        (io.TextIOWrapper(io.BytesIO(b"<a>\xff</a>"), "utf-8"), "cannot be read: 'utf-8' codec"),
        ("<a>\ud800</a>", "character 4 is half of a surrogate pair"),
        (etree.ElementTree(), "cannot be written as XML"),
        (etree.Comment("x"), "Start tag expected|Document is empty"),
        (html.fromstring("<p \"x='1'>a<o:p/>b</p>"), "line 1"),
        (etree.fromstring("<!DOCTYPE a [<!ENTITY e 'x'>]><a><b>&e;</b></a>",
                          etree.XMLParser(resolve_entities=False))[0], "Entity 'e' not defined"),
        ("", "Document is empty"),
        (io.BytesIO(), "Document is empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_document_error(given: Any, reason: str) -> None:  # noqa: ANN401
    with pytest.raises(DocumentError, match=reason):
        Document.parse(given)


def test_a_released_view_is_a_document_error() -> None:
    view = memoryview(FEED)
    view.release()
    with pytest.raises(DocumentError, match="released"):
        Document.parse(view)


@pytest.mark.parametrize("given", [5, None, ["<a/>"], {"a": 1}, object()])
def test_what_never_is_a_document_is_a_usage_error(given: Any) -> None:  # noqa: ANN401
    with pytest.raises(UsageError, match="a document is bytes, a text, an open file"):
        Document.parse(given)


def test_the_core_opens_no_path() -> None:
    with pytest.raises(UsageError, match=r"not the path 'feed/a.xml'; open it"):
        Document.parse(PurePath("feed/a.xml"))


@pytest.mark.parametrize(
    "given", ["<a>" + "x" * 100 + "</a>", io.BytesIO(b"<a>" + b"x" * 100 + b"</a>"), FEED * 3,
              etree.fromstring("<a>" + "x" * 100 + "</a>")],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_every_form_is_held_to_the_limits(given: Any) -> None:  # noqa: ANN401
    with pytest.raises(DocumentLimitError, match="bytes_max"):
        Document.parse(given, limits=DocumentLimits(bytes_max=50))


def test_an_endless_file_is_read_no_further_than_the_limit() -> None:
    class Endless:
        reads = 0

        def read(self, size: int, /) -> bytes:
            self.reads += 1
            return b"x" * size

    endless = Endless()
    with pytest.raises(DocumentLimitError):
        Document.parse(endless)
    assert endless.reads < 20


def test_a_document_tells_its_name_and_size() -> None:
    assert repr(Document.parse(b"<a/>", name="a.xml")) == "<Document: a.xml, 4 bytes>"
    assert repr(Document.parse(b"<a/>")) == "<Document: 4 bytes>"


def test_a_tree_without_a_root_is_called_empty() -> None:
    with pytest.raises(DocumentError, match="as XML: it is empty"):
        Document.parse(etree.ElementTree())
