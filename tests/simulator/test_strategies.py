"""The law in simulated time: every strategy delivers what flooding does, and runs repeat."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from twigcast.simulator import Results, Scenario, Simulation, generate_schedule, simulate

STRATEGIES = (
    "identity",
    "prefix",
    "prefix(depth=2)",
    "covering",
    "covering(towards=producers)",
    "advertised",
    "advertised(covering=false)",
    "advertised(merging=perfect, merge_every=1)",
    "advertised(merging=imperfect, degree=0.3, merge_every=1)",
    "advertised(unit=path)",
    "best",
    "piggyback(merge_every=1)",
    "piggyback(protocol=eager, merge_every=1)",
    "piggyback(on=identity, annotations=-s)",
    "piggyback(on=advertised(merging=perfect), protocol=adaptive, merge_every=1)",
)

ANNOTATED = (
    "piggyback(protocol=eager, annotations=+sd, merge_every=1)",
    "piggyback(annotations=+sd-sd, merge_every=1)",
    "piggyback(annotations=+sd-sd, on=identity, space=0.3, merge_every=0)",
    "piggyback(protocol=adaptive, annotations=+sd-sd, on=identity)",
)
"""These are worth playing with an engine that reads in order."""

TROUBLED = """
[topology]
generate = "random-tree"
brokers = 6
latency_ms = [1, 40]
bandwidth_mbps = 10
[workload]
dtds = ["news", "parts", "transit"]
interests = 2
subscriptions = 6
documents = 8
publishers = 2
publish_times = [0, 1, 2, 3, 60, 61, 62, 63]
[workload.patterns]
predicates = 1
nested = 0.2
[workload.document]
elements = 40
[churn]
seconds = 6
subscribe = 2
unsubscribe = 2
link_loss = 0.5
down_seconds = 0.8
"""


def scenario(text: str, seed: int) -> Scenario:
    return Scenario.of(tomllib.loads(text), name="t", folder=Path(), seed=seed)


def late(results: Results) -> set[tuple[object, ...]]:
    """Deliveries of the documents that came when all was quiet again."""
    return {each[:4] for each in results.deliveries if each.publication >= "document 5"}


@pytest.mark.parametrize("seed", [1, 2])
def test_after_all_troubles_every_strategy_delivers_what_flooding_does(seed: int) -> None:
    read = scenario(TROUBLED, seed)
    schedule = generate_schedule(read).schedule
    flooding = late(simulate(read, "flooding", schedule=schedule))
    assert flooding
    for strategy in STRATEGIES:
        results = simulate(read, strategy, schedule=schedule)
        assert late(results) == flooding, strategy
        assert (results.repeated, results.refusals) == (0, ()), strategy


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_in_a_quiet_network_nothing_is_missed_and_perfect_strategies_waste_nothing(
    strategy: str,
) -> None:
    read = scenario(TROUBLED.partition("[churn]")[0], 3)
    simulation = Simulation(generate_schedule(read).schedule, strategy)
    results = simulation.run()
    assert (results.missed, results.unexpected, results.repeated) == (0, 0, 0)
    assert results.delivered > 0
    if simulation.strategy.perfect:
        assert results.needless == 0


@pytest.mark.parametrize("strategy", ANNOTATED)
def test_answers_in_parts_deliver_what_flooding_does(strategy: str) -> None:
    read = scenario(TROUBLED + '[run]\nengine = "streaming"\n', 6)
    schedule = generate_schedule(read).schedule
    results = simulate(read, strategy, schedule=schedule)
    assert late(results) == late(simulate(read, "flooding", schedule=schedule))
    assert (results.repeated, results.refusals, results.dead_letters) == (0, (), ())
    assert results.carried is not None
    assert results.carried.bytes > 0


def test_a_run_repeats_to_the_last_figure() -> None:
    read = scenario(TROUBLED, 4)
    first, second = simulate(read), simulate(read)
    assert first == second
    assert first.to_json() | {"real_seconds": 0} == second.to_json() | {"real_seconds": 0}
    assert simulate(scenario(TROUBLED, 5)) != first


def test_a_run_repeats_whatever_the_order_of_sets(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(TROUBLED)
    printed = []
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [Path(sys.executable).with_name("twigcast"), "simulate", "t.toml", "--json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        )
        printed.append(json.loads(done.stdout) | {"real_seconds": 0})
    assert printed[0] == printed[1]
