"""From subscriptions, a topology and a strategy to what workers need: once for each version.

    subscriptions ──▶ checked, parsed ──▶ routes ──▶ compiled matcher, labels, ways
           └────────────▶ rejected        (two sweeps)        (files)

Whatever is wrong with one subscription (no XPath, a broker that is not there) sets that one aside.
A topology in two parts, or a strategy that cannot be, is a :class:`UsageError`: nothing starts.

The compiled matcher holds all subscriptions by their position in the file, whichever broker they
are at. If the strategy is not perfect, what crosses a link depends on routes that nobody has
subscribed to, so they stand in the matcher as well, with positions behind the subscriptions. With
shards, or in the plan ``hops``, no worker has to hold everything: that matcher stays empty, and
there is one for each shard, or for each broker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from twigcast.covering import Advertisement
from twigcast.errors import UsageError
from twigcast.files import Rejected, SubscriptionFile, compile_subscriptions
from twigcast.files.schemas import read_schema
from twigcast.files.topologies import read_topology
from twigcast.files.writing.versioned_files import version_of
from twigcast.language import Pattern, Schema
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching import Matcher
from twigcast.routing import Topology
from twigcast.routing.strategy import Strategy, flooding_notice
from twigcast.routing.strategy import strategy as strategy_of
from twigcast.spark.plans.distribution import share_compiled
from twigcast.spark.plans.hops import share_tables
from twigcast.spark.plans.routes import compute_routes
from twigcast.spark.plans.sharded import shard
from twigcast.spark.storage.tables import TABLES, arrow_of
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.crossings import ways_of
from twigcast.spark.worker.labels import labels_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.files import VersionedFile
    from twigcast.files.documents.publications import AnyPath
    from twigcast.routing.topology.model import Tree
    from twigcast.spark.plans.distribution import Compiled
    from twigcast.spark.plans.sharded import Sharded
    from twigcast.spark.session.progress import Listener
    from twigcast.spark.worker.crossings import CrossingModel

Plan: TypeAlias = Literal["fused", "hops"]
PLANS: tuple[Plan, ...] = get_args(Plan)

identity_of = id
"""Where ``id`` is the id of a subscription."""

Promise: TypeAlias = "Advertisement | Schema | bytes | str | os.PathLike[str]"
"""What is advertised: an advertisement, a schema, the bytes of a DTD, or the path of one."""


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
    """Where documents are published that do not say it."""
    promises: Mapping[int, tuple[Advertisement, ...]] | None = None

    def flooding_notice(self, *, at_origin: bool, remedy: str) -> str | None:
        """That documents go over every link for want of advertisements, if they do.

        ``at_origin`` is for documents that are all published at the origin. Where a table may say
        another broker for each, only that there is no advertisement at all is known beforehand.
        """
        if self.tree is None or len(self.tree.names) == 1 or not self.strategy.needs_advertisements:
            return None
        promises = self.promises or {}
        if self.origin in promises or (promises and not at_origin):
            return None
        who = (
            f"who publishes at {self.tree.names[self.origin]!r}" if at_origin else "every publisher"
        )
        return flooding_notice(self.strategy, who=who, remedy=remedy)


@dataclass(frozen=True)
class Prepared:
    """All that is known about one version of the subscriptions."""

    design: Design
    file: SubscriptionFile
    """Positions are those of its subscriptions; what is rejected is among them, unmatched."""
    patterns: Sequence[Pattern | None]
    """By position; None for what is rejected."""
    rejected: tuple[Rejected, ...]
    labels: pa.RecordBatch
    routes: pa.Table
    ways: CrossingModel | None
    compiled: Compiled
    engine: str
    """The engine's name, once it is chosen."""
    seconds: Mapping[str, float]
    brokers: VersionedFile | None = None
    """The tables of all brokers, for the plan ``hops``."""
    sharded: Sharded | None = None
    """The subscriptions split, if there are shards."""

    @property
    def tree(self) -> BrokerTree | None:
        """The brokers, if there is a topology."""
        return self.design.tree

    @property
    def subscriptions(self) -> int:
        """How many take part."""
        return sum(pattern is not None for pattern in self.patterns)

    @property
    def version(self) -> str:
        """What all of it is compiled to: a hash of the content of all files.

        In a network the strategy counts too: perfect ones differ in their routes alone, which no
        worker needs.
        """
        strategy = "" if self.tree is None else str(self.design.strategy)
        return version_of("".join([*(file.version for file in self.files), strategy]).encode())

    @property
    def files(self) -> list[VersionedFile]:
        """All that workers are given."""
        compiled, shards = self.compiled, self.sharded
        files = [compiled.matcher, compiled.labels, compiled.ways, self.brokers]
        if shards is not None:
            files += dict.fromkeys((shards.hub, *shards.shards))
        return [file for file in files if file]


def design_of(
    topology: Topology | Mapping[str, object] | AnyPath | None,
    strategy: Strategy | str = "best",
    *,
    plan: str = "fused",
    shards: int = 1,
    engine: str = "auto",
    origin: str | None = None,
    advertisements: Mapping[str, Promise | Sequence[Promise]] | None = None,
) -> Design:
    """A design out of what a caller says; a :class:`UsageError` for what cannot be meant."""
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
        promises=_promises(tree, advertisements or {}),
    )


