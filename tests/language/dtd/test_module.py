"""Encodings of the modules of a DTD."""

from __future__ import annotations

import pytest

from twigcast.errors import SchemaError
from twigcast.language.dtd.schema import (
    Schema,
)


@pytest.mark.parametrize(
    ("content", "comment"),
    [
        ("<!-- é --><!ELEMENT ü EMPTY>".encode(), "UTF-8 without a declaration"),
        ("\ufeff<!ELEMENT ü EMPTY>".encode(), "UTF-8 with a mark"),
        ("\ufeff<!ELEMENT ü EMPTY>".encode("utf-16-le"), "UTF-16, little end first"),
        ("\ufeff<!ELEMENT ü EMPTY>".encode("utf-16-be"), "UTF-16, big end first"),
        ("<?xml encoding='UTF-16'?><!ELEMENT ü EMPTY>".encode("utf-16-le"), "UTF-16 unmarked"),
        (
            "<?xml version='1.0' encoding='ISO-8859-1'?><!ELEMENT ü EMPTY>".encode("latin-1"),
            "Latin",
        ),
    ],
)
def test_encodings_are_recognised_by_mark_or_declaration(content: bytes, comment: str) -> None:
    assert tuple(Schema.parse(content).elements) == ("ü",), comment


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<!ELEMENT \xfc EMPTY>", "byte 11 is not UTF-8"),
        (b"<?xml encoding='UTF-7'?><!ELEMENT a EMPTY>", "'UTF-7' is not taken"),
        (b"<?xml encoding='US-ASCII'?><!ELEMENT \xc3\xbc EMPTY>", "is not ASCII"),
        (b"<!ELEMENT a EMPTY>\x00", r"'\\x00' is not a character"),
    ],
)
def test_other_encodings_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        Schema.parse(content)
