"""Merging against a plain search: whatever a rule allows within the degree is merged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.covering.drawn import paths
from tests.covering.path_oracles import tiny_schemas
from twigcast import Pattern, Schema
from twigcast.covering.merging.degree import merge_degree
from twigcast.covering.merging.greedy import Merged, merge
from twigcast.covering.merging.merged_set import MergedSet
from twigcast.covering.merging.spine import Spine, SpineStep, pattern_of, spine_of
from twigcast.language.condition.model import Kind, Label, Reach

DEGREES = (0, 0.05, 0.3, 0.7, 1)


def texts_of(merged: Merged) -> list[str]:
    return [merger.pattern.text for merger in merged.mergers]


# Examples.


def test_the_example_of_dissemination_1_5_3_is_merged_at_the_degree_it_has() -> None:
    """Two of five elements are required, so that 60 % are added."""
    schema = Schema.parse(
        b"<!ELEMENT r (a)> <!ELEMENT a (x)> <!ELEMENT x (c)> <!ELEMENT c (p|q|s|d|e)>"
        b"<!ELEMENT p EMPTY> <!ELEMENT q EMPTY> <!ELEMENT s EMPTY> <!ELEMENT d EMPTY>"
        b"<!ELEMENT e EMPTY>",
        root="a",
    )
    two = ["/a/*/c/d", "/a/*/c/e"]
    assert texts_of(merge(two, schema=schema, degree=0.7)) == ["/a/*/c/*"]
    assert texts_of(merge(two, schema=schema, degree=0.6)) == ["/a/*/c/*"]
    assert texts_of(merge(two, schema=schema, degree=0.59)) == two


MANY_PATHS_UNDER_FEW_LABELS = (
    "<!ELEMENT r (a|b|c|d|e)>"
    + "".join(f"<!ELEMENT {name} ({'|'.join(f'x{n}' for n in range(50))}|z)>" for name in "ab")
    + "".join(f"<!ELEMENT {name} (z)>" for name in (*"cde", *(f"x{n}" for n in range(50))))
    + "<!ELEMENT z EMPTY>"
)
"""Two of the five elements below r lead to 102 of the 105 paths to z."""


def test_few_of_the_labels_may_have_nearly_all_of_the_paths() -> None:
    schema = Schema.parse(MANY_PATHS_UNDER_FEW_LABELS.encode(), root="r")
    two = ["/r/a//z", "/r/b//z"]
    (merger,) = merge(two, schema=schema, degree=0.05).mergers
    assert (merger.pattern.text, str(merger.degree)) == ("/r/*//z", "1/35")
    assert texts_of(merge(two, schema=schema, degree=0.02)) == two


def test_a_label_that_is_missing_need_not_add_anything() -> None:
    """Nothing can be below r but an a or a b, so r itself adds nothing to ``//*//z``."""
    schema = Schema.parse(
        b"<!ELEMENT r (a|b)> <!ELEMENT a (z)> <!ELEMENT b (z)> <!ELEMENT z EMPTY>", root="r"
    )
    (merger,) = merge(["//a//z", "//b//z"], schema=schema).mergers
    assert (merger.pattern.text, merger.perfect) == ("//*//z", True)


# Rule 3.

THREE_STEPS_APART = Schema.parse(
    b"<!ELEMENT a (b|e)> <!ELEMENT b (c)> <!ELEMENT c (d)> <!ELEMENT e (f)> <!ELEMENT f (g)>"
    b"<!ELEMENT g (d)> <!ELEMENT d EMPTY>",
    root="a",
)
LONG_PARTS = ("/a/b/c/d", "/a/e/f/g/d")


def test_a_part_of_three_steps_is_replaced_by_the_rule() -> None:
    (merger,) = merge(LONG_PARTS, schema=THREE_STEPS_APART).mergers
    assert (merger.pattern.text, merger.perfect) == ("/a//d", True)
    kept = MergedSet(THREE_STEPS_APART)
    for text in LONG_PARTS:
        kept.add(text)
    kept.merge()
    assert [pattern.text for pattern in kept.patterns()] == ["/a//d"]


def test_a_part_of_three_steps_joins_a_merger_that_is_there() -> None:
    kept = MergedSet(THREE_STEPS_APART, degree=0.5)
    for text in ("/a/b/c/d", "/a//c/d"):
        kept.add(text)
    kept.merge()
    kept.add("/a//d")
    assert not any(kept.add("/a/e/f/g/d"))
    assert kept.merger_of("/a/e/f/g/d").text == "/a//d"


