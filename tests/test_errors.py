"""Errors say what, where and what to do, and survive the way from a worker process."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twigcast
from twigcast import Matcher, Network, Pattern
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


HOSTILE = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\ud800\x1b\n\u2028\u202e")
)


@given(HOSTILE)
def test_no_text_of_an_error_can_break_out_of_its_line(name: str) -> None:
    for error in (
        TwigcastError(name),
        UsageError(f"there is no broker {name}"),
        PatternError(name, column=1, expected=f"a prefix other than {name}", hint=name),
        PatternLimitError(name, column=1, limit="steps_max", given=2, allowed=1),
        DocumentError(name, document=name, line=1),
        DocumentLimitError(name, limit="bytes_max", given=2, allowed=1, document=name),
        SchemaError(name, module=name, line=1),
        SchemaLimitError(name, limit="bytes_max", given=2, allowed=1, module=name),
        ProtocolError(name, place=name),
        ProtocolLimitError(name, limit="bytes_max", given=2, allowed=1, place=name),
        InternalError(name, ValueError(name)),
    ):
        assert str(error).isprintable()
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("name", ["\ud800", "\x1b[2J", "a\nb", "\u202eb"])
def test_what_strangers_call_things_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    network = Network({"links": [["n", "s"]]})
    for call in (
        lambda: Pattern.parse(f"//{name}:a"),
        lambda: Pattern.parse("//p:a", {name: "urn:a", "q": ""}),
        lambda: Pattern.parse("//p:a", {"p": f"{name}{{"}),
        lambda: Matcher().remove(name),
        lambda: Matcher({name: "//["}),
        lambda: Matcher(engine=name),
        lambda: Matcher().match(name),
        lambda: Matcher().match(f"<{name}>"),
        lambda: Matcher.from_file(tmp_path / name),
        lambda: network.subscribe(name, "ann", "//a"),
        lambda: network.remove_link("n", name),
        lambda: network.advertise("n", f"<!ELEMENT {name} EMPTY".encode("utf-8", "surrogatepass")),
        lambda: Network({"links": [["n", name], ["n", name]]}),
        lambda: Network(tmp_path / name),
        lambda: Network({"links": [["n", "s"]]}, strategy=name),
    ):
        with pytest.raises(TwigcastError) as caught:
            call()
        assert str(caught.value).isprintable()
