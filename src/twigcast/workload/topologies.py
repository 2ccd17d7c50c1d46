"""Topologies made to measure: who is joined to whom, as the dictionary of a topology file.

Four kinds are trees::

    line             b1 – b2 – b3 – b4
    star             b1 in the middle, all others around it
    binary_tree      each broker above two others, all levels full: 3 levels have 7 brokers
    random_tree      each broker joined to an earlier one, drawn at random

and :func:`~twigcast.workload.transit_stubs.transit_stub` draws an internet. Not all its nodes are
brokers: :func:`overlay` takes some of them for brokers, others for clients. All pairs of brokers
are linked, with the latency of the shortest way between them; and as in YAK, 6.1, each client goes
to the nearest broker that has room. Links between clients and brokers are taken from a heap, the
shortest first, and one counts if its client has no broker and its broker has too few clients.

All chance comes from ``rng``, and latencies are whole microseconds until the end, so equal seeds
give equal topologies on every machine. Names only tell one from another.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Final, NotRequired, TypeAlias, TypedDict

from twigcast.errors import UsageError

Range: TypeAlias = tuple[float, float]
"""The least and the most latency, in milliseconds."""

BROKERS_MAX: Final = 10_000
"""As many as a topology may have."""

OVERLAY_BROKERS_MAX: Final = 1_000
"""Each pair of them is linked, and that makes half a million links."""

_ONE_MS: Final[Range] = (1.0, 1.0)
_MICROSECONDS: Final = 1000
"""Of a millisecond."""


class LinkTable(TypedDict):
    """A link of a topology file."""

    between: list[str]
    latency_ms: float


class ClientTable(TypedDict):
    """A client of a topology file."""

    name: str
    broker: str
    latency_ms: float


class TopologyTable(TypedDict):
    """What stands in a topology file."""

    brokers: list[str]
    links: list[LinkTable]
    clients: NotRequired[list[ClientTable]]


def line(brokers: int, *, rng: Random, latency_ms: Range = _ONE_MS) -> TopologyTable:
    """One broker after the other."""
    return _tree(brokers, lambda number: number - 1, rng, latency_ms)


def star(brokers: int, *, rng: Random, latency_ms: Range = _ONE_MS) -> TopologyTable:
    """One broker in the middle, the first, and all others around it."""
    return _tree(brokers, lambda _: 0, rng, latency_ms)


def binary_tree(levels: int, *, rng: Random, latency_ms: Range = _ONE_MS) -> TopologyTable:
    """A complete binary tree: the first broker is the root, the last half of them are the leaves.

    >>> [len(binary_tree(levels, rng=Random(1))["brokers"]) for levels in (1, 3, 7)]
    [1, 7, 127]
    """
    most = BROKERS_MAX.bit_length() - 1
    if not 1 <= levels <= most:
        raise UsageError(f"a binary tree has 1 to {most} levels, not {levels:,}")
    return _tree(2**levels - 1, lambda number: (number - 1) // 2, rng, latency_ms)


def random_tree(brokers: int, *, rng: Random, latency_ms: Range = _ONE_MS) -> TopologyTable:
    """Each broker but the first is joined to one of those before it, each as likely."""
    return _tree(brokers, rng.randrange, rng, latency_ms)


def _tree(
    brokers: int, above: Callable[[int], int], rng: Random, latency_ms: Range
) -> TopologyTable:
    """A tree in which each broker, counted from 0, hangs on an earlier one."""
    if not 1 <= brokers <= BROKERS_MAX:
        raise UsageError(f"a topology has 1 to {BROKERS_MAX:,} brokers, not {brokers:,}")
    low, high = microseconds(latency_ms, "latency_ms")
    links = {(above(number), number): rng.randint(low, high) for number in range(1, brokers)}
    return table_of(names("b", brokers), links)


def overlay(
    network: TopologyTable,
    *,
    rng: Random,
    brokers: int = 20,
    clients: int = 200,
    clients_each: int = 10,
) -> TopologyTable:
    """Brokers and clients at different nodes of a network, drawn at random, as in YAK, 6.1.

    All pairs of brokers are linked with the latency of the shortest way between them, and each
    client is at the nearest broker with room for it. The minimum spanning tree of the links is
    left for the reader of the topology to take. UsageError if there are not enough nodes, or not
    enough places for the clients, or no way between two of the chosen nodes.
    """
    nodes = network["brokers"]
    _check_overlay(len(nodes), brokers=brokers, clients=clients, clients_each=clients_each)
    chosen = rng.sample(nodes, brokers + clients)
    broker_nodes, client_nodes = chosen[:brokers], chosen[brokers:]
    joined = _joined_by(network)
    distances = [_distances(joined, node) for node in broker_nodes]
    if any(node not in distances[0] for node in chosen):
        raise UsageError("no way joins all nodes of the network; take one that is in one piece")
    links = {
        (one, other): distances[one][broker_nodes[other]]
        for one, other in combinations(range(brokers), 2)
    }
    table = table_of(names("b", brokers), links)
    apart = [[distances[broker][node] for broker in range(brokers)] for node in client_nodes]
    if clients:
        table["clients"] = [
            {
                "name": name,
                "broker": table["brokers"][place],
                "latency_ms": row[place] / _MICROSECONDS,
            }
            for name, row, place in zip(
                names("c", clients), apart, nearest_with_room(apart, clients_each), strict=True
            )
        ]
    return table


def nearest_with_room(distances: Sequence[Sequence[int]], room: int) -> list[int]:
    """For each client the place it is given, out of its distances to all places.

    The shortest of all distances is looked at first, then the next one, and so on: its client
    goes there if it has no place yet and fewer than ``room`` are there. Of equal distances that of
    the earlier client goes first, then that of the earlier place.

    >>> nearest_with_room([[1, 5], [2, 3], [1, 9]], room=2)
    [0, 1, 0]
    """
    heap = [
        (distance, client, place)
        for client, row in enumerate(distances)
        for place, distance in enumerate(row)
    ]
    heapq.heapify(heap)
    given: dict[int, int] = {}
    taken = [0] * (len(distances[0]) if distances else 0)
    while len(given) < len(distances):
        _, client, place = heapq.heappop(heap)
        if client not in given and taken[place] < room:
            given[client] = place
            taken[place] += 1
    return [given[client] for client in range(len(distances))]


def _check_overlay(nodes: int, *, brokers: int, clients: int, clients_each: int) -> None:
    if not 1 <= brokers <= OVERLAY_BROKERS_MAX:
        raise UsageError(f"choose 1 to {OVERLAY_BROKERS_MAX:,} brokers, not {brokers:,}")
    if clients < 0 or clients_each < 0 or clients > brokers * clients_each:
        raise UsageError(
            f"{clients:,} clients do not fit at {brokers:,} brokers with {clients_each:,} places "
            "each; take fewer clients, or more places"
        )
    if brokers + clients > nodes:
        raise UsageError(
            f"{brokers:,} brokers and {clients:,} clients need as many nodes, and the network has "
            f"{nodes:,}; take fewer, or a larger network"
        )


def _joined_by(network: TopologyTable) -> dict[str, list[tuple[str, int]]]:
    """For each node the nodes it is linked to, and the microseconds to each."""
    joined: dict[str, list[tuple[str, int]]] = {node: [] for node in network["brokers"]}
    for link in network["links"]:
        one, other = link["between"]
        latency = round(link["latency_ms"] * _MICROSECONDS)
        joined[one].append((other, latency))
        joined[other].append((one, latency))
    return joined


def _distances(joined: Mapping[str, Iterable[tuple[str, int]]], start: str) -> dict[str, int]:
    """How far it is to each node that can be reached (Dijkstra)."""
    distances: dict[str, int] = {}
    heap = [(0, start)]
    while heap:
        distance, node = heapq.heappop(heap)
        if node not in distances:
            distances[node] = distance
            for other, latency in joined[node]:
                if other not in distances:
                    heapq.heappush(heap, (distance + latency, other))
    return distances


def names(letter: str, number: int) -> list[str]:
    """Names that sort as they were made.

    >>> names("b", 10)[::9]
    ['b01', 'b10']
    """
    digits = len(str(number))
    return [f"{letter}{one:0{digits}}" for one in range(1, number + 1)]


def table_of(named: list[str], links: Mapping[tuple[int, int], int]) -> TopologyTable:
    """The table of a topology file for links between numbered brokers, given in microseconds."""
    return {
        "brokers": named,
        "links": [
            {"between": [named[one], named[other]], "latency_ms": latency / _MICROSECONDS}
            for (one, other), latency in links.items()
        ],
    }


def microseconds(given: Range, name: str) -> tuple[int, int]:
    """A range of latencies in whole microseconds; UsageError if it is none."""
    low, high = given
    if not 0 <= low <= high < float("inf"):
        raise UsageError(f"{name} is the least and the most of a latency, not {low} and {high}")
    return round(low * _MICROSECONDS), round(high * _MICROSECONDS)
