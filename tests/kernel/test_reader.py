"""The kernel's reader against lxml: whatever it takes, lxml takes too, as the same nodes.

The reader may be unsure of any document, and says why; lxml then decides. What it must never do is
take a document that lxml refuses, or see other nodes in it. So every document here goes through
both: small ones made up, the same ones damaged, and those of the shared corpora, whole and damaged.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from fuzz.mutation import XML_PIECES, replaced
from tests.strategies import THOROUGH, documents
from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.language.document.parse import Document, split_tag

if TYPE_CHECKING:
    from lxml.etree import _Element, _ElementUnicodeResult

kernel = pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

_texts = cast("Callable[[_Element], list[_ElementUnicodeResult]]", etree.XPath(".//text()"))

_CUTS = st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 4]), st.sampled_from(XML_PIECES))


def _nodes(content: bytes) -> list[tuple[object, ...]]:
    """The elements, attributes and then texts that lxml sees, in the kernel's form."""
    root = Document.parse(content).tree.getroot()
    numbers = {element: number for number, element in enumerate(root.iter("*"))}
    nodes: list[tuple[object, ...]] = []
    for element, number in numbers.items():
        parent = element.getparent()
        above = None if parent is None else numbers[parent]
        nodes.append(("element", *split_tag(str(element.tag)), above))
        for key, value in element.attrib.items():
            nodes.append(("attribute", number, *split_tag(str(key)), value))
    for text in _texts(root):
        beside = text.getparent()
        owner = beside.getparent() if beside is not None and text.is_tail else beside
        assert owner is not None
        nodes.append(("text", numbers[owner], str(text)))
    return nodes


def _difference(content: bytes) -> object:
    """What the kernel sees otherwise than lxml; nothing where it is unsure.

    A document that only the kernel takes raises the error of lxml.
    """
    seen = kernel.outline(content)
    if isinstance(seen, str):
        return None if seen else "unsure for no reason"
    expected = _nodes(content)
    # The place of a text among the elements is not lxml's to tell.
    seen.sort(key=lambda node: node[0] == "text")
    return None if seen == expected else (seen, expected)


@THOROUGH
@given(documents())
def test_made_up_documents_have_the_same_nodes(content: bytes) -> None:
    assert _difference(content) is None


@THOROUGH
@given(documents(), st.lists(_CUTS, min_size=1, max_size=3))
def test_damaged_documents_are_never_taken_otherwise(
    content: bytes, cuts: list[tuple[float, int, bytes]]
) -> None:
    for place, length, piece in cuts:
        content = replaced(content, place, length, piece)
    assert _difference(content) is None


@pytest.mark.parametrize(
    "content",
    [
        b"<a q:x=''>%s</a>",
        b"<a xmlns='u v'>%s</a>",
        b"<a xmlns:p='u v'>%s</a>",
        b"<a><p:c/>%s</a>",
        b"<a xmlns:p='urn:u' xmlns:q='urn:u'><c p:x='' q:x=''/>%s</a>",
        b"<a><?p:q x?>%s</a>",
        b"<a xmlns:xmlns='urn:u'>%s</a>",
        b"<x xmlns='&#xDC00;'>%s",
    ],
)
@pytest.mark.parametrize("behind", [b"", b"<b xmlns='relative'/>", b"<b xmlns='relative'/>" * 300])
def test_a_mistake_is_none_of_the_readers_to_take_though_a_warning_follows(
    content: bytes, behind: bytes
) -> None:
    with pytest.raises(DocumentError):
        Document.parse(content % behind)
    assert isinstance(kernel.outline(content % behind), str)


def test_texts_stand_between_the_elements_they_are_between() -> None:
    seen = kernel.outline(b"<a>1<b>2</b>3<!--x-->4<c/></a>")
    order = [node[1] if node[0] == "element" else node[-1] for node in seen]
    assert [node[0] for node in seen] == ["element", "text", "element", *["text"] * 3, "element"]
    assert order == ["", "1", "", "2", "3", "4", ""]


def test_a_reason_is_given_for_what_is_left_to_lxml() -> None:
    assert kernel.outline(b"<a>&e;</a>") == "a reference to an entity"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("<{}/>", "a name"),
        ("<a {}=''/>", "a name"),
        ("<a xmlns='{}'/>", "a namespace"),
        ("<a xmlns:p='{}'/>", "a namespace"),
    ],
)
def test_names_and_namespaces_over_the_limit_are_left_to_lxml(document: str, reason: str) -> None:
    within, beyond = (document.format("n" * length).encode() for length in (1_000, 1_001))
    assert isinstance(kernel.outline(within), list)
    assert _difference(within) is None
    assert kernel.outline(beyond) == f"too large: {reason}"
    with pytest.raises(DocumentLimitError, match="name_length_max"):
        Document.parse(beyond)


@pytest.mark.parametrize("folder", ["conformance-sample", "hostile"])
def test_no_file_of_the_suites_is_taken_otherwise(
    folder: str, shared_path: Callable[[str], Path]
) -> None:
    files = [path for path in shared_path(f"data/{folder}").rglob("*") if path.is_file()]
    assert any(isinstance(kernel.outline(path.read_bytes()), list) for path in files)
    for path in files:
        assert _difference(path.read_bytes()) is None, path.name
        if "not-wf" in path.parts:
            assert isinstance(kernel.outline(path.read_bytes()), str), path.name


def _real_documents(folder: Path, *, bytes_max: int) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".md", ".tsv"):
            content = path.read_bytes()
            if len(content) <= bytes_max:
                yield content


def test_the_kernel_is_sure_of_nearly_all_real_documents(
    shared_path: Callable[[str], Path],
) -> None:
    sure, well_formed = 0, 0
    for content in _real_documents(shared_path("data/docs"), bytes_max=100_000):
        try:
            Document.parse(content)
        except Exception:  # noqa: BLE001  # Whatever lxml says, it refuses.
            assert isinstance(kernel.outline(content), str)
            continue
        well_formed += 1
        assert _difference(content) is None
        sure += isinstance(kernel.outline(content), list)
    assert sure >= 0.95 * well_formed


@pytest.mark.deep
def test_damaged_real_documents_are_never_taken_otherwise(
    shared_path: Callable[[str], Path],
) -> None:
    rng = random.Random(1)
    originals = list(_real_documents(shared_path("data/docs"), bytes_max=6_000))
    for _ in range(20_000):
        content = rng.choice(originals)
        for _ in range(rng.randint(1, 3)):
            content = replaced(
                content, rng.random(), rng.choice([0, 0, 1, 4]), rng.choice(XML_PIECES)
            )
        assert _difference(content) is None
