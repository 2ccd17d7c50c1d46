"""``twigcast generate topology``: the same topology for the same seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.files import read_topology
from twigcast.routing.topology.model import Topology

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


@pytest.mark.parametrize(
    ("words", "brokers", "links"),
    [
        (("line", "--brokers", "4"), 4, 3),
        (("star",), 7, 6),
        (("binary-tree", "--levels", "4"), 15, 14),
        (("binary-tree",), 7, 6),
        (("random-tree", "--brokers", "1"), 1, 0),
        (("transit-stub", "--brokers", "4", "--clients", "0"), 4, 6),
        (("transit-stub", "--brokers", "4", "--clients", "0", "--tree"), 4, 3),
    ],
)
def test_a_topology_goes_to_standard_output_and_its_seed_beside_it(
    twigcast: Twigcast, words: tuple[str, ...], brokers: int, links: int
) -> None:
    result = twigcast("generate", "topology", *words, "--seed", "5")
    topology = Topology.of(json.loads(result.stdout))
    assert (len(topology.brokers), len(topology.links)) == (brokers, links)
    assert result.stderr.startswith(f"{brokers} broker")
    assert result.stderr.endswith("; seed 5\n")
    assert result.exit_code == 0


def test_equal_seeds_give_equal_topologies_and_others_do_not(twigcast: Twigcast) -> None:
    words = ("generate", "topology", "random-tree", "--latency-ms", "1", "9")
    outputs = [twigcast(*words, "--seed", seed).stdout for seed in ("1", "1", "2")]
    assert outputs[0] == outputs[1] != outputs[2]


def test_a_topology_in_either_form_is_the_same(twigcast: Twigcast, tmp_path: Path) -> None:
    words = ("generate", "topology", "transit-stub", "--brokers", "5", "--clients-each", "2")
    plain = Topology.of(json.loads(twigcast(*words).stdout))
    assert len(plain.clients) == 10
    for name in ("net.json", "net.toml"):
        result = twigcast(*words, "--out", name)
        said = f"5 brokers, 10 links, 10 clients in {name}; seed 1\n"
        assert (result.stdout, result.stderr) == ("", said)
        assert read_topology(tmp_path / name) == plain


def test_parameters_of_an_internet_reach_the_generator(twigcast: Twigcast) -> None:
    words = ("--transit-domains", "2", "--transit-nodes", "2", "--stubs", "1", "--stub-nodes", "2")
    shares = ("--domain-share", "0", "--transit-share", "1", "--stub-share", "1")
    extra = ("--extra-transit-stub", "1", "--extra-stub-stub", "1")
    whole = ("generate", "topology", "transit-stub", *words, *shares, *extra, "--brokers")
    assert twigcast(*whole, "12", "--clients", "0").exit_code == 0
    refused = twigcast(*whole, "13", "--clients", "0")
    assert refused.exit_code == 2
    assert "the network has 12" in refused.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("ring",), "no topology 'ring'; there are line, star, binary-tree"),
        (("star", "--levels", "3"), "--levels means nothing for star, which takes --brokers"),
        (("line", "--stub-nodes", "3"), "--stub-nodes means nothing for line"),
        (("line", "--brokers", "0"), "1 to 10,000 brokers"),
        (("line", "--latency-ms", "3", "1"), "the least and the most"),
        (("line", "--out", "net.xml"), "let its name end in .json or .toml"),
    ],
)
def test_a_topology_that_cannot_be_is_a_matter_of_usage(
    twigcast: Twigcast, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    result = twigcast("generate", "topology", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert list(tmp_path.iterdir()) == []
