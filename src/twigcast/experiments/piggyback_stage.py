"""The set-up of Piggyback's performance study (6.1): brokers, patterns, documents.

A complete binary tree of brokers. Documents are published at the root; at every broker there are
thousands of patterns, and each broker sends to the one above it all it has, aggregated to a quarter
of the steps::

            b1  ◀── documents           level 1: 1 broker
          ┌─┴─┐
         b2   b3                        level 2: own patterns + what b4 and b5 sent, as for b2
        ┌┴┐  ┌┴┐
       b4 b5 b6 b7                      ...

Patterns are drawn so that all of them, over all brokers, are different. Every pattern has
``[//test]`` added, and every document has one element ``<test/>``, behind a share *f* of its
elements. So nothing matches before it, and *f* is where the first match is found.

Brokers subscribe level by level from the leaves up, with so much time between that each sends its
patterns once. That is a matter of setting the stage only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from twigcast.covering import Advertisement
from twigcast.files.schemas import read_schema, shipped_schema
from twigcast.language import Pattern, Schema
from twigcast.routing.broker.router import ROUTER_LIMITS, RouterLimits
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Publication,
    Publish,
    Subscribe,
    SubscriptionId,
)
from twigcast.routing.strategy import Strategy, strategy
from twigcast.routing.topology.model import Topology, Tree
from twigcast.simulator.schedule import ClientEvent, Phase, Schedule
from twigcast.workload import Marker, PatternShape, generate_documents, generate_patterns
from twigcast.workload.topologies import binary_tree

POSITIONS: Final = (0.25, 0.5, 0.75, 1.0)
"""Where the marker is put, as a share of the document: the paper's *f*."""

_PUBLISHER: Final = "publisher"
_BATCH_SECONDS: Final = 10.0
"""How long a broker gathers patterns before it sends them; only the set-up has such a delay."""
_APART_SECONDS: Final = 10.0
"""Between two documents, so that none waits for another."""


@dataclass(frozen=True)
class Stage:
    """What there is before the first document; the defaults are those of the paper."""

    levels: int = 4
    patterns: int = 5_000
    """Of each broker."""
    documents: int = 10
    elements: int = 129
    dtd: Path | None = None
    """None for the news vocabulary that comes along."""
    bandwidth_mbps: float = 80.0
    """10 MB a second."""
    latency_ms: float = 1.0
    """Of each link; the paper does not give its own."""
    seed: int = 1

    @property
    def router_limits(self) -> RouterLimits:
        """Those by which each broker sends its patterns once."""
        return replace(ROUTER_LIMITS, batch_delay=_BATCH_SECONDS)

    @cached_property
    def schema(self) -> Schema:
        """The schema that patterns and documents are drawn from."""
        return shipped_schema("news") if self.dtd is None else read_schema(self.dtd)

    @cached_property
    def network(self) -> Tree:
        """The brokers, the root first."""
        rng, latency = self._rng_for("network"), (self.latency_ms, self.latency_ms)
        tree = Topology.of(dict(binary_tree(self.levels, rng=rng, latency_ms=latency))).tree()
        links = (replace(link, bandwidth_mbps=self.bandwidth_mbps) for link in tree.links)
        return replace(tree, links=tuple(links))

    @property
    def root(self) -> BrokerId:
        """Where documents are published."""
        return BrokerId(self.network.brokers[0])

    def schedule(self) -> Schedule:
        """The publisher's advertisement, then all subscriptions; documents come later."""
        advertise = Advertise(AdvertisementId(1), _PUBLISHER, Advertisement.of_expressions(["/*"]))
        advertisements = (ClientEvent(0.0, self.root, advertise),)
        return Schedule(self.network, stage=(advertisements, tuple(self._subscriptions())))

    def _subscriptions(self) -> Iterator[ClientEvent]:
        brokers, patterns = self.network.brokers, self._patterns
        for number, broker in enumerate(map(BrokerId, brokers)):
            above_leaves = self.levels - (number + 1).bit_length()
            # What comes from below has arrived by then, and has not been sent on yet.
            at = (above_leaves - 0.5) * _BATCH_SECONDS if above_leaves else 0.0
            for place, pattern in enumerate(patterns[number :: len(brokers)], start=1):
                event = Subscribe(SubscriptionId(place), f"{broker} {place}", pattern)
                yield ClientEvent(at, broker, event)

    @cached_property
    def _patterns(self) -> list[Pattern]:
        """All of them, different from each other, in the order in which they were drawn."""
        texts = generate_patterns(
            self.schema,
            rng=self._rng_for("patterns"),
            count=self.patterns * len(self.network.brokers),
            shape=PatternShape(
                depth_max=8, wildcard=0.1, descendant=0.1, nested=0.2, marker="test"
            ),
        )
        return [Pattern.parse(text) for text in texts]

    def documents_at(self, position: float) -> Phase:
        """The documents with the marker behind a share of their elements, one after the other."""
        contents = generate_documents(
            self.schema,
            rng=self._rng_for("documents"),
            count=self.documents,
            elements=self.elements - 1,
            marker=Marker("test", position),
        )
        return tuple(
            ClientEvent(
                number * _APART_SECONDS,
                self.root,
                Publish(Publication(f"document {number + 1}", self.root, _PUBLISHER, content)),
            )
            for number, content in enumerate(islice(contents, self.documents))
        )

    def _rng_for(self, matter: str) -> Random:
        return Random(f"{self.seed} {matter}")


def towards_root(given: Strategy | str) -> Strategy:
    """A strategy by which patterns are sent towards the publisher alone, as in the paper."""
    return replace(strategy(given), towards="producers")
