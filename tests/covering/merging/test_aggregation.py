"""Aggregation of patterns to a budget of steps."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_pattern, paths, trees
from twigcast import Pattern
from twigcast.covering import covers
from twigcast.covering.merging.aggregation import Aggregation, aggregate, space_budget
from twigcast.covering.merging.spine import steps_of
from twigcast.errors import UsageError
from twigcast.files.schemas import shipped_schema
from twigcast.matching.bindings import Binding, substituted
from twigcast.workload import PatternShape, generate_patterns


def aggregated(texts: list[str], percent: float) -> dict[str, list[str]]:
    found = aggregate(texts, steps_max=space_budget(texts, percent))
    return {one.pattern.text: [part.text for part in one.parts] for one in found.aggregates}


# Aggregation.


def test_a_budget_that_is_kept_already_changes_nothing() -> None:
    texts = ["/a/b", "/a/c", "//d[e]"]
    assert aggregated(texts, 100) == {"//d/e": ["//d/e"], "/a/b": ["/a/b"], "/a/c": ["/a/c"]}


def test_stages_go_only_as_far_as_they_must() -> None:
    texts = ["/a/b/c/d", "/a/b/e/d", "/a/b/f/d", "/x/y/z/d"]
    assert list(aggregated(texts, 50)) == ["/a/b/*/d", "/x/y/z/d"]
    assert list(aggregated(texts, 40)) == ["/a/b//d", "/x/y//d"]
    assert list(aggregated(texts, 30)) == ["/a//d", "/x//d"]
    assert aggregated(texts, 10) == {"//d": texts}
    assert aggregated([*texts, "not(//q/r/s)"], 10) == {"/*": [*texts, "not(//q/r/s)"]}


def test_branches_are_cut_before_paths_are() -> None:
    texts = ["/a/b[x]/c/d", "/a/b[z]/c/d", "/a/b[. = 1]/c/d"]
    assert list(aggregated(texts, 30)) == ["/a/b/c/d"]


def test_values_do_not_stay_when_patterns_with_others_join() -> None:
    texts = ["/a/b/c[. = 1]", "/a/d/e/f/c[. = 2]"]
    assert list(aggregated(texts, 40)) == ["/a//c"]


def test_a_short_path_is_not_taken_for_the_end_of_a_long_one() -> None:
    texts = ["/a", "/a/b/c/d/a", "/a/e/f/g/a"]
    assert list(aggregated(texts, 30)) == ["/a", "/a//a"]


def test_the_relation_keeps_wildcards_and_bindings() -> None:
    texts = ["/a/b/c", "/a/d/c", "/a/*/c", "/a/e[. = 1]/c"]
    found = aggregate(texts, steps_max=5)
    (one,) = [one for one in found.aggregates if one.pattern.text == "/a/*/c"]
    assert one.wildcards == (1,)
    assert [(part.pattern.text, part.bindings) for part in one.simple] == [
        ("/a/*/c", ()),
        ("/a/b/c", ((1, ("b",)),)),
        ("/a/d/c", ((1, ("d",)),)),
    ]
    assert Pattern.parse("/a/b/c") in one.parts
    assert Pattern.parse("/q") not in one.parts


def check(texts: list[str], steps_max: int, found: Aggregation) -> None:
    patterns = {Pattern.parse(text) for text in texts}
    assert found.steps_before == sum(map(steps_of, patterns))
    assert found.steps == sum(steps_of(one.pattern) for one in found.aggregates)
    assert found.steps <= max(steps_max, 0 if patterns else 1)
    parts = [part for one in found.aggregates for part in one.parts]
    assert len(parts) == len(patterns)
    assert set(parts) == patterns
    for one in found.aggregates:
        for part in one.parts:
            assert covers(wider=one.pattern, narrower=part), (one.pattern, part)
        for simple in one.simple:
            bound = [Binding(*pair) for pair in simple.bindings]
            assert substituted(one.pattern, bound) is simple.pattern


@given(st.lists(st.one_of(paths(), trees()), max_size=8), st.integers(1, 20))
def test_aggregates_cover_their_parts_within_the_budget(texts: list[str], steps_max: int) -> None:
    check(texts, steps_max, aggregate(texts, steps_max=steps_max))


@given(st.lists(st.randoms(use_true_random=False), max_size=6), st.integers(1, 20))
def test_any_pattern_can_be_aggregated(rngs: list[Random], steps_max: int) -> None:
    patterns = [Pattern.parse(drawn_pattern(rng, for_oracle=False), {"p": "urn:p"}) for rng in rngs]
    found = aggregate(patterns, steps_max=steps_max)
    assert found.steps <= steps_max
    for one in found.aggregates:
        for part in one.parts:
            assert one.pattern is part or covers(wider=one.pattern, narrower=part)


@given(st.lists(st.one_of(paths(), trees()), max_size=8), st.integers(1, 20), st.randoms())
def test_the_order_of_patterns_does_not_matter(
    texts: list[str], steps_max: int, rng: Random
) -> None:
    found = aggregate(texts, steps_max=steps_max)
    rng.shuffle(texts)
    assert aggregate(texts, steps_max=steps_max) == found


@pytest.mark.parametrize("percent", [80, 40, 10, 1])
@pytest.mark.parametrize("with_schema", [False, True])
def test_generated_patterns_are_aggregated_to_any_percentage(
    percent: float,
    with_schema: bool,  # noqa: FBT001
) -> None:
    schema = shipped_schema("news")
    texts = list(
        generate_patterns(
            schema, rng=Random(5), count=300, shape=PatternShape(nested=0.1, predicates=0.5)
        )
    )
    budget = space_budget(texts, percent)
    found = aggregate(texts, steps_max=budget, schema=schema if with_schema else None)
    check(texts, budget, found)


def test_a_schema_brings_places_forward_in_which_little_is_missing() -> None:
    from twigcast import Schema

    schema = Schema.parse(
        b"<!ELEMENT r (a|b)> <!ELEMENT a (c|d)> <!ELEMENT b (e|f|g|h|i|j)> <!ELEMENT c EMPTY>"
        b"<!ELEMENT d EMPTY> <!ELEMENT e EMPTY> <!ELEMENT f EMPTY> <!ELEMENT g EMPTY>"
        b"<!ELEMENT h EMPTY> <!ELEMENT i EMPTY> <!ELEMENT j EMPTY>"
    )
    texts = ["/r/a/c", "/r/a/d", "/r/b/e", "/r/b/f", "/r/b/g"]
    with_schema = aggregate(texts, steps_max=12, schema=schema)
    assert "/r/a/*" in {one.pattern.text for one in with_schema.aggregates}
    without = aggregate(texts, steps_max=12)
    assert "/r/b/*" in {one.pattern.text for one in without.aggregates}


def test_budgets_are_shares_of_the_steps_of_distinct_patterns() -> None:
    assert space_budget(["/a/b", "/a/b", "//c[d]/e"], 50) == 2
    assert space_budget(["/a/b"], 1) == 1
    assert space_budget([], 50) == 1
    for wrong in (-1, 101):
        with pytest.raises(UsageError, match="0 … 100 percent"):
            space_budget(["/a"], wrong)


def test_a_budget_without_a_step_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one step"):
        aggregate(["/a"], steps_max=0)


def test_nothing_is_aggregated_to_nothing() -> None:
    assert aggregate([], steps_max=1) == Aggregation((), steps_before=0, steps=0)
