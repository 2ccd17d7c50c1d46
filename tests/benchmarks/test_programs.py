"""The kind ``programs``, on a workload as small as can be."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import programs, workloads
from benchmarks.definition import Definition
from benchmarks.processes import PROC
from benchmarks.workloads import load
from twigcast.matching import Matcher

DEFINITION = Definition(
    name="few",
    kind="programs",
    workload="news/values",
    seed=1,
    subscriptions=40,
    documents=6,
    engines=("match, 6 documents", "run, 6 documents"),
)

pytestmark = pytest.mark.skipif(not PROC.exists(), reason="there is no /proc here")


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(workloads.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(programs, "ZIP_DOCUMENTS", 4)


@pytest.mark.parametrize(
    "engine",
    [
        "match, 6 documents",
        pytest.param(
            "run, 6 documents", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]
        ),
    ],
)
def test_a_program_finds_what_a_matcher_finds(engine: str) -> None:
    workload = load(DEFINITION)
    matcher = Matcher()
    for number, expression in enumerate(workload.expressions):
        matcher.add(number, expression)
    expected = sum(len(matcher.match(document)) for document in workload.documents)
    measurement = programs.measured(DEFINITION, engine)
    assert measurement.counts == {"6 documents": expected}
    assert measurement.figures["documents"] == 6
    assert measurement.figures["cpu_s"] > 0


def test_a_program_that_fails_gives_no_figures(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        programs._called(["match", str(tmp_path / "absent"), "-"], tmp_path / "printed")
