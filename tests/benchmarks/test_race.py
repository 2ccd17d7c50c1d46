"""The benchmarks' frame: a wrong count fails the run, and a record says how it was made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import workloads
from benchmarks.__main__ import main, race
from benchmarks.definitions import DEFINITIONS, IN_PROCESS, Definition, by_name
from benchmarks.machine import machine, versions
from benchmarks.measure import Measurement, digest, measure_in_process
from benchmarks.report import Setting, table, wrong_answers
from benchmarks.workloads import Workload

TINY = Definition(name="tiny", workload="news", subscriptions=3, documents=2, expected=4)
SETTING = Setting(
    date="2001-02-03",
    command="python -m benchmarks tiny",
    commit="0123abc",
    machine=machine(),
    versions=versions(),
)
WORKLOAD = Workload(("/a", "//b", "/a/c"), (b"<a><b/></a>", b"<a><c/></a>"))


def measured(engine: str = "one by one", **changes: object) -> Measurement:
    measurement = Measurement(
        engine=engine,
        matches=4,
        digest="same",
        clock="CPU",
        compile_s=0.5,
        match_s=1.0,
        first_pass_s=2.0,
        held_bytes=2**20,
        peak_bytes=2**21,
    )
    return replace(measurement, **changes)  # type: ignore[arg-type]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Definition:
    """A definition whose workload stands above."""
    monkeypatch.setattr(workloads, "_news", lambda _: WORKLOAD)
    return TINY


def measure_here(_: Definition, engine: str) -> Measurement:
    return measure_in_process(engine, WORKLOAD)


@pytest.mark.parametrize("engine", IN_PROCESS[1:])
def test_every_engine_finds_the_same_matches(engine: str) -> None:
    measurement = measure_in_process(engine, WORKLOAD)
    assert measurement.matches == 4
    assert measurement.digest == digest([(0, 1), (0, 2)])


def test_a_right_count_ends_well_and_leaves_a_record(tiny: Definition, tmp_path: Path) -> None:
    code = race([tiny], repeats=2, records=tmp_path, setting=SETTING, measure=measure_here)
    assert code == 0
    record = json.loads((tmp_path / "2001-02-03-tiny.json").read_text())
    assert record["commit"] == "0123abc"
    assert record["command"] == "python -m benchmarks tiny"
    assert record["machine"]["cores"]
    assert record["versions"]["lxml"]
    assert record["definition"]["expected"] == 4
    assert [run["engine"] for run in record["measurements"]] == [*IN_PROCESS, *IN_PROCESS]
    assert "| one by one | 4 |" in (tmp_path / "2001-02-03-tiny.md").read_text()


def test_a_wrong_count_fails_the_run_and_leaves_no_record(
    tiny: Definition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = replace(tiny, expected=5)
    code = race([wrong], repeats=1, records=tmp_path, setting=SETTING, measure=measure_here)
    assert code == 1
    assert "tiny: one by one found 4 matches; there are 5" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_equal_counts_of_different_answers_are_wrong() -> None:
    runs = [measured(), measured("twigcast lxml", digest="other")]
    assert list(wrong_answers(TINY, runs)) == [
        "the engines disagree about which subscriptions match which document"
    ]


def test_a_missing_corpus_is_told_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workloads, "NITF", tmp_path / "absent")
    nitf = by_name("nitf-paths-1k")
    assert race([nitf], repeats=1, records=tmp_path, setting=SETTING, measure=measure_here) == 0
    assert "nitf-paths-1k is left out: ../shared/bench/nitf is not here" in capsys.readouterr().err


def test_the_table_gives_medians_spread_and_the_ratio_to_the_floor() -> None:
    runs = [
        measured(engine, match_s=seconds)
        for engine, slow in zip(IN_PROCESS, (1, 10, 3), strict=True)
        for seconds in (0.2 * slow, 0.1 * slow, 0.9 * slow)
    ]
    assert table(TINY, runs).splitlines()[2:] == [
        "| parse | – | 500 | 1,000.000 | 100.000, 50.000 to 450.000 | 1.0 | 1.0 | 2.0 |",
        "| one by one | 4 | 500 | 1,000.000 | 1000.000, 500.000 to 4500.000 | 10.0 | 1.0 | 2.0 |",
        "| twigcast lxml | 4 | 500 | 1,000.000 | 300.000, 150.000 to 1350.000 | 3.0 | 1.0 | 2.0 |",
    ]


def test_every_definition_has_a_name_of_its_own_and_races_against_the_naive_way() -> None:
    names = [definition.name for definition in DEFINITIONS]
    assert len(set(names)) == len(names)
    for definition in DEFINITIONS:
        assert definition.floor.endswith("parse")
        assert any(engine.endswith("one by one") for engine in definition.engines)


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-race"]) == 2
    assert "no benchmark is called 'no-such-race'; there are " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nitf-paths-1k", "nitf-values-1k", "nitf-branches-1k"])
def test_the_shared_sets_are_read_in_the_size_asked_for(name: str) -> None:
    definition = by_name(name)
    if not workloads.NITF.exists():
        pytest.skip("shared corpus not found: ../shared/bench/nitf")
    workload = workloads.load(definition)
    assert len(workload.expressions) == definition.subscriptions
    assert len(workload.documents) == definition.documents
