"""An internet, as the transit-stub model of GT-ITM draws it.

(Zegura, Calvert, Bhattacharjee: How to model an internetwork, 1996; YAK, 6.1, was measured on one.)
Few *transit* domains carry the traffic of many *stub* domains, where it begins and ends::

    stub ─┐                    ┌─ stub        transit domains are joined to each other;
    stub ─┤ transit ── transit ┼─ stub        each transit node serves some stub domains;
    stub ─┘ domain     domain  └─ stub        a few links more go past that order

Inside a domain, and among the transit domains, each pair is joined with some probability. GT-ITM
draws sizes about a mean, and a domain anew until it is in one piece; here sizes are exact, and
pieces are joined by a link, so that drawing comes to an end whatever the parameters. GT-ITM takes
latencies from places on a plane; here each kind of link has a range to draw them from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Final

from twigcast.errors import UsageError
from twigcast.workload.topologies import (
    BROKERS_MAX,
    Range,
    TopologyTable,
    microseconds,
    names,
    table_of,
)

PAIRS_MAX: Final = 500_000
"""Pairs of nodes that may become links: as many as a topology may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitStub:
    """The parameters of a transit-stub network; as they are, it has 4,400 nodes, like YAK's."""

    transit_domains: int = 8
    transit_nodes: int = 10
    """Of a transit domain."""
    stubs: int = 6
    """Stub domains at each transit node."""
    stub_nodes: int = 9
    """Of a stub domain."""
    domain_share: float = 0.6
    """The probability that two transit domains are joined."""
    transit_share: float = 0.5
    """The probability that two nodes of a transit domain are joined."""
    stub_share: float = 0.4
    """The probability that two nodes of a stub domain are joined."""
    extra_transit_stub: int = 0
    """Links more between transit and stub nodes."""
    extra_stub_stub: int = 0
    """Links more between nodes of different stub domains."""
    domain_ms: Range = (20.0, 80.0)
    """The latency of links between transit domains."""
    transit_ms: Range = (5.0, 20.0)
    """The latency of links inside a transit domain."""
    access_ms: Range = (2.0, 10.0)
    """The latency of links between a transit and a stub node, and of different stub domains."""
    stub_ms: Range = (0.5, 2.0)
    """The latency of links inside a stub domain."""

    @property
    def nodes(self) -> int:
        """How many there are in all."""
        return self.transit_domains * self.transit_nodes * (1 + self.stubs * self.stub_nodes)


def transit_stub(shape: TransitStub | None = None, *, rng: Random) -> TopologyTable:
    """A transit-stub network after GT-ITM, each of its nodes a broker; see ``overlay``.

    UsageError if a parameter is out of its range.
    """
    shape = TransitStub() if shape is None else shape
    _check_shape(shape)
    drawn = _TransitStubDrawing(shape, rng)
    return table_of(names("n", shape.nodes), drawn.links)


