"""The kind ``simulation``: one schedule, played to networks of brokers under every strategy.

The set-up is that of Dissemination, section 1.6: brokers form a complete binary tree; there is a
subscriber at each leaf, with as many distinct paths as each other; one publisher at a random broker
advertises its DTD, and then hands in 50 documents. The "engines" are strategies, or, for the
paper's Tables 1.2 and 1.3, the rows of these tables, with traffic counted in paths.

Every figure but real time is a count in simulated time, the same on each machine. Each strategy
must deliver the same documents to the same subscriptions; nothing may be missing, unexpected or
delivered twice (the simulator's oracle says so, who knows no router).

*Messages* are counted as the paper counts them, as received by brokers: what crosses links, and
what clients hand in. A pattern, an advertisement, a document (or a path of it) is one each.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, digest, peak_bytes
from benchmarks.workloads import NITF, SHAPES, drawn
from twigcast.language import Pattern
from twigcast.routing.events import BrokerId, Publish, Subscribe, SubscriptionId
from twigcast.routing.in_memory.traffic import KINDS
from twigcast.routing.path_unit.path_messages import path_count
from twigcast.routing.strategy import Strategy, advertised, covering, identity, strategy
from twigcast.simulator import Results, Scenario, Schedule, generate_schedule, simulate
from twigcast.simulator.schedule import ClientEvent


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Dissemination's Tables 1.2 and 1.3: our strategy, and messages by brokers."""

    strategy: Strategy
    messages: Mapping[int, int]


PLAIN = "no-Adv-no-Cov"
ROWS = {
    PLAIN: Row(replace(identity(), unit="path"), {7: 58_138, 127: 654_871}),
    "no-Adv-with-Cov": Row(replace(covering(), unit="path"), {7: 50_931, 127: 572_890}),
    "with-Adv-no-Cov": Row(
        advertised(covering=False, unit="path"),
        {7: 39_849, 127: 398_810},
    ),
    "with-Adv-with-Cov": Row(advertised(unit="path"), {7: 38_492, 127: 326_796}),
    "with-Adv-with-CovPM": Row(
        advertised(merging="perfect", unit="path"),
        {7: 25_789, 127: 254_900},
    ),
    "with-Adv-with-CovIPM": Row(
        advertised(merging="imperfect", degree=0.1, unit="path"),
        {7: 26_146, 127: 257_567},
    ),
}


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one strategy, or one row of the paper."""
    begun, begun_cpu = time.perf_counter(), time.process_time()
    row = ROWS.get(engine)
    chosen = strategy(engine) if row is None else row.strategy
    scenario = scenario_of(definition)
    schedule = schedule_of(definition, scenario)
    results = simulate(scenario, chosen, schedule=schedule)
    seconds = time.perf_counter() - begun
    cpu_s = time.process_time() - begun_cpu
    messages = received(schedule, results, chosen)
    figures = {
        **{f"{kind}_messages": results.total(kind) for kind in KINDS},
        "messages": messages,
        **_beside_paper(definition, row, messages),
        "crossings": results.crossings,
        "needless": results.needless,
        "routes": results.routes,
        "routes_most": max(tables.routes for tables in results.tables.values()),
        "usage_subscription_ms": results.usage.per_subscription_ms,
        "usage_publication_ms": results.usage.per_publication_ms,
        "response_ms": 1e3 * results.response.mean,
        "real_s": seconds,
        "cpu_s": cpu_s,
        "peak_mib": peak_bytes() / 2**20,
    }
    return Measurement(
        engine=engine,
        counts={
            "deliveries": results.delivered,
            "failures": failures(results),
            f"messages, {engine}": messages,
        },
        digests={"deliveries": delivered_digest(results)},
        figures=figures,
    )


def scenario_of(definition: Definition) -> Scenario:
    """The network, the subscribers, the publisher and the documents."""
    source, _, shape = definition.workload.partition("/")
    leaves = (definition.brokers + 1) // 2
    assert definition.subscriptions % leaves == 0
    given: dict[str, object] = {
        "topology": {"generate": "binary-tree", "levels": leaves.bit_length()},
        "workload": {
            "dtds": ["news" if source == "news" else "nitf-2-5.dtd"],
            "subscriptions": 0 if definition.distinct else definition.subscriptions // leaves,
            "subscribers_at": "leaves",
            "patterns": {} if definition.distinct else SHAPES[shape],
            "documents": definition.documents,
            "publishers": 1,
        },
        "run": {"seed": definition.seed},
    }
    return Scenario.of(given, name=definition.name, folder=Path() if source == "news" else NITF)


def schedule_of(definition: Definition, scenario: Scenario) -> Schedule:
    """Each subscriber draws patterns of its own, or chooses from those that there are in all."""
    schedule = generate_schedule(scenario).schedule
    if not definition.distinct:
        return schedule
    network = schedule.network
    leaves = [broker for broker in network.brokers if len(network.neighbours(broker)) == 1]
    source, _, shape = definition.workload.partition("/")
    texts = drawn(source, shape, seed=definition.seed, count=definition.distinct)
    patterns = [Pattern.parse(text) for text in texts]
    subscriptions: list[ClientEvent] = []
    for place, leaf in enumerate(leaves):
        if definition.distinct == definition.subscriptions:
            mine = patterns[place :: len(leaves)]
        else:
            die = Random(f"{definition.seed} {leaf}")
            mine = die.sample(patterns, definition.subscriptions // len(leaves))
        subscriptions += (
            ClientEvent(0.0, BrokerId(leaf), Subscribe(SubscriptionId(number), leaf, pattern))
            for number, pattern in enumerate(mine)
        )
    return replace(schedule, stage=(schedule.stage[0], tuple(subscriptions)))


def received(schedule: Schedule, results: Results, chosen: Strategy) -> int:
    """The messages that brokers receive: over links, and from clients."""
    documents = [
        happening.event.publication.content
        for happening in schedule.then
        if isinstance(happening, ClientEvent) and isinstance(happening.event, Publish)
    ]
    published = sum(map(path_count, documents)) if chosen.unit == "path" else len(documents)
    handed_in = sum(map(len, schedule.stage)) + published
    return handed_in + sum(results.total(kind) for kind in KINDS)


def failures(results: Results) -> int:
    """Deliveries that are missing, unexpected or repeated, and whatever else must not be."""
    wrong = results.missed + results.unexpected + results.repeated
    others = len(results.dead_letters) + len(results.refusals) + results.lost
    return wrong + others + (results.stopped is not None)


def delivered_digest(results: Results) -> str:
    """A fingerprint of who received what."""
    arrived = sorted(results.arrived, key=lambda each: (each.publication, each.broker))
    return digest(sorted(each.subscriptions) for each in arrived)


def _beside_paper(definition: Definition, row: Row | None, messages: int) -> dict[str, float]:
    """Messages as a share of those of the first row, ours and the paper's."""
    if row is None:
        return {}
    plain = definition.expected.get(f"messages, {PLAIN}") or messages
    first = ROWS[PLAIN].messages[definition.brokers]
    return {
        "of_plain": messages / plain,
        "of_plain_in_paper": row.messages[definition.brokers] / first,
    }
