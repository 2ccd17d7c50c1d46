"""Subscriptions and a design, prepared for the workers: once for each version.

    subscriptions ──▶ checked, parsed ──▶ routes ──▶ plan: matchers, labels, crossings
           └────────────▶ rejected        (two sweeps)        (files)

Whatever is wrong with one subscription (no XPath, a broker that is not there) sets that one aside.
What the plan needs beyond that it prepares itself: :class:`FusedPlan`, :class:`ShardedPlan`,
:class:`HopsPlan`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from twigcast.covering import Advertisement
from twigcast.files import (
    Rejected,
    Subscription,
    SubscriptionFile,
    VersionedFile,
    compile_subscriptions,
)
from twigcast.files.writing.versioned_files import version_of
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching import Matcher
from twigcast.spark.plans.compilation import Compilation
from twigcast.spark.plans.design import Design
from twigcast.spark.plans.fused import FusedPlan
from twigcast.spark.plans.hops import HopsPlan
from twigcast.spark.plans.routes import compute_routes
from twigcast.spark.plans.sharded import ShardedPlan
from twigcast.spark.session.progress import Listener
from twigcast.spark.storage.tables import TABLES, arrow_of
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.crossings import CrossingModel, crossing_model
from twigcast.spark.worker.labels import labels_of

Plan: TypeAlias = FusedPlan | ShardedPlan | HopsPlan
"""How documents find their subscriptions; each has ``prepare``, ``files`` and ``run``."""


@dataclass(frozen=True)
class Prepared:
    """All that is known about one version of the subscriptions."""

    design: Design
    file: SubscriptionFile
    """Positions are those of its subscriptions; what is rejected is among them, unmatched."""
    patterns: Sequence[Pattern | None]
    """By position; None for what is rejected."""
    rejected: tuple[Rejected, ...]
    routes: pa.Table
    plan: Plan
    engine: str
    """The engine's name, once it is chosen."""
    seconds: Mapping[str, float]

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
        strategy = "" if self.design.tree is None else str(self.design.strategy)
        return version_of("".join([*(file.version for file in self.files), strategy]).encode())

    @property
    def files(self) -> list[VersionedFile]:
        """All that workers are given."""
        return self.plan.files


def prepare(
    spark: SparkSession,
    file: SubscriptionFile,
    design: Design,
    *,
    report: Callable[[str, int, int | None], None] = lambda *_: None,
    listener: Listener | None = None,
    before: Prepared | None = None,
) -> Prepared:
    """Check and compile subscriptions, find the routes, and share what workers need.

    What stood in the version ``before`` already is not parsed again.
    """
    begun = perf_counter()
    known = {} if before is None else _parsed(before)
    file = _at_known_brokers(file, design.tree)
    patterns: list[Pattern | None] = [None] * len(file.subscriptions)

    def add(position: int, xpath: str, namespaces: Mapping[str, str]) -> None:
        report("subscriptions", position + 1, len(patterns))
        item, pattern = known.get(file.subscriptions[position].id, (None, None))
        if item is None or (item.xpath, item.namespaces) != (xpath, namespaces):
            pattern = Pattern.parse(xpath, namespaces)
        patterns[position] = pattern

    refused = compile_subscriptions(file, add)
    rejected = tuple(sorted((*file.rejected, *refused), key=lambda item: item.line))
    labels = labels_of(file, design.tree)
    compiled_at = perf_counter()
    routes = _routes(spark, design, patterns, labels, listener=listener)
    routed_at = perf_counter()
    crossings, behind = _crossings(design, labels, routes)
    plan = _plan_of(design).prepare(
        spark, Compilation(design, patterns, labels, routes, crossings, behind)
    )
    seconds = {
        "subscriptions": compiled_at - begun + perf_counter() - routed_at,
        "routes": routed_at - compiled_at,
    }
    engine = Matcher(engine=design.engine).statistics().engine
    return Prepared(design, file, patterns, rejected, routes, plan, engine, seconds)


def _plan_of(design: Design) -> type[Plan]:
    if design.plan == "hops":
        return HopsPlan
    return ShardedPlan if design.shards > 1 else FusedPlan


def _parsed(before: Prepared) -> dict[object, tuple[Subscription, Pattern]]:
    """The subscriptions of the version before, with their patterns, by id."""
    pairs = zip(before.file.subscriptions, before.patterns, strict=True)
    return {item.id: (item, pattern) for item, pattern in pairs if pattern is not None}


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
    """The patterns that are subscribed to at each broker, each once."""
    texts = pa.array([pattern and pattern.text for pattern in patterns], pa.string())
    table = pa.table({"broker": labels.column("broker"), "pattern": texts.dictionary_encode()})
    kept = table.filter(texts.is_valid())
    return kept.group_by(["broker", "pattern"]).aggregate([])


def _routes(
    spark: SparkSession,
    design: Design,
    patterns: Sequence[Pattern | None],
    labels: pa.RecordBatch,
    *,
    listener: Listener | None,
) -> pa.Table:
    """What each broker forwards to each neighbour: the rows of the table of that name."""
    if design.topology is None or design.tree is None:
        return arrow_of([], TABLES["routes"])
    own = _own(patterns, labels)
    return compute_routes(
        spark, design.topology, design.strategy, own, _advertised(design), listener=listener
    )


def _crossings(
    design: Design, labels: pa.RecordBatch, routes: pa.Table
) -> tuple[CrossingModel | None, list[Pattern]]:
    """The crossing model, and the routes that stand behind the subscriptions."""
    if design.tree is None:
        return None, []
    places = np.asarray(labels.column("broker").indices, np.int32)  # type: ignore[attr-defined]
    links_of: dict[str, list[int]] = {}
    if not (design.strategy.perfect or design.strategy.floods):
        links_of = _links_by_pattern(design.tree, routes)
    crossings = crossing_model(
        design.tree,
        design.strategy,
        origin=design.origin,
        brokers=places,
        routes=list(links_of.values()),
        advertisements=design.advertisements,
    )
    return crossings, [Pattern.parse(text, limits=CANONICAL_LIMITS) for text in links_of]


def _links_by_pattern(tree: BrokerTree, routes: pa.Table) -> dict[str, list[int]]:
    """Of each pattern the links that it leads over."""
    links_of: dict[str, list[int]] = {}
    columns = (routes.column(name).to_pylist() for name in ("broker", "neighbour", "pattern"))
    for broker, neighbour, pattern in zip(*columns, strict=True):
        ends = tree.number(broker), tree.number(neighbour)
        assert ends[0] is not None
        assert ends[1] is not None
        links_of.setdefault(pattern, []).append(tree.link(ends[0], ends[1]))
    return links_of


def _advertised(design: Design) -> dict[str, tuple[Advertisement, ...]]:
    assert design.tree is not None
    return {design.tree.names[place]: each for place, each in (design.advertisements or {}).items()}
