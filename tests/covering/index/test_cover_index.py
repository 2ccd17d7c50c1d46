"""The cover index answers as ``covers`` does, pair by pair, whatever came and went before."""

from __future__ import annotations

import gc
from array import array
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_tree
from tests.covering.pairs import Listed, drawn_mixed
from twigcast.covering import CoverIndex, covers
from twigcast.covering.index.cover_index import CoverEngine
from twigcast.errors import PatternError, UsageError
from twigcast.language import Pattern, PatternLimits

ENGINES: tuple[CoverEngine, ...] = ("python", "auto")

randoms = st.randoms(use_true_random=False)


@pytest.mark.parametrize("engine", ENGINES)
@given(rng=randoms)
def test_answers_are_those_of_covers_for_each_pair_while_patterns_come_and_go(
    engine: CoverEngine, rng: Random
) -> None:
    index, listed = CoverIndex(engine), Listed()
    for id in range(15):  # noqa: A001
        if listed.by_id and rng.random() < 0.3:
            leaving = rng.choice(list(listed.by_id))
            index.remove(leaving)
            listed.remove(leaving)
        pattern = drawn_mixed(rng)
        index.add(id, pattern)
        listed.add(id, pattern)
    for pattern in (rng.choice(list(listed.by_id.values())), drawn_mixed(rng)):
        assert index.covering(pattern) == listed.covering(pattern)
        assert index.covered(pattern) == listed.covered(pattern)
    assert len(index) == len(listed.by_id)
    assert all(key in index and index.pattern(key) is each for key, each in listed.by_id.items())


@pytest.mark.parametrize("engine", ENGINES)
@given(rng=randoms)
def test_trees_that_cover_without_a_homomorphism_are_found(
    engine: CoverEngine, rng: Random
) -> None:
    texts = [drawn_tree(rng, nodes_max=7, stars=0.5) for _ in range(15)]
    index = CoverIndex(engine)
    for id, text in enumerate(texts):  # noqa: A001
        index.add(id, text)
    pattern = drawn_tree(rng, nodes_max=7, stars=0.5)
    pairs = [(covers(wider=t, narrower=pattern), covers(wider=pattern, narrower=t)) for t in texts]
    assert index.covering(pattern) == [key for key, (yes, _) in enumerate(pairs) if yes]
    assert index.covered(pattern) == [key for key, (_, yes) in enumerate(pairs) if yes]


@pytest.mark.parametrize("engine", ENGINES)
@given(rng=randoms)
def test_roots_are_the_least_of_each_class_that_nothing_else_covers(
    engine: CoverEngine, rng: Random
) -> None:
    index, listed = CoverIndex(engine), Listed()
    for id in rng.sample(range(100), 9):  # noqa: A001
        pattern = drawn_mixed(rng)
        index.add(id, pattern)
        listed.add(id, pattern)
    assert index.roots() == listed.roots()
    for id in rng.sample(list(listed.by_id), 3):  # noqa: A001
        index.remove(id)
        listed.remove(id)
        assert index.roots() == listed.roots()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("/a[.//b[c/*//d][b/c/d]]", "/a[b[c/*//d][b[c//d][b/c/d]]]"),
        ("//a/b | //a/*//b", "//a//b"),
        ("//a", "false()"),
        ("/*", "true()"),
        ("true()", "//a"),
        ("/*/*", "//a and //b"),
        ("//a[not(b and c)]", "//a[not(b)]"),
        ("//*[@x]", "//@x"),
        ("//*:a", "//{urn:p}a"),
        ("//a[@x != 5]", "//a[@x > 6]"),
        ("//*[. = 'x']", "//a[. = 'x']"),
        ("//a[b][c]", "//a[b = c]"),
        ("//text()", "//a/text()"),
    ],
)
def test_coverings_without_a_homomorphism_and_without_names_are_found(
    engine: CoverEngine, wider: str, narrower: str
) -> None:
    index = CoverIndex(engine)
    index.add(1, wider)
    index.add(2, narrower)
    assert index.covering(narrower) == [1, 2] or covers(wider=narrower, narrower=wider)
    assert 1 in index.covering(narrower)
    assert 2 in index.covered(wider)
    assert index.roots() == [1]


