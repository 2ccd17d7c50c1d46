"""Sets of merged patterns under change: what represents what, and the changes returned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from tests.covering.path_oracles import tiny_schemas
from twigcast import Pattern, Schema
from twigcast.covering import covers
from twigcast.covering.delta import Difference
from twigcast.covering.merging.merged_set import MergedSet
from twigcast.errors import UsageError

SCHEMA_OF_THE_REST = (
    b"<!ELEMENT b (z)> <!ELEMENT c (z)> <!ELEMENT d (z)> <!ELEMENT e (f)> <!ELEMENT f (z)>"
    b"<!ELEMENT z EMPTY> <!ELEMENT x EMPTY>"
)
SCHEMA = Schema.parse(b"<!ELEMENT a (b|c|d|e)>" + SCHEMA_OF_THE_REST, root="a")


def filled(*texts: str, degree: float = 0) -> MergedSet:
    kept = MergedSet(SCHEMA, degree=degree)
    for text in texts:
        kept.add(text)
    kept.merge()
    return kept


def texts_of(patterns: tuple[Pattern, ...]) -> list[str]:
    return [pattern.text for pattern in patterns]


def test_merging_adds_the_merger_and_removes_its_parts() -> None:
    kept = MergedSet(SCHEMA, degree=0.4)
    for text in ("/a/b", "/a/c", "/a/d"):
        assert texts_of(kept.add(text).added) == [text]
    change = kept.merge()
    assert texts_of(change.added) == ["/a/*"]
    assert texts_of(change.removed) == ["/a/b", "/a/c", "/a/d"]
    assert texts_of(kept.parts_of("/a/*")) == ["/a/b", "/a/c", "/a/d"]
    assert kept.merge() == Difference()


def test_a_merger_stays_while_its_degree_allows_it_and_then_dissolves() -> None:
    kept = filled("/a/b/z", "/a/c/z", "/a/d/z", degree=0.4)
    assert texts_of(kept.patterns()) == ["/a/*/z"]
    assert kept.remove("/a/b/z") == Difference()
    assert texts_of(kept.patterns()) == ["/a/*/z"]
    change = kept.remove("/a/c/z")
    assert texts_of(change.added) == ["/a/d/z"]
    assert texts_of(change.removed) == ["/a/*/z"]


def test_a_new_part_joins_the_merger_that_a_rule_would_make_of_it() -> None:
    kept = filled("/a/b/z", "/a/c/z", degree=0.4)
    assert kept.add("/a/d/z") == Difference()
    assert kept.merger_of("/a/d/z").text == "/a/*/z"
    assert len(kept) == 3


def test_a_pattern_that_is_a_merger_itself_joins_it_and_keeps_it() -> None:
    kept = filled("/a/b/z", "/a/c/z", degree=0.4)
    assert kept.add("/a/*/z") == Difference()
    assert kept.remove("/a/b/z") == Difference()
    assert kept.remove("/a/c/z") == Difference()
    assert texts_of(kept.remove("/a/*/z").removed) == ["/a/*/z"]
    assert kept.patterns() == ()


def test_a_longer_part_joins_too() -> None:
    kept = filled("/a/b/z", "/a/c/z", "/a/d/z", "/a/e/f/z")
    assert texts_of(kept.patterns()) == ["/a//z"]
    kept.remove("/a/e/f/z")
    assert texts_of(kept.patterns()) != ["/a//z"]


def test_what_is_there_is_not_added_twice_and_what_is_not_cannot_go() -> None:
    kept = MergedSet(SCHEMA)
    kept.add("/a/b")
    assert kept.add("//a/b") != Difference()
    assert kept.add("/a/b") == Difference()
    assert "/a/b" in kept
    assert "/a/c" not in kept
    with pytest.raises(UsageError, match="/a/c is not in the set"):
        kept.remove("/a/c")


def test_a_degree_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="a degree lies in"):
        MergedSet(SCHEMA, degree=2)


_texts = st.one_of(paths(3), trees(4))


@given(
    tiny_schemas(),
    st.sampled_from([0, 0.3]),
    st.lists(_texts, min_size=1, max_size=6),
    st.lists(
        st.tuples(st.sampled_from(["add", "remove", "merge"]), st.integers(0, 5)), max_size=15
    ),
)
def test_changes_tell_all_and_parts_stay_covered(
    schema: Schema, degree: float, texts: list[str], doings: list[tuple[str, int]]
) -> None:
    kept = MergedSet(schema, degree=degree)
    there: set[Pattern] = set()
    forwarded: set[Pattern] = set()
    for doing, place in doings:
        pattern = Pattern.parse(texts[place % len(texts)])
        if doing == "merge":
            change = kept.merge()
        elif doing == "add":
            change = kept.add(pattern)
            there.add(pattern)
        elif pattern in there:
            change = kept.remove(pattern)
            there.remove(pattern)
        else:
            continue
        assert not forwarded & set(change.added)
        assert forwarded >= set(change.removed)
        forwarded = (forwarded | set(change.added)) - set(change.removed)
        assert forwarded == set(kept.patterns())
        assert {part for merger in forwarded for part in kept.parts_of(merger)} == there
        for part in there:
            assert covers(wider=kept.merger_of(part), narrower=part)


@given(tiny_schemas(), st.lists(_texts, max_size=6, unique=True), st.lists(_texts, max_size=3))
def test_what_stands_after_merging_does_not_depend_on_history(
    schema: Schema, texts: list[str], passing: list[str]
) -> None:
    straight, winding = MergedSet(schema, degree=0.3), MergedSet(schema, degree=0.3)
    for text in texts:
        straight.add(text)
    for text in (*passing, *reversed(texts)):
        winding.add(text)
    winding.merge()
    wanted = {Pattern.parse(text) for text in texts}
    for pattern in {Pattern.parse(text) for text in passing} - wanted:
        winding.remove(pattern)
    straight.merge()
    winding.merge()
    assert winding.patterns() == straight.patterns()


def test_patterns_that_nothing_matches_are_not_merged_and_can_leave() -> None:
    texts = [f"/a/b[not(*)]/{name}" for name in ("c", "d", "e")]
    schema = Schema.parse(
        b"<!ELEMENT a (b*)> <!ELEMENT b (c|d|e)*> <!ELEMENT c EMPTY> <!ELEMENT d EMPTY>"
        b"<!ELEMENT e EMPTY>"
    )
    for degree in (0, 0.2):
        kept = MergedSet(schema, degree=degree)
        for text in texts:
            kept.add(text)
        assert kept.merge() == Difference()
        assert texts_of(kept.remove(texts[0]).removed) == [Pattern.parse(texts[0]).text]
        assert len(kept) == 2


# Kept minimal, and under another schema.


def test_a_minimal_set_holds_back_what_a_merger_covers_until_it_goes() -> None:
    kept = MergedSet(SCHEMA, minimal=True)
    texts = ["/a/b/z", "/a/c/z", "/a/d/z", "/a/e/f/z", "/a/b/z and /a/c"]
    for text in texts:
        kept.add(text)
    kept.merge()
    assert texts_of(kept.patterns()) == ["/a//z"]
    assert len(kept.parts_of("/a//z")) == 5
    change = kept.remove("/a/e/f/z", "/a/b/z")
    assert texts_of(change.removed) == ["/a//z"]
    assert set(change.added) == {Pattern.parse(texts[place]) for place in (1, 2, 4)}


def test_what_is_removed_together_is_removed_or_none_of_it() -> None:
    kept = filled("/a/b/z", "/a/c/z", "/a/d/z", degree=0.4)
    with pytest.raises(UsageError, match="/a/x is not in the set"):
        kept.remove("/a/b/z", "/a/x")
    assert "/a/b/z" in kept
    assert kept.remove() == Difference()
    assert texts_of(kept.remove("/a/b/z", "/a/c/z").added) == ["/a/d/z"]


def test_under_another_schema_mergers_are_measured_anew() -> None:
    kept = filled("/a/b", "/a/c", "/a/d", "/a/e")
    assert texts_of(kept.patterns()) == ["/a/*"]
    assert kept.under(SCHEMA) == Difference()
    wider = Schema.parse(b"<!ELEMENT a (b|c|d|e|x)>" + SCHEMA_OF_THE_REST, root="a")
    change = kept.under(wider)
    assert texts_of(change.removed) == ["/a/*"]
    assert texts_of(change.added) == ["/a/b", "/a/c", "/a/d", "/a/e"]


def test_without_a_schema_nothing_is_merged() -> None:
    kept = filled("/a/b", "/a/c", "/a/d", "/a/e")
    assert texts_of(kept.under(None).removed) == ["/a/*"]
    assert kept.merge() == Difference()
    assert not kept.merged
