"""Forwarded sets: whatever has happened, the least text of each class that nothing covers.

The oracle is the definition: coverings among the patterns that came from elsewhere, closed under
"and so on", one speaker for each class at the top.
"""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path
from tests.covering.pairs import drawn_mixed
from tests.covering.papers.test_subscription_tree import Everything, top_classes
from twigcast.covering import covers
from twigcast.covering.containment.covers import CompiledPattern, Verdict
from twigcast.covering.index import cover_index as cover_index_module
from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.language import Pattern

randoms = st.randoms(use_true_random=False)
LINKS = ("east", "north", "south", "west")


class Broker:
    """Forwarded sets, and beside them the plain facts."""

    def __init__(
        self, sets: IncrementalCover[str], edges: set[tuple[Pattern, Pattern]] | None
    ) -> None:
        self.sets = sets
        self.edges = edges
        self.came: dict[str | None, set[Pattern]] = {None: set()}
        self.forwarded: dict[str, set[Pattern]] = {}

    def disturb(self, rng: Random, drawn: list[Pattern]) -> None:
        sources = list(self.came)
        away = [link for link in LINKS if link not in self.came]
        match rng.choices(["put", "take", "up", "down"], [10, 6, 1.5, 1])[0]:
            case "put":
                source, pattern = rng.choice(sources), rng.choice(drawn)
                self.came[source].add(pattern)
                self.sets.add(pattern, source)
            case "take":
                source = rng.choice(sources)
                if self.came[source]:
                    pattern = rng.choice(sorted(self.came[source], key=lambda each: each.text))
                    self.came[source].discard(pattern)
                    self.sets.remove(pattern, source)
            case "up" if away:
                link = rng.choice(away)
                self.came[link], self.forwarded[link] = set(), set()
                self.sets.add_link(link)
            case "down" if self.forwarded:
                link = rng.choice(list(self.forwarded))
                del self.came[link], self.forwarded[link]
                self.sets.remove_link(link)

    def receive(self) -> None:
        for link, difference in self.sets.changes().items():
            assert self.forwarded[link].isdisjoint(difference.added)
            assert self.forwarded[link].issuperset(difference.removed)
            self.forwarded[link] |= set(difference.added)
            self.forwarded[link] -= set(difference.removed)

    def check(self) -> None:
        self.receive()
        for link, forwarded in self.forwarded.items():
            assert forwarded == set(self.sets.forwarded(link)) == self.expected(link)
        assert set(self.sets.forwarded(None)) == self.expected("a new neighbour")

    def expected(self, link: str) -> set[Pattern]:
        elsewhere = {each for source, came in self.came.items() if source != link for each in came}
        patterns = dict(enumerate(sorted(elsewhere, key=lambda each: each.text)))
        edges = self.edges
        if edges is None:
            pairs = permutations(elsewhere, 2)
            edges = {(a, b) for a, b in pairs if covers(wider=a, narrower=b)}
        return {patterns[top] for top in top_classes(patterns, edges)}


def simple(rng: Random) -> Pattern:
    return Pattern.parse(drawn_path(rng, steps_max=3))


@given(randoms)
def test_forwarded_sets_depend_on_the_patterns_and_not_on_history(rng: Random) -> None:
    broker = Broker(IncrementalCover(), None)
    drawn = [simple(rng) if rng.random() < 0.8 else drawn_mixed(rng) for _ in range(9)]
    for _ in range(30):
        broker.disturb(rng, drawn)
        if rng.random() < 0.7:
            broker.receive()
    broker.check()


@given(randoms)
def test_circles_and_coverings_that_are_not_transitive_neither_lose_nor_linger(rng: Random) -> None:
    """Coverings drawn at random, as if most had not been found."""
    names = [Pattern.parse(f"//{name}") for name in "abcdefg"]
    share = rng.choice([0.1, 0.25, 0.5])
    edges = {(a, b) for a, b in permutations(names, 2) if rng.random() < share}

    def decided(*, wider: CompiledPattern, narrower: CompiledPattern, budget: int) -> Verdict:  # noqa: ARG001
        pair = Pattern(wider.condition), Pattern(narrower.condition)
        return Verdict(covers=pair in edges or pair[0] is pair[1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover_index_module, "decide_compiled", decided)
        patch.setattr(cover_index_module, "FeatureIndex", Everything)
        broker = Broker(IncrementalCover("python"), edges)
        for _ in range(60):
            broker.disturb(rng, names)
            broker.check()


@given(randoms)
def test_when_all_has_gone_nothing_is_left_behind(rng: Random) -> None:
    sets: IncrementalCover[str] = IncrementalCover("python")
    broker = Broker(sets, None)
    drawn = [drawn_mixed(rng) for _ in range(6)]
    for _ in range(20):
        broker.disturb(rng, drawn)
    for source, came in broker.came.items():
        for pattern in came:
            sets.remove(pattern, source)
    for link in list(broker.forwarded):
        sets.remove_link(link)
    assert sets.forwarded(None) == ()
    assert sets.statistics() == (0, 0, 0)
    parts = (sets._sources, sets._parents, sets._forwarded)
    kept = [
        name
        for part in parts
        for name, each in vars(part).items()
        if isinstance(each, dict) and each
    ]
    assert kept == ["sets"]
