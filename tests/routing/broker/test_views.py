"""Statistics of a broker."""

from __future__ import annotations

from twigcast import (
    Network,
)

LINE = {"links": [["a", "b"], ["b", "c"]]}


def test_statistics_tell_how_large_the_tables_are() -> None:
    network = Network(LINE, "identity")
    network.subscribe("a", "ann", "/x")
    network.subscribe("c", "bob", "/x")
    network.publish("a", b"<x/>")
    there = network.statistics("b")
    assert (there.links, there.subscriptions, there.routes, there.distinct_routes) == (2, 0, 2, 1)
    assert (there.forwarded, there.documents, there.deliveries, there.refused) == (2, 1, 0, 0)
    assert network.statistics("c").deliveries == 1
