"""Topologies: their tables, and the one tree that spans them."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.topology.square import SQUARE, pairs
from twigcast.errors import UsageError
from twigcast.routing.topology.model import Link, Topology, Tree


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Small graphs with many equal latencies, in one part or several."""
    brokers = draw(st.permutations("abcdef"[: draw(st.integers(1, 6))]))
    links = [
        {"between": draw(st.permutations(pair)), "latency_ms": draw(st.integers(0, 3))}
        for pair in combinations(brokers, 2)
        if draw(st.booleans())
    ]
    return Topology.of({"brokers": brokers, "links": links})


# Reading.


def test_a_topology_is_taken_as_it_is() -> None:
    topology = Topology.of(SQUARE)
    assert Topology.of(topology) is topology


@given(topologies())
def test_the_table_of_a_topology_is_read_back(topology: Topology) -> None:
    assert Topology.of(topology.to_table()) == topology


def test_the_table_says_no_more_than_it_must() -> None:
    table = {**SQUARE, "links": [["a", "b"], ["b", "c"], *SQUARE["links"][2:]]}
    assert Topology.of(table).to_table() == table


# Trees.


def test_the_tree_leaves_out_the_slowest_link_of_a_circle() -> None:
    tree = Topology.of(SQUARE).tree()
    assert pairs(tree.links) == ["bc", "cd", "da"]
    assert pairs(tree.left_out) == ["ab"]
    assert tree.path("a", "b") == ("a", "d", "c", "b")
    assert tree.hops("a", "b") == 3
    assert tree.neighbours("d") == ("c", "a")


def test_a_tree_is_its_own_tree() -> None:
    tree = Topology.of(SQUARE).tree()
    assert tree.tree() == Tree(tree.brokers, tree.links)


def test_neighbours_and_links_are_those_of_the_topology() -> None:
    topology = Topology.of(SQUARE)
    assert topology.neighbours("a") == ("b", "d")
    assert topology.link("a", "d") == topology.link("d", "a") == Link(("d", "a"), 2.0)
    assert topology.link("a", "c") is None


def least(topology: Topology) -> set[tuple[str, str]]:
    """Kruskal's way by definition: take each link, best first, that joins what was apart."""
    part = {broker: {broker} for broker in topology.brokers}
    kept = set()
    for link in sorted(topology.links, key=lambda link: (link.latency_ms, link.pair)):
        one, other = link.pair
        if part[one] is not part[other]:
            kept.add(link.pair)
            part[one] |= part[other]
            for broker in part[one]:
                part[broker] = part[one]
    return kept


@given(topologies())
def test_the_forest_is_the_least_with_ties_by_names(topology: Topology) -> None:
    forest = topology.forest()
    assert {link.pair for link in forest.links} == least(topology)
    assert {*forest.links, *forest.left_out} == {*topology.links}
    assert forest.parts == topology.parts
    assert len(forest.links) == len(topology.brokers) - len(topology.parts)


@given(topologies(), st.randoms(use_true_random=False))
def test_the_forest_does_not_depend_on_the_order_of_a_file(
    topology: Topology,
    rng: Any,  # noqa: ANN401 - a random.Random
) -> None:
    shuffled = Topology(
        tuple(rng.sample(topology.brokers, len(topology.brokers))),
        tuple(
            Link(link.between[::-1], link.latency_ms)
            for link in rng.sample(topology.links, len(topology.links))
        ),
    )
    again = {link.pair for link in shuffled.forest().links}
    assert again == {link.pair for link in topology.forest().links}


@given(topologies())
def test_paths_lead_along_links_and_visit_no_broker_twice(topology: Topology) -> None:
    forest = topology.forest()
    for part in forest.parts:
        for start in part:
            for end in part:
                path = forest.path(start, end)
                assert (path[0], path[-1]) == (start, end)
                assert len(set(path)) == len(path) == forest.hops(start, end) + 1
                assert all(forest.link(a, b) for a, b in pairwise(path))


def test_a_topology_in_parts_has_a_forest_and_no_tree() -> None:
    topology = Topology.of({"brokers": list("abcdefg"), "links": [["c", "a"], ["b", "d"]]})
    with pytest.raises(UsageError) as refused:
        topology.tree()
    assert str(refused.value) == (
        "the topology is in 5 parts that no link joins: a, c | b, d | e | … (2 more); "
        "add links between them"
    )
    forest = topology.forest()
    assert forest.parts == (("a", "c"), ("b", "d"), ("e",), ("f",), ("g",))
    assert forest.path("d", "b") == ("d", "b")
    with pytest.raises(UsageError, match="no way leads from broker 'a' to broker 'b'"):
        forest.path("a", "b")


def test_an_unknown_broker_is_named() -> None:
    tree = Topology.of(SQUARE).tree()
    for ask in (
        lambda: tree.neighbours("x"),
        lambda: tree.path("a", "x"),
        lambda: tree.hops("x", "a"),
        lambda: tree.link("x", "a"),
    ):
        with pytest.raises(
            UsageError, match=r"no broker 'x' in the topology; there are a, b, c, …"
        ):
            ask()
