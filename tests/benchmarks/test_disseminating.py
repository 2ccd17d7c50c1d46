"""The pipeline is measured through one broker and through many, and everywhere answers alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import disseminating
from benchmarks.dissemination_definitions import DISSEMINATION_DEFINITIONS
from benchmarks.report import HEADINGS

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.mark.usefixtures("spark")
def test_every_engine_gives_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disseminating, "WARMING_RUNS", 0)
    monkeypatch.setattr(disseminating, "ended", lambda _: None)
    tree = replace(
        DISSEMINATION_DEFINITIONS[0], subscriptions=40, documents=6, brokers=7, sampled={}
    )
    engines = ("one broker", "fused, covering", "fused, prefix(depth=4)", "hops, flooding")
    runs = [disseminating.measured(tree, engine) for engine in (*engines, "line of 3")]
    assert len({run.digests["sample"] for run in runs}) == 1
    assert len({run.counts["all"] for run in runs}) == 1
    assert runs[0].counts["all"] > 0
    assert runs[3].figures["crossings"] == 6 * 6, "every document goes over every link"
    assert runs[4].figures["crossings"] == 6 * 2
    assert runs[0].figures["crossings"] == runs[1].figures["needless"] == 0
    assert all(run.figures["loads_per_worker"] >= 1 for run in runs)
    assert all(run.figures.keys() <= HEADINGS.keys() for run in runs)
