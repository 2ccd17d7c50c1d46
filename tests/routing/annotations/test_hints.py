"""Hints: what a broker asks for, and which nobody can mean."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.annotated import EAGER_TO_ASK, parsed, pattern_sets, table_of
from twigcast.covering import Bound
from twigcast.errors import ProtocolError
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Kinds
from twigcast.routing.annotations.hints import (
    HintLimits,
    Hints,
    SimpleHint,
    check_hints,
    hint_table,
)

# Tables.


def test_a_table_has_what_each_pattern_said_stands_for() -> None:
    one, other, third, cut = parsed("//a/b/c", "//a/x/c", "//d/e", "/a/b/c/f")
    table = table_of(parsed("//d/e", "//a/*/c"), [one, other, third, cut])
    assert [pattern.text for pattern in table.sent] == ["//a/*/c", "//d/e"]
    assert [set(table.those(bits)) for bits in table.covered] == [{one, other, cut}, {third}]
    assert table.simple == (
        {(2,): {(Bound(2, ("b",)),): one, (Bound(2, ("x",)),): other}},
        {(): {(): third}},
    )
    assert table.unchanged == {1}
    assert table.hints.covered == (3, 1)
    assert table.hints.simple == (SimpleHint(0, 2, (2,)), SimpleHint(1, 1, ()))


def test_nothing_is_worked_out_that_no_annotation_needs() -> None:
    patterns = parsed("//a/b", "//a/c")

    def never(_: Pattern) -> list[Pattern]:
        pytest.fail("nobody needs to know what is covered")

    table = hint_table(parsed("//a/*"), patterns, never, Kinds.parse("-d"), limits=EAGER_TO_ASK)
    assert table.hints == Hints((0,), (), tuple(zip(parsed("//a", *PARTS), (2, 1, 1), strict=True)))
    table = table_of(parsed("//a/*"), patterns, Kinds.parse("-s"))
    assert table.hints == Hints((2,))
    assert not any(table.simple)
    table = table_of(parsed("//a/*"), patterns, Kinds.parse("+s"))
    assert table.hints == Hints((0,), (SimpleHint(0, 2, (2,)),))
    assert not any(table.covered)


PARTS = ("//a/b", "//a/c")


def test_a_match_that_only_libxml2_sees_has_no_bindings() -> None:
    table = table_of(parsed("//a/*[2]"), parsed("//a/b[2]", "//a/*[2]"))
    assert table.hints.simple == (SimpleHint(0, 1, ()),)


def test_no_more_is_asked_for_than_the_limits_allow() -> None:
    patterns = parsed("//a/b", "//a/c", "//d/e", "//d/f", "//d/g", "//h/i")
    limits = HintLimits(rows_max=2, row_patterns_min=1, simple_max=1)
    table = table_of(parsed("//a/*", "//d/*", "//h/i"), patterns, limits=limits)
    assert table.hints.simple == (SimpleHint(1, 3, (2,)),)
    assert [pattern.text for pattern, _ in table.hints.rows] == ["//d", "//a"]
    check_hints(table.hints, sent=3, limits=limits)


def test_bits_are_in_the_order_of_what_they_rule_out() -> None:
    assert Hints(covered=(1, 5, 0, 5)).order == (1, 3, 0, 2)


@given(pattern_sets(), pattern_sets(), st.sampled_from(["", "+s", "+d-s", "+sd-sd"]))
def test_hints_of_a_table_are_accepted(
    sent: list[Pattern], patterns: list[Pattern], kinds: str
) -> None:
    table = table_of(sent, patterns, Kinds.parse(kinds))
    check_hints(table.hints, sent=len(set(sent)))
    again = table_of(reversed(sent), patterns[::-1], Kinds.parse(kinds))
    assert again == table


GOOD = table_of(parsed("//a/*", "//d/e"), parsed("//a/b", "//a/c", "//d/e")).hints


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (replace(GOOD, covered=(1,)), "covered"),
        (replace(GOOD, covered=(1, -1)), "covered"),
        (replace(GOOD, simple=(SimpleHint(2, 1, ()),)), "simple: places"),
        (replace(GOOD, simple=GOOD.simple[::-1]), "simple: places"),
        (replace(GOOD, simple=(SimpleHint(0, 0, ()),)), "counted from 1"),
        (replace(GOOD, simple=(SimpleHint(0, 1, (2, 2)),)), "counted from 1"),
        (replace(GOOD, simple=(SimpleHint(0, 1, (0,)),)), "counted from 1"),
        (replace(GOOD, rows=((Pattern.parse("/a"), 1),), placed=()), "rows"),
        (replace(GOOD, rows=GOOD.rows * 2, placed=()), "rows"),
        (replace(GOOD, rows=((Pattern.parse("//a" + "/a" * 8), 1),), placed=()), "at most 8"),
        (replace(GOOD, placed=(1,)), "placed"),
        (replace(GOOD, placed=(-1,) * len(GOOD.rows)), "counted from 0"),
        (replace(GOOD, rows=((Pattern.parse("//a"), -1),), placed=()), "counted from 0"),
    ],
)
def test_hints_that_cannot_be_meant_are_refused(wrong: Hints, where: str) -> None:
    check_hints(GOOD, sent=2)
    with pytest.raises(ProtocolError, match=where):
        check_hints(wrong, sent=2)


def test_more_hints_than_the_limits_allow_are_refused() -> None:
    with pytest.raises(ProtocolError, match="more is asked for"):
        check_hints(GOOD, sent=2, limits=HintLimits(rows_max=1))
