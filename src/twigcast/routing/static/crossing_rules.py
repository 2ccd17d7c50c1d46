"""Crossing rules: the links that a document needs, and so the crossings that are *needless*.

A document needs a link if a broker behind it wants the document; whatever else it crosses, it
crosses needlessly::

    origin ── hub ── south (wants it)      needed: origin → hub, hub → south
               └──── west                  hub → west would be needless

The simulator's oracle counts by this rule. Workers of Spark follow it for many documents at once,
in columns (:mod:`twigcast.spark.worker.crossings`, :mod:`twigcast.spark.worker.hops.needless`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from twigcast.routing.topology.model import BrokerName, came_from


def needed_links(
    origin: BrokerName,
    wanted: Collection[BrokerName],
    neighbours: Callable[[BrokerName], Iterable[BrokerName]],
) -> set[tuple[BrokerName, BrokerName]]:
    """The links of a tree, each away from the origin, behind which a broker wants the document.

    Cost: one visit to each broker that can be reached.
    """
    behind, needed = set(wanted), set()
    for here, before in reversed(came_from(origin, neighbours).items()):
        if before is not None and here in behind:
            behind.add(before)
            needed.add((before, here))
    return needed
