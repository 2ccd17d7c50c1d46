"""What a record takes along from the elements around it."""

from __future__ import annotations

from tests.records import scanned
from twigcast.language.records.scanner import CutRecord, Damage


def test_records_in_entities_are_told_where_nobody_looks_for_them() -> None:
    dump = b"""<!DOCTYPE r [<!ENTITY e "<x><rec/></x>"><!ENTITY f "&#60;x/>"><!ENTITY g "&e;">]>
    <r>&f;<rec>&e;</rec>&amp;&none;&g;<rec/></r>"""
    for piece in (1, 2, 1000):
        record, damage = scanned(dump, "rec", piece=piece)
        assert isinstance(record, CutRecord)
        assert isinstance(damage, Damage)
        assert damage.offset == dump.index(b"&g;<")
        assert damage.reason == (
            "&g; stands for elements with the name of records, which are not read from there"
        )


def test_the_documents_of_large_records_count_what_they_inherit() -> None:
    (record,) = scanned(b"<r xmlns:p='urn:p'><rec>1</rec></r>", "rec", bytes_max=20)
    assert record == CutRecord(1, 19, None, 28)
