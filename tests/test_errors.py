"""Errors say what, where and what to do, and survive the way from a worker process."""

from __future__ import annotations

import copy
import pickle

import pytest

import twigcast
from twigcast.errors import (
    DocumentError,
    DocumentLimitError,
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