@pytest.mark.parametrize(("degree", "is_merged"), [(0.5, False), (0.8, True)])
def test_a_part_is_measured_where_elements_contain_themselves(
    degree: float, *, is_merged: bool
) -> None:
    schema = Schema.parse(
        b"<!ELEMENT a (b|c)> <!ELEMENT b (b|c|z)> <!ELEMENT c (z)> <!ELEMENT z EMPTY>", root="a"
    )
    two = ["/a/b/b/z", "/a/c/z"]
    added = merge_degree(Pattern.parse("/a//z"), map(Pattern.parse, two), schema=schema, depth=5)
    assert 0.5 < added.value <= 0.8
    found = texts_of(merge(two, schema=schema, degree=degree, depth=5))
    assert found == (["/a//z"] if is_merged else two)


def test_of_two_parts_the_shorter_is_replaced() -> None:
    """What is equal stays: ``/a/b//z`` adds less than ``/a//z`` or ``//z``."""
    schema = Schema.parse(
        b"<!ELEMENT a (b|w)> <!ELEMENT b (c|d)> <!ELEMENT c (e)> <!ELEMENT d (z)> <!ELEMENT e (z)>"
        b"<!ELEMENT w (z)> <!ELEMENT z EMPTY>",
        root="a",
    )
    assert texts_of(merge(["/a/b/c/e/z", "/a/b/d/z"], schema=schema, degree=0.5)) == ["/a/b//z"]


# Against a search of all that the rules allow.


def by_element(one: Spine, other: Spine) -> Iterator[Spine]:
    """Rules 1 and 2."""
    if len(one) != len(other):
        return
    pairs = list(zip(one, other, strict=True))
    names = [place for place, (left, right) in enumerate(pairs) if left.label != right.label]
    operators = sum(left.reach is not right.reach for left, right in pairs)
    if len(names) != 1 or operators > 1:
        return
    kinds = {left.label.kind for left in (one[names[0]], other[names[0]])}
    if len(kinds) > 1 or kinds == {Kind.TEXT}:
        return
    yield tuple(
        SpineStep(
            Reach.DESCENDANT if Reach.DESCENDANT in {left.reach, right.reach} else left.reach,
            Label(left.label.kind) if place in names else left.label,
        )
        for place, (left, right) in enumerate(pairs)
    )


def by_part(one: Spine, other: Spine) -> Iterator[Spine]:
    """Rule 3, wherever the differing part may be taken to begin and to end."""
    shorter = min(len(one), len(other))
    for before in range(shorter):
        if one[:before] != other[:before]:
            return
        for behind in range(1, shorter - before + 1):
            left, right = one[len(one) - behind :], other[len(other) - behind :]
            if left[0].label == right[0].label and left[1:] == right[1:]:
                far = left[0]._replace(reach=Reach.DESCENDANT)
                yield (*one[:before], far, *left[1:])


def can_be_merged(
    one: Pattern, other: Pattern, parts: list[Pattern], schema: Schema, degree: float
) -> bool:
    """Whether a rule makes one of both that adds at most so much to the parts."""
    first, second = spine_of(one), spine_of(other)
    assert first is not None
    assert second is not None
    return any(
        merge_degree(pattern_of(spine), parts, schema=schema).within(degree)
        for spine in (*by_element(first, second), *by_part(first, second))
    )


@given(tiny_schemas(), paths(4), paths(4), st.sampled_from(DEGREES))
def test_two_patterns_become_one_exactly_if_a_rule_makes_one_within_the_degree(
    schema: Schema, one: str, other: str, degree: float
) -> None:
    two = [Pattern.parse(one), Pattern.parse(other)]
    assume(two[0] != two[1])
    found = merge(two, schema=schema, degree=degree).mergers
    assert (len(found) == 1) == can_be_merged(two[0], two[1], two, schema, degree)


@given(tiny_schemas(), st.lists(paths(4), min_size=3, max_size=7), st.sampled_from(DEGREES))
def test_no_two_that_are_left_could_be_merged_within_the_degree(
    schema: Schema, texts: list[str], degree: float
) -> None:
    found = merge(texts, schema=schema, degree=degree)
    assert found.within_budget
    for one, other in combinations(found.mergers, 2):
        parts = [*one.parts, *other.parts]
        assert not can_be_merged(one.pattern, other.pattern, parts, schema, degree)


@given(tiny_schemas(), st.lists(paths(4), min_size=2, max_size=6), st.sampled_from(DEGREES))
def test_every_merger_is_within_the_degree(schema: Schema, texts: list[str], degree: float) -> None:
    for merger in merge(texts, schema=schema, degree=degree).mergers:
        if len(merger.parts) > 1:
            assert merge_degree(merger.pattern, merger.parts, schema=schema).within(degree)
