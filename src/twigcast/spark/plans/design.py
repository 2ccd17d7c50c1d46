"""A design: topology, strategy, plan, engine, advertisements; everything but subscriptions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from twigcast.covering import Advertisement
from twigcast.errors import UsageError
from twigcast.files.documents.publications import AnyPath
from twigcast.files.schemas import read_schema
from twigcast.files.topologies import read_topology
from twigcast.language import Schema
from twigcast.routing import Topology
from twigcast.routing.strategy import Strategy, flooding_notice
from twigcast.routing.strategy import strategy as strategy_of
from twigcast.routing.topology.model import Tree
from twigcast.spark.worker.broker_tree import BrokerTree

Plan: TypeAlias = Literal["fused", "hops"]


PLANS: tuple[Plan, ...] = get_args(Plan)


AdvertisementSource: TypeAlias = "Advertisement | Schema | bytes | str | os.PathLike[str]"
"""An advertisement as callers give it: itself, a schema, the bytes of a DTD, or the path of one."""


@dataclass(frozen=True)
class Design:
    """How documents are to be disseminated, whatever the subscriptions."""

    topology: Tree | None
    """None for one broker; the names in the subscriptions are then carried through."""
    tree: BrokerTree | None
    strategy: Strategy
    plan: Plan = "fused"
    shards: int = 1
    engine: str = "auto"
    origin: int = 0
    """Where documents are published that name no broker."""
    advertisements: Mapping[int, tuple[Advertisement, ...]] | None = None

    def flooding_notice(self, *, at_origin: bool, remedy: str) -> str | None:
        """That documents go over every link for want of advertisements, if they do.

        ``at_origin`` is for documents that are all published at the origin. Where a table may name
        another broker for each, only that there is no advertisement at all is known beforehand.
        """
        if self.tree is None or len(self.tree.names) == 1 or not self.strategy.needs_advertisements:
            return None
        advertisements = self.advertisements or {}
        if self.origin in advertisements or (advertisements and not at_origin):
            return None
        who = (
            f"who publishes at {self.tree.names[self.origin]!r}" if at_origin else "every publisher"
        )
        return flooding_notice(self.strategy, who=who, remedy=remedy)


def design_of(
    topology: Topology | Mapping[str, object] | AnyPath | None,
    strategy: Strategy | str = "best",
    *,
    plan: str = "fused",
    shards: int = 1,
    engine: str = "auto",
    origin: str | None = None,
    advertisements: Mapping[str, AdvertisementSource | Sequence[AdvertisementSource]] | None = None,
) -> Design:
    """A design of a caller's arguments; a :class:`UsageError` for those that make no sense."""
    chosen = strategy_of(strategy)
    if plan not in PLANS:
        raise UsageError(f"the plan is {' or '.join(PLANS)}, not {plan!r}")
    if shards < 1:
        raise UsageError(f"subscriptions cannot be split into {shards} shards; give 1 or more")
    if plan == "hops" and shards > 1:
        raise UsageError("shards are for the plan fused; the plan hops splits by broker")
    if plan == "hops" and topology is None:
        raise UsageError("without a topology there is nowhere to hop; take the plan fused")
    if topology is None:
        if origin is not None or advertisements:
            raise UsageError("without a topology there are no brokers to publish or advertise at")
        return Design(None, None, chosen, _plan(plan), shards, engine)
    if isinstance(topology, str | os.PathLike):
        topology = read_topology(topology)
    whole = Topology.of(topology).tree()
    tree = BrokerTree.of(whole)
    return Design(
        whole,
        tree,
        chosen,
        _plan(plan),
        shards,
        engine,
        origin=0 if origin is None else _broker(tree, origin, "publish"),
        advertisements=_advertisements(tree, advertisements or {}),
    )


def _plan(given: str) -> Plan:
    return next(plan for plan in PLANS if plan == given)


def _broker(tree: BrokerTree, name: str, purpose: str) -> int:
    number = tree.number(name)
    if number is None:
        shown = ", ".join(tree.names[:9])
        raise UsageError(f"there is no broker {name!r} to {purpose} at; there are {shown}")
    return number


def _advertisements(
    tree: BrokerTree, given: Mapping[str, AdvertisementSource | Sequence[AdvertisementSource]]
) -> dict[int, tuple[Advertisement, ...]]:
    by_broker: dict[int, tuple[Advertisement, ...]] = {}
    for name, sources in given.items():
        several = (
            sources
            if isinstance(sources, Sequence) and not isinstance(sources, str | bytes)
            else [sources]
        )
        by_broker[_broker(tree, name, "advertise")] = tuple(map(_advertisement, several))
    return by_broker


def _advertisement(given: AdvertisementSource) -> Advertisement:
    match given:
        case Advertisement():
            return given
        case Schema():
            return Advertisement.of_schema(given)
        case bytes():
            return Advertisement.of_schema(Schema.parse(given))
        case str() | os.PathLike():
            return Advertisement.of_schema(read_schema(given))
    raise UsageError(
        f"a broker advertises a schema or the path of a DTD, not a {type(given).__name__}"
    )
