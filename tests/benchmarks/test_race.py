"""The benchmarks' frame: a wrong count fails the run, and a record says how it was made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from benchmarks import workloads
from benchmarks.__main__ import main, race, usual
from benchmarks.bars import Bar
from benchmarks.definition import Definition
from benchmarks.definitions import DEFINITIONS, by_name
from benchmarks.machine import machine, versions
from benchmarks.measure import Measurement, digest
from benchmarks.race import raced
from benchmarks.report import Setting, table, verdicts, wrong_answers
from benchmarks.workloads import Workload
from tests.engines import EVERY_ENGINE, NATIVE

WORKLOAD = Workload(("/a", "//b", "/a/c"), (b"<a><b/></a>", b"<a><c/></a>"))
TINY = Definition(
    name="tiny",
    workload="news/mixed",
    subscriptions=3,
    documents=2,
    engines=("lxml", "one by one"),
    sampled={"one by one": 1},
    expected={"all": 4, "sample": 2},
    bars=(Bar(says="never slow", engine="lxml", figure="warm_us", at_most=1e9),),
)
SETTING = Setting(
    date="2001-02-03",
    command="python -m benchmarks tiny",
    commit="0123abc",
    machine=machine(),
    versions=versions(),
)


def measured(engine: str = "one by one", **changes: object) -> Measurement:
    measurement = Measurement(
        engine=engine,
        counts={"all": 4},
        digests={"all": "same"},
        figures={"warm_us": 2.0, "times_parse": 10.0},
    )
    return replace(measurement, **changes)  # type: ignore[arg-type]


def measure_here(definition: Definition, engine: str) -> Measurement:
    return raced(definition, engine, WORKLOAD)


@pytest.mark.parametrize("engine", [*EVERY_ENGINE, "one by one", "one by one, in pieces"])
def test_every_engine_finds_the_same_matches(engine: str) -> None:
    measurement = raced(replace(TINY, sampled={}), engine, WORKLOAD)
    assert measurement.counts == {"all": 4, "sample": 4}
    assert measurement.digests["all"] == digest([(0, 1), (0, 2)])


def test_an_engine_with_a_sample_gets_the_first_documents_only() -> None:
    measurement = raced(TINY, "one by one", WORKLOAD)
    assert measurement.counts == {"sample": 2}
    assert measurement.figures["documents"] == 1


@NATIVE
def test_a_mapped_index_answers_as_the_one_that_was_written() -> None:
    definition = replace(TINY, mapped=True)
    written = raced(definition, "native", WORKLOAD)
    mapped = raced(definition, "native, mapped", WORKLOAD)
    assert written.figures["file_mib"] > 0
    assert mapped.digests == written.digests


def test_a_right_count_ends_well_and_leaves_a_record(tmp_path: Path) -> None:
    code = race([TINY], turns=2, records=tmp_path, setting=SETTING, measure=measure_here)
    assert code == 0
    record = json.loads((tmp_path / "2001-02-03-tiny.json").read_text())
    assert record["commit"] == "0123abc"
    assert record["command"] == "python -m benchmarks tiny"
    assert record["machine"]["cores"]
    assert record["versions"]["lxml"]
    assert record["definition"]["expected"] == {"all": 4, "sample": 2}
    assert [run["engine"] for run in record["measurements"]] == [*TINY.engines, *TINY.engines]
    page = (tmp_path / "2001-02-03-tiny.md").read_text()
    assert "| one by one | 2 |" in page
    assert "- met: never slow; it was " in page
    assert "- `tiny`, 2001-02-03, turns: 2: met: never slow" in (tmp_path / "README.md").read_text()


def test_a_wrong_count_fails_the_run_and_leaves_no_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = replace(TINY, expected={"all": 5, "sample": 2})
    code = race([wrong], turns=1, records=tmp_path, setting=SETTING, measure=measure_here)
    assert code == 1
    assert "tiny: lxml found 4 matches (all); there are 5" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missed_bar_is_told_and_fails_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = Bar(says="faster than light", engine="lxml", figure="warm_us", at_most=0)
    strict = replace(TINY, bars=(bar,))
    code = race([strict], turns=1, records=tmp_path, setting=SETTING, measure=measure_here)
    assert code == 0
    assert "missed: faster than light; it was " in capsys.readouterr().out


def test_a_process_that_fails_fails_the_run_and_not_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(definition: Definition, engine: str) -> Measurement:
        if definition.name == "broken":
            raise CalledProcessError(1, engine)
        return measure_here(definition, engine)

    both = [replace(TINY, name="broken"), TINY]
    assert race(both, turns=1, records=tmp_path, setting=SETTING, measure=measure) == 1
    assert "broken: " in capsys.readouterr().err
    assert (tmp_path / "2001-02-03-tiny.json").exists()


def test_equal_counts_of_different_answers_are_wrong() -> None:
    runs = [measured(), measured("lxml", digests={"all": "other"})]
    assert list(wrong_answers(TINY, runs, {})) == [
        "the engines disagree about which subscriptions match which document (all)"
    ]


def test_answers_other_than_those_of_libxml2_are_wrong() -> None:
    assert list(wrong_answers(TINY, [measured()], {"all": "same"})) == []
    assert list(wrong_answers(TINY, [measured()], {"all": "other"})) == [
        "the answers are not those that libxml2 gave (all)"
    ]


def test_a_count_that_nobody_expects_is_wrong() -> None:
    runs = [measured(counts={"links": 3}, digests={})]
    assert list(wrong_answers(TINY, runs, {})) == [
        "one by one found 3 matches (links); no number is expected"
    ]


def test_a_missing_corpus_is_told_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workloads, "NITF", tmp_path / "absent")
    nitf = by_name("nitf-paths-1k")
    assert race([nitf], turns=1, records=tmp_path, setting=SETTING, measure=measure_here) == 0
    assert "nitf-paths-1k is left out: ../shared/bench/nitf is not here" in capsys.readouterr().err


def test_our_own_workload_stands_in_where_the_corpus_is_absent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workloads, "NITF", tmp_path)
    assert not any(definition.stands_in for definition in usual(quick=False))
    monkeypatch.setattr(workloads, "NITF", tmp_path / "absent")
    assert any(definition.stands_in for definition in usual(quick=False))


def test_a_quick_run_leaves_out_what_takes_minutes() -> None:
    assert any(definition.heavy for definition in usual(quick=False))
    assert not any(definition.heavy for definition in usual(quick=True))


def test_the_table_gives_medians_and_their_spread() -> None:
    runs = [
        measured(engine, figures={"warm_us": slow * us, "times_parse": slow})
        for engine, slow in zip(TINY.engines, (1.5, 10), strict=True)
        for us in (200.0, 100.0, 900.0)
    ]
    assert table(TINY, runs).splitlines() == [
        "| engine | matches | warm, CPU µs per document | × parse |",
        "| --- | ---: | ---: | ---: |",
        "| lxml | 4 | 300 (150 to 1,350) | 1.50 |",
        "| one by one | 4 | 2,000 (1,000 to 9,000) | 10 |",
    ]
    assert verdicts(TINY, runs) == ["met: never slow; it was 300"]


def test_every_definition_has_a_name_of_its_own_and_bars_on_its_own_engines() -> None:
    names = [definition.name for definition in DEFINITIONS]
    assert len(set(names)) == len(names)
    for definition in DEFINITIONS:
        named = {bar.engine for bar in definition.bars}
        named |= {bar.over[0] for bar in definition.bars if bar.over}
        assert named | set(definition.sampled) <= set(definition.engines)


def test_every_race_is_also_run_by_the_naive_way() -> None:
    for definition in DEFINITIONS:
        if definition.kind == "race":
            assert any(engine.startswith("one by one") for engine in definition.engines)


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-race"]) == 2
    assert "no benchmark is called 'no-such-race'; there are " in capsys.readouterr().err


@pytest.fixture
def shared_nitf() -> None:
    if not workloads.NITF.exists():
        pytest.skip("shared corpus not found: ../shared/bench/nitf")


@pytest.mark.usefixtures("shared_nitf")
@pytest.mark.parametrize("name", ["nitf-paths-1k", "nitf-values-1k", "nitf-branches-1k"])
def test_the_expected_counts_are_those_that_come_with_the_corpus(name: str) -> None:
    definition = by_name(name)
    workload = workloads.load(definition)
    answers = workloads.known_answers(definition)
    assert answers is not None
    assert len(workload.expressions) == definition.subscriptions
    assert sum(map(len, answers)) == definition.expected["all"]
    assert sum(map(len, answers[: definition.sample])) == definition.expected["sample"]


@pytest.mark.usefixtures("shared_nitf")
def test_a_large_document_fills_the_size_that_was_asked_for() -> None:
    small, large = workloads.large_document(20_000), workloads.large_document(40_000)
    assert 12_000 < len(small) <= 20_000
    assert len(small) < len(large) <= 40_000
    assert large.startswith(small.removesuffix(b"</nitf>\n"))
