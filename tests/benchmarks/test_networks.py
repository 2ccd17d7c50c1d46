"""The kinds about routers and networks, on workloads as small as can be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import deciding, simulation, subscribing, workloads
from benchmarks.definition import Definition
from benchmarks.definitions import DEFINITIONS
from benchmarks.report import table
from benchmarks.workloads import Workload
from twigcast.matching.engines.native import AVAILABLE
from twigcast.routing.strategy import strategy

ENGINE = "native" if AVAILABLE else "streaming"
WORKLOAD = Workload(
    tuple(f"/a/e{number}" for number in range(25)),
    (b"<a><e1/><e11/><e9/></a>", b"<a><e12/></a>", b"<a/>"),
)
SAMPLE = 9
SMALL = Definition(
    name="small",
    kind="simulation",
    workload="news/paths",
    seed=1,
    subscriptions=40,
    documents=3,
    engines=("flooding", "covering", "no-Adv-no-Cov", "with-Adv-with-Cov"),
    brokers=7,
)


def test_a_router_sends_where_the_bare_matcher_finds_a_match() -> None:
    measurement = deciding.decided(WORKLOAD, (), ENGINE, sample=1)
    assert measurement.counts == {"links": 3, "differences": 0, "links, sample": 2}
    assert measurement.figures["of_match"] > 0


def test_a_router_delivers_to_clients_what_the_bare_matcher_finds() -> None:
    clients = ("/a", "/a/e12", "/b")
    measurement = deciding.decided(WORKLOAD, clients, f"{ENGINE}, with subscriptions", sample=1)
    assert measurement.counts["deliveries"] == 4
    assert measurement.counts["differences"] == 0


def test_a_router_and_lxml_one_by_one_send_to_the_same_links() -> None:
    ours = deciding.decided(WORKLOAD, (), ENGINE, sample=2)
    naive = deciding.decided_one_by_one(WORKLOAD, 2)
    assert naive.digests["links, sample"] == ours.digests["links, sample"]


def test_every_way_to_subscribe_ends_with_the_same_patterns_forwarded() -> None:
    texts = ("/a/b", "//b", "/a/b/c", "/d", "/a", "//*/b", "/d/e", "/a/x", "//x", "/d[@y]")
    workload = Workload(texts, (b"<a><b/></a>", b"<d y='1'><x/></d>"))
    runs = [
        subscribing.subscribed(workload, engine, sample=SAMPLE)
        for engine in (subscribing.COVERING, subscribing.BATCHES)
    ]
    runs.append(subscribing.without_routers(texts, subscribing.INDEXES, sample=SAMPLE))
    assert len({run.digests["forwarded"] for run in runs}) == 1
    naive = subscribing.without_routers(texts[:SAMPLE], subscribing.NAIVE, sample=SAMPLE)
    assert {run.digests["forwarded, sample"] for run in runs} == set(naive.digests.values())
    assert runs[0].counts["differences"] == 0
    assert runs[0].counts["deliveries"] == 7


def test_identity_says_every_pattern_over_every_link() -> None:
    texts = tuple(f"/a/e{number}" for number in range(7))
    measurement = subscribing.subscribed(Workload(texts, ()), subscribing.IDENTITY, sample=1)
    assert measurement.counts["subscribe messages, identity"] == 7 * len(subscribing.LINKS)


def test_every_strategy_delivers_the_same_in_a_simulation() -> None:
    runs = [simulation.measured(SMALL, engine) for engine in SMALL.engines]
    assert len({run.digests["deliveries"] for run in runs}) == 1
    assert all(run.counts["failures"] == 0 for run in runs)
    assert runs[0].counts["deliveries"] > 0


def test_messages_are_what_brokers_receive_from_each_other_and_from_clients() -> None:
    flooded = simulation.measured(SMALL, "flooding")
    advertisements, subscriptions, documents = 1, 40, 3
    handed_in = advertisements + subscriptions + documents
    assert flooded.counts["messages, flooding"] == handed_in + documents * 6


@pytest.mark.parametrize(("distinct", "most"), [(40, 40), (12, 12)])
def test_subscriptions_are_dealt_or_chosen_from_so_many(distinct: int, most: int) -> None:
    definition = replace(SMALL, distinct=distinct)
    story = simulation.schedule_of(definition, simulation.scenario_of(definition))
    asked = [happening.event for happening in story.stage[1]]  # type: ignore[union-attr]
    assert len(asked) == 40
    assert len({event.pattern for event in asked}) <= most  # type: ignore[union-attr]


def test_a_row_of_the_paper_stands_beside_the_share_it_has_there() -> None:
    expected = {"messages, no-Adv-no-Cov": 1000}
    figures = simulation.measured(replace(SMALL, expected=expected), "no-Adv-with-Cov").figures
    assert figures["of_plain"] == figures["messages"] / 1000
    assert figures["of_plain_in_paper"] == 50_931 / 58_138


def test_long_paths_have_as_many_steps_as_they_should(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(workloads.CACHE_VARIABLE, str(tmp_path))
    paths = workloads.drawn("news", "seven-steps", seed=1, count=50)
    assert len(set(paths)) == 50
    assert all(len(path.replace("//", "/").split("/")) > 7 for path in paths)


def test_the_table_says_what_is_counted() -> None:
    runs = [simulation.measured(SMALL, engine) for engine in SMALL.engines]
    head = table(SMALL, runs).splitlines()[0]
    assert head.startswith("| engine | deliveries, failures, messages | ")
    assert " | routes of all brokers | " in head


def test_every_engine_of_a_simulation_is_a_strategy_or_a_row_of_the_paper() -> None:
    for definition in DEFINITIONS:
        if definition.kind == "simulation":
            for engine in definition.engines:
                assert engine in simulation.ROWS or str(strategy(engine)) == engine
