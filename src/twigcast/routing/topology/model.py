"""Topologies: brokers, the links that join them, and the tree that documents travel along.

A topology file has two keys, ``brokers`` and ``links``, and this is the value of one::

    brokers = ["north", "south", "west"]
    links = [
        { between = ["north", "south"], latency_ms = 20 },
        { between = ["north", "west"], latency_ms = 5 },
        ["south", "west"],
    ]

The brokers may be left out if the links name all of them; a link that is only a pair takes 1 ms.
``clients`` may list clients, each with its broker and the distance to it.

Documents travel along a tree, so that there is one way from each broker to each other, and none
comes twice. Of links that make a circle the minimum spanning tree is taken, as YAK does: the links
that reach all brokers and have the least latency in sum (Prim's algorithm). Among links of the same
latency the one with the lesser names goes first, so there is only one such tree:

    >>> triangle = Topology.of({"links": [["a", "b"], ["b", "c"], ["c", "a"]]})
    >>> tree = triangle.tree()
    >>> [link.between for link in tree.links], [link.between for link in tree.left_out]
    ([('a', 'b'), ('c', 'a')], [('b', 'c')])
    >>> tree.path("b", "c")
    ('b', 'a', 'c')

Brokers that no links join have no spanning tree, and :meth:`Topology.tree` says so. A network that
has lost a link goes on in two parts all the same: :meth:`Topology.forest` has a tree for each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.slips import check_fields

__all__ = ["TOPOLOGY_LIMITS", "Client", "Link", "Topology", "TopologyLimits", "Tree"]

BrokerName = TypeVar("BrokerName", bound=str)

LATENCY_MS: Final = 1.0
"""Of a link that names none."""

_SHOWN_MAX = 3
"""How many parts, and brokers of a part, an error names: enough to know which are meant."""


@dataclass(frozen=True, slots=True)
class Link:
    """A connection of two brokers, the same in both directions."""

    between: tuple[str, str]
    latency_ms: float = LATENCY_MS
    bandwidth_mbps: float | None = None
    """None where size takes no time."""

    @property
    def pair(self) -> tuple[str, str]:
        """The two brokers in the order of their names, however the link was written."""
        one, other = self.between
        return (one, other) if one <= other else (other, one)


@dataclass(frozen=True, slots=True)
class Client:
    """Who publishes or subscribes, at which broker, and how far from it."""

    name: str
    broker: str
    latency_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class TopologyLimits:
    """How large a topology may be: far beyond what brokers were ever simulated with."""

    brokers_max: int = 10_000
    links_max: int = 500_000
    """All pairs of 1,000 brokers."""
    clients_max: int = 1_000_000
    name_characters_max: int = 128

    def __post_init__(self) -> None:
        check_fields(self)


TOPOLOGY_LIMITS: Final = TopologyLimits()


@dataclass(frozen=True)
class Topology:
    """Brokers and the links between them, in the order they were given.

    What comes from outside goes through :meth:`of`, which checks it.
    """

    brokers: tuple[str, ...]
    links: tuple[Link, ...] = ()
    clients: tuple[Client, ...] = ()

    @classmethod
    @door("reading a topology")
    def of(
        cls,
        given: Mapping[str, object] | Topology,
        *,
        name: str = "the topology",
        limits: TopologyLimits = TOPOLOGY_LIMITS,
    ) -> Topology:
        """The topology of a topology file's dictionary; one that is a topology already, as it is.

        UsageError for what cannot be meant (a link to nowhere, a negative latency), beginning
        with the ``name``.
        """
        from twigcast.routing.topology.parse import read_topology_table

        if isinstance(given, Topology):
            return given
        return read_topology_table(given, name=name, limits=limits)

    @door("reading a topology")
    def neighbours(self, broker: str) -> tuple[str, ...]:
        """The brokers at the far ends of a broker's links, in the order of the links."""
        self._check(broker)
        return tuple(self._far_ends[broker])

    @door("reading a topology")
    def link(self, one: str, other: str) -> Link | None:
        """The link between two brokers, if there is one."""
        self._check(one, other)
        return self._far_ends[one].get(other)

    @cached_property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The brokers, each with those it is joined to; a topology in one piece has one part."""
        first_of: dict[str, str] = {}
        for broker in self.brokers:
            if broker not in first_of:
                first_of.update(
                    dict.fromkeys(came_from(broker, self._far_ends.__getitem__), broker)
                )
        found: dict[str, list[str]] = {}
        for broker in self.brokers:
            found.setdefault(first_of[broker], []).append(broker)
        return tuple(map(tuple, found.values()))

    @door("finding a tree")
    def tree(self) -> Tree:
        """The minimum spanning tree by latency; UsageError if no tree reaches all brokers."""
        if len(self.parts) > 1:
            raise UsageError(
                f"the topology is in {len(self.parts):,} parts that no link joins: "
                f"{_some([_some(list(part), ', ') for part in self.parts], ' | ')}; "
                "add links between them"
            )
        return self.forest()

    @door("finding a tree")
    def forest(self) -> Tree:
        """The minimum spanning tree of each part, all in one value."""
        import networkx as nx

        ranked = sorted(self.links, key=lambda link: (link.latency_ms, link.pair))
        graph = nx.Graph()
        # Ranks are all different, so there is only one minimum, wherever the search begins.
        for rank, link in enumerate(ranked):
            graph.add_edge(*link.pair, weight=rank)
        edges = nx.minimum_spanning_edges(graph, algorithm="prim", data=False)
        kept = {(one, other) if one <= other else (other, one) for one, other in edges}
        return Tree(
            self.brokers,
            tuple(link for link in self.links if link.pair in kept),
            self.clients,
            left_out=tuple(link for link in self.links if link.pair not in kept),
        )

    @door("writing a topology")
    def to_table(self) -> dict[str, object]:
        """The dictionary of a topology file of this topology; :meth:`of` reads it."""
        table: dict[str, object] = {
            "brokers": list(self.brokers),
            "links": [_link_table(link) for link in self.links],
        }
        if self.clients:
            table["clients"] = [
                {"name": client.name, "broker": client.broker, "latency_ms": client.latency_ms}
                for client in self.clients
            ]
        return table

    @cached_property
    def _far_ends(self) -> dict[str, dict[str, Link]]:
        """For each broker its links, by the broker at the far end."""
        far_ends: dict[str, dict[str, Link]] = {broker: {} for broker in self.brokers}
        for link in self.links:
            one, other = link.between
            far_ends[one][other] = link
            far_ends[other][one] = link
        return far_ends

    def _check(self, *brokers: str) -> None:
        for broker in brokers:
            if broker not in self._far_ends:
                raise UsageError(
                    f"no broker {shown(broker)} in the topology; there are "
                    f"{_some(list(self.brokers), ', ')}"
                )


@dataclass(frozen=True)
class Tree(Topology):
    """A topology without circles: one way, at most, from each broker to each other."""

    left_out: tuple[Link, ...] = ()
    """The links that were there and are not used."""

    @door("finding a path")
    def path(self, start: str, end: str) -> tuple[str, ...]:
        """The brokers on the way, both ends among them; UsageError if there is no way."""
        self._check(start, end)
        before = came_from(end, self._far_ends.__getitem__)
        if start not in before:
            raise UsageError(f"no way leads from broker {shown(start)} to broker {shown(end)}")
        path = []
        here: str | None = start
        while here is not None:
            path.append(here)
            here = before[here]
        return tuple(path)

    @door("finding a path")
    def hops(self, start: str, end: str) -> int:
        """How many links are on the way."""
        return len(self.path(start, end)) - 1


def came_from(
    start: BrokerName, neighbours: Callable[[BrokerName], Iterable[BrokerName]]
) -> dict[BrokerName, BrokerName | None]:
    """Each broker that can be reached, and the one before it on a way of the fewest links.

    Those nearer to the start come first.
    """
    found: dict[BrokerName, BrokerName | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there in neighbours(here):
            if there not in found:
                found[there] = here
                waiting.append(there)
    return found


def _link_table(link: Link) -> object:
    """A link as files have it: a pair where there is nothing else."""
    if link.bandwidth_mbps is not None:
        return {
            "between": list(link.between),
            "latency_ms": link.latency_ms,
            "bandwidth_mbps": link.bandwidth_mbps,
        }
    if link.latency_ms != LATENCY_MS:
        return {"between": list(link.between), "latency_ms": link.latency_ms}
    return list(link.between)


def _some(texts: list[str], joint: str) -> str:
    """The first of them, and how many more there are.

    >>> _some(list("abcde"), ", ")
    'a, b, c, … (2 more)'
    """
    if len(texts) <= _SHOWN_MAX:
        return joint.join(texts)
    return joint.join([*texts[:_SHOWN_MAX], f"… ({len(texts) - _SHOWN_MAX:,} more)"])
