"""Subscriptions split by similarity, and the summaries that tell which shards see a document."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast import Matcher, Pattern
from twigcast.covering import covers
from twigcast.covering.merging.spine import steps_of
from twigcast.errors import UsageError
from twigcast.files.schemas import shipped_schema
from twigcast.spark.sharding.partition import SUMMARY_STEPS, split, summary
from twigcast.workload import PatternShape, generate_documents, generate_patterns

PLACES = ("Alder", "Brook", "Cove", "Dale", "Elm", "Fen", "Glen", "Heath")
TOPICS = ("flood", "storm", "strike", "summit", "tariff", "treaty", "verdict")


def parsed(*texts: str) -> list[Pattern]:
    return [Pattern.parse(text) for text in texts]


def regional() -> list[Pattern]:
    """Every topic in every place, asked for in two ways."""
    asked = ("/news[.//place = '{}']//keyword[. = '{}']", "//news[place = '{}' and topic = '{}']")
    return parsed(*(how.format(p, t) for how in asked for p in PLACES for t in TOPICS))


def drawn(count: int, *, predicates: float = 0.7) -> list[Pattern]:
    """Patterns of all kinds over the news format."""
    texts = generate_patterns(
        shipped_schema("news"),
        rng=Random(3),
        count=count,
        shape=PatternShape(
            nested=0.1,
            predicates=predicates,
            predicate_kinds=("equal", "contains", "order", "unequal"),
        ),
    )
    return [Pattern.parse(text) for text in texts]


said = st.lists(subscriptions(), min_size=1, max_size=8)
"""Expressions of the whole language, those that only libxml2 decides among them."""

budgets = st.sampled_from([1, 2, 5, 12, 1_000])


# Splitting.


@pytest.mark.parametrize("shards", [1, 2, 7, 16])
def test_shards_are_of_about_equal_size(shards: int) -> None:
    patterns = drawn(2_000)
    sizes = Counter(split(patterns, shards))
    assert sorted(sizes) == list(range(shards))
    assert max(sizes.values()) <= 1.3 * len(set(patterns)) / shards + 1


def test_equal_patterns_are_together_and_count_once() -> None:
    patterns = parsed("//a", "//b", "//c", "//d") + parsed("//a[x = 1]") * 100
    found = split(patterns, 5)
    assert len(set(found[4:])) == 1
    assert sorted(found[:5]) == [0, 1, 2, 3, 4]


def test_the_split_depends_on_the_set_of_patterns_alone() -> None:
    patterns = drawn(500)
    expected = dict(zip(patterns, split(patterns, 6), strict=True))
    for seed in range(3):
        other = [*patterns, *patterns[:50]]
        Random(seed).shuffle(other)
        assert dict(zip(other, split(other, 6), strict=True)) == expected


def test_patterns_that_ask_for_the_same_place_are_together() -> None:
    patterns = regional()
    found = split(patterns, len(PLACES))
    places = {
        shard: {place for place in PLACES if f"'{place}'" in pattern.text}
        for pattern, shard in zip(patterns, found, strict=True)
    }
    assert sorted(places.values(), key=sorted) == [{place} for place in PLACES]


def test_what_requires_nothing_is_gathered_in_the_last_shards() -> None:
    wide = parsed("//*", "/*/*", "//@*", "//*[not(a)]", "/*[count(*) > 2]")
    patterns = [*wide, *regional()]
    found = split(patterns, 8)
    assert set(found[: len(wide)]) == {7}


def test_there_may_be_more_shards_than_patterns() -> None:
    assert sorted(split(parsed("//a", "//b"), 5)) == sorted({*split(parsed("//a", "//b"), 5)})
    assert split([], 3) == []


def test_less_than_one_shard_is_refused() -> None:
    with pytest.raises(UsageError, match="0 shards"):
        split(parsed("//a"), 0)


# Summaries.


def test_a_shared_value_is_all_that_a_tight_summary_keeps() -> None:
    asked = [f"/news[.//place = 'Fen']//keyword[. = '{topic}']" for topic in TOPICS]
    assert [one.text for one in summary(parsed(*asked), 4)] == [
        "/news[.//place = 'Fen'] and /news//keyword"
    ]


def test_a_summary_with_room_has_the_patterns_that_no_other_covers() -> None:
    found = summary(parsed("//a", "//a/b", "/c/d", "//c/d"))
    assert [one.text for one in found] == ["//a", "//c/d"]


def test_what_only_libxml2_decides_is_summarised_by_what_it_needs() -> None:
    (found,) = summary(parsed("//a[b = c]"))
    assert found is Pattern.parse("//a[b][c]")


def test_patterns_that_nothing_matches_need_no_summary() -> None:
    assert summary(parsed("false()")) == summary([]) == ()


def test_a_summary_of_no_step_is_refused() -> None:
    with pytest.raises(UsageError, match="0"):
        summary(parsed("//a"), 0)


@pytest.mark.parametrize("budget", [1, 3, 10, 100, SUMMARY_STEPS])
def test_a_summary_keeps_to_its_budget_and_covers_all(budget: int) -> None:
    patterns = [*drawn(150), *regional()]
    found = summary(patterns, budget)
    assert sum(map(steps_of, found)) <= budget
    assert all(any(covers(wider=wide, narrower=pattern) for wide in found) for pattern in patterns)


def test_more_room_lets_no_more_documents_in() -> None:
    patterns = drawn(400, predicates=2.0)
    contents = list(generate_documents(shipped_schema("news"), rng=Random(5), count=40))
    admitted = []
    for budget in (1, 30, 300, 3_000):
        matcher = Matcher()
        for number, pattern in enumerate(summary(patterns, budget)):
            matcher.add(number, pattern)
        admitted.append({place for place, one in enumerate(contents) if matcher.match(one)})
    assert all(later <= earlier for earlier, later in pairwise(admitted))


@given(said, budgets)
def test_a_summary_is_exact_and_covers_each_pattern(
    asked: list[ExpressionPair], budget: int
) -> None:
    patterns = [Pattern.parse(one.text, NAMESPACES) for one in asked]
    found = summary(patterns, budget)
    assert all(one.exact for one in found)
    assert list(found) == sorted(set(found), key=lambda one: one.text)
    never = Pattern.parse("false()")
    for pattern in patterns:
        if pattern.necessary is not never:
            assert any(covers(wider=wide, narrower=pattern) for wide in found), pattern


@THOROUGH
@given(said, budgets, documents())
def test_a_document_that_matches_a_pattern_matches_its_summary(
    asked: list[ExpressionPair], budget: int, document: bytes
) -> None:
    if any(oracle(one.oracle, document, NAMESPACES) for one in asked):
        patterns = [Pattern.parse(one.text, NAMESPACES) for one in asked]
        told = [one.for_libxml2() for one in summary(patterns, budget)]
        assert any(oracle(text, document, namespaces) for text, namespaces in told)
