"""The kind ``routes``: the routes of all brokers of a tree, from expressions to a table.

The brokers are a binary tree, b2 and b3 below b1, b4 and b5 below b2, and so on; subscription
number n is made at broker n modulo their number, so that every broker has some of all kinds. The
strategy is ``covering``. The engines:

``spark``
    two sweeps over the tree, round by round on Spark with 2 cores; expressions are parsed by the
    workers. Workers have been started, by the routes of the sample.
``two sweeps``
    the same in one process, without Spark.
``routers``
    the naive way, for a sample: a network of routers, one subscription at a time.

All of them find the routes of the sample, which must be the same, pattern by pattern; so must those
of all subscriptions, by whoever gets as far. How many of the patterns are different, and how many
of these others cover, is counted, too: it is what the work depends on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

import pyarrow as pa

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, peak_bytes
from benchmarks.processes import used
from benchmarks.workloads import drawn
from twigcast.covering.index.batch_cover import minimal_sets
from twigcast.language import Pattern
from twigcast.routing import Network, Topology, covering
from twigcast.routing.static.route_computation import spread
from twigcast.routing.topology.model import Tree

SPARK, SWEEPS, ROUTERS = "spark", "two sweeps", "routers"

RoutesByLink = dict[tuple[str, str], Sequence[str]]
"""Patterns by (broker, neighbour)."""


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    source, _, shape = definition.workload.partition("/")
    texts = drawn(source, shape, seed=definition.seed, count=definition.subscriptions)
    tree, sample = binary_tree(definition.brokers), definition.sampled[ROUTERS]
    if engine == SPARK:
        return on_spark(tree, texts, sample=sample)
    given = texts[: definition.sampled.get(engine)]
    run = in_process(tree, given, engine, sample=sample)
    if len(given) == len(texts):
        return run
    # What it found is of a part that no other engine was asked about.
    return replace(
        run,
        counts={"routes, sample": run.counts["routes, sample"]},
        digests={"sample": run.digests["sample"]},
    )


def binary_tree(brokers: int) -> Tree:
    """So many brokers, b1 at the top."""
    names = [f"b{number}" for number in range(1, brokers + 1)]
    links = [[names[(number - 1) // 2], names[number]] for number in range(1, brokers)]
    return Topology.of({"brokers": names, "links": links}).tree()


def on_spark(tree: Tree, texts: Sequence[str], *, sample: int) -> Measurement:
    """All subscriptions, by Spark."""
    from twigcast.spark import start_session
    from twigcast.spark.plans.routes import compute_routes

    session = start_session("local[2]")
    first = compute_routes(session, tree, covering(), own(tree, texts[:sample]), spark_min=0)
    before, begun = used(), time.perf_counter()
    found = compute_routes(session, tree, covering(), own(tree, texts), spark_min=0)
    real_s, cost = time.perf_counter() - begun, used() - before
    session.stop()
    routes_by_link = _by_link(tree, found)
    distinct, covered = _counted(tree, texts, routes_by_link)
    counts = {"routes": found.num_rows, "distinct": distinct, "covered": covered}
    return Measurement(
        engine=SPARK,
        counts={**counts, "routes, sample": first.num_rows},
        digests={"sample": _digest(_by_link(tree, first)), "all": _digest(routes_by_link)},
        figures={
            "subscriptions": len(texts),
            "subscriptions_per_s": len(texts) / cost.all_s,
            "distinct": distinct,
            "covered": covered,
            "routes_most": max(map(len, routes_by_link.values())),
            "cpu_s": cost.all_s,
            "java_share": cost.java_s / cost.all_s,
            "real_s": real_s,
        },
    )


def in_process(tree: Tree, texts: Sequence[str], engine: str, *, sample: int) -> Measurement:
    """The same without Spark."""
    methods = {SWEEPS: _by_sweeps, ROUTERS: _by_routers}
    first = methods[engine](tree, texts[:sample])
    begun, started = time.perf_counter(), time.process_time()
    routes_by_link = methods[engine](tree, texts)
    cpu_s, real_s = time.process_time() - started, time.perf_counter() - begun
    return Measurement(
        engine=engine,
        counts={
            "routes": sum(map(len, routes_by_link.values())),
            "routes, sample": sum(map(len, first.values())),
        },
        digests={"sample": _digest(first), "all": _digest(routes_by_link)},
        figures={
            "subscriptions": len(texts),
            "subscriptions_per_s": len(texts) / cpu_s,
            "routes_most": max(map(len, routes_by_link.values())),
            "cpu_s": cpu_s,
            "real_s": real_s,
            "peak_mib": peak_bytes() / 2**20,
        },
    )


def own(tree: Tree, texts: Sequence[str]) -> pa.Table:
    """The patterns of each broker, as a table."""
    brokers = [tree.brokers[number % len(tree.brokers)] for number in range(len(texts))]
    columns = {"broker": brokers, "pattern": texts}
    return pa.table(
        {name: pa.array(each, pa.string()).dictionary_encode() for name, each in columns.items()}
    )


def _by_sweeps(tree: Tree, texts: Sequence[str]) -> RoutesByLink:
    count = len(tree.brokers)
    patterns = {
        broker: list(map(Pattern.parse, texts[place::count]))
        for place, broker in enumerate(tree.brokers)
    }
    return _texts(spread(tree, covering(), patterns).forwarded.items())


def _by_routers(tree: Tree, texts: Sequence[str]) -> RoutesByLink:
    network = Network(tree, covering())
    for number, text in enumerate(texts):
        network.subscribe(tree.brokers[number % len(tree.brokers)], "somebody", text)
    return {
        (broker, link): routes
        for broker in tree.brokers
        for link, routes in network.tables(broker).routes.items()
    }


def _texts(routes_by_link: Iterable[tuple[tuple[str, str], Iterable[Pattern]]]) -> RoutesByLink:
    return {link: [pattern.text for pattern in patterns] for link, patterns in routes_by_link}


def _by_link(tree: Tree, routes: pa.Table) -> RoutesByLink:
    routes_by_link: dict[tuple[str, str], list[str]] = {
        (broker, link): [] for broker in tree.brokers for link in tree.neighbours(broker)
    }
    columns = (routes.column(name).to_pylist() for name in ("broker", "neighbour", "pattern"))
    for broker, neighbour, text in zip(*columns, strict=True):
        routes_by_link[broker, neighbour].append(text)
    return dict(routes_by_link)


def _counted(tree: Tree, texts: Sequence[str], routes_by_link: RoutesByLink) -> tuple[int, int]:
    """How many different patterns there are, and how many of them the first broker can leave out.

    All that it knows stands for all there is.
    """
    different = set(map(Pattern.parse, texts))
    top = tree.brokers[0]
    known = [*texts[:: len(tree.brokers)]]
    for link in tree.neighbours(top):
        known += routes_by_link[top, link]
    minimal = minimal_sets(dict.fromkeys(map(Pattern.parse, known), 1))
    return len(different), len(different) - len(minimal)


def _digest(routes_by_link: RoutesByLink) -> str:
    found = sha256()
    for link, patterns in sorted(routes_by_link.items()):
        found.update(repr((*link, *patterns)).encode())
    return found.hexdigest()[:16]
