"""Documents: what is read, what is refused and where, and that the bytes stay as they came."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.oracle import oracle_tree
from tests.strategies import documents
from twigcast.errors import DocumentError
from twigcast.language import Document
from twigcast.language.document.parse import encoded


def oracle_reads(content: bytes) -> bool:
    try:
        oracle_tree(content)
    except etree.XMLSyntaxError:
        return False
    return True


def refusal(content: bytes) -> DocumentError | None:
    try:
        Document.parse(content)
    except DocumentError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("content", "line", "column", "reason"),
    [
        (b"", 1, 1, "Document is empty"),
        (b" \n ", 2, 2, "Start tag expected"),
        (b"<", 1, 2, "invalid element name"),
        (b"<a>", 1, 4, "Premature end of data in tag a"),
        (b"<a>\n<b>\n</a>", 3, 5, "tag mismatch: b line 2 and a"),
        (b"<a>\n  <b x=1/></a>", 2, 8, "AttValue"),
        (b"<a x='1' x='2'/>", 1, 15, "Attribute x redefined"),
        (b"<a>\xe9</a>", 1, 4, "Invalid bytes in character encoding"),
        (b"<a>\x00</a>", 1, 4, "Char 0x0 out of allowed range"),
        (b"<a>\n&#1;</a>", 2, 5, "invalid xmlChar value 1"),
        (b"<a/>\n<b/>", 2, 1, "Extra content at the end of the document"),
        (b"<a>&u;</a>", 1, 7, "Entity 'u' not defined"),
        (b"<p:a/>", 1, 5, "Namespace prefix p on a is not defined"),
        (b" <?xml version='1.0'?><a/>", 1, 7, "XML declaration allowed only at the start"),
        (b"<?xml version='2.0'?><a/>", 1, 20, "Unsupported version '2.0'"),
        (b"{'a': 1}", 1, 1, "Start tag expected"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", 1, 1, "Start tag expected"),
        (bytes(range(256)), 1, 1, "Document is empty"),
        (b"\x1f\x8b\x08\x00\x00", 1, 1, "Start tag expected"),
    ],
)
def test_what_is_not_well_formed_is_refused_with_line_and_column(
    content: bytes, line: int, column: int, reason: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        Document.parse(content, name="x.xml")
    error = caught.value
    assert (error.document, error.line, error.column) == ("x.xml", line, column)
    assert reason in error.reason
    assert str(error) == f"document x.xml, line {line}, column {column}: {error.reason}"
    assert "<string>" not in str(error)


# Encodings.

ACCENTS = "<é>ñ</é>"


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-8", "UTF-8"),
        ("utf-8", "utf8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "utf-16-be"),
        ("iso-8859-1", "ISO-8859-1"),
        ("iso-8859-1", "latin1"),
        ("iso-8859-15", "ISO-8859-15"),
        ("cp1252", "windows-1252"),
        ("cp1250", None),
        ("ascii", "US-ASCII"),
    ],
)
def test_encodings_in_which_ascii_means_ascii_are_read(encoding: str, declared: str | None) -> None:
    text = {"cp1250": "<e>n</e>", "ascii": "<e>n</e>"}.get(encoding, ACCENTS)
    declaration = f"<?xml version='1.0' encoding='{declared}'?>" if declared else ""
    content = f"{declaration}{text}".encode(encoding)
    root = Document.parse(content).tree.getroot()
    assert f"<{root.tag}>{root.text}</{root.tag}>" == text


@pytest.mark.parametrize(
    "content",
    [
        "<?xml version='1.0' encoding='UTF-7'?><a/>".encode("utf-7"),
        b"<?xml version='1.0' encoding='UTF-7'?>+ADw-a/+AD4-",
        b"<?xml version='1.0'" + b" " * 100_000 + b"encoding='UTF-7'?>+ADw-a/+AD4-",
        b'<?xml\tversion="1.0"\n\nencoding\n=\n"utf-7" standalone="no"?>+ADw-a/+AD4-',
        "<?xml version='1.0' encoding='UTF-7'?><a/>".encode("utf-16"),
        b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-7'?><a/>",
        "<a/>".encode("utf-32"),
        "<a/>".encode("utf-32-le"),
        "<a/>".encode("utf-32-be"),
        "<?xml version='1.0' encoding='cp037'?><a/>".encode("cp037"),
        "<?xml version='1.0' encoding='Shift_JIS'?><a/>".encode("shift_jis"),
        "<?xml version='1.0' encoding='GB2312'?><a/>".encode("gb2312"),
        b"<?xml version='1.0' encoding='ISO-2022-JP'?><a/>",
        b"<?xml version='1.0' encoding='x-nobody-knows'?><a/>",
        b"<?xml version='1.0' encoding=''?><a/>",
    ],
)
def test_other_encodings_are_refused_by_name(content: bytes) -> None:
    with pytest.raises(DocumentError, match=r"line 1, column 1: encoding .* is not read here"):
        Document.parse(content)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf<?xml version='1.0' encoding='latin1'?><a>\xc3\xa9</a>",
        "<?xml version='1.0' encoding='UTF-8'?><a>é</a>".encode("utf-16"),
        "<?xml version='1.0' encoding='UTF-8'?><a>é</a>".encode("utf-16-le"),
        b"\xfe\xff" + "<a>é</a>".encode("utf-16-le"),
        "<a>é</a>".encode("utf-16") + b"x",
        b"<?xml version='1.0' encoding='UTF-16'?><a>x</a>",
        b"<?xml version='1.0' encoding='UTF-8'?><a>\xe9</a>",
        b"<?xml version='1.0' encoding='US-ASCII'?><a>\xe9</a>",
        b"<?xml version='1.0' encoding='latin-99'?><a>x</a>",
        b"\xef\xbb\xbf\xef\xbb\xbf<a/>",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x00<\x00a\x00/\x00>",
        b"\x00\x00<\x00\x00\x00a\x00",
    ],
)
def test_where_bytes_and_declaration_differ_libxml2_decides(content: bytes) -> None:
    assert (refusal(content) is None) == oracle_reads(content)


def test_text_that_was_decoded_declares_what_it_becomes() -> None:
    for declared in ("ISO-8859-1", "UTF-16", "UTF-7"):
        content = encoded(f'<?xml version="1.0" encoding="{declared}"?><a>é</a>')
        assert Document.parse(content).tree.getroot().text == "é"
    assert encoded("<a>encoding='x'</a>") == b"<a>encoding='x'</a>"


# The bytes.

SMALL = """<?xml version='1.0' encoding='UTF-8'?>
<!DOCTYPE r [<!ENTITY e 'x<b/>'><!ATTLIST r i ID #IMPLIED>]><!-- c -->
<r i='1' xmlns:p='urn:p'>é&e;<p:a p:x="&lt;"><![CDATA[<&]]></p:a><?t u?>&#233;</r>
<!---->"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_cut_off_anywhere_is_read_only_if_libxml2_reads_it(encoding: str) -> None:
    whole = SMALL.replace("UTF-8", encoding.upper()).encode(encoding)
    read = []
    for length in range(len(whole) + 1):
        part = whole[:length]
        assert (refusal(part) is None) == oracle_reads(part), part
        read.append(refusal(part) is None)
    assert read[-1]
    assert not any(read[: whole.rindex("</r>".encode(encoding)[-8:])])


@given(documents(), st.data())
def test_a_document_with_a_byte_changed_is_read_only_if_libxml2_reads_it(
    content: bytes, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255))
    changed = content[:place] + bytes([byte]) + content[place + 1 :]
    error = refusal(changed)
    if error is None:
        assert oracle_reads(changed)
    elif "is not read here" not in error.reason:
        assert not oracle_reads(changed)


