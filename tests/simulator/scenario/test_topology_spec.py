"""Networks of scenarios: written down, read from a file, or drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.stories import generated


def test_the_bandwidth_of_all_links_is_set_at_once() -> None:
    links = '[topology]\nlinks = [["a", "b"], { between = ["b", "c"], bandwidth_mbps = 5 }]\n'
    network = generated(links + "bandwidth_mbps = 100\n[workload]\nsubscriptions = 0\n").network
    assert [link.bandwidth_mbps for link in network.links] == [100, 5]


def test_a_topology_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text('{"links": [["a", "b"], ["b", "c"], ["c", "a"]]}')
    network = generated('[topology]\nfile = "net.json"\n', tmp_path).network
    assert (len(network.links), len(network.left_out)) == (2, 1)


@pytest.mark.parametrize("kind", ["line", "star", "random-tree"])
def test_plain_topologies_are_drawn(kind: str) -> None:
    text = f'[topology]\ngenerate = "{kind}"\nbrokers = 5\nlatency_ms = 7\n'
    network = generated(text + "[workload]\nsubscriptions = 0\n").network
    assert (len(network.brokers), {link.latency_ms for link in network.links}) == (5, {7.0})
