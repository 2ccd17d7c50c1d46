"""Minimal sets are those of a covering order to which the patterns were added one by one."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path
from tests.covering.pairs import drawn_mixed
from tests.covering.papers.test_subscription_tree import Everything, top_classes
from twigcast.covering.bits import each_bit
from twigcast.covering.containment.covers import CompiledPattern, Verdict, compiled_form
from twigcast.covering.index import cover_index as cover_index_module
from twigcast.covering.index import native
from twigcast.covering.index.batch_cover import minimal_sets
from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.language import Pattern

randoms = st.randoms(use_true_random=False)
SETS = 4


def drawn_sets(rng: Random, patterns: list[Pattern]) -> dict[Pattern, int]:
    return {pattern: rng.randrange(1 << SETS) for pattern in patterns}


def in_set(patterns: dict[Pattern, int], bit: int) -> set[Pattern]:
    return {pattern for pattern, sets in patterns.items() if sets & bit}


@given(randoms, st.sampled_from(["python", "native"] if native.AVAILABLE else ["python"]))
def test_each_set_has_the_patterns_that_a_link_would_be_sent(rng: Random, engine: str) -> None:
    drawn = [
        Pattern.parse(drawn_path(rng, steps_max=3)) if rng.random() < 0.7 else drawn_mixed(rng)
        for _ in range(rng.randrange(14))
    ]
    patterns = drawn_sets(rng, drawn)
    minimal = minimal_sets(patterns, engine)  # type: ignore[arg-type]
    for bit in each_bit((1 << SETS) - 1):
        order: IncrementalCover[str] = IncrementalCover()
        for pattern in in_set(patterns, bit):
            order.add(pattern, None)
        assert in_set(minimal, bit) == set(order.forwarded(None))


@given(randoms)
def test_circles_and_coverings_that_are_not_transitive_are_as_defined(rng: Random) -> None:
    """Coverings drawn at random, as if most had not been found."""
    names = [Pattern.parse(f"//{name}" + "/x" * rng.randrange(3)) for name in "abcdefgh"]
    share = rng.choice([0.1, 0.25, 0.5])
    edges = {(a, b) for a, b in permutations(names, 2) if rng.random() < share}
    patterns = drawn_sets(rng, names)

    def decided(*, wider: CompiledPattern, narrower: CompiledPattern, budget: int) -> Verdict:  # noqa: ARG001
        pair = Pattern(wider.condition), Pattern(narrower.condition)
        return Verdict(covers=pair in edges or pair[0] is pair[1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover_index_module, "decide_compiled", decided)
        patch.setattr(cover_index_module, "FeatureIndex", Everything)
        minimal = minimal_sets(patterns, "python")
    for bit in each_bit((1 << SETS) - 1):
        there = dict(enumerate(in_set(patterns, bit)))
        assert in_set(minimal, bit) == {there[top] for top in top_classes(there, edges)}


def test_patterns_that_mean_the_same_have_the_least_text_as_minimal() -> None:
    one, other = Pattern.parse("//*/a"), Pattern.parse("/*//a")
    assert one != other
    minimal = minimal_sets({other: 0b11, one: 0b01})
    assert in_set(minimal, 0b01) == {min(one, other, key=lambda each: each.text)}
    assert in_set(minimal, 0b10) == {other}


def test_what_was_made_ready_is_made_once_by_whoever_keeps_it() -> None:
    kept: dict[Pattern, CompiledPattern] = {}
    compiled: list[str] = []

    def compiled_of(pattern: Pattern) -> CompiledPattern:
        if pattern not in kept:
            compiled.append(pattern.text)
            kept[pattern] = compiled_form(pattern.condition)
        return kept[pattern]

    patterns = dict.fromkeys(map(Pattern.parse, ("/a", "/a/b", "//c")), 1)
    first = minimal_sets(patterns, compiled_of=compiled_of)
    assert minimal_sets(patterns, compiled_of=compiled_of) == first
    assert sorted(compiled) == ["//c", "/a", "/a/b"]


def test_nothing_is_minimal_of_nothing() -> None:
    assert minimal_sets({}) == {}
    assert minimal_sets({Pattern.parse("/a"): 0}) == {}
