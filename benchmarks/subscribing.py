"""The kind ``subscribing``: many subscriptions, one after the other, to a network of 7 brokers.

::

                 b1
           b2          b3            subscription number n is made at broker n modulo 7;
        b4    b5    b6    b7         the network settles after each, or after 1,000 of them

What counts is the whole network: each subscription is put into the tables of its broker, forwarded
where nothing covers it, put into the tables there, and so on. The engines:

``covering``
    one call at a time; ``covering, 1,000 at a time`` within ``network.batch()``.
``identity``
    nothing is held back: every pattern crosses every link.
``one index a link``
    no routers: what has to be forwarded over four links, one of each kind, computed by one cover
    index for each. What brokers forward must be that, pattern by pattern.
``roots each time``
    the naive way, for a sample: after each subscription every link it reaches is computed anew.

At the end documents are published, at one broker after the other, and every one must reach the
subscriptions that a bare matcher finds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from benchmarks.definition import Definition
from benchmarks.engines import matcher_of
from benchmarks.measure import Measurement, peak_bytes, timed
from benchmarks.workloads import Workload, load
from twigcast.covering import CoverIndex
from twigcast.routing import Network

BROKERS = tuple(f"b{number}" for number in range(1, 8))
LINKS = (("b1", "b2"), ("b1", "b3"), ("b2", "b4"), ("b2", "b5"), ("b3", "b6"), ("b3", "b7"))
BATCH = 1_000
KINDS_OF_LINKS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("b4", "b2"): ("b4",),
    ("b2", "b1"): ("b2", "b4", "b5"),
    ("b1", "b2"): ("b1", "b3", "b6", "b7"),
    ("b2", "b4"): ("b1", "b2", "b3", "b5", "b6", "b7"),
}
"""One link of each kind, up and down, and the brokers behind it."""

COVERING, IDENTITY = "covering", "identity"
BATCHES = "covering, 1,000 at a time"
INDEXES = "one index a link"
NAIVE = "roots each time"

Forwarded = Mapping[tuple[str, str], Sequence[str]]


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    workload = load(definition)
    sample = definition.sampled[NAIVE]
    if engine in {INDEXES, NAIVE}:
        count = definition.sampled.get(engine, len(workload.expressions))
        return without_routers(workload.expressions[:count], engine, sample=sample)
    expressions = workload.expressions[: definition.sampled.get(engine)]
    return subscribed(Workload(expressions, workload.documents), engine, sample=sample)


def subscribed(workload: Workload, engine: str, *, sample: int) -> Measurement:
    """A network with the subscriptions of a workload."""
    strategy = engine.partition(",")[0]
    network = Network({"links": [list(link) for link in LINKS]}, strategy)
    texts = workload.expressions
    size = BATCH if engine == BATCHES else 1
    first_s = timed(lambda: _subscribe(network, texts[:sample], 0, size), time.process_time)[1]
    parts = {"forwarded, sample": _forwarded(network)}
    rest_s = timed(lambda: _subscribe(network, texts[sample:], sample, size), time.process_time)[1]
    parts["forwarded"] = _forwarded(network)
    deliveries, differences = _published(network, workload)
    held_back = strategy != IDENTITY
    traffic, brokers = network.traffic.by_kind(), [network.statistics(each) for each in BROKERS]
    return Measurement(
        engine=engine,
        counts={
            **(
                _counts(parts)
                if held_back
                else {f"forwarded, {engine}": _total(_forwarded(network))}
            ),
            f"subscribe messages, {engine}": traffic["subscribe"],
            **({"deliveries": deliveries} if held_back else {}),
            "differences": differences,
        },
        digests=_digests(parts) if held_back else {},
        figures={
            "subscriptions": len(texts),
            "subscriptions_per_s": len(texts) / (first_s + rest_s),
            "subscribe_messages": traffic["subscribe"],
            "unsubscribe_messages": traffic["unsubscribe"],
            "forwarded": sum(each.forwarded for each in brokers),
            "routes_most": max(each.routes for each in brokers),
            "peak_mib": peak_bytes() / 2**20,
        },
    )


def without_routers(texts: Sequence[str], engine: str, *, sample: int) -> Measurement:
    """What has to be forwarded over the links of each kind, computed from the patterns alone."""
    if engine == NAIVE:
        found, took = timed(lambda: _each_time(texts), time.process_time)
        parts = {"forwarded, sample": found}
    else:
        found, took = timed(lambda: _roots(texts), time.process_time)
        parts = {"forwarded, sample": _roots(texts[:sample]), "forwarded": found}
    return Measurement(
        engine=engine,
        counts=_counts(parts),
        digests=_digests(parts),
        figures={
            "subscriptions": len(texts),
            "subscriptions_per_s": len(texts) / took,
            "peak_mib": peak_bytes() / 2**20,
        },
    )


def _subscribe(network: Network, texts: Sequence[str], first: int, size: int) -> None:
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        if size == 1:
            network.subscribe(_broker(first + start), "somebody", part[0])
            continue
        with network.batch():
            for number, text in enumerate(part, start=first + start):
                network.subscribe(_broker(number), "somebody", text)


def _broker(number: int) -> str:
    return BROKERS[number % len(BROKERS)]


def _forwarded(network: Network) -> Forwarded:
    return {(one, other): network.tables(one).forwarded[other] for one, other in KINDS_OF_LINKS}


def _roots(texts: Sequence[str]) -> Forwarded:
    return {link: _roots_behind(texts, brokers) for link, brokers in KINDS_OF_LINKS.items()}


def _roots_behind(texts: Sequence[str], brokers: Iterable[str]) -> list[str]:
    """What covers all that is asked for at some brokers."""
    index, there = CoverIndex(), set(brokers)
    for number, text in enumerate(texts):
        if _broker(number) in there:
            index.add(number, text)
    return sorted(index.pattern(one).text for one in index.roots())


def _each_time(texts: Sequence[str]) -> Forwarded:
    """The same after each subscription anew, for the links that lead away from its broker."""
    found: dict[tuple[str, str], list[str]] = {link: [] for link in KINDS_OF_LINKS}
    for count in range(1, len(texts) + 1):
        for link, brokers in KINDS_OF_LINKS.items():
            if _broker(count - 1) in brokers:
                found[link] = _roots_behind(texts[:count], brokers)
    return found


def _published(network: Network, workload: Workload) -> tuple[int, int]:
    """How many deliveries there are, and how many documents reach others than they should."""
    matcher = matcher_of("auto", workload.expressions)
    deliveries = differences = 0
    for number, document in enumerate(workload.documents):
        outcome = network.publish(_broker(number), document)
        # The network counts subscriptions from 1, the matcher expressions from 0.
        found = sorted(delivery.subscription - 1 for delivery in outcome.deliveries)
        deliveries += len(found)
        differences += found != matcher.match(document)
    return deliveries, differences


def _total(forwarded: Forwarded) -> int:
    return sum(map(len, forwarded.values()))


def _counts(parts: Mapping[str, Forwarded]) -> dict[str, int]:
    return {part: _total(forwarded) for part, forwarded in parts.items()}


def _digests(parts: Mapping[str, Forwarded]) -> dict[str, str]:
    return {
        part: sha256(repr([*map(list, forwarded.values())]).encode()).hexdigest()[:16]
        for part, forwarded in parts.items()
    }
