"""Brokers of a topology by number, and the ways through them."""

from __future__ import annotations

import pytest

from tests.routing.networks import line, star
from twigcast.routing import Topology
from twigcast.spark.worker.broker_tree import WALKS_MAX, BrokerTree

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""


def test_a_tree_knows_its_brokers_and_links() -> None:
    tree = BrokerTree.of(Topology.of(star(3)))
    assert tree.number("B3") == 2
    assert tree.number("B9") is None
    assert tree.neighbours(0) == (1, 2)
    assert tree.links[tree.link(0, 2)] == (0, 2)


def test_walks_are_kept_and_bounded() -> None:
    tree = BrokerTree.of(Topology.of(line(WALKS_MAX + 2)))
    assert tree.walk(0) is tree.walk(0)
    for origin in range(WALKS_MAX + 2):
        assert tree.walk(origin).hops[origin] == 0
    assert len(tree._walks) <= WALKS_MAX
