"""After each change the subscription tree has forwarded just the roots of the covering order."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path
from tests.covering.pairs import Listed, drawn_mixed
from twigcast.covering import CoverIndex, Difference, SubscriptionTree, covers
from twigcast.covering.containment.covers import CompiledPattern, Verdict
from twigcast.covering.index import cover_index as cover_index_module
from twigcast.errors import UsageError
from twigcast.language import Pattern

randoms = st.randoms(use_true_random=False)


class Neighbour:
    """A receiver of the changes: it must never lack a cover of something that is subscribed."""

    def __init__(self) -> None:
        self.held: set[Pattern] = set()

    def tell(self, change: Difference, subscribed: list[Pattern]) -> None:
        assert self.held.isdisjoint(change.added)
        self.held |= set(change.added)
        assert self.held.issuperset(change.removed)
        self.held -= set(change.removed)
        for pattern in subscribed:
            assert any(covers(wider=each, narrower=pattern) for each in self.held)


def simple(rng: Random) -> Pattern:
    """A pattern of those between which coverings are found without fail."""
    return Pattern.parse(drawn_path(rng, steps_max=4))


@given(randoms)
def test_the_neighbour_always_holds_an_antichain_that_covers_everything(rng: Random) -> None:
    tree, index, listed, neighbour = SubscriptionTree(), CoverIndex(), Listed(), Neighbour()
    for number in range(14):
        if listed.by_id and rng.random() < 0.35:
            leaving = rng.choice(list(listed.by_id))
            listed.remove(leaving)
            index.remove(leaving)
            change = tree.unsubscribe(leaving)
        else:
            pattern = simple(rng)
            listed.add(number, pattern)
            index.add(number, pattern)
            change = tree.subscribe(number, pattern)
        neighbour.tell(change, list(listed.by_id.values()))
        assert neighbour.held == set(tree.forwarded())
        assert neighbour.held == {index.pattern(root) for root in index.roots()}
        assert not any(covers(wider=a, narrower=b) for a, b in permutations(neighbour.held, 2))


@given(randoms)
def test_the_roots_of_the_index_are_always_forwarded(rng: Random) -> None:
    tree, listed = SubscriptionTree(), Listed()
    for number in range(12):
        if listed.by_id and rng.random() < 0.35:
            leaving = rng.choice(list(listed.by_id))
            listed.remove(leaving)
            tree.unsubscribe(leaving)
        else:
            pattern = drawn_mixed(rng)
            listed.add(number, pattern)
            tree.subscribe(number, pattern)
    assert tree.forwarded() == listed.root_patterns()


@given(randoms)
def test_coming_and_going_at_once_restores_what_is_forwarded(rng: Random) -> None:
    tree = SubscriptionTree()
    for number in range(8):
        tree.subscribe(number, drawn_mixed(rng))
    before = tree.forwarded()
    there = tree.subscribe(100, drawn_mixed(rng))
    back = tree.unsubscribe(100)
    assert tree.forwarded() == before
    assert (there.added, there.removed) == (back.removed, back.added)


@given(randoms)
def test_unsubscribing_everything_leaves_nothing_behind(rng: Random) -> None:
    tree = SubscriptionTree("python")
    neighbour = Neighbour()
    for number in range(12):
        neighbour.tell(tree.subscribe(number, simple(rng)), [])
    for number in rng.sample(range(12), 12):
        neighbour.tell(tree.unsubscribe(number), [])
    assert not neighbour.held
    assert len(tree) == 0
    assert tree.statistics() == (0, 0, 0)


@given(randoms)
def test_circles_of_coverings_that_are_not_transitive_do_not_vanish(rng: Random) -> None:
    """Coverings drawn at random, as if most had not been found: the roots are still the tops."""
    names = [Pattern.parse(f"//{name}") for name in "abcdefg"]
    edges = {(a, b) for a, b in permutations(names, 2) if rng.random() < 0.25}

    def decided(*, wider: CompiledPattern, narrower: CompiledPattern, budget: int) -> Verdict:  # noqa: ARG001
        pair = Pattern(wider.condition), Pattern(narrower.condition)
        return Verdict(covers=pair in edges or pair[0] is pair[1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover_index_module, "decide_compiled", decided)
        patch.setattr(cover_index_module, "FeatureIndex", Everything)
        tree, index = SubscriptionTree("python"), CoverIndex("python")
        there: list[int] = []
        for number in [rng.randrange(len(names)) for _ in range(25)]:
            if number in there:
                there.remove(number)
                tree.unsubscribe(number)
                index.remove(number)
            else:
                there.append(number)
                tree.subscribe(number, names[number])
                index.add(number, names[number])
            tops = top_classes({number: names[number] for number in there}, edges)
            assert index.roots() == sorted(tops)
            assert set(tree.forwarded()) == {names[top] for top in tops}


class Everything:
    """An engine that leaves everything in doubt."""

    def __init__(self) -> None:
        self._numbers: dict[int, None] = {}

    def add(self, number: int, compiled: CompiledPattern) -> None:  # noqa: ARG002
        self._numbers[number] = None

    def remove(self, number: int) -> None:
        del self._numbers[number]

    def covering(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:  # noqa: ARG002
        return [], list(self._numbers)

    covered = covering


def top_classes(patterns: dict[int, Pattern], edges: set[tuple[Pattern, Pattern]]) -> list[int]:
    """The least of each class of patterns that is reached from no other, by definition."""
    reach = {(a, b) for a in patterns for b in patterns if (patterns[a], patterns[b]) in edges}
    reach |= {(a, a) for a in patterns}
    for middle in patterns:
        reach |= {(a, b) for a in patterns for b in patterns if {(a, middle), (middle, b)} <= reach}
    in_order = sorted(patterns, key=lambda each: patterns[each].text)
    return [
        a
        for place, a in enumerate(in_order)
        if all((a, b) in reach for b in patterns if (b, a) in reach)
        and not any((b, a) in reach for b in in_order[:place])
    ]


def test_the_example_of_dissemination_1_5_1() -> None:
    """A subscription that covers others is forwarded, then they are withdrawn; and back again.

    The paper's Figure 1.11 shows a tree without saying which expressions stand in it.
    """
    tree = SubscriptionTree()
    for number, text in enumerate(["/a/b/c", "/a/b/d", "/a/*/c", "/d/b/c"]):
        tree.subscribe(number, text)
    assert [each.text for each in tree.forwarded()] == ["/a/*/c", "/a/b/d", "/d/b/c"]
    change = tree.subscribe(4, "/a/b")
    assert [each.text for each in change.added] == ["/a/b"]
    assert [each.text for each in change.removed] == ["/a/b/d"]
    assert tree.subscribe(5, "/a/b/d/e") == Difference()
    assert tree.unsubscribe(2) == Difference(removed=(Pattern.parse("/a/*/c"),))
    change = tree.unsubscribe(4)
    assert [each.text for each in change.added] == ["/a/b/c", "/a/b/d"]


def test_equivalent_and_equal_patterns_are_forwarded_once() -> None:
    tree = SubscriptionTree()
    first, second = Pattern.parse("/a/*//b"), Pattern.parse("/a//*/b")
    assert tree.subscribe(1, first) == Difference((first,))
    assert tree.subscribe(2, second) == Difference()
    assert tree.subscribe(3, first) == Difference()
    assert tree.unsubscribe(1) == Difference()
    assert tree.unsubscribe(3) == Difference((second,), (first,))
    assert tree.subscribe(1, first) == Difference((first,), (second,))
    assert tree.unsubscribe(2) == Difference()


def test_misuse_is_reported() -> None:
    tree = SubscriptionTree()
    tree.subscribe(1, "//a")
    with pytest.raises(UsageError, match="id 1 is taken by //a"):
        tree.subscribe(1, "//b")
    with pytest.raises(UsageError, match="no subscription with id 2"):
        tree.unsubscribe(2)
    assert 1 in tree
    assert tree.statistics().forwarded == 1


@given(randoms)
def test_each_pattern_stands_once_in_the_tree_below_one_that_covers_it(rng: Random) -> None:
    tree = SubscriptionTree()
    for number in range(14):
        tree.add(number, drawn_mixed(rng))
    for number in rng.sample(range(14), 5):
        tree.remove(number)
    nodes = tree.walk()
    assert sorted(one for node in nodes for one in node.ids) == sorted(tree._by_id)
    assert {node.pattern for node in nodes if not node.depth} == set(tree.forwarded())
    for node in nodes:
        for child in node.children:
            assert child.depth == node.depth + 1
            assert covers(wider=node.pattern, narrower=child.pattern)


@given(randoms)
def test_the_tree_and_super_pointers_have_the_whole_covering_order(rng: Random) -> None:
    tree, index = SubscriptionTree(), CoverIndex()
    for number in range(14):
        pattern = simple(rng)
        tree.add(number, pattern)
        index.add(number, pattern)
    nodes = {node.pattern: node for node in tree.walk()}
    for pattern, node in nodes.items():
        below = [*node.subtree()]
        for pointer in node.super_pointers:
            below += nodes[pointer].subtree()
        ids = [one for each in below for one in each.ids]
        assert sorted(set(ids)) == index.covered(pattern)


def test_a_long_chain_can_be_walked() -> None:
    tree = SubscriptionTree()
    for length in range(1, 65):
        tree.add(length, "/a" * length)
    assert [node.depth for node in tree.walk()] == [*range(64)]
    assert tree.covered("/a") == [*range(1, 65)]
