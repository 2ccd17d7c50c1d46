"""Needless crossings, counted by the visits that were made."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.networks import random_topology
from twigcast.routing import Topology
from twigcast.routing.static.crossing_rules import needed_links
from twigcast.routing.topology.model import came_from
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.hops.hop import MADE
from twigcast.spark.worker.hops.needless import count_needless


@given(st.randoms(use_true_random=False))
def test_what_is_counted_are_the_crossings_that_the_rule_calls_needless(rng: Random) -> None:
    topology = Topology.of(random_topology(rng))
    tree, visits = BrokerTree.of(topology), []
    needless, needless_bytes = Counter[int](), Counter[int]()
    for document in range(rng.randint(1, 9)):
        origin, size = rng.choice(tree.names), rng.randint(0, 99)
        hops: dict[str, int] = {}
        wanted = {broker for broker in tree.names if rng.random() < 0.3}
        crossed: set[tuple[str, str]] = set()
        for broker, before in came_from(origin, topology.tree().neighbours).items():
            if before is not None and (before not in hops or rng.random() < 0.3):
                continue
            hops[broker] = 0 if before is None else hops[before] + 1
            crossed |= set() if before is None else {(before, broker)}
            visits.append(
                {
                    "spool": b"one" if document % 2 else b"other",
                    "batch": document // 4,
                    "row": document // 2,
                    "bytes": size,
                    "broker": tree.number(broker),
                    "came_by": -1 if before is None else tree.number(before),
                    "hops": hops[broker],
                    "wanted": broker in wanted,
                }
            )
        reached = wanted & hops.keys()
        for near, far in crossed - needed_links(origin, reached, topology.tree().neighbours):
            one, other = tree.number(near), tree.number(far)
            assert one is not None
            assert other is not None
            needless[tree.link(one, other)] += 1
            needless_bytes[tree.link(one, other)] += size
    rng.shuffle(visits)
    batches = [pa.RecordBatch.from_pylist([visit], schema=MADE) for visit in visits]
    rows = [row for found in count_needless(batches, tree) for row in found.to_pylist()]
    assert {row["link"]: row["needless"] for row in rows} == needless
    assert Counter({row["link"]: row["needless_bytes"] for row in rows}) == needless_bytes


def test_a_crossing_is_needless_if_nobody_behind_it_wants_the_document() -> None:
    """The example of the module, and the same document published a second time elsewhere."""
    network = {"links": [["north", "hub"], ["hub", "south"], ["hub", "west"]]}
    tree = BrokerTree.of(Topology.of(network))
    north, hub, south, west = range(4)
    made = [
        (0, north, -1, 0, False), (0, hub, north, 1, False), (0, south, hub, 2, True),
        (0, west, hub, 2, False), (1, west, -1, 0, True), (1, hub, west, 1, False),
    ]  # fmt: skip
    rows = [
        {"spool": b"s", "batch": 0, "row": row, "bytes": 10 + row, "broker": broker,
         "came_by": came_by, "hops": hops, "wanted": wanted}
        for row, broker, came_by, hops, wanted in made
    ]  # fmt: skip
    (found,) = count_needless([pa.RecordBatch.from_pylist(rows, schema=MADE)], tree)
    counted = {tree.links[row["link"]]: tuple(row.values())[1:] for row in found.to_pylist()}
    assert counted == {(hub, west): (1, 10), (west, hub): (1, 11)}
