"""Words on the screen: carets, quotations, counts."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from twigcast.cli.output import pointed_at, quoted, reason_of
from twigcast.display import counted
from twigcast.errors import DocumentError


def columns(text: str) -> int:
    seen = [letter for letter in text if not unicodedata.combining(letter)]
    return sum(2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1 for letter in seen)


@given(st.text(st.characters(exclude_categories=["C"]), max_size=200), st.integers(1, 220))
def test_the_caret_stands_under_the_place(text: str, column: int) -> None:
    shown, caret = pointed_at(text, column)
    assert "\n" not in shown
    assert caret.endswith("^")
    pointed = text[column - 1 : column]
    under = caret[:-1]
    assert any(
        columns(shown[:place]) == columns(under) and shown[place : place + 1] in (pointed, "")
        for place in range(len(shown) + 1)
    )


def test_a_tab_before_the_place_stays_a_tab() -> None:
    assert pointed_at("\t//a[", 6) == ("\t//a[", "\t    ^")


def test_only_the_line_of_the_place_is_shown() -> None:
    assert pointed_at("//a[\n  b ?\n]", 10) == ("  b ?", "    ^")


def test_a_long_expression_is_cut_on_both_sides() -> None:
    shown, caret = pointed_at("a" * 500 + "?" + "b" * 500, 501)
    assert len(shown) < 120
    assert shown[caret.index("^")] == "?"


def test_long_quotations_are_cut() -> None:
    assert quoted("a" * 1000).endswith("a…'")
    assert quoted("it's") == '"it\'s"'


def test_counts_have_their_words() -> None:
    assert counted(0, "match", "matches") == "0 matches"


def test_a_refusal_without_a_place_is_its_reason() -> None:
    assert reason_of(DocumentError("gone", document="a.xml")) == "gone"
    assert reason_of(DocumentError("bad", document="a.xml", line=3)) == "line 3: bad"
