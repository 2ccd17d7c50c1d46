"""Which crossings were needless."""

from __future__ import annotations

import pyarrow as pa

from twigcast.routing import Topology
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.hops.hop import (
    MADE,
)
from twigcast.spark.worker.hops.needless import count_needless


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
