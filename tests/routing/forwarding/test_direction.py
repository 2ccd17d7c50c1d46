"""Which patterns go over a link: those that overlap an advertisement from there."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.forwarding.watched import (
    ADVERTISEMENTS,
    DOCUMENTS,
    PATTERNS,
    STRATEGIES,
    Doing,
    Watched,
    doings,
    matches,
    parsed,
    said_of,
)
from twigcast import Pattern
from twigcast.covering import (
    Advertisement,
    Difference,
    overlaps,
)
from twigcast.routing.forwarding import direction as directed
from twigcast.routing.forwarding.outgoing_link import OutgoingLink
from twigcast.routing.strategy import Strategy, advertised, covering


@given(st.sampled_from(STRATEGIES), doings)
def test_what_overlaps_nothing_is_not_missed(strategy: Strategy, given_doings: list[Doing]) -> None:
    """No document that comes by the link matches a pattern and nothing that is said."""
    watched = Watched(strategy)
    for doing in given_doings:
        watched.do(doing)
    for document in (each for name in watched.names for each in DOCUMENTS[name]):
        if any(matches(pattern, document) for pattern in watched.possible):
            assert any(matches(one, document) for one in watched.link.whole())


def test_patterns_appear_and_disappear_with_the_advertisements_they_overlap() -> None:
    link = OutgoingLink(advertised())
    link.add(Difference(added=parsed("/a/c", "/g/h", "/news")))
    assert link.whole() == ()
    link.advertised((ADVERTISEMENTS["a"], ADVERTISEMENTS["g"]))
    assert link.flush() == Difference(added=parsed("/a/c", "/g/h"))
    link.advertised((ADVERTISEMENTS["g"], ADVERTISEMENTS["a with f"]))
    assert link.flush() == Difference(removed=parsed("/a/c"))
    link.advertised(())
    assert link.flush() == Difference(removed=parsed("/g/h"))


def test_towards_producers_everything_goes_where_one_advertisement_came_from() -> None:
    link = OutgoingLink(covering("producers"))
    link.add(Difference(added=parsed("/a", "/news")))
    assert link.whole() == ()
    link.advertised((ADVERTISEMENTS["g"],))
    assert link.whole() == parsed("/a", "/news")
    link.advertised((ADVERTISEMENTS["a"],))
    assert link.flush() == Difference(added=parsed("/a", "/news"))
    link.advertised(())
    assert link.flush() == Difference(removed=parsed("/a", "/news"))


@given(doings)
def test_no_question_of_overlap_is_asked_twice(given_doings: list[Doing]) -> None:
    comparisons: Counter[tuple[Pattern, Advertisement]] = Counter()

    def counted(advertisement: Advertisement, pattern: Pattern) -> bool:
        comparisons[pattern, advertisement] += 1
        return overlaps(advertisement, pattern)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(directed, "overlaps", counted)
        watched = Watched(advertised())
        for doing in given_doings:
            there = {(p, a) for p in watched.possible for a in watched.advertisements}
            watched.do(doing)
            still = {(p, a) for p in watched.possible for a in watched.advertisements} & there
            comparisons = Counter(
                {pair: number for pair, number in comparisons.items() if pair in still}
            )
            assert max(comparisons.values(), default=0) <= 1


def test_an_advertisement_is_asked_about_those_only_that_it_could_change() -> None:
    link = said_of(advertised(), PATTERNS, [ADVERTISEMENTS["a"]])
    before = link.statistics()
    overlapping = before.forwarded
    link.advertised((ADVERTISEMENTS["a"], ADVERTISEMENTS["g"]))
    added = link.statistics()
    assert added.comparisons - before.comparisons == len(PATTERNS) - overlapping
    link.advertised((ADVERTISEMENTS["a"],))
    assert link.statistics().comparisons == added.comparisons
    link.advertised((ADVERTISEMENTS["g"],))
    # Those that overlapped the other were not asked about this one before.
    assert link.statistics().comparisons == added.comparisons + len(PATTERNS)
