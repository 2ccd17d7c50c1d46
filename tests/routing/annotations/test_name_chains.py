"""Rows of names that patterns need, and which of them a broker asks for."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import trees
from tests.covering.oracle import truly_covers
from tests.matching.following import cut_off, tags
from tests.oracle import oracle_tree
from tests.routing.annotated import contents, matches, parsed, pattern_sets
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, subscriptions, thickets
from twigcast.language import Pattern
from twigcast.matching import Matcher
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