@given(documents())
def test_the_original_bytes_are_kept_and_their_digest_known(content: bytes) -> None:
    document = Document.parse(content)
    assert document.content is content
    assert document.sha256 == hashlib.sha256(content).hexdigest()


def test_a_document_knows_its_sizes() -> None:
    document = Document.parse(b"<a x=''><b/><b x='' y=''><c/>t<!--c--></b><d/></a>", name="n")
    assert (document.element_count, document.depth, document.breadth) == (5, 3, 3)
    counts = {(label.kind, label.local): count for label, count in document.labels.items()}
    assert counts == {
        ("element", "a"): 1, ("element", "b"): 2, ("element", "c"): 1, ("element", "d"): 1,
        ("attribute", "x"): 2, ("attribute", "y"): 1,
    }  # fmt: skip
    assert document.name == "n"


# Entities.


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE a SYSTEM "a.dtd">',
        '<!DOCTYPE a PUBLIC "-//X//Y" "http://x.example/a.dtd">',
        '<!DOCTYPE a SYSTEM "a.dtd" [<!ENTITY known "k<b/>">]>',
        '<!DOCTYPE a [<!ENTITY % more SYSTEM "more.ent"> %more;]>',
    ],
)
def test_an_entity_of_a_dtd_that_nobody_fetches_has_no_text(doctype: str) -> None:
    document = Document.parse(f"{doctype}<a>caf&eacute;<c x='&eacute;'/></a>".encode())
    root = document.tree.getroot()
    assert etree.tostring(root) == b'<a>caf<c x=""/></a>'
    assert b"&eacute;" in document.content


