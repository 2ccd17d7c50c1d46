"""The options of a scenario, written so that they repeat its run."""

from __future__ import annotations

import tomllib
from pathlib import Path

from twigcast.simulator import (
    Scenario,
    options_text,
    read_scenario,
    simulate,
)

NETWORK = '[topology]\nlinks = [["a", "b"], ["b", "c"]]\n'


def scenario(text: str, folder: Path = Path()) -> Scenario:
    return Scenario.of(tomllib.loads(text), name="t.toml", folder=folder)


def test_options_are_a_scenario_that_repeats_the_run() -> None:
    text = (
        'strategy = "prefix(depth=2)"\n[topology]\ngenerate = "random-tree"\nbrokers = 4\n'
        "latency_ms = [1, 30]\n[workload]\ninterests = 1\ndtds = ['news', 'parts']\n"
        "[churn]\nseconds = 3\nsubscribe = 2\nunsubscribe = 2\nlink_loss = 0.5\n"
        "[[change]]\nat = 1\ndo = 'publish'\nbroker = 'b1'\ndocument = '<news/>'\n"
        "[run]\nseed = 5\nbatch_delay = 0.01\n"
    )
    first = scenario(text)
    again = scenario(options_text(first.options))
    assert again.options == first.options
    assert simulate(again) == simulate(first)


def test_a_seed_from_outside_takes_the_place_of_that_inside(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(NETWORK + "[run]\nseed = 3\n", encoding="utf-8-sig")
    assert read_scenario(path).seed == 3
    other = read_scenario(path, seed=9)
    assert other.seed == 9
    assert "seed = 9" in options_text(other.options)
