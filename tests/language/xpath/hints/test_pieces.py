"""Pieces of a rewritten expression: parentheses where they are needed, and no others."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from twigcast.language.xpath.hints.pieces import (
    EQUAL,
    NoRewriteError,
    Piece,
    PieceKind,
    all_true,
    any_true,
    call,
    literal,
    negated,
    piece,
)


@dataclass(frozen=True)
class Known:
    """A piece and whether it is true."""

    piece: Piece
    is_true: bool


def constant(*, is_true: bool) -> Known:
    text = "1 = 1" if is_true else "1 = 2"
    return Known(piece(text, PieceKind.BOOLEAN, EQUAL, fixed=True), is_true)


def compound(inner: st.SearchStrategy[Known]) -> st.SearchStrategy[Known]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        some.map(lambda all_: Known(any_true(*(each.piece for each in all_)),
                                    any(each.is_true for each in all_))),
        some.map(lambda all_: Known(all_true(*(each.piece for each in all_)),
                                    all(each.is_true for each in all_))),
        inner.map(lambda one: Known(negated(one.piece), not one.is_true)),
    )  # fmt: skip


@given(st.recursive(st.builds(constant, is_true=st.booleans()), compound, max_leaves=8))
def test_what_is_put_together_is_read_as_it_was_meant(known: Known) -> None:
    assert etree.XML("<a/>").xpath(known.piece.text) is known.is_true


@given(st.text(st.sampled_from("ab'\"& "), max_size=8))
def test_a_string_is_written_so_that_libxml2_reads_it(value: str) -> None:
    assert etree.XML("<a/>").xpath(f"string({literal(value).text})") == value


def test_parentheses_stand_only_where_they_are_needed() -> None:
    a, b, c = (constant(is_true=is_true).piece for is_true in (True, False, True))
    assert any_true(a, all_true(b, c)).text == "1 = 1 or 1 = 2 and 1 = 1"
    assert any_true(any_true(a, b), c).text == "1 = 1 or 1 = 2 or 1 = 1"
    assert all_true(a, any_true(b, c)).text == "1 = 1 and (1 = 2 or 1 = 1)"
    assert negated(any_true(a, b)).text == "not(1 = 1 or 1 = 2)"


def test_a_piece_that_grows_too_long_has_no_rewrite() -> None:
    grown = literal("x" * 400)
    with pytest.raises(NoRewriteError):
        call("concat", grown, grown, grown)