class _TransitStubDrawing:
    """A network on its way: nodes are numbers, and links have microseconds."""

    def __init__(self, shape: TransitStub, rng: Random) -> None:
        self._rng = rng
        self._next = 0
        self.links: dict[tuple[int, int], int] = {}
        domains = [self._nodes(shape.transit_nodes) for _ in range(shape.transit_domains)]
        for one, other in self._joined(range(len(domains)), shape.domain_share):
            ends = rng.choice(domains[one]), rng.choice(domains[other])
            self._link(*ends, microseconds(shape.domain_ms, "domain_ms"))
        for domain in domains:
            self._domain(domain, shape.transit_share, microseconds(shape.transit_ms, "transit_ms"))
        access = microseconds(shape.access_ms, "access_ms")
        within = microseconds(shape.stub_ms, "stub_ms")
        transit = [node for domain in domains for node in domain]
        stubs = []
        for node in transit:
            for _ in range(shape.stubs):
                stub = self._nodes(shape.stub_nodes)
                stubs.append(stub)
                self._domain(stub, shape.stub_share, within)
                self._link(node, rng.choice(stub), access)
        self._extra(shape.extra_transit_stub, [transit], stubs, access)
        self._extra(shape.extra_stub_stub, stubs, stubs, access)

    def _nodes(self, number: int) -> range:
        """New nodes."""
        self._next += number
        return range(self._next - number, self._next)

    def _link(self, one: int, other: int, latency: tuple[int, int]) -> bool:
        """Join two nodes, if they are not joined yet; returns whether they were not."""
        pair = (one, other) if one < other else (other, one)
        if pair in self.links:
            return False
        self.links[pair] = self._rng.randint(*latency)
        return True

    def _domain(self, nodes: Sequence[int], share: float, latency: tuple[int, int]) -> None:
        for one, other in self._joined(nodes, share):
            self._link(one, other, latency)

    def _joined(self, nodes: Sequence[int], share: float) -> list[tuple[int, int]]:
        """Pairs, each drawn with a probability, and as many more as make one piece of all."""
        rng = self._rng
        pairs = [pair for pair in combinations(nodes, 2) if rng.random() < share]
        piece = {node: [node] for node in nodes}
        for one, other in pairs:
            _unite(piece, one, other)
        for node in nodes[1:]:
            if piece[node] is not piece[nodes[0]]:
                pair = rng.choice(piece[nodes[0]]), rng.choice(piece[node])
                pairs.append(pair)
                _unite(piece, *pair)
        return pairs

    def _extra(
        self,
        number: int,
        from_domains: Sequence[Sequence[int]],
        to_domains: Sequence[Sequence[int]],
        latency: tuple[int, int],
    ) -> None:
        """Links more between nodes of different domains; there are pairs enough, as was checked."""
        while number:
            here, there = self._rng.choice(from_domains), self._rng.choice(to_domains)
            if here is not there:
                number -= self._link(self._rng.choice(here), self._rng.choice(there), latency)


def _unite(piece: dict[int, list[int]], one: int, other: int) -> None:
    """Make one piece of two; the lesser moves into the greater, so that all moves are few."""
    lesser, greater = sorted((piece[one], piece[other]), key=len)
    if lesser is not greater:
        greater.extend(lesser)
        for node in lesser:
            piece[node] = greater


def _check_shape(shape: TransitStub) -> None:
    for name in ("transit_domains", "transit_nodes", "stub_nodes"):
        _check(getattr(shape, name) >= 1, f"{name} must be 1 or more")
    for name in ("stubs", "extra_transit_stub", "extra_stub_stub"):
        _check(getattr(shape, name) >= 0, f"{name} must be 0 or more")
    for name in ("domain_share", "transit_share", "stub_share"):
        _check(0 <= getattr(shape, name) <= 1, f"{name} is a probability, between 0 and 1")
    _check(
        shape.nodes <= BROKERS_MAX,
        f"the network would have {shape.nodes:,} nodes; {BROKERS_MAX:,} are the most",
    )
    transit = shape.transit_domains * shape.transit_nodes
    stubs = transit * shape.stubs
    pairs = (
        math.comb(shape.transit_domains, 2)
        + shape.transit_domains * math.comb(shape.transit_nodes, 2)
        + stubs * math.comb(shape.stub_nodes, 2)
        + shape.extra_transit_stub
        + shape.extra_stub_stub
    )
    _check(
        pairs <= PAIRS_MAX,
        f"{pairs:,} pairs of nodes might be joined, and {PAIRS_MAX:,} are the most; "
        "take smaller domains, or fewer extra links",
    )
    # Drawn at random until they are new, and half of all pairs are always found at once.
    room = transit * stubs * shape.stub_nodes // 2 - stubs
    _check(
        shape.extra_transit_stub <= max(room, 0),
        f"extra_transit_stub: there is room for {max(room, 0):,} links more, half of all pairs",
    )
    room = math.comb(stubs, 2) * shape.stub_nodes**2 // 2
    _check(
        shape.extra_stub_stub <= room,
        f"extra_stub_stub: there is room for {room:,} links more, half of all pairs",
    )


def _check(holds: bool, complaint: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise UsageError(complaint)
