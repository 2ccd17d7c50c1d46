"""What is said over one link: nothing too much, nothing too little, whatever the history."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.forwarding.watched import (
    ADVERTISEMENTS,
    AGGREGATING,
    DOCUMENTS,
    MERGING,
    STRATEGIES,
    Doing,
    Watched,
    doings,
    in_order,
    matches,
    parsed,
    said_of,
)
from twigcast import Matcher, Pattern, Schema
from twigcast.covering import (
    Advertisement,
    Difference,
    covers,
    merge_degree,
    reduced,
    space_budget,
)
from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.merging.spine import spine_of, steps_of
from twigcast.covering.paths.automaton import AutomatonLimits
from twigcast.covering.paths.linear import linear_path
from twigcast.files.schemas import shipped_schema
from twigcast.routing.forwarding.outgoing_link import OutgoingLink
from twigcast.routing.strategy import Strategy, advertised, covering, identity, piggyback
from twigcast.workload import PatternShape, generate_documents, generate_patterns


def texts_of(patterns: Iterable[Pattern]) -> list[str]:
    return [pattern.text for pattern in patterns]


# Whatever the history.


@given(st.sampled_from(STRATEGIES), doings)
def test_what_was_heard_is_what_is_said(strategy: Strategy, given_doings: list[Doing]) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
    watched.flush()
    assert watched.link.flush() == Difference()


@given(st.sampled_from(STRATEGIES), doings)
def test_what_is_directed_is_said_or_covered(strategy: Strategy, given_doings: list[Doing]) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
        forwarded = watched.link.whole()
        for pattern in watched.directed():
            assert any(covers(wider=one, narrower=pattern) for one in forwarded)
            for document in (each for some in DOCUMENTS.values() for each in some):
                if matches(pattern, document):
                    assert any(matches(one, document) for one in forwarded)


@given(st.sampled_from([one for one in STRATEGIES if one.perfect]), doings)
def test_perfect_merging_asks_for_no_document_in_vain(
    strategy: Strategy, given_doings: list[Doing]
) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
        for document in (each for name in watched.names for each in DOCUMENTS[name]):
            if any(matches(one, document) for one in watched.link.whole()):
                assert any(matches(pattern, document) for pattern in watched.possible)


@given(st.sampled_from(STRATEGIES[:4]), doings)
def test_without_merging_just_what_is_directed_is_said(
    strategy: Strategy, given_doings: list[Doing]
) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
        assert watched.link.whole() == in_order(watched.directed())
        assert not watched.link.wants_merge


@given(st.sampled_from(STRATEGIES), doings)
def test_after_a_merge_tick_nothing_tells_of_the_history(
    strategy: Strategy, given_doings: list[Doing]
) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
    if watched.link.wants_merge:
        watched.link.merge()
    assert not watched.link.wants_merge
    for advertisements in permutations(watched.advertisements):
        fresh = said_of(strategy, reversed(in_order(watched.possible)), advertisements)
        fresh.merge()
        assert watched.link.whole() == fresh.whole()


@given(
    st.sampled_from([one for one in MERGING + AGGREGATING if one.hold_back == "covered"]), doings
)
def test_after_a_merge_tick_nothing_said_covers_another(
    strategy: Strategy, given_doings: list[Doing]
) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
    watched.link.merge()
    forwarded = watched.link.whole()
    assert [one.pattern for one in reduced(forwarded).kept] == list(forwarded)
    for one, other in permutations(forwarded, 2):
        assert not covers(wider=one, narrower=other)


@given(st.sampled_from(MERGING), doings)
def test_mergers_never_add_more_than_the_degree_allows(
    strategy: Strategy, given_doings: list[Doing]
) -> None:
    watched = Watched(strategy)
    bound = strategy.degree if strategy.merging == "imperfect" else 0
    for doing in given_doings:
        watched.do(doing)
        there = in_order(watched.directed())
        for merger in set(watched.link.whole()) - set(there):
            # Of what is more than a single path, less is known than merging sees to.
            if not linear_path(merger.condition):
                continue
            parts = [one for one in there if covers(wider=merger, narrower=one) and spine_of(one)]
            union = watched.advertisements[0].union(*watched.advertisements[1:])
            paths = SchemaPaths(union.paths)
            single = [one for one in parts if linear_path(one.condition)]
            degrees = [merge_degree(merger, some, schema=paths) for some in (parts, single)]
            assert any(degree.within(bound) for degree in degrees)


@given(st.sampled_from(AGGREGATING), doings)
def test_after_a_merge_tick_aggregates_fit_their_space(
    strategy: Strategy, given_doings: list[Doing]
) -> None:
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
    watched.link.merge()
    forwarded, there = watched.link.whole(), watched.directed()
    assert bool(forwarded) == bool(there)
    assert strategy.space is not None
    if there:
        assert sum(map(steps_of, forwarded)) <= space_budget(there, 100 * strategy.space)


# Merging.


def test_what_comes_between_two_ticks_joins_a_merger_or_is_said_as_it_is() -> None:
    link = said_of(
        advertised(merging="imperfect", degree=0.6),
        parsed("/a/b/d", "/a/c/d"),
        [ADVERTISEMENTS["a"]],
    )
    link.merge()
    assert texts_of(link.whole()) == ["/a/*/d"]
    link.add(Difference(added=parsed("/a/*/d", "/a/c/e")))
    assert texts_of(link.whole()) == ["/a/*/d", "/a/c/e"]
    assert link.wants_merge


def test_a_merger_that_an_advertisement_makes_too_wide_is_dissolved_at_once() -> None:
    link = said_of(advertised(merging="perfect"), parsed("/a/b", "/a/c"), [ADVERTISEMENTS["a"]])
    link.merge()
    assert texts_of(link.whole()) == ["/a/*"]
    link.flush()
    link.advertised((ADVERTISEMENTS["a"], ADVERTISEMENTS["g"]))
    assert link.flush() == Difference()
    link.advertised((ADVERTISEMENTS["a"], ADVERTISEMENTS["a with f"]))
    assert link.flush() == Difference(added=parsed("/a/b", "/a/c"), removed=parsed("/a/*"))
    link.advertised((ADVERTISEMENTS["a"],))
    assert link.wants_merge
    link.merge()
    assert texts_of(link.whole()) == ["/a/*"]


def test_what_a_merger_holds_back_is_said_when_the_merger_goes() -> None:
    """Two paths joined by ``and`` are never merged, but a merger may cover them."""
    apart = "/a/b[@x] and /a/b/d"
    link = said_of(
        advertised(merging="perfect"), parsed("/a/b", "/a/c", apart), [ADVERTISEMENTS["a"]]
    )
    link.merge()
    assert texts_of(link.whole()) == ["/a/*"]
    link.add(Difference(removed=parsed("/a/b")))
    assert link.whole() == parsed("/a/c", apart)


def test_a_tick_is_wanted_only_if_it_could_change_something() -> None:
    link = OutgoingLink(advertised(merging="perfect"))
    wanted = [link.wants_merge]
    link.advertised((ADVERTISEMENTS["a"],))
    link.add(Difference(added=parsed("/a/b", "/news")))
    wanted.append(link.wants_merge)
    link.add(Difference(added=parsed("/a/c")))
    wanted.append(link.wants_merge)
    link.merge()
    wanted.append(link.wants_merge)
    link.advertised((ADVERTISEMENTS["a"],))
    wanted.append(link.wants_merge)
    link.advertised((ADVERTISEMENTS["a"], ADVERTISEMENTS["g"]))
    wanted.append(link.wants_merge)
    link.add(Difference(removed=parsed("/a/c")))
    wanted.append(link.wants_merge)
    assert wanted == [False, False, True, False, False, True, False]


def test_a_union_that_is_too_large_ends_merging_and_is_counted() -> None:
    link = OutgoingLink(advertised(merging="perfect"), limits=AutomatonLimits(states_max=7))
    link.advertised((ADVERTISEMENTS["a"],))
    link.add(Difference(added=parsed("/a/b", "/a/c")))
    link.merge()
    assert texts_of(link.whole()) == ["/a/*"]
    link.advertised(tuple(ADVERTISEMENTS.values()))
    assert link.whole() == parsed("/a/b", "/a/c")
    assert link.statistics().unions_refused == 1
    link.merge()
    assert link.whole() == parsed("/a/b", "/a/c")
    link.advertised((ADVERTISEMENTS["a"],))
    link.merge()
    assert texts_of(link.whole()) == ["/a/*"]


def test_a_budget_of_steps_is_kept_and_told() -> None:
    link = OutgoingLink(advertised(merging="imperfect", degree=0.6), steps_max=-1)
    link.advertised((ADVERTISEMENTS["a"], ADVERTISEMENTS["a with f"]))
    link.add(Difference(added=parsed("/a/b", "/a/c")))
    link.merge()
    assert link.whole() == parsed("/a/b", "/a/c")
    assert not link.statistics().within_budget


def test_aggregating_needs_no_advertisements() -> None:
    link = said_of(piggyback(space=0.6), parsed("/a/b/d", "/a/c/d", "/news"), [])
    link.merge()
    assert link.flush() == Difference(added=parsed("/a/*/d", "/news"))
    told = link.statistics()
    assert (told.possible, told.directed, told.forwarded, told.merges) == (3, 3, 2, 1)


def test_advertisements_tell_where_to_begin_aggregating() -> None:
    """It is enough to make two patterns one: those that are nearly all there can be."""
    texts = ("/a/b/d", "/a/f/d", "/g/a/d", "/g/h/d")
    strategy = piggyback(on=covering("producers"), space=0.75)
    for names, merged in ((("a with f",), "/a/*/d"), (("a", "g"), "/g/*/d")):
        link = said_of(strategy, parsed(*texts), [ADVERTISEMENTS[name] for name in names])
        link.merge()
        assert set(texts_of(link.whole())) - set(texts) == {merged}


def test_an_aggregate_stays_between_two_ticks_while_it_has_a_part() -> None:
    link = said_of(piggyback(space=0.6), parsed("/a/b/d", "/a/c/d", "/news"), [])
    link.merge()
    link.flush()
    link.add(Difference(added=parsed("/a/f/d[@x]", "/g"), removed=parsed("/a/b/d", "/a/c/d")))
    assert link.flush() == Difference(added=parsed("/g"))
    link.add(Difference(removed=parsed("/a/f/d[@x]")))
    assert link.flush() == Difference(removed=parsed("/a/*/d"))
    assert link.wants_merge


def test_an_aggregate_of_one_pattern_gives_way_to_nothing_that_it_covers() -> None:
    link = said_of(piggyback(space=0.25), parsed("/a/b/c/d"), [])
    assert link.wants_merge
    link.merge()
    assert texts_of(link.whole()) == ["//d"]
    link.flush()
    link.add(Difference(added=parsed("//d", "/g//d")))
    assert link.flush() == Difference()
    link.add(Difference(removed=parsed("/a/b/c/d", "/g//d")))
    assert link.flush() == Difference()
    link.add(Difference(removed=parsed("//d")))
    assert link.flush() == Difference(removed=parsed("//d"))


def test_a_union_that_is_too_large_does_not_keep_from_aggregating() -> None:
    limits = AutomatonLimits(states_max=7)
    link = OutgoingLink(piggyback(on=advertised(), space=0.5), limits=limits)
    link.advertised(tuple(ADVERTISEMENTS.values()))
    link.add(Difference(added=parsed("/a/b/d", "/a/c/d")))
    link.merge()
    assert texts_of(link.whole()) == ["/a/*/d"]
    assert link.statistics().unions_refused == 1


def test_merging_needs_documents_that_are_held_to_advertisements() -> None:
    anywhere = Strategy("covering", "covered", merging="perfect")
    link = said_of(anywhere, parsed("/a/b", "/a/c"), [ADVERTISEMENTS["a"]])
    link.merge()
    assert link.whole() == parsed("/a/b", "/a/c")
    assert not link.wants_merge


def test_statistics_tell_what_became_of_the_patterns() -> None:
    link = said_of(
        advertised(merging="perfect"), parsed("/a/b", "/a/c", "/news"), [ADVERTISEMENTS["a"]]
    )
    link.merge()
    told = link.statistics()
    assert (told.possible, told.directed, told.forwarded, told.advertisements) == (3, 2, 1, 1)
    assert (told.merges, told.unions_refused, told.within_budget) == (1, 0, True)
    plain = said_of(identity(), parsed("/a/b", "/news"), [ADVERTISEMENTS["a"]]).statistics()
    assert (plain.possible, plain.directed, plain.forwarded, plain.advertisements) == (2, 2, 2, 0)


@pytest.mark.parametrize("name", ["auction", "parts"])
def test_on_generated_patterns_perfect_merging_changes_no_crossing(name: str) -> None:
    """One link for each family of patterns that begin alike; the same documents over each."""
    schema = shipped_schema(name)
    rng = Random(11)
    families: dict[str, list[Pattern]] = {}
    for text in generate_patterns(
        schema, rng=rng, count=150, shape=PatternShape(depth_max=4, wildcard=0)
    ):
        pattern = Pattern.parse(text)
        families.setdefault(pattern.text.rpartition("/")[0], []).append(pattern)
    merged = 0
    seen: set[bool] = set()
    for family in families.values():
        minimal = [one.pattern for one in reduced(family).kept]
        link = said_of(advertised(merging="perfect"), minimal, [Advertisement.of_schema(schema)])
        link.merge()
        merged += len(minimal) - len(link.whole())
        crossing = crossing_of(minimal, schema)
        assert crossing_of(link.whole(), schema) == crossing
        seen.update(crossing)
    assert merged
    assert seen == {True, False}


def crossing_of(patterns: Iterable[Pattern], schema: Schema) -> list[bool]:
    """Which documents of the schema cross a link over which these patterns are said."""
    matcher = Matcher()
    for number, pattern in enumerate(patterns):
        matcher.add(number, pattern.text)
    return [bool(matcher.match(document)) for document in documents_of(schema)]


@cache
def documents_of(schema: Schema) -> list[bytes]:
    rng = Random(12)
    return [
        document
        for elements in (2, 10, 40)
        for document in generate_documents(schema, rng=rng, count=20, elements=elements)
    ]
