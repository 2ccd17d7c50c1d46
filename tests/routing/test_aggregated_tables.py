"""Networks whose tables are aggregated to a share of their steps: the law holds, and they settle.

Here annotations are only named; that they change nothing either is for other tests.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import settings

from tests.routing.networks import line, random_play
from twigcast import Network
from twigcast.routing.strategy import Strategy, advertised, covering, piggyback, prefix

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

STRATEGIES = (
    piggyback(),
    piggyback(space=0.6, merge_every=0),
    piggyback(on="identity", space=0.25),
    piggyback(on=covering("producers"), space=0.5),
    piggyback(on=prefix(depth=2), space=0.75),
    piggyback(on=advertised(), space=0.5),
    piggyback(on=advertised(covering=False, unadvertised="refuse"), space=0.75, merge_every=0),
    piggyback("eager", on=advertised(merging="perfect")),
)

TEXTS = ("/a/b/c", "/a/d/c", "/a/e/c", "/a/f[g]/c", "//news[@urgent]", "//news/title")
DOCUMENTS = (
    b"<a><b><c/></b></a>",
    b"<a><f><c/></f></a>",
    b"<a><x><c/></x></a>",
    b"<a><news><title/></news></a>",
    b"<b/>",
)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_chance_finds_no_fault_under(strategy: Strategy) -> None:
    """Deliveries as by flooding; in the end, tables as if all had come at once."""
    for seed in range(max(2, settings().max_examples // 14)):
        play = random_play(Random(f"{strategy}, {seed}"), strategies=[strategy])
        assert len(play.calls) > 1


def filled(strategy: Strategy | str) -> Network:
    """Five brokers in a row, with subscribers at each."""
    network = Network(line(5), strategy)
    for number, broker in enumerate(sorted(network.brokers)):
        for text in TEXTS[number % 2 :: 2]:
            network.subscribe(broker, f"{broker}: {text}", text)
    return network


def delivered(network: Network) -> list[list[str]]:
    """The subscribers that each document reaches, published at either end."""
    ends = sorted(network.brokers)[:: len(network.brokers) - 1]
    return [
        sorted(each.subscriber for each in network.publish(end, document).deliveries)
        for end in ends
        for document in DOCUMENTS
    ]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_deliveries_are_those_of_flooding_before_and_after_a_tick(strategy: Strategy) -> None:
    network, flooded = filled(strategy), delivered(filled("flooding"))
    assert delivered(network) == flooded
    network.merge()
    assert delivered(network) == flooded


@pytest.mark.parametrize("merge_every", [0, 5.0])
def test_aggregated_tables_are_smaller_and_settle(merge_every: float) -> None:
    network = filled(piggyback(on="identity", space=0.5, merge_every=merge_every))
    network.merge()
    said = [
        len(told) for each in network.brokers for told in network.tables(each).forwarded.values()
    ]
    counted = network.traffic.by_kind()
    network.merge()
    network.settle()
    assert network.traffic.by_kind() == counted
    assert 0 < max(said) < len(TEXTS)


def test_without_a_pause_between_ticks_to_settle_is_to_merge() -> None:
    network = filled(piggyback(space=0.5, merge_every=0))
    network.settle()
    before = {each: network.tables(each) for each in network.brokers}
    network.merge()
    assert {each: network.tables(each) for each in network.brokers} == before
