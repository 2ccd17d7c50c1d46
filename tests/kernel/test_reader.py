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
from lxml.etree import _Comment, _ProcessingInstruction

from fuzz.declared_text import ENCODINGS, random_declared_document
from fuzz.mutation import XML_PIECES, replaced
from tests.strategies import THOROUGH, documents
from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.language.document.parse import Document, DocumentLimits, split_tag
from twigcast.language.document.tree_walk import walk_texts
from twigcast.language.xpath.syntax import XML_NAMESPACE

if TYPE_CHECKING:
    from lxml.etree import _Element

kernel = pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

_name_of = cast("Callable[..., str]", etree.XPath("name(@*[$number])", smart_strings=False))
_named_by = cast("Callable[..., list[_Element]]", etree.XPath("id($value)"))

_CUTS = st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 4]), st.sampled_from(XML_PIECES))


def _nodes(content: bytes) -> tuple[list[tuple[object, ...]], set[tuple[str, int]]]:
    """What lxml sees in the kernel's form, and which attributes name which elements."""
    root = Document.parse(content).tree.getroot()
    nodes = [_remark(one, None) for one in reversed([*root.itersiblings(preceding=True)])]
    around: list[int] = []
    identifiers: set[tuple[str, int]] = set()
    count = 0
    for one in walk_texts(root, remarks=True):
        above = around[-1] if around else None
        if one is None:
            around.pop()
        elif isinstance(one, str):
            nodes.append(("text", above, one))
        elif isinstance(one, _Comment | _ProcessingInstruction):
            nodes.append(_remark(one, above))
        else:
            nodes.append(("element", *split_tag(str(one.tag)), one.prefix or "", above))
            for number, (key, value) in enumerate(one.items(), start=1):
                prefix = _name_of(one, number=number).rpartition(":")[0]
                names = split_tag(str(key))
                nodes.append(("attribute", count, *names, prefix, str(value)))
                is_one = _is_token(str(value)) and one in _named_by(root, value=value)
                if is_one and names != (XML_NAMESPACE, "id"):
                    identifiers.add((str(value), count))
            around.append(count)
            count += 1
    nodes.extend(_remark(one, None) for one in root.itersiblings())
    return nodes, identifiers


def _remark(node: _Element, above: int | None) -> tuple[object, ...]:
    target = str(node.target) if isinstance(node, _ProcessingInstruction) else None
    return ("remark", above, target, node.text or "")


def _is_token(value: str) -> bool:
    """Whether ``id()`` would look for the value as it is."""
    return not any(blank in value for blank in " \t\r\n")


def _difference(content: bytes) -> object:
    """What the kernel sees otherwise than lxml; nothing where it is unsure.

    A document that only the kernel takes raises the error of lxml.
    """
    seen = kernel.outline(content)
    if isinstance(seen, str):
        return None if seen else "unsure for no reason"
    attributes = [node for node in seen if node[0] == "attribute"]
    identifiers = {(node[5], node[1]) for node in attributes if node[6] and _is_token(node[5])}
    plain = [node[:6] if node[0] == "attribute" else node for node in seen]
    expected = _nodes(content)
    return None if (plain, identifiers) == expected else (plain, identifiers, expected)


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


def _differing(seeds: range) -> list[int]:
    """The seeds whose documents the kernel sees otherwise than lxml; it must see some."""
    made = {seed: random_declared_document(random.Random(seed)) for seed in seeds}
    taken = sum(isinstance(kernel.outline(content), list) for content in made.values())
    assert taken >= 0.35 * len(made)
    return [seed for seed, content in made.items() if _difference(content) is not None]


def test_documents_with_declarations_and_in_all_encodings_have_the_same_nodes() -> None:
    assert not _differing(range(3_000))


@pytest.mark.deep
def test_many_documents_with_declarations_have_the_same_nodes() -> None:
    for first in range(3_000, 203_000, 10_000):
        assert not _differing(range(first, first + 10_000))