def test_known_entities_are_expanded_beside_unknown_ones() -> None:
    content = b"<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY e 'x<b/>'>]><a>&e;&unknown;&e;</a>"
    assert etree.tostring(Document.parse(content).tree.getroot()) == b"<a>x<b/>x<b/></a>"


def test_no_reference_is_left_in_the_tree() -> None:
    # libxml2 goes round in circles behind one that it knows the entity of.
    content = b"<!DOCTYPE a [<!ENTITY e SYSTEM 'x'>]><a><d/>&e;<f>&e;</f><e/></a>"
    tree = Document.parse(content).tree
    assert [node.tag for node in tree.iter()] == ["a", "d", "f", "e"]
    assert tree.xpath("count(/a/d/following::node())") == 2


@pytest.mark.parametrize(
    "content",
    [
        b"<a>&eacute;</a>",
        b"<!DOCTYPE a []><a>&eacute;</a>",
        b"<?xml version='1.0' standalone='yes'?><!DOCTYPE a SYSTEM 'a.dtd'><a>&eacute;</a>",
        b"<!DOCTYPE a SYSTEM 'a.dtd'><a>&eacute;<b></a>",
        b"<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY e '<b>'>]><a>&eacute;&e;</a>",
    ],
)
def test_without_an_external_dtd_an_unknown_entity_is_a_mistake(content: bytes) -> None:
    assert refusal(content) is not None


def test_entities_of_the_internal_subset_are_expanded() -> None:
    content = b"<!DOCTYPE a [<!ENTITY e '<b>x</b>'>]><a>&e;&e;</a>"
    assert Document.parse(content).element_count == 3


# All reports of libxml2 on a document.

EXTERNAL = b"<!DOCTYPE a SYSTEM 'a.dtd'>"
RELATIVE = b"<b xmlns='relative'/>"
"""Causes a warning, which lxml takes for the result of the parse."""

NAMESPACE_MISTAKES = [
    b"<a q:x=''>%s</a>",
    b"<a xmlns='u v'>%s</a>",
    b"<a xmlns:p='u v'>%s</a>",
    b"<a><p:c/>%s</a>",
    b"<a xmlns:p='urn:u' xmlns:q='urn:u'><c p:x='' q:x=''/>%s</a>",
    b"<a><?p:q x?>%s</a>",
    b"<a xmlns:xmlns='urn:u'>%s</a>",
]


@pytest.mark.parametrize("content", NAMESPACE_MISTAKES)
@pytest.mark.parametrize(
    "between", [b"", RELATIVE, b"&e;" + RELATIVE, b"&e;" * 300, b"&e;" * 300 + RELATIVE]
)
def test_a_mistake_counts_whatever_comes_behind_or_before_it(
    content: bytes, between: bytes
) -> None:
    for order in (content % between, content.replace(b"<a", b"<a>%s<a" % between) % b"" + b"</a>"):
        assert refusal(EXTERNAL + order) is not None
        if b"&" not in order:
            assert refusal(order) is not None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_an_error_is_reported_at_its_place_though_a_warning_follows(encoding: str) -> None:
    declared = f"<?xml version='1.0' encoding='{encoding}'?>"
    error = refusal(f"{declared}\n<a q:x=''>\n<b xmlns='relative'/></a>".encode(encoding))
    assert error is not None
    assert (error.line, error.reason) == (2, "Namespace prefix q for x on a is not defined")