def test_equal_patterns_are_kept_once_with_their_ids() -> None:
    index = CoverIndex("python")
    index.add(3, "//a[b][c]")
    index.add(1, "//a[c]/b")
    index.add(2, "//a")
    assert index.covered("//a") == [1, 2, 3]
    assert index.covering("//a[b]/c[d]") == [1, 2, 3]
    assert (index.statistics().ids, index.statistics().patterns) == (3, 2)
    index.remove(2)
    assert index.roots() == [3]
    index.remove(3)
    assert index.roots() == [1]


def test_equivalent_patterns_do_not_eliminate_each_other() -> None:
    index = CoverIndex("python")
    index.add(4, "/a//*/b")
    index.add(7, "/a/*//b")
    assert index.roots() == [7]
    index.add(1, "/a//*/b")
    index.remove(7)
    assert index.roots() == [4]
    index.add(9, "/a//b")
    assert index.roots() == [9]
    index.remove(9)
    assert index.roots() == [4]


@given(randoms)
def test_removing_everything_leaves_nothing_behind(rng: Random) -> None:
    index = CoverIndex("python")
    patterns = [drawn_mixed(rng) for _ in range(20)]
    for id, pattern in enumerate(patterns):  # noqa: A001
        index.add(id, pattern)
    index.roots()
    for id in rng.sample(range(20), 20):  # noqa: A001
        index.remove(id)
    kept = {**vars(index), **vars(index._candidates)}
    assert not any(each for each in kept.values() if isinstance(each, dict | list | set | array))
    assert index.covering(patterns[0]) == index.covered(patterns[0]) == index.roots() == []


def test_a_pattern_that_has_left_can_be_forgotten() -> None:
    index = CoverIndex("python")
    index.add(1, "//only/here")
    index.remove(1)
    gc.collect()
    left = [each for each in gc.get_objects() if isinstance(each, Pattern)]
    assert "//only/here" not in [each.text for each in left]


def test_what_is_counted() -> None:
    wider, narrower = "/a[.//b[c/*//d][b/c/d]]", "/a[b[c/*//d][b[c//d][b/c/d]]]"
    index = CoverIndex("python", budget=10)
    index.add(1, wider)
    assert index.covering(narrower) == []
    counted = index.statistics()
    assert (counted.engine, counted.searches, counted.undecided) == ("python", 1, 1)
    assert (counted.decided, counted.covering) == (1, 0)


def test_misuse_is_reported() -> None:
    index = CoverIndex()
    index.add(1, "//a")
    with pytest.raises(UsageError, match="id 1 is taken by //a"):
        index.add(1, "//b")
    with pytest.raises(UsageError, match="no pattern with id 2"):
        index.remove(2)
    with pytest.raises(UsageError, match="no pattern with id 2"):
        index.pattern(2)
    with pytest.raises(UsageError, match="64 bits"):
        index.add(1 << 63, "//b")
    with pytest.raises(UsageError, match="engines"):
        CoverIndex("fast")  # type: ignore[arg-type]
    with pytest.raises(PatternError):
        index.add(2, "//a[")
    assert len(index) == 1


def test_deep_patterns_are_taken() -> None:
    large = PatternLimits(
        characters_max=1 << 20, steps_max=1 << 14, predicates_max=1 << 12, steps_in_row_max=1 << 14
    )
    deep = Pattern.parse("/a//*" * 600, limits=large)
    index = CoverIndex()
    index.add(1, deep)
    assert index.covering(Pattern.parse("/a//*" * 600 + "[b][c]", limits=large)) == [1]
    assert index.covered("/a//*") == [1]
