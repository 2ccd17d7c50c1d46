"""Scenarios: what may be written, and what is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from twigcast.errors import UsageError
from twigcast.routing.strategy import advertised, prefix
from twigcast.simulator import (
    CostModel,
    Scenario,
    generate_schedule,
    read_scenario,
    simulate,
)

NETWORK = '[topology]\nlinks = [["a", "b"], ["b", "c"]]\n'


def scenario(text: str, folder: Path = Path()) -> Scenario:
    return Scenario.of(tomllib.loads(text), name="t.toml", folder=folder)


def test_a_topology_alone_is_a_scenario() -> None:
    read = scenario(NETWORK)
    assert (str(read.strategy), read.seed, read.cost) == ("best", 1, CostModel())
    results = simulate(read)
    assert (results.publications, results.subscriptions, results.missed) == (10, 30, 0)


def test_strategies_are_texts_or_tables() -> None:
    assert scenario('strategy = "prefix(depth=3)"\n' + NETWORK).strategy == prefix(3)
    table = '[strategy]\nname = "advertised"\nmerging = "imperfect"\ndegree = 0.2\n'
    assert scenario(NETWORK + table).strategy == advertised(merging="imperfect", degree=0.2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot read the scenario"),
        (b"[", "t.toml: not TOML: "),
        (b"\xff", "t.toml, byte 1: not UTF-8"),
        (b"#" * (4 * 1024**2 + 1), "SCENARIO_BYTES_MAX"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "t.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_scenario(path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"churn": {"seconds": 1e9, "subscribe": 1e9}}, r"\[churn\].*CHURN_MAX"),
        ({"workload": {"publish_every": 10**400}}, "publish_every"),
    ],
)
def test_what_nobody_can_mean_is_told_before_anything_is_drawn(
    asked: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        Scenario.of({"topology": {"links": [["a", "b"]]}, **asked}, name="odd.toml", folder=Path())


def test_what_is_drawn_before_a_run_is_bounded_together() -> None:
    asked = {"topology": {"generate": "line", "brokers": 100}}
    for workload, told in (
        ({"subscriptions": 2_000_000}, "SUBSCRIPTIONS_MAX"),
        ({"documents": 1_000_000}, "DRAWN_ELEMENTS_MAX"),
        ({"documents": 1_000, "document": {"bytes": 10_000_000}}, "DRAWN_ELEMENTS_MAX"),
    ):
        with pytest.raises(UsageError, match=told):
            generate_schedule(
                Scenario.of({**asked, "workload": workload}, name="odd.toml", folder=Path())
            )


def test_two_documents_of_one_name_are_told() -> None:
    change = {"at": 1, "do": "publish", "broker": "a", "document": "<a/>", "name": "d"}
    asked = {"topology": {"links": [["a", "b"]]}, "change": [change, {**change, "at": 2}]}
    with pytest.raises(UsageError, match="two documents are called 'd'"):
        generate_schedule(Scenario.of(asked, name="twice.toml", folder=Path()))