@pytest.mark.parametrize(
    "start",
    [
        EXTERNAL + b"<a xmlns='relative'>",
        EXTERNAL + b"<a><?xml-foo x?>",
        EXTERNAL + b"<a xml:space='bad'>",
        EXTERNAL + b"<a xml:lang='1'>",
        EXTERNAL + b"<a>" + RELATIVE * 300,
        b"<!DOCTYPE a SYSTEM 'a.dtd' [<!ATTLIST a b CDATA ''><!ATTLIST a b CDATA ''>]><a>",
        b"<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY e 'x'><!ENTITY e 'y'>]><a>",
    ],
)
@pytest.mark.parametrize("text", [b"x", b"&eacute;", b"&eacute;" * 300])
def test_a_warning_refuses_no_document(start: bytes, text: bytes) -> None:
    assert refusal(start + text + b"</a>") is None


def test_entities_that_grow_are_refused_behind_many_unknown_ones() -> None:
    laughs = b"".join(
        b"<!ENTITY l%d '%s'>" % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 9)
    )
    declared = b"[<!ENTITY unknown SYSTEM 'x'><!ENTITY l0 'laugh'>" + laughs + b"]>"
    for doctype in (b"<!DOCTYPE a ", b"<!DOCTYPE a SYSTEM 'a.dtd' "):
        for place in (b"&l8;", b"<b c='&l8;'/>", b"<b xmlns='&l8;'/>"):
            content = doctype + declared + b"<a>" + b"&unknown;" * 300 + place + b"<c/></a>"
            assert refusal(content) is not None


def test_no_document_is_refused_for_the_one_before() -> None:
    good, bad = b"<a/>", b"<a xmlns:p='u v'/>"
    poisons = [content % RELATIVE for content in NAMESPACE_MISTAKES]
    for poison in (*poisons, *(EXTERNAL + one for one in poisons), EXTERNAL + b"<a>&e;</a>"):
        refusal(poison)
        assert refusal(good) is None
        assert refusal(bad) is not None


# What lxml cannot decode.

SURROGATES = [b"&#xD800;", b"&#xDC00;", b"&#xdfff;", b"&#55296;", b"&#x110000;", b"&#xFFFE;"]
PLACES = [
    b"<x xmlns='%s'",
    b"<x xmlns='%s'/>",
    b"<a xmlns:q='%s'/>",
    b"<a xmlns:q='%s' b='>",
    b"<a xmlns:q='%s' q:b=''><q:c/></a>",
    b"<!DOCTYPE a [<!ENTITY e 'x'>]><a q='%s'/>",
    b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>%s</a>",
    b"<!DOCTYPE a [<!ENTITY e 'x'>]><a xmlns='%s'>&e;</a>",
    b"<!DOCTYPE a [<!ENTITY e '%s'>]><a xmlns='&e;'>&e;</a>",
    b"<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY e '%s'>]><a xmlns='&e;'>&unknown;</a>",
    b"<!DOCTYPE a [<!ATTLIST a xmlns CDATA '%s'>]><a/>",
    b"<a><?p %s?><!-- %s --></a>",
    b"<%s/>",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_no_reference_to_what_is_no_character_gets_out(place: bytes, encoding: str) -> None:
    for reference in SURROGATES:
        text = place.replace(b"%s", reference).decode()
        content = text.encode(encoding)
        refused = refusal(content)
        if b"?p" not in place:
            assert refused is not None


@pytest.mark.parametrize(
    "error",
    [
        UnicodeDecodeError("utf-8", b"\xed", 0, 1, "invalid continuation byte"),
        ValueError("an embedded null character"),
        LookupError("unknown encoding"),
        TypeError("expected bytes"),
        AssertionError("invalid document"),
        etree.ParserError("Document is empty"),
        etree.LxmlError("gone wrong"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_the_reader_raises_is_a_refused_document(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr("twigcast.language.document.parse.etree.fromstring", failing)
    with pytest.raises(DocumentError, match="cannot be read") as caught:
        Document.parse(b"<a/>", name="x.xml")
    assert (caught.value.document, caught.value.__cause__) == ("x.xml", error)
    monkeypatch.undo()
    assert Document.parse(b"<a/>").element_count == 1
