"""Errors say what, where and what to do, and survive the way from a worker process."""

from __future__ import annotations

import copy
import pickle

import pytest

import twigcast
from twigcast.errors import (
    DocumentError,
    DocumentLimitError,
    InternalError,
    LimitError,
    PatternError,
    PatternLimitError,
    ProtocolError,
    ProtocolLimitError,
    SchemaError,
    SchemaLimitError,
    TwigcastError,
    UsageError,
)

EXAMPLES: list[TwigcastError] = [
    PatternError("/stock//[1]", column=9, expected="a name or '*' after '//'"),
    PatternLimitError("a/b", column=1, limit="length_max", given=70_000, allowed=65_536),
    DocumentError("it ends inside a tag", document="a.xml", line=3, column=7),
    DocumentLimitError("too deep", limit="depth_max", given=300, allowed=256, line=4),
    SchemaError("'(' is never closed", module="news.dtd", line=12),
    SchemaLimitError("too many elements", limit="elements_max", given=9, allowed=8),
    ProtocolError("expected `int`, got `str`", place="session"),
    ProtocolLimitError("too large", limit="frame_bytes_max", given=9, allowed=8),
    UsageError("subscription 7 is there already; remove it first"),
    InternalError("matching a document", ZeroDivisionError("division by zero")),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_text_and_fields(error: TwigcastError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_one_except_clause_fences_off_the_library(error: TwigcastError) -> None:
    with pytest.raises(TwigcastError):
        raise error


def test_a_pattern_error_says_where_and_what_was_expected() -> None:
    error = PatternError("/stock//[1]", column=9, expected="a name or '*' after '//'")
    assert str(error) == "pattern '/stock//[1]', column 9: expected a name or '*' after '//'"
    assert (error.text, error.column) == ("/stock//[1]", 9)
    assert error.expected == "a name or '*' after '//'"


def test_a_long_expression_is_cut_in_the_text_and_kept_in_the_field() -> None:
    expression = "/a" * 500
    error = PatternError(expression, column=1_001, expected="a name")
    assert len(str(error)) < 200
    assert "…" in str(error)
    assert error.text == expression


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DocumentError("it is empty"), "document: it is empty"),
        (DocumentError("it is empty", document="a.xml"), "document a.xml: it is empty"),
        (DocumentError("no end", line=2, column=5), "document, line 2, column 5: no end"),
        (SchemaError("no end"), "schema: no end"),
        (ProtocolError("no end"), "message: no end"),
        (ProtocolError("no end", place="routes[3]"), "message, routes[3]: no end"),
        (SchemaError("no end", module="m.dtd", line=1), "schema m.dtd, line 1: no end"),
    ],
)
def test_a_place_is_told_as_far_as_it_is_known(error: TwigcastError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("error", "family"),
    [
        (PatternLimitError("a", column=1, limit="steps_max", given=9, allowed=8), PatternError),
        (DocumentLimitError("deep", limit="depth_max", given=9, allowed=8), DocumentError),
        (SchemaLimitError("many", limit="elements_max", given=9, allowed=8), SchemaError),
        (ProtocolLimitError("many", limit="bytes_max", given=9, allowed=8), ProtocolError),
    ],
)
def test_a_limit_error_names_the_limit_and_belongs_to_two_families(
    error: LimitError, family: type[TwigcastError]
) -> None:
    assert isinstance(error, family)
    assert isinstance(error, LimitError)
    assert (error.given, error.allowed) == (9, 8)
    assert error.limit in str(error)


def test_large_numbers_are_told_with_thousands_apart() -> None:
    error = DocumentLimitError("too large", limit="bytes_max", given=20_000_000, allowed=10_000_000)
    assert str(error) == (
        "document: too large: 20,000,000 where at most 10,000,000 are allowed (bytes_max)"
    )


def test_every_error_is_a_public_name_of_the_package() -> None:
    for error in EXAMPLES:
        kind = type(error)
        assert getattr(twigcast, kind.__name__) is kind


def test_a_stranger_cannot_make_an_internal_error_long_or_send_control_characters() -> None:
    error = InternalError("reading", ValueError("\x1b[2J\n" + "x" * 10_000))
    assert len(str(error)) < 1_000
    assert str(error).isprintable()


def test_no_memory_is_not_called_a_bug() -> None:
    assert "bug" not in str(InternalError("matching a document", MemoryError()))


@pytest.mark.parametrize(
    "error",
    [
        DocumentError("no '\x9b2J' here\r", document="a.xml\t\nb.xml"),
        SchemaError("no\u2028end", module="\x1b]0;owned\x07"),
        ProtocolError("a\u202eb", place="routes\n"),
        PatternError("/a\n/b\x1b", column=3, expected="a name"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_text_of_an_error_is_one_printable_line(error: TwigcastError) -> None:
    assert str(error).isprintable()


def test_the_fields_of_an_error_keep_what_the_text_spells_out() -> None:
    error = DocumentError("no end", document="a\tb.xml")
    assert (error.document, str(error)) == ("a\tb.xml", "document a\\tb.xml: no end")
