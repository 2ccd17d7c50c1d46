"""Small networks, and topologies as graphs."""

from __future__ import annotations

import networkx as nx

from twigcast.workload import (
    TopologyTable,
    TransitStub,
)

SMALL = TransitStub(transit_domains=2, transit_nodes=3, stubs=2, stub_nodes=4)


def graph_of(table: TopologyTable) -> nx.Graph:
    """The oracle's own reading of a table."""
    graph = nx.Graph()
    graph.add_nodes_from(table["brokers"])
    for link in table["links"]:
        graph.add_edge(*link["between"], weight=round(link["latency_ms"] * 1000))
    assert graph.number_of_edges() == len(table["links"])
    return graph
