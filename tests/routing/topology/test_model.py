"""Topologies: what is read, what is refused and how, and the one tree that spans them."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import UsageError
from twigcast.routing.topology.model import Client, Link, Topology, TopologyLimits, Tree

SQUARE: dict[str, Any] = {
    "brokers": ["a", "b", "c", "d"],
    "links": [
        {"between": ["a", "b"], "latency_ms": 4},
        {"between": ["b", "c"], "latency_ms": 1},
        {"between": ["c", "d"], "latency_ms": 3, "bandwidth_mbps": 10},
        {"between": ["d", "a"], "latency_ms": 2},
    ],
}


def pairs(links: tuple[Link, ...]) -> list[str]:
    return ["".join(link.between) for link in links]


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


def test_brokers_and_links_keep_their_order() -> None:
    topology = Topology.of(SQUARE)
    assert topology.brokers == ("a", "b", "c", "d")
    assert pairs(topology.links) == ["ab", "bc", "cd", "da"]
    assert topology.links[2] == Link(("c", "d"), 3.0, 10.0)


def test_a_link_may_be_a_pair_and_brokers_may_be_left_out() -> None:
    topology = Topology.of({"links": [["b", "a"], ("a", "c")]})
    assert topology == Topology(("b", "a", "c"), (Link(("b", "a")), Link(("a", "c"))))
    assert topology.links[0].latency_ms == 1.0
    assert topology.links[0].bandwidth_mbps is None


def test_one_broker_is_a_topology() -> None:
    tree = Topology.of({"brokers": ["only"]}).tree()
    assert (tree.brokers, tree.links, tree.parts) == (("only",), (), (("only",),))
    assert tree.path("only", "only") == ("only",)


def test_clients_are_at_their_brokers() -> None:
    clients = [{"name": "ann", "broker": "b", "latency_ms": 7}, {"name": "ben", "broker": "a"}]
    topology = Topology.of({"brokers": ["a", "b"], "links": [["a", "b"]], "clients": clients})
    assert topology.clients == (Client("ann", "b", 7.0), Client("ben", "a", 0.0))
    assert topology.tree().clients == topology.clients


def test_a_topology_is_taken_as_it_is() -> None:
    topology = Topology.of(SQUARE)
    assert Topology.of(topology) is topology


@given(topologies())
def test_the_table_of_a_topology_is_read_back(topology: Topology) -> None:
    assert Topology.of(topology.to_table()) == topology


def test_the_table_says_no_more_than_it_must() -> None:
    table = {**SQUARE, "links": [["a", "b"], ["b", "c"], *SQUARE["links"][2:]]}
    assert Topology.of(table).to_table() == table


LINKED = {"brokers": ["a", "b"], "links": [["a", "b"]]}


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ([], "expected a table with 'brokers' and 'links', not a list of 0"),
        ({}, "there are no brokers; name at least one"),
        ({"brokers": []}, "there are no brokers"),
        ({"brokers": "ab"}, "'brokers' is a list in brackets, not 'ab'"),
        ({"brokers": {"a": 1}}, "'brokers' is a list in brackets, not a table of 1"),
        ({"brokers": ["a", "a"]}, "broker 'a' is there twice"),
        ({"brokers": ["a", 7]}, "broker 2: a name is a text in quotes, not 7"),
        ({"brokers": [""]}, "broker 1: '' is no name"),
        ({"brokers": [" a"]}, "broker 1: ' a' is no name"),
        ({"brokers": ["a\nb"]}, r"'a\\nb' is no name"),
        ({"brokers": ["\ud800"]}, "is no name"),
        ({"brokers": ["a" * 129]}, r"has 129 characters; shorten it to 128"),
        ({"brokers": ["a"], "edges": []}, "nobody knows what 'edges' means; there are brokers, "),
        ({**LINKED, "links": 5}, "'links' is a list in brackets, not 5"),
        ({**LINKED, "links": ["ab"]}, r"link 1: a link joins two brokers, .* not 'ab'"),
        ({**LINKED, "links": [["a", "b", "a"]]}, "link 1: .* not a list of 3"),
        ({**LINKED, "links": [["a", None]]}, "link 1: a name is a text in quotes, not None"),
        ({**LINKED, "links": [{"latency_ms": 1}]}, "link 1: say which brokers it joins"),
        ({**LINKED, "links": [["a", "x"]]}, "link 1: there is no broker 'x'; add it to 'brokers'"),
        ({**LINKED, "links": [["a", "a"]]}, "link 1: it leads from broker 'a' to itself"),
        (
            {**LINKED, "links": [["a", "b"], ["b", "a"]]},
            "link 2: brokers 'b' and 'a' are joined by link 1 already",
        ),
        (
            {**LINKED, "links": [{"between": ["a", "b"], "latency": 1}]},
            "link 1: nobody knows what 'latency' means; there are between, latency_ms, bandwidth",
        ),
        ({**LINKED, "clients": ["ann"]}, "client 1: a client is a table with 'name' and 'broker'"),
        ({**LINKED, "clients": [{"name": "ann", "broker": "x"}]}, "client 1: there is no broker"),
        (
            {**LINKED, "clients": [{"name": "ann", "broker": "a"}] * 2},
            "client 'ann' is there twice",
        ),
        (
            {**LINKED, "clients": [{"name": "ann", "broker": "a", "at": 1}]},
            "client 1: nobody knows what 'at' means",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(
    table: Any,  # noqa: ANN401 - whatever a file may hold
    complaint: str,
) -> None:
    with pytest.raises(UsageError, match=f"^net.toml[,:].*{complaint}"):
        Topology.of(table, name="net.toml")


@pytest.mark.parametrize("latency", [-1, -0.001, math.nan, math.inf, True, "5", None])
def test_a_latency_is_a_number_that_is_not_negative(latency: object) -> None:
    table = {"links": [{"between": ["a", "b"], "latency_ms": latency}]}
    with pytest.raises(UsageError, match="link 1: latency_ms is a number, 0 or more, not "):
        Topology.of(table)


def test_a_huge_number_is_refused_without_being_written_down() -> None:
    table = {"links": [{"between": ["a", "b"], "latency_ms": 16**5000}]}
    with pytest.raises(UsageError, match="not a huge number"):
        Topology.of(table)


@pytest.mark.parametrize("bandwidth", [0, -1, math.nan, "fast"])
def test_a_bandwidth_is_a_number_above_zero(bandwidth: object) -> None:
    table = {"links": [{"between": ["a", "b"], "bandwidth_mbps": bandwidth}]}
    with pytest.raises(UsageError, match="link 1: bandwidth_mbps is a number above 0, not "):
        Topology.of(table)


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (TopologyLimits(brokers_max=3), "brokers_max"),
        (TopologyLimits(links_max=3), "links_max"),
        (TopologyLimits(name_characters_max=0), "name_characters_max"),
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_limits_are_named(limits: TopologyLimits, limit: str, *, listed: bool) -> None:
    table = SQUARE if listed else {"links": SQUARE["links"]}
    with pytest.raises(UsageError, match=limit):
        Topology.of(table, limits=limits)


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
