"""Records are those that a parser finds, whatever is around and inside them."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.records import check, dumps, is_read, opened, parsed, scanned
from twigcast.errors import DocumentError
from twigcast.language.records import lexer, scanner, writer
from twigcast.language.records.context import Frame
from twigcast.language.records.scanner import CutRecord, Damage, RecordScanner

SELECTORS = ("rec", "*:rec", "{urn:p}rec", "x/rec", "/*/*", "/r/rec", "//x//*:rec", "/*")


@given(dumps(), st.sampled_from(SELECTORS), st.integers(1, 40))
def test_records_are_those_of_a_parser(dump: str, record: str, piece: int) -> None:
    data = dump.encode()
    assume(is_read(data))
    found = scanned(data, record)
    check(data, record, found)
    assert scanned(data, record, piece=piece) == found


@given(dumps(), st.data())
def test_what_is_in_front_of_damage_stands(dump: str, data: st.DataObject) -> None:
    whole = dump.encode()
    assume(is_read(whole))
    place = data.draw(st.integers(whole.index(b"<r"), len(whole)))
    kept = whole[:place]
    found, full = scanned(kept, "*:rec"), scanned(whole, "*:rec")
    records = [one for one in found if isinstance(one, CutRecord)]
    assert records == full[: len(records)]
    damage = found[len(records) :]
    if is_read(kept):
        assert not damage
    else:
        (one,) = damage
        assert isinstance(one, Damage)
        assert one.number == len(records) + 1
        assert one.offset <= len(kept)


@pytest.mark.parametrize(
    ("dump", "records", "offset", "reason"),
    [
        (b"<r><rec/><rec>", 1, 14, "the end, inside the record <rec> that begins at byte 9"),
        (b"<r><rec/></x>", 1, 9, "</x>, where </r> is due"),
        (b"<r><rec/><rec><q:rec></rec></q:rec></r>", 1, 27, "</q:rec>, where </rec> is due"),
        (b"<r><rec/>", 1, 9, "the end, without </r>"),
        (b"<r><rec/></r>x", 1, 13, "text outside of all elements"),
        (b"<r><rec/></r><rec/>", 1, 13, "a second outermost element"),
        (b"<r><rec/></r></r>", 1, 13, "</r>, which closes nothing"),
        (b"<r><rec/></r><![CDATA[]]>", 1, 13, "a CDATA section outside of all elements"),
        (b"<r><rec a='<'/></r>", 0, 3, "a tag that is not well-formed"),
        (b"<r><rec/><rec a></rec></r>", 1, 9, "a tag that is not well-formed"),
        (b"<r><rec/><!DOCTYPE r></r>", 1, 9, "a markup declaration in the middle of the document"),
        (b"<r><rec/><!-- </r>", 1, 18, "the end, inside a comment that begins at byte 9"),
        (b"<r><rec/><a", 1, 9, "a tag that is not well-formed"),
        (b"", 0, 0, "the end, without any element"),
        (b" text", 0, 1, "text outside of all elements"),
        (b"<rec" + b"<e>" * 300, 0, 0, "a tag that is not well-formed"),
        (b"<e>" * 300, 0, 768, "more than 256 elements inside each other"),
    ],
)
def test_damage_is_told_with_its_place(dump: bytes, records: int, offset: int, reason: str) -> None:
    for piece in (1, 5, 1000):
        found = scanned(dump, "rec", piece=piece)
        assert found[-1] == Damage(records + 1, offset, reason)
        assert [type(one) for one in found[:-1]] == [CutRecord] * records


def test_records_in_entities_are_told_though_their_prefix_is_bound_outside() -> None:
    dump = b"<!DOCTYPE r [<!ENTITY e '<p:rec/>'>]><r xmlns:p='urn:p'><p:rec/>&e;<p:rec/></r>"
    record, damage = scanned(dump, "*:rec")
    assert isinstance(record, CutRecord)
    assert isinstance(damage, Damage)
    assert damage.offset == dump.index(b"&e;<")


@pytest.mark.parametrize(
    "declared",
    ["r xmlns CDATA 'u'", "rec n (a|b) 'b' xmlns:p CDATA #FIXED \"u\"", "r\nxmlns CDATA 'u'"],
)
def test_a_dump_whose_elements_have_namespaces_by_default_is_refused(declared: str) -> None:
    subset = f"<?x '?><!--'--><!ENTITY e 'x'><!ATTLIST {declared}>"
    with pytest.raises(DocumentError, match="a namespace by default"):
        scanned(f"<!DOCTYPE r [{subset}]><r><rec/></r>".encode(), "rec")


@pytest.mark.parametrize(
    "declared",
    [
        "<!ATTLIST r xmlns CDATA #IMPLIED n CDATA 'b'>",
        "<!ATTLIST r xmlns:p CDATA #REQUIRED><!ENTITY e 'x'>",
        "<!-- <!ATTLIST r xmlns CDATA 'u'> -->",
        "<?x <!ATTLIST r xmlns CDATA 'u'>?>",
        '<!ATTLIST r n CDATA "\nxmlns CDATA ">',
        "<!ATTLIST xmlns n CDATA #IMPLIED>",
        "<!ENTITY e \"<!ATTLIST r xmlns CDATA 'u'>\">",
    ],
)
def test_a_dump_that_only_seems_to_declare_namespaces_is_read(declared: str) -> None:
    dump = f"<!DOCTYPE r [{declared}]><r><rec/></r>".encode()
    check(dump, "rec", scanned(dump, "rec"))


@pytest.mark.parametrize("attribute", [b"a='%s'", b"%s"])
def test_a_long_tag_is_not_looked_at_with_each_piece(
    attribute: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    class Counted:
        def match(self, text: bytes, *places: int) -> re.Match[bytes] | None:
            looked.append(len(text))
            return lexer.START_TAG.match(text, *places)

    monkeypatch.setattr(scanner, "START_TAG", Counted())
    dump = b"<r><x " + attribute % (b"x" * 1_000_000) + b"><rec/></x></r>"
    found = scanned(dump, "rec", piece=1_000)
    assert found == scanned(dump, "rec")
    assert sum(looked) < 10 * len(dump)


def test_what_stands_around_records_is_bounded() -> None:
    spaces = b" ".join(b"xmlns:p%d='u'" % number for number in range(2_000))
    (damage,) = scanned(b"<r " + spaces + b"><rec/></r>", "rec")
    assert isinstance(damage, Damage)
    assert damage.reason.startswith("more than 16,384 bytes of names and namespaces")
    # What has ended counts no more.
    half = b"<x " + b" ".join(b"xmlns:p%d='u'" % number for number in range(500)) + b"></x>"
    assert scanned(b"<r>" + half * 5 + b"<rec/></r>", "rec") == [
        CutRecord(1, 3 + 5 * len(half), b"<rec/>", 6)
    ]


def test_what_is_kept_of_start_tags_is_bounded() -> None:
    spaces = b" ".join(b"xmlns:p%d='u'" % number for number in range(700))
    dump = opened(b"<r/>", "rec")
    around = Frame.of(b"r", spaces)
    tracemalloc.start()
    for number in range(1_000):
        dump.writer.verdict((around,), Frame.of(b"rec", b" xml:lang='%d'" % number))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8_000_000


def test_a_base_is_resolved_once_for_all_records_inside_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolved: list[str] = []

    def counted(base: str, reference: str) -> str:
        resolved.append(reference)
        return urljoin(base, reference)

    monkeypatch.setattr(writer, "urljoin", counted)
    records = b"".join(b"<rec xml:lang='%d'/>" % number for number in range(20))
    inner = b"<x xml:base='y'>" + records + b"</x>"
    dump = b"<r xml:base='a/'>" * 50 + inner * 2 + b"</r>" * 50
    found = scanned(dump, "rec")
    check(dump, "rec", found)
    assert len(found) == 40
    assert len(resolved) == 51


def test_a_record_that_is_too_large_has_only_its_size() -> None:
    dump = b"<r><rec>" + b"x" * 100 + b"</rec><rec/></r>"
    for piece in (3, 1000):
        large, small = scanned(dump, "rec", piece=piece, bytes_max=50)
        assert large == CutRecord(1, 3, None, 111)
        assert small == CutRecord(2, 114, b"<rec/>", 6)


def test_a_scanner_holds_one_record_at_most() -> None:
    dump = opened(b"<r/>", "rec")
    reader = RecordScanner(dump.prolog, dump.writer, bytes_max=1000)
    for part in (b"<r>", b"<!--", b"x" * 5000, b"-->", b"y" * 5000, b"<rec>", b"z" * 5000):
        assert list(reader.feed(part)) == []
        assert len(reader._buffer) <= 3
    assert reader._opened is not None
    assert not reader._opened.parts


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.deep)])
def test_real_documents_are_cut_as_a_parser_would(
    shared_path: Callable[[str], Path], every: int
) -> None:
    read = 0
    for path in sorted(shared_path("data/docs").rglob("*.xml"))[::every]:
        data = path.read_bytes()
        if not is_read(data):
            continue
        names = sorted({one.tag.rpartition("}")[2] for one in parsed(data).iter("*")})
        for record in (*(f"*:{name}" for name in names[:: max(1, len(names) // 3)]), "/*/*"):
            found = scanned(data, record, piece=4096)
            if found and isinstance(found[-1], Damage) and "stands for" in found[-1].reason:
                continue
            check(data, record, found)
            read += 1
    assert read
