"""A dump that is cut into ranges has the records that it has as a whole."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records import dumps
from twigcast.errors import DocumentError
from twigcast.files import open_entries, read_documents
from twigcast.files.documents import record_ranges as ranges
from twigcast.files.documents.publications import Entry, EntryKind
from twigcast.files.documents.record_ranges import RecordRange, cut_dump, effects_of
from twigcast.language.records.prolog import Prolog
from twigcast.language.records.scanner import RecordScanner
from twigcast.language.records.selector import RecordSelector

SELECTORS = ("rec", "*:rec", "{urn:p}rec", "/*/*", "//x//*:rec", "/*")


def shared_out(
    path: Path, record: str, *, range_bytes: int, window: int = 32
) -> list[tuple[str, bytes | str]] | None:
    """The records of all ranges, each read by itself; None if the dump is not cut."""
    selector = RecordSelector.parse(record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "WINDOW_BYTES", window)
        cuts = cut_dump(str(path), range_bytes=range_bytes)
    if cuts is None:
        return None
    effects = [effects_of(cuts, number, selector) for number in range(len(cuts.starts))]
    parts = ranges.record_ranges(cuts, effects, selector)
    entry = Entry(EntryKind.FILE, path.name, str(path))
    found: list[tuple[str, bytes | str]] = []
    for part in parts:
        sent = RecordRange.from_bytes(part.to_bytes())
        assert sent == part
        found += _told(open_entries([replace(entry, part=sent)], record=selector))
    return found


def _told(found: object) -> list[tuple[str, bytes | str]]:
    return [
        (name.rpartition("/")[2], str(content) if isinstance(content, DocumentError) else content)
        for name, content in found  # type: ignore[attr-defined]
    ]


def whole(path: Path, record: str) -> list[tuple[str, bytes | str]]:
    told = _told(read_documents(path, record=record))
    return [
        (name, content.replace(str(path), path.name) if isinstance(content, str) else content)
        for name, content in told
    ]


@given(
    dump=dumps(),
    record=st.sampled_from(SELECTORS),
    encoding=st.sampled_from(("utf-8", "utf-16", "utf-16-be", "latin-1")),
    cut_off=st.one_of(st.none(), st.integers(0, 200)),
    range_bytes=st.integers(1, 200),
)
def test_ranges_have_the_records_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory,
    dump: str,
    record: str,
    encoding: str,
    cut_off: int | None,
    range_bytes: int,
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "dump.xml"
    label = "ISO-8859-1" if encoding == "latin-1" else encoding.upper()[:6]
    text = dump.replace("𝄞", "x") if encoding == "latin-1" else dump
    content = f'<?xml version="1.0" encoding="{label}"?>{text}'.encode(encoding)
    path.write_bytes(content[: len(content) - (cut_off or 0)])
    found = shared_out(path, record, range_bytes=range_bytes)
    assert found is None or found == whole(path, record)


def test_a_dump_is_right_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(
        b"<?xml version='1.0'?><!-- <r> --><r xmlns:p='urn:p' xml:lang='en'><g><rec a='x>y'/>\n"
        b"<!-- <rec> -->text of some length without any tag in it<rec><p:rec/><![CDATA[</rec>\n"
        b" and text of some length, too ]]><x a='a value of some length, in a tag'/></rec></g>\n"
        b"<p:rec><?pi <rec> ?><rec>nested</rec></p:rec><rec/> </r><!-- <rec/> -->\n"
    )
    for record in ("rec", "*:rec", "/*/*"):
        expected = whole(path, record)
        for range_bytes in range(1, 300):
            for window in (16, 1000):
                found = shared_out(path, record, range_bytes=range_bytes, window=window)
                assert found == expected


@pytest.mark.parametrize("damage", [b"</g>", b"<rec>", b"</rec>", b"<a b>", b"<!--", b"<![CDATA["])
def test_damage_is_told_once_wherever_a_dump_is_cut(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "dump.xml"
    inside = b"".join(b"<g><rec>%d</rec><rec/></g>" % number for number in range(10))
    for place in (0, 30, 45, len(inside)):
        path.write_bytes(b"<r>" + inside[:place] + damage + inside[place:] + b"</r>")
        expected = whole(path, "rec")
        for range_bytes in (1, 7, 20, 50):
            assert shared_out(path, "rec", range_bytes=range_bytes) == expected


def test_a_record_over_many_ranges_is_read_by_one(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(b"<r><rec>" + b"<a>b</a>" * 1000 + b"</rec><rec/></r>")
    cuts = cut_dump(str(path), range_bytes=100)
    assert cuts is not None
    selector = RecordSelector.parse("rec")
    effects = [effects_of(cuts, number, selector) for number in range(len(cuts.starts))]
    assert len(cuts.starts) > 50
    assert len(ranges.record_ranges(cuts, effects, selector)) <= 3
    assert shared_out(path, "rec", range_bytes=100) == whole(path, "rec")


def test_only_the_ends_of_a_regular_dump_are_read_twice_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(
        b"<r xmlns='urn:r'>" + b"<rec a='>'><!-- x --><![CDATA[ </rec> ]]></rec>\n" * 200 + b"</r>"
    )
    followed: list[int] = []
    follow = ranges._follow

    def counted(scanner: RecordScanner, file: BinaryIO, size: int, prolog: Prolog) -> None:
        followed.append(size)
        follow(scanner, file, size, prolog)

    monkeypatch.setattr(ranges, "_follow", counted)
    assert shared_out(path, "{urn:r}rec", range_bytes=200) == whole(path, "{urn:r}rec")
    assert len(followed) == 1


def test_what_cannot_be_read_from_the_middle_is_not_cut(tmp_path: Path) -> None:
    dump = b"<r>" + b"<rec/>" * 1000 + b"</r>"
    subset = b"<!DOCTYPE r [<!ENTITY e '<rec/>'>]>"
    for name, content in {
        "packed": gzip.compress(os.urandom(5000)),
        "small": b"<r><rec/></r>",
        "entities": subset + dump,
        "gone": None,
    }.items():
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        assert cut_dump(str(path), range_bytes=100) is None
    (tmp_path / "dump").write_bytes(dump)
    assert cut_dump(str(tmp_path / "dump"), range_bytes=100) is not None


def test_a_dump_that_was_changed_is_not_read_by_ranges(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(b"<r>" + b"<rec/>" * 100 + b"</r>")
    selector = RecordSelector.parse("rec")
    cuts = cut_dump(str(path), range_bytes=300)
    assert cuts is not None
    effects = [effects_of(cuts, number, selector) for number in range(len(cuts.starts))]
    parts = ranges.record_ranges(cuts, effects, selector)
    path.write_bytes(b"<r>" + b"<rec />" * 100 + b"</r>")
    entry = Entry(EntryKind.FILE, "dump.xml", str(path))
    found = dict(open_entries([replace(entry, part=part) for part in parts], record=selector))
    assert list(found) == [f"dump.xml@{part.start}" for part in parts]
    assert "was changed since it was cut" in str(found[f"dump.xml@{parts[0].start}"])


def test_effects_of_a_dump_that_is_gone_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(b"<r>" + b"<rec/>" * 100 + b"</r>")
    cuts = cut_dump(str(path), range_bytes=300)
    assert cuts is not None
    path.unlink()
    assert effects_of(cuts, 1, RecordSelector.parse("rec")) == b""


@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.deep)])
def test_real_documents_have_the_same_records_by_ranges(
    shared_path: Callable[[str], Path], every: int
) -> None:
    rng, cut = Random(5), 0
    for path in sorted(shared_path("data/docs").rglob("*.xml"))[::every]:
        size = path.stat().st_size
        for record in ("/*/*", "//*:p", "*:entry", "*:title"):
            found = shared_out(path, record, range_bytes=rng.randrange(size // 20, size) + 1)
            if found is not None:
                assert found == whole(path, record)
                cut += 1
    assert cut
