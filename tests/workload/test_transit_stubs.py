"""Transit-stub networks: their sizes, their links, and the set-up of YAK."""

from __future__ import annotations

from dataclasses import replace
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
    TransitStub,
    transit_stub,
)


def test_the_default_network_has_as_many_nodes_as_that_of_yak() -> None:
    network = transit_stub(rng=Random(1))
    assert len(network["brokers"]) == TransitStub().nodes == 4400
    assert nx.is_connected(graph_of(network))


@given(
    shape=st.builds(
        TransitStub,
        transit_domains=st.integers(1, 3),
        transit_nodes=st.integers(1, 4),
        stubs=st.integers(0, 3),
        stub_nodes=st.integers(1, 4),
        domain_share=st.sampled_from([0.0, 0.5, 1.0]),
        transit_share=st.sampled_from([0.0, 0.5, 1.0]),
        stub_share=st.sampled_from([0.0, 0.5, 1.0]),
    ),
    seed=st.integers(0, 1000),
)
def test_every_network_is_in_one_piece(shape: TransitStub, seed: int) -> None:
    network = transit_stub(shape, rng=Random(seed))
    graph = graph_of(network)
    assert nx.is_connected(graph)
    assert len(graph) == shape.nodes
    assert Topology.of(network).tree().brokers == tuple(network["brokers"])
    if shape.domain_share == shape.transit_share == shape.stub_share == 0.0:
        assert nx.is_tree(graph)


def test_the_kinds_of_links_are_as_many_as_the_model_says() -> None:
    full = TransitStub(
        transit_domains=3,
        transit_nodes=4,
        stubs=2,
        stub_nodes=5,
        domain_share=1,
        transit_share=1,
        stub_share=1,
        extra_transit_stub=7,
        extra_stub_stub=9,
        domain_ms=(1000, 1000),
        transit_ms=(100, 100),
        access_ms=(10, 10),
        stub_ms=(1, 1),
    )
    network = transit_stub(full, rng=Random(3))
    latencies = [link["latency_ms"] for link in network["links"]]
    stubs = 3 * 4 * 2
    assert latencies.count(1000) == 3
    assert latencies.count(100) == 3 * 6
    assert latencies.count(10) == stubs + 7 + 9
    assert latencies.count(1) == stubs * 10
    assert len(latencies) == 3 + 18 + 40 + 240


def test_a_stub_domain_hangs_on_one_transit_node() -> None:
    network = transit_stub(replace(SMALL, access_ms=(3, 3)), rng=Random(5))
    bridges = set(map(frozenset, nx.bridges(graph_of(network))))
    access = [frozenset(link["between"]) for link in network["links"] if link["latency_ms"] == 3.0]
    assert len(access) == 12
    assert bridges.issuperset(access)


def test_probabilities_make_more_links_or_fewer() -> None:
    numbers = [
        len(transit_stub(TransitStub(stub_share=share), rng=Random(1))["links"])
        for share in (0.0, 0.3, 1.0)
    ]
    assert numbers[0] < numbers[1] < numbers[2]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"transit_domains": 0}, "transit_domains must be 1 or more"),
        ({"stubs": -1}, "stubs must be 0 or more"),
        ({"stub_share": 1.5}, "stub_share is a probability"),
        ({"stub_nodes": 1000}, "would have 480,080 nodes; 10,000 are the most"),
        ({"stubs": 0, "transit_nodes": 1250}, "pairs of nodes might be joined"),
        ({"stubs": 0, "extra_transit_stub": 1}, "extra_transit_stub: there is room for 0"),
        ({"stubs": 0, "extra_stub_stub": 1}, "extra_stub_stub: there is room for 0"),
        ({"extra_stub_stub": 10**9}, "fewer extra links"),
        ({"stub_ms": (2, 1)}, "stub_ms is the least and the most"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        transit_stub(TransitStub(**wrong), rng=Random(1))
