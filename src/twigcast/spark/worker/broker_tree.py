"""The brokers of a topology by number, and the paths through them.

Workers compute with numbers: a *broker* is its place in the topology, a *link* is one direction of
a connection, numbered in the order of its two ends::

    >>> from twigcast.routing import Topology
    >>> tree = BrokerTree.of(Topology.of({"links": [["north", "hub"], ["hub", "south"]]}))
    >>> tree.names, tree.links
    (('north', 'hub', 'south'), ((0, 1), (1, 0), (1, 2), (2, 1)))
    >>> walk = tree.walk(0)
    >>> walk.order.tolist(), walk.parents.tolist(), walk.links.tolist(), walk.hops.tolist()
    ([0, 1, 2], [-1, 0, 1], [-1, 0, 2], [0, 1, 2])

Documents that begin at the same broker take the same paths, so a *walk* from there, broker by
broker as far as the tree goes, is made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twigcast.routing import Topology

    Numbers: TypeAlias = NDArray[np.int32]

_NONE = -1

WALKS_MAX = 1_024
"""Walks that are kept; documents begin at few brokers, and a walk through 10,000 takes 160 KB."""


class Walk(NamedTuple):
    """All paths from one broker, the *origin*, whose own parent and link are -1."""

    order: Numbers
    """All brokers, those nearer to the origin first."""
    parents: Numbers
    """Of each broker the one before it on the way from the origin."""
    links: Numbers
    """Of each broker the link by which it is reached."""
    hops: Numbers
    """Of each broker how many links away it is."""


@dataclass(frozen=True)
class BrokerTree:
    """Brokers and the links of the tree between them; see the module's example."""

    names: tuple[str, ...]
    links: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, topology: Topology) -> BrokerTree:
        """The tree that documents travel along; UsageError for a topology in two parts."""
        tree = topology.tree()
        numbers = {name: number for number, name in enumerate(tree.brokers)}
        pairs = [tuple(numbers[end] for end in link.between) for link in tree.links]
        both = [(one, other) for one, other in pairs] + [(other, one) for one, other in pairs]
        return cls(tree.brokers, tuple(sorted(both)))

    def number(self, name: str) -> int | None:
        """The number of the broker of this name, if there is one."""
        return self._numbers.get(name)

    def neighbours(self, broker: int) -> tuple[int, ...]:
        """The brokers at the far ends of a broker's links, in the order of numbers."""
        return tuple(far for far, _ in self._out[broker])

    def link(self, broker: int, neighbour: int) -> int:
        """The number of the link from a broker to its neighbour."""
        return self._link_numbers[broker, neighbour]

    def walk(self, origin: int) -> Walk:
        """All paths from a broker."""
        found = self._walks.get(origin)
        if found is None:
            if len(self._walks) >= WALKS_MAX:
                self._walks.clear()
            found = self._walks[origin] = self._walked(origin)
        return found

    def _walked(self, origin: int) -> Walk:
        count = len(self.names)
        parents, links = np.full(count, _NONE, np.int32), np.full(count, _NONE, np.int32)
        hops = np.zeros(count, np.int32)
        order = [origin]
        for here in order:  # which grows meanwhile
            for far, link in self._out[here]:
                if far != parents[here]:
                    parents[far], links[far], hops[far] = here, link, hops[here] + 1
                    order.append(far)
        return Walk(np.array(order, np.int32), parents, links, hops)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _link_numbers(self) -> dict[tuple[int, int], int]:
        return {link: number for number, link in enumerate(self.links)}

    @cached_property
    def _out(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Of each broker its neighbours, each with the link that leads there."""
        out: list[list[tuple[int, int]]] = [[] for _ in self.names]
        for number, (broker, neighbour) in enumerate(self.links):
            out[broker].append((neighbour, number))
        return tuple(map(tuple, out))

    @cached_property
    def _walks(self) -> dict[int, Walk]:
        return {}
