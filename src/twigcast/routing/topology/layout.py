"""The layout of a drawing: a tree of brokers from left to right.

Each leaf has a row of its own, and every other broker stands half way between the first and the
last of those behind it. So no two lines cross, and no two names overlap::

    hub ──┬── west ──┬── coast      row 0
          │          └── port       row 1
          └── east ───── hills      row 2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from twigcast.routing.topology.model import Topology


class BrokerPlace(NamedTuple):
    """Where in the tree a broker stands."""

    above: str | None
    """Its neighbour on the way to the root."""
    behind: tuple[str, ...]
    """Its other neighbours."""
    depth: int
    """Links between it and the root."""
    row: float


def tree_layout(root: str, network: Topology) -> dict[str, BrokerPlace]:
    """The places of all brokers, those nearer to the root earlier."""
    above: dict[str, str | None] = {root: None}
    depth = {root: 0}
    behind: dict[str, tuple[str, ...]] = {}
    order = [root]
    for broker in order:  # which grows meanwhile
        behind[broker] = tuple(one for one in network.neighbours(broker) if one not in above)
        above.update(dict.fromkeys(behind[broker], broker))
        depth.update(dict.fromkeys(behind[broker], depth[broker] + 1))
        order.extend(behind[broker])
    leaves = (broker for broker in downwards(root, behind) if not behind[broker])
    rows = {broker: float(row) for row, broker in enumerate(leaves)}
    for broker in reversed(order):
        if behind[broker]:
            rows[broker] = (rows[behind[broker][0]] + rows[behind[broker][-1]]) / 2
    return {
        broker: BrokerPlace(above[broker], behind[broker], depth[broker], rows[broker])
        for broker in order
    }


def downwards(root: str, behind: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """A broker, then each of those behind it with all that stand behind them."""
    waiting = [root]
    while waiting:
        broker = waiting.pop()
        yield broker
        waiting.extend(reversed(behind[broker]))


class Point(NamedTuple):
    """Where a broker is drawn."""

    x: float
    y: float
    above: str | None
    is_leaf: bool


def points(
    places: Mapping[str, BrokerPlace], *, left: float, column: float, top: float, row: float
) -> dict[str, Point]:
    """Where brokers are drawn, with so much room for each column and row."""
    return {
        broker: Point(
            left + place.depth * column, top + place.row * row, place.above, not place.behind
        )
        for broker, place in places.items()
    }
