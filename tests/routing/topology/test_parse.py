"""Topologies as people write them: what is read, and what is refused with its place."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.routing.topology.square import SQUARE, pairs
from twigcast.errors import UsageError
from twigcast.routing.topology.model import Client, Link, Topology, TopologyLimits


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