_ENCODING_NAMES = (
    *(f"ISO-8859-{number}" for number in range(17)),
    *(f"{prefix}{number}" for prefix in ("iso_8859-", "ISO8859-") for number in (1, 9, 12, 15)),
    *(f"{prefix}{number}" for prefix in ("windows-", "CP") for number in range(1249, 1260)),
    *(f"{prefix}{number}" for prefix in ("latin", "Latin-", "l") for number in range(12)),
    *("utf8", "UTF_8", "utf-16", "UTF16", "utf-16le", "utf_16-be", "utf-16-x", "ucs-2", "ascii"),
    *("us-ascii", "ISO-8859-01", "windows-1252x", "", "é", "utf-7", "koi8-r", "gbk", "utf-32"),
)  # fmt: skip


@pytest.mark.parametrize("name", _ENCODING_NAMES)
def test_bytes_mean_what_they_mean_to_lxml_in_every_encoding(name: str) -> None:
    declaration = f"<?xml version='1.0' encoding='{name}'?>"
    head = declaration.encode() + b"<a>"
    contents = [head + bytes([byte]) + b"</a>" for byte in range(256)]
    contents.append(head + bytes(range(0xA0, 0x100)) + b"</a>")
    for order in ("utf-16-le", "utf-16-be"):
        contents.append(f"{declaration}<a>é</a>".encode(order))
        contents.append(f"\ufeff{declaration}<a>é</a>".encode(order))
    for content in contents:
        assert _difference(content) is None, content


def test_the_encodings_of_feeds_are_read_by_the_kernel() -> None:
    left = {"windows-1255", "windows-1258"}
    for name in ENCODINGS:
        content = f"<?xml version='1.0' encoding='{name}'?><a>".encode() + b"\xad</a>"
        assert isinstance(kernel.outline(content), str) == (name in left), name


@pytest.mark.parametrize("size", [131_071, 131_072, 131_073])
@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16"])
def test_an_internal_subset_is_within_its_limit_or_left_to_lxml(size: int, encoding: str) -> None:
    subset = "<!ENTITY e '" + "x" * (size - 14) + "'>"
    assert len(subset) == size
    content = f"<?xml version='1.0' encoding='{encoding}'?><!DOCTYPE a [{subset}]><a/>".encode(
        encoding
    )
    within = size <= DocumentLimits().internal_subset_bytes_max
    assert isinstance(kernel.outline(content), list) == within
    if within:
        assert _difference(content) is None
    else:
        with pytest.raises(DocumentLimitError, match="internal_subset_bytes_max"):
            Document.parse(content)


@pytest.mark.parametrize("size", [1_000, 100_000])
@pytest.mark.parametrize("use", ["<a>{}</a>", "<a k='{}'/>", "<a>{}{}</a>"])
@pytest.mark.parametrize("text", ["x", f'<b k="{"x" * 90}"/>', "&f;"])
def test_what_entities_come_to_is_bounded_as_in_lxml(size: int, use: str, text: str) -> None:
    subset = f"<!ENTITY f 'y'><!ENTITY e '{text * (size // len(text))}'>"
    counts = {
        count for most in (1_000_000 // size,) for count in (most // 2, most - most // 30, most * 2)
    }
    for padding in (0, 1_000_000):
        for count in counts:
            used = use.format("&e;" * count, "&e;")
            content = f"<!DOCTYPE a [{subset}]><!--{'-x' * padding}-->{used}".encode()
            try:
                expected = Document.parse(content).element_count
            except DocumentError:
                assert isinstance(kernel.outline(content), str)
            else:
                seen = kernel.outline(content)
                assert isinstance(seen, str) or expected == sum(one[0] == "element" for one in seen)


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
    assert [node[0] for node in seen] == [
        *("element", "text", "element", "text", "text", "remark", "text", "element")
    ]
    assert order == ["", "1", "", "2", "3", "x", "4", ""]


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
    assert sure >= 0.99 * well_formed


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
