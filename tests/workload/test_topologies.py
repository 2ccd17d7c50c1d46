"""Generated topologies: their shapes, their latencies, and where clients are put."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workload.graphs import SMALL, graph_of
from twigcast.errors import UsageError
from twigcast.routing.topology.model import Topology
from twigcast.workload import (
    TopologyTable,
    binary_tree,
    line,
    overlay,
    random_tree,
    star,
    transit_stub,
)
from twigcast.workload.topologies import BROKERS_MAX, nearest_with_room

# Trees.


def test_a_line_has_two_ends() -> None:
    degrees = sorted(degree for _, degree in graph_of(line(5, rng=Random(1))).degree)
    assert degrees == [1, 1, 2, 2, 2]
    brokers = line(5, rng=Random(1))["brokers"]
    assert [link["between"] for link in line(5, rng=Random(1))["links"]] == [
        [one, other] for one, other in pairwise(brokers)
    ]


def test_a_star_has_a_middle() -> None:
    degrees = sorted(degree for _, degree in graph_of(star(5, rng=Random(1))).degree)
    assert degrees == [1, 1, 1, 1, 4]


@pytest.mark.parametrize(("levels", "brokers"), [(1, 1), (2, 3), (3, 7), (7, 127)])
def test_a_binary_tree_is_complete(levels: int, brokers: int) -> None:
    graph = graph_of(binary_tree(levels, rng=Random(1)))
    assert nx.is_isomorphic(graph, nx.balanced_tree(2, levels - 1))
    assert len(graph) == brokers


def test_random_trees_are_trees_of_many_shapes() -> None:
    drawn = [graph_of(random_tree(30, rng=Random(seed))) for seed in range(20)]
    assert all(nx.is_tree(graph) and len(graph) == 30 for graph in drawn)
    assert len({max(degree for _, degree in graph.degree) for graph in drawn}) > 1


@pytest.mark.parametrize("draw", [line, star, random_tree])
def test_one_broker_is_enough_and_no_broker_is_not(draw: Any) -> None:  # noqa: ANN401 - a generator
    assert draw(1, rng=Random(1)) == {"brokers": ["b1"], "links": []}
    for number in (0, -1, BROKERS_MAX + 1, 10**30):
        with pytest.raises(UsageError, match="1 to 10,000 brokers"):
            draw(number, rng=Random(1))


@pytest.mark.parametrize("levels", [0, 14, 10**30])
def test_levels_are_bounded(levels: int) -> None:
    with pytest.raises(UsageError, match="1 to 13 levels"):
        binary_tree(levels, rng=Random(1))


def test_latencies_are_drawn_from_their_range() -> None:
    drawn = line(200, rng=Random(1), latency_ms=(2.0, 3.5))
    latencies = {link["latency_ms"] for link in drawn["links"]}
    assert 2.0 <= min(latencies) < 2.1
    assert 3.4 < max(latencies) <= 3.5
    assert {link["latency_ms"] for link in line(9, rng=Random(1))["links"]} == {1.0}
    for wrong in ((3.0, 2.0), (-1.0, 2.0), (0.0, float("inf")), (float("nan"), 1.0)):
        with pytest.raises(UsageError, match="the least and the most of a latency"):
            star(3, rng=Random(1), latency_ms=wrong)


def test_names_sort_as_they_were_made() -> None:
    brokers = line(100, rng=Random(1))["brokers"]
    assert brokers == sorted(brokers)


# Brokers and clients on a network.


def test_brokers_are_as_far_apart_as_their_nodes() -> None:
    network = transit_stub(SMALL, rng=Random(1))
    chosen = overlay(network, rng=Random(2), brokers=6, clients=0)
    # Sampling is the first thing that is drawn, so the oracle may repeat it.
    nodes = Random(2).sample(network["brokers"], 6)
    distances = dict(nx.all_pairs_dijkstra_path_length(graph_of(network)))
    place = dict(zip(chosen["brokers"], nodes, strict=True))
    assert len(chosen["links"]) == 15
    assert "clients" not in chosen
    for link in chosen["links"]:
        one, other = (place[end] for end in link["between"])
        assert round(link["latency_ms"] * 1000) == distances[one][other]


def test_the_set_up_of_yak_has_ten_clients_at_each_of_twenty_brokers() -> None:
    rng = Random(1)
    chosen = overlay(transit_stub(rng=rng), rng=rng)
    topology = Topology.of(chosen)
    at = [client.broker for client in topology.clients]
    assert len(topology.brokers) == 20
    assert {at.count(broker) for broker in topology.brokers} == {10}
    assert len(topology.tree().links) == 19


def test_clients_are_where_the_nearest_broker_has_room() -> None:
    network = transit_stub(SMALL, rng=Random(1))
    chosen = overlay(network, rng=Random(2), brokers=3, clients=20, clients_each=100)
    nodes = Random(2).sample(network["brokers"], 23)
    distances = dict(nx.all_pairs_dijkstra_path_length(graph_of(network)))
    for client, node in zip(chosen["clients"], nodes[3:], strict=True):
        far = [distances[node][broker] for broker in nodes[:3]]
        assert round(client["latency_ms"] * 1000) == min(far)
        assert client["broker"] == chosen["brokers"][far.index(min(far))]


def assigned_by_definition(distances: list[list[int]], room: int) -> list[int]:
    """The paper's words without a heap: look for the shortest link that can be taken, again."""
    given: dict[int, int] = {}
    while len(given) < len(distances):
        _, client, place = min(
            (row[place], client, place)
            for client, row in enumerate(distances)
            for place in range(len(row))
            if client not in given and [*given.values()].count(place) < room
        )
        given[client] = place
    return [given[client] for client in range(len(distances))]


@given(st.data())
def test_the_heap_takes_the_shortest_link_that_can_be_taken(data: st.DataObject) -> None:
    places, room = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 5), min_size=places, max_size=places)
    distances = data.draw(st.lists(row, max_size=places * room))
    assert nearest_with_room(distances, room) == assigned_by_definition(distances, room)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"brokers": 0}, "1 to 1,000 brokers"),
        ({"clients": 201}, "201 clients do not fit at 20 brokers with 10 places each"),
        ({"brokers": 20, "clients": 40}, "the network has 54"),
        ({"clients": -1}, "do not fit"),
    ],
)
def test_an_overlay_that_cannot_be_is_refused(wrong: dict[str, int], complaint: str) -> None:
    network = transit_stub(SMALL, rng=Random(1))
    with pytest.raises(UsageError, match=complaint):
        overlay(network, rng=Random(1), **wrong)


def test_a_network_in_two_pieces_has_no_overlay() -> None:
    network: TopologyTable = {"brokers": ["a", "b"], "links": []}
    with pytest.raises(UsageError, match="no way joins all nodes"):
        overlay(network, rng=Random(1), brokers=2, clients=0)


# Seeds.


def test_equal_seeds_give_equal_topologies_in_every_process() -> None:
    program = (
        "import json; from random import Random; from twigcast.workload import *\n"
        "rng = Random(7)\n"
        "network = transit_stub(TransitStub(stubs=2, extra_stub_stub=5), rng=rng)\n"
        "tree = random_tree(50, rng=rng, latency_ms=(1, 9))\n"
        "print(json.dumps([network, tree, overlay(network, rng=rng)]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(outputs) == 1
    assert transit_stub(SMALL, rng=Random(1)) != transit_stub(SMALL, rng=Random(2))
