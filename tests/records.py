"""Records as a parser finds them, and dumps that are hard to cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import strategies as st
from lxml import etree
from lxml.etree import _Element

from twigcast.errors import DocumentError
from twigcast.language import Document
from twigcast.language.records.context import DumpContext
from twigcast.language.records.prolog import Prolog, Transcoder, read_prolog
from twigcast.language.records.scanner import CutRecord, Found, RecordScanner
from twigcast.language.records.selector import RecordSelector
from twigcast.language.records.writer import RecordWriter

XML = "{http://www.w3.org/XML/1998/namespace}"
BYTES_MAX = 10_000_000


class Dump(NamedTuple):
    """A dump whose prolog has been read; the text is in the encoding that is searched."""

    prolog: Prolog
    writer: RecordWriter
    text: bytes


def opened(data: bytes, record: str) -> Dump:
    prolog = read_prolog(data, whole=True)
    assert prolog is not None
    text = data[prolog.start :]
    if prolog.wide is not None:
        text = Transcoder(prolog.wide).read(text, final=True)
    return Dump(prolog, RecordWriter(prolog, RecordSelector.parse(record)), text)


def scanned(
    data: bytes, record: str, *, piece: int = 1 << 30, bytes_max: int = BYTES_MAX
) -> list[Found]:
    """All that a scanner finds in a dump that comes in pieces of a size."""
    prolog = read_prolog(data, whole=True)
    assert prolog is not None
    writer = RecordWriter(prolog, RecordSelector.parse(record))
    scanner = RecordScanner(prolog, writer, bytes_max=bytes_max)
    transcoder = None if prolog.wide is None else Transcoder(prolog.wide)
    found: list[Found] = []
    for start in range(prolog.start, max(len(data), prolog.start + 1), piece):
        part, final = data[start : start + piece], start + piece >= len(data)
        if transcoder is not None:
            part = transcoder.read(part, final=final)
        found += scanner.feed(part, final=final)
    return found


def context_at(dump: Dump, place: int, *, behind: int = 2) -> DumpContext | None:
    """The context at a place, by one who reads all that is in front of it; None inside a tag.

    The scanner is also shown so many bytes behind it.
    """
    scanner = RecordScanner(
        dump.prolog, dump.writer, offset=0, end=place, bytes_max=0, follows=True
    )
    list(scanner.feed(dump.text[: place + behind]))
    return scanner.context if scanner.done else None


# The oracle.


def parsed(content: bytes) -> _Element:
    """The root; DocumentError where it cannot be read."""
    return Document.parse(content).tree.getroot()


def is_read(content: bytes) -> bool:
    try:
        parsed(content)
    except DocumentError:
        return False
    return True


def outermost(root: _Element, record: str) -> Iterator[_Element]:
    """The records that a parser finds."""
    selector = RecordSelector.parse(record)
    path: list[tuple[str, str]] = []
    inside: _Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            name = etree.QName(element)
            path.append((name.namespace or "", name.localname))
            if inside is None and selector.selects(path):
                inside = element
                yield element
        else:
            path.pop()
            if element is inside:
                inside = None


class Meaning(NamedTuple):
    """What a record says, by what a parser makes of it."""

    tree: object
    namespaces: frozenset[tuple[str | None, str]]
    language: str
    base: str | None


def meaning(element: _Element) -> Meaning:
    attributes = _attributes(element)
    attributes.pop(f"{XML}lang", None)
    attributes.pop(f"{XML}base", None)
    around = [element, *element.iterancestors()]
    languages = [one.get(f"{XML}lang") for one in around]
    return Meaning(
        _tree(element, attributes),
        frozenset((prefix, uri) for prefix, uri in element.nsmap.items() if uri),
        next((language for language in languages if language is not None), ""),
        element.base,
    )


def _attributes(element: _Element) -> dict[str, str]:
    return {str(name): str(value) for name, value in element.attrib.items()}


def _tree(element: _Element, attributes: dict[str, str]) -> object:
    return (
        str(element.tag),
        sorted(attributes.items()),
        element.text,
        [(_tree(child, _attributes(child)), child.tail) for child in element],
    )


def check(data: bytes, record: str, found: list[Found]) -> None:
    """Whether the records found are those of a parser, each read alone."""
    expected = [meaning(element) for element in outermost(parsed(data), record)]
    contents = [one.content for one in found if isinstance(one, CutRecord)]
    assert [type(one) for one in found] == [CutRecord] * len(expected)
    assert [meaning(parsed(content or b"")) for content in contents] == expected


# Dumps.

_TRAPS = (
    "<!-- <rec> -->", "<!-- </rec> -->", "<!-->-->", "<!--->-->", "<!-- x - -> <!- -->",
    "<![CDATA[<rec>]]>", "<![CDATA[</rec>]]]]>", "<![CDATA[]]>", "<![CDATA[ <!-- ]]>",
    "<?rec <rec> ?>", "<?x </rec>?>", "<?y a>b?>", "]] >", "&lt;rec&gt;", "&#60;/rec>", " > ",
    "--", "text", "\n", "é", "𝄞", "]]", "?", "/>", "&co;", "<recs/>", "<re/>", "<rec-x a='1'/>",
    "<record>rec</record>", "<x rec='&lt;rec>'/>", '<x a="/>"/>', "<x a='&lt;!--'/>",
)  # fmt: skip

_ATTRIBUTES = (
    "", "", " a='1'", ' a="x>y"', " a='/>'", ' a = "--&gt;"', "\n b='\"'", ' b="&co;"',
    " xml:lang='de'", ' xml:lang=""', " xml:base='sub/'", ' xml:base="http://o.example/x"',
    " xmlns:q='urn:q'", " xmlns:p='urn:p2'", ' xmlns="urn:d"', " xmlns=''", " p:a='1'",
    ' xmlns:e="&ns;"',
)  # fmt: skip


@st.composite
def elements(draw: st.DrawFn, names: tuple[str, ...], depth: int) -> str:
    name = draw(st.sampled_from(names))
    attributes = draw(st.sampled_from(_ATTRIBUTES))
    if draw(st.integers(0, 5)) == 0:
        return f"<{name}{attributes}{draw(st.sampled_from(['', ' ']))}/>"
    inside = st.sampled_from(_TRAPS)
    if depth:
        inside = st.one_of(inside, elements(names, depth - 1))
    content = "".join(draw(st.lists(inside, max_size=5)))
    return f"<{name}{attributes}>{content}</{name}{draw(st.sampled_from(['', '', ' ']))}>"


@st.composite
def regular_dumps(draw: st.DrawFn) -> str:
    """A well-formed dump with many records alike, and something else among them."""
    kinds = draw(st.lists(elements(("rec", "p:rec"), 1), min_size=1, max_size=2))
    between = st.one_of(st.just("\n"), st.sampled_from(_TRAPS), elements(("x", "rec"), 1))
    records = draw(st.lists(st.sampled_from(kinds), min_size=3, max_size=12))
    rare = draw(st.dictionaries(st.integers(0, len(records)), between, max_size=2))
    content = "".join(rare.get(number, "") + one for number, one in enumerate(records))
    around = draw(
        st.sampled_from(
            ("x", "x xml:lang='de'", "x xmlns:p='urn:other'", "x xml:base='http://h.example/a/b'")
        )
    )
    doctype = "<!DOCTYPE r [<!ENTITY co 'Company'><!ENTITY ns \"urn:e\">]>"
    return f"{doctype}<r xmlns:p='urn:p'><{around}>{content}</x>{content}</r>"


@st.composite
def dumps(draw: st.DrawFn) -> str:
    """A well-formed dump with records and whatever can be taken for one."""
    names = ("rec", "rec", "p:rec", "x", "recs", "p:x")
    content = "".join(
        draw(
            st.lists(st.one_of(st.sampled_from(_TRAPS), elements(names, 3)), min_size=1, max_size=8)
        )
    )
    subset = (
        "<!ENTITY co 'Company'><!ENTITY ns \"urn:e\"><!-- ]> ' --><?pi ]>?>"
        '<!ELEMENT rec ANY><!ENTITY q "]>">'
    )
    root = draw(
        st.sampled_from(("r", "rec", "r xml:base='http://h.example/a/b'", "r xml:lang='x'"))
    )
    name = root.partition(" ")[0]
    miscellaneous = draw(st.sampled_from(("", "<!-- <rec/> -->", "<?pi <rec>?>\n")))
    return (
        f"{miscellaneous}<!DOCTYPE r SYSTEM ']>\"' [{subset}]>{miscellaneous}"
        f"<{root} xmlns:p='urn:p'>{content}</{name}>{miscellaneous}"
    )
