"""Dumps in other encodings have the same records."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.records import check, dumps, is_read, scanned
from twigcast.language.records.scanner import CutRecord


@given(dumps(), st.sampled_from(("utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252")))
def test_encodings_change_nothing(dump: str, encoding: str) -> None:
    label = "windows-1252" if encoding == "cp1252" else encoding.upper()[:6]
    label = "ISO-8859-1" if encoding == "latin-1" else label
    text = dump if "utf" in encoding else dump.replace("𝄞", "x")
    data = f'<?xml version="1.0" encoding="{label}"?>{text}'.encode(encoding)
    assume(is_read(data))
    found = scanned(data, "*:rec")
    check(data, "*:rec", found)
    assert scanned(data, "*:rec", piece=7) == found
    for one in found:
        codec = encoding.removesuffix("-16") + "-16-le" if encoding == "utf-16" else encoding
        assert isinstance(one, CutRecord)
        assert data[one.offset :].decode(codec).startswith(("<rec", "<p:rec"))
