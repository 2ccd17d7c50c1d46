"""The cover index and the papers' trees take each other's place where patterns are compared."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path
from twigcast.covering import CoverIndex, FactorizationTree, SubscriptionTree
from twigcast.covering.index.engine import CoverSearch
from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.language import Pattern

randoms = st.randoms(use_true_random=False)

SEARCHES: dict[str, Callable[[], CoverSearch]] = {
    "index": CoverIndex,
    "index in Python": lambda: CoverIndex("python"),
    "factorization tree": FactorizationTree,
    "subscription tree": SubscriptionTree,
}
LINKS = ("north", "south")


def simple(rng: Random) -> Pattern:
    """A path, between which homomorphisms show all coverings."""
    return Pattern.parse(drawn_path(rng, steps_max=4))


@pytest.mark.parametrize("name", SEARCHES)
@given(randoms)
def test_every_search_finds_the_same(name: str, rng: Random) -> None:
    search, oracle = SEARCHES[name](), CoverIndex("python")
    for number in range(12):
        pattern = simple(rng)
        search.add(number, pattern)
        oracle.add(number, pattern)
    for number in rng.sample(range(12), 4):
        search.remove(number)
        oracle.remove(number)
    for probe in (simple(rng) for _ in range(4)):
        assert search.covering(probe) == oracle.covering(probe)
        assert search.covered(probe) == oracle.covered(probe)


@pytest.mark.parametrize("name", SEARCHES)
@given(randoms)
def test_a_broker_forwards_the_same_whatever_searches(name: str, rng: Random) -> None:
    sets = IncrementalCover[str](search=SEARCHES[name]())
    others = IncrementalCover[str]("python")
    for link in LINKS:
        sets.add_link(link)
        others.add_link(link)
    came: list[tuple[Pattern, str | None]] = []
    for _ in range(12):
        if came and rng.random() < 0.3:
            pattern, source = came.pop(rng.randrange(len(came)))
            sets.remove(pattern, source)
            others.remove(pattern, source)
        else:
            came.append((simple(rng), rng.choice((*LINKS, None))))
            sets.add(*came[-1])
            others.add(*came[-1])
        assert sets.changes() == others.changes()
    assert sets.statistics() == others.statistics()