def prepare(
    spark: SparkSession,
    file: SubscriptionFile,
    design: Design,
    *,
    tell: Callable[[str, int, int | None], None] = lambda *_: None,
    listener: Listener | None = None,
    before: Prepared | None = None,
) -> Prepared:
    """Check and compile subscriptions, find the routes, and share what workers need.

    What stood in the version ``before`` already, the same objects, is not parsed again.
    """
    begun = perf_counter()
    known = {} if before is None else _by_identity(before)
    file = _at_known_brokers(file, design.tree)
    matcher = Matcher(engine=design.engine)
    is_whole = design.plan == "fused" and design.shards == 1
    patterns: list[Pattern | None] = [None] * len(file.subscriptions)

    def add(id: int, xpath: str, namespaces: Mapping[str, str]) -> None:
        tell("subscriptions", id + 1, len(patterns))
        pattern = known.get(identity_of(file.subscriptions[id]))
        patterns[id] = pattern = pattern or Pattern.parse(xpath, namespaces)
        if is_whole:
            matcher.add(id, pattern)

    refused = compile_subscriptions(file, add)
    rejected = tuple(sorted((*file.rejected, *refused), key=lambda item: item.line))
    labels = labels_of(file, design.tree)
    compiled_at = perf_counter()
    routes = arrow_of([], TABLES["routes"])
    if design.topology is not None and design.tree is not None:
        own = _own(patterns, labels)
        routes = compute_routes(
            spark, design.topology, design.strategy, own, _promised(design), listener=listener
        )
    routed_at = perf_counter()
    ways, behind = _ways(design, labels, routes)
    if is_whole:
        for number, pattern in enumerate(behind, start=len(patterns)):
            matcher.add(number, pattern)
    compiled = share_compiled(spark, labels, matcher, engine=design.engine, ways=ways)
    brokers = None
    if design.plan == "hops" and design.tree is not None:
        brokers = share_tables(spark, design, patterns=patterns, labels=labels, routes=routes)
    sharded = None
    if design.shards > 1:
        sharded = shard(spark, design, patterns=patterns, routes=behind)
    seconds = {
        "subscriptions": compiled_at - begun + perf_counter() - routed_at,
        "routes": routed_at - compiled_at,
    }
    return Prepared(
        design,
        file,
        patterns,
        rejected,
        labels,
        routes,
        ways,
        compiled,
        engine=matcher.statistics().engine,
        seconds=seconds,
        brokers=brokers,
        sharded=sharded,
    )


def _by_identity(prepared: Prepared) -> dict[int, Pattern]:
    """The patterns by the subscriptions that they are of, which the version before keeps alive."""
    pairs = zip(prepared.file.subscriptions, prepared.patterns, strict=True)
    return {identity_of(item): pattern for item, pattern in pairs if pattern is not None}


def _at_known_brokers(file: SubscriptionFile, tree: BrokerTree | None) -> SubscriptionFile:
    """The file without subscriptions at brokers that are not in the topology."""
    if tree is None:
        return file
    kept, rejected = [], list(file.rejected)
    for item in file.subscriptions:
        if item.broker is None or tree.number(item.broker) is not None:
            kept.append(item)
        else:
            reason = f"there is no broker {item.broker!r} in the topology"
            rejected.append(Rejected(item.id, item.line, item.xpath, reason))
    return replace(file, subscriptions=tuple(kept), rejected=tuple(rejected))


def _own(patterns: Sequence[Pattern | None], labels: pa.RecordBatch) -> pa.Table:
    """Which patterns are asked for at which broker, each once."""
    texts = pa.array([pattern and pattern.text for pattern in patterns], pa.string())
    table = pa.table({"broker": labels.column("broker"), "pattern": texts.dictionary_encode()})
    kept = table.filter(texts.is_valid())
    return kept.group_by(["broker", "pattern"]).aggregate([])


def _ways(
    design: Design, labels: pa.RecordBatch, routes: pa.Table
) -> tuple[CrossingModel | None, list[Pattern]]:
    """The ways through the network, and the routes that stand behind the subscriptions."""
    if design.tree is None:
        return None, []
    places = np.asarray(labels.column("broker").indices, np.int32)  # type: ignore[attr-defined]
    found: dict[str, list[int]] = {}
    if not (design.strategy.perfect or design.strategy.floods):
        found = _links_by_pattern(design.tree, routes)
    ways = ways_of(
        design.tree,
        design.strategy,
        origin=design.origin,
        brokers=places,
        routes=list(found.values()),
        promises=design.promises,
    )
    return ways, [Pattern.parse(text, limits=CANONICAL_LIMITS) for text in found]


def _links_by_pattern(tree: BrokerTree, routes: pa.Table) -> dict[str, list[int]]:
    """Of each pattern the links that it leads over."""
    found: dict[str, list[int]] = {}
    columns = (routes.column(name).to_pylist() for name in ("broker", "neighbour", "pattern"))
    for broker, neighbour, pattern in zip(*columns, strict=True):
        ends = tree.number(broker), tree.number(neighbour)
        assert ends[0] is not None
        assert ends[1] is not None
        found.setdefault(pattern, []).append(tree.link(ends[0], ends[1]))
    return found


def _promised(design: Design) -> dict[str, tuple[Advertisement, ...]]:
    assert design.tree is not None
    return {design.tree.names[place]: each for place, each in (design.promises or {}).items()}


def _plan(given: str) -> Plan:
    return next(plan for plan in PLANS if plan == given)


def _broker(tree: BrokerTree, name: str, purpose: str) -> int:
    number = tree.number(name)
    if number is None:
        shown = ", ".join(tree.names[:9])
        raise UsageError(f"there is no broker {name!r} to {purpose} at; there are {shown}")
    return number


def _promises(
    tree: BrokerTree, given: Mapping[str, Promise | Sequence[Promise]]
) -> dict[int, tuple[Advertisement, ...]]:
    found: dict[int, tuple[Advertisement, ...]] = {}
    for name, said in given.items():
        several = (
            said if isinstance(said, Sequence) and not isinstance(said, str | bytes) else [said]
        )
        found[_broker(tree, name, "advertise")] = tuple(map(_promise, several))
    return found


def _promise(given: Promise) -> Advertisement:
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
