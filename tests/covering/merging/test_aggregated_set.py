"""Sets of aggregated patterns under change: what represents what, and that it fits its space."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from twigcast import Pattern
from twigcast.covering import covers, space_budget
from twigcast.covering.delta import Difference
from twigcast.covering.merging.aggregated_set import AggregatedSet
from twigcast.covering.merging.spine import steps_of
from twigcast.errors import UsageError

_texts = st.lists(st.one_of(paths(), trees()), min_size=1, max_size=8)
_changes = st.lists(st.tuples(st.sampled_from(["toggle", "toggle", "merge"]), st.integers(0, 7)))
_spaces = st.sampled_from([0.125, 0.25, 0.5, 1.0])


def filled(space: float, texts: Iterable[str], *, minimal: bool = False) -> AggregatedSet:
    kept = AggregatedSet(space, minimal=minimal)
    for text in texts:
        kept.add(text)
    kept.merge()
    return kept


def texts_of(patterns: Iterable[Pattern]) -> list[str]:
    return [pattern.text for pattern in patterns]


@given(_texts, _changes, _spaces, st.sampled_from([False, True]))
def test_changes_add_up_and_everything_stays_covered(
    texts: list[str], changes: list[tuple[str, int]], space: float, minimal: object
) -> None:
    kept = filled(space, texts, minimal=bool(minimal))
    there, stands = set(map(Pattern.parse, texts)), set(kept.patterns())
    for change, number in changes:
        pattern = Pattern.parse(texts[number % len(texts)])
        if change == "merge":
            difference = kept.merge()
        else:
            difference = kept.remove(pattern) if pattern in there else kept.add(pattern)
            there ^= {pattern}
        assert not stands & set(difference.added)
        assert stands >= set(difference.removed)
        stands = stands.union(difference.added).difference(difference.removed)
        assert stands == set(kept.patterns())
        for each in there:
            assert kept.merger_of(each) in stands
    assert {part for one in stands for part in kept.parts_of(one)} == there
    for each in there:
        assert any(covers(wider=one, narrower=each) for one in stands)


@given(_texts, _spaces)
def test_a_tick_fits_everything_into_the_space_whatever_the_order(
    texts: list[str], space: float
) -> None:
    kept = filled(space, texts)
    given_patterns = set(map(Pattern.parse, texts))
    assert sum(map(steps_of, kept.patterns())) <= space_budget(given_patterns, 100 * space)
    assert filled(space, reversed(texts)).patterns() == kept.patterns()
    minimal = filled(space, texts, minimal=True).patterns()
    assert set(minimal) <= set(kept.patterns())
    for one in minimal:
        assert not any(covers(wider=two, narrower=one) for two in minimal if two != one)


def test_the_whole_space_leaves_everything_as_it_is() -> None:
    texts = ["//g/@x", "/a/b/c/d", "/a/b/e/d"]
    kept = filled(1, texts)
    assert texts_of(kept.patterns()) == texts
    assert kept.merge() == Difference()


def test_a_pattern_that_an_aggregate_covers_joins_it() -> None:
    kept = filled(0.5, ["/a/b/c/d", "/a/b/e/d"])
    assert texts_of(kept.patterns()) == ["/a/b/*/d"]
    assert kept.add("/a/b/f[x]/d") == Difference()
    assert kept.merger_of("/a/b/f[x]/d").text == "/a/b/*/d"
    assert texts_of(kept.add("/a/c/f/d").added) == ["/a/c/f/d"]


def test_no_pattern_joins_an_aggregate_that_has_gone() -> None:
    kept = filled(0.5, ["/a/b/c/d", "/a/b/e/d"])
    assert kept.add("/a/b/f/d") == Difference()
    change = kept.remove("/a/b/c/d", "/a/b/e/d", "/a/b/f/d")
    assert texts_of(change.removed) == ["/a/b/*/d"]
    assert texts_of(kept.add("/a/b/f/d").added) == ["/a/b/f/d"]


def test_even_a_single_pattern_is_made_to_fit() -> None:
    assert texts_of(filled(0.25, ["/a/b/c/d"]).patterns()) == ["//d"]


@pytest.mark.parametrize("space", [0, -0.5, 1.01, float("nan")])
def test_a_share_lies_above_none_and_up_to_all(space: float) -> None:
    with pytest.raises(UsageError, match="a share of the steps"):
        AggregatedSet(space)
