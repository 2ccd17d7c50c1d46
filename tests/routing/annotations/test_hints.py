"""What patterns need, what a broker asks for, and which hints nobody can mean."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import trees
from tests.covering.oracle import truly_covers
from tests.matching.following import cut_off, tags
from tests.oracle import oracle_tree
from tests.routing.annotated import EAGER_TO_ASK, contents, matches, parsed, pattern_sets, table_of
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, subscriptions, thickets
from twigcast.covering import Bound
from twigcast.errors import ProtocolError
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.annotations.annotations import Kinds
from twigcast.routing.annotations.hints import (
    HintLimits,
    Hints,
    SimpleHint,
    check_hints,
    hint_table,
)
from twigcast.routing.annotations.name_chains import (
    Row,
    best_rows,
    needed_rows,
    row_of,
    row_pattern,
    rows_with_positions,
    rows_within,
)


def written(rows: frozenset[Row]) -> set[str]:
    return {row_pattern(row).text.removeprefix("//") for row in rows}


def read(sent: ExpressionPair) -> Pattern:
    return Pattern.parse(sent.text, NAMESPACES)


# What patterns need.


@THOROUGH
@given(pattern_sets(), contents())
def test_a_document_that_matches_has_all_rows_that_are_needed(
    patterns: list[Pattern], content: bytes
) -> None:
    for pattern in patterns:
        if matches(pattern, content):
            assert all(matches(row_pattern(row), content) for row in needed_rows(pattern))


@given(trees())
def test_of_tree_patterns_all_rows_are_seen_and_no_others(text: str) -> None:
    """In all canonical models, that is, in every document that matches."""
    rows = {"/".join(row) for length in (1, 2, 3) for row in product("ab", repeat=length)}
    needed = {row for row in rows if truly_covers(wider=f"//{row}", narrower=text)}
    assert written(needed_rows(*parsed(text))) & rows == needed


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("//x//a[d]/b/c", {"x", "a", "a/d", "a/b", "a/b/c", "b", "b/c", "c", "d"}),
        ("//a[b or c]", {"a"}),
        ("//a[b/c or d/b/c]", {"a", "b", "b/c", "c"}),
        ("//a/b | //a/c", {"a"}),
        ("//a[not(b)]", {"a"}),
        ("//a[not(not(b))]", {"a", "a/b", "b"}),
        ("//a[b = c]", {"a", "a/b", "a/c", "b", "c"}),
        ("//a[2]/b", {"a", "a/b", "b"}),
        ("//a[b]/following::c", {"a", "a/b", "b", "c"}),
        ("//a[contains(b, 'x')]", {"a", "a/b", "b"}),
        ("//a/*/b", {"a", "b"}),
        ("//*:a/b", {"b"}),
        ("//p:a/b", {"{urn:p}a", "{urn:p}a/b", "b"}),
        ("//a/@b", {"a"}),
        ("/a[b] and /*[c]", {"a", "a/b", "a/c", "b", "c"}),
        ("true()", set()),
        ("/a and /b", set()),
    ],
)
def test_rows_that_are_needed(text: str, rows: set[str]) -> None:
    assert written(needed_rows(*parsed(text))) == rows


# Where a position suffices.


@THOROUGH
@given(
    st.one_of(pattern_sets(size_max=2), st.lists(subscriptions(exact=True).map(read), max_size=2)),
    st.one_of(contents(), thickets()),
)
def test_no_match_becomes_certain_behind_the_last_occurrence(
    patterns: list[Pattern], content: bytes
) -> None:
    for pattern in patterns:
        rows = sorted(rows_with_positions(pattern))
        matcher = Matcher(engine="streaming")
        matcher.add(0, pattern)
        for number, row in enumerate(rows):
            matcher.watch(number, row_pattern(row))
        account = matcher.follow(content)
        moment = account.decided.get(0)
        for number, seen in account.last.items():
            assert moment is None or moment.ends <= seen.ends
            # By definition: as far as there, the document matches as well.
            before = up_to(content, seen.ends)
            assert not matches(pattern, content) or matches(pattern, before), rows[number]


def up_to(content: bytes, ends: int) -> bytes:
    """The document as it is known with an end tag."""
    left, seen = ends, 0
    for event, _ in tags(oracle_tree(content)):
        seen += 1
        left -= event == "end"
        if not left:
            break
    return cut_off(content, seen)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("//x[@k]/a[b][not(c)]/d", {"x", "x/a", "x/a/b", "x/a/d", "a", "a/b", "a/d"}),
        ("//x[@k = 'v'][@l]//a/b", {"x", "a", "a/b", "b"}),
        ("//x[not(@k)]/a/b", {"x", "x/a", "x/a/b"}),
        ("//x[. = 'v']/a/b", {"x", "x/a", "x/a/b"}),
        ("//x[.//@k]/a/b", {"x", "x/a", "x/a/b"}),
        ("//x[text()]/a/b", {"x", "x/a", "x/a/b"}),
        ("//a[b or c]/d", {"a", "a/d"}),
        ("//a/*[c]/d", {"a"}),
        ("//a/b and //test", set()),
        ("//a[//test]/b", set()),
        ("//a/b | //c", set()),
        ("//a[2]/b", set()),
        ("//a[contains(b, 'x')]/c", set()),
        ("//a[contains(., 'x')]/c", {"a", "a/c"}),
    ],
)
def test_rows_whose_last_position_suffices(text: str, rows: set[str]) -> None:
    assert written(rows_with_positions(*parsed(text))) == rows


def test_what_the_paper_says_of_positions_is_wrong_for_branches_elsewhere() -> None:
    """Piggyback 3.1.1 would skip ``//a/b and //test`` behind the last ``a/b``."""
    matcher = Matcher(engine="streaming")
    matcher.add(0, "//a/b and //test")
    matcher.watch(0, "//a/b")
    content = b"<r><a><b/></a><test/></r>"
    assert matcher.follow(content).last[0].ends == 2
    assert list(matcher.follow(content).decided) == [0]
    assert not matcher.follow(content, skip_from={2: [0]}).decided


# Choosing rows.


def test_rows_are_chosen_by_how_many_need_them_and_by_their_length() -> None:
    patterns = parsed("/a/b/c", "//b/c/d", "//b/c", "//b/e", "//f", "//f/g", "//f/h", "//f[@x]")
    found = best_rows(patterns, rows_max=3, patterns_min=2)
    assert [(row_pattern(row).text, len(needing)) for row, needing in found] == [
        ("//b/c", 3),  # 3 · ln 3 = 3.3
        ("//b", 4),  # 4 · ln 2 = 2.8
        ("//f", 4),
    ]


def test_a_row_within_another_that_as_many_need_is_left_out() -> None:
    patterns = parsed("/a/b/c", "//a/b/c/d", "//b")
    found = best_rows(patterns, rows_max=9, patterns_min=1)
    assert [row_pattern(row).text for row, _ in found] == ["//a/b/c", "//b", "//a/b/c/d"]


@given(pattern_sets())
def test_rows_are_patterns_and_back(patterns: list[Pattern]) -> None:
    for pattern in patterns:
        for row in needed_rows(pattern):
            assert row_of(row_pattern(row)) == row
            assert all(part in needed_rows(pattern) for part in rows_within(row))


@pytest.mark.parametrize(
    "text",
    ["/a", "//a//b", "//a/*", "//*:a", "//a[b]/c", "//a/@b", "//a[2]", "true()", "//a | //b"],
)
def test_only_names_joined_by_a_slash_are_rows(text: str) -> None:
    assert row_of(Pattern.parse(text)) is None


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
