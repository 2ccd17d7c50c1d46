"""The other kinds of measurement, on workloads as small as can be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import large, workloads
from benchmarks.changes import changed
from benchmarks.definition import Definition
from benchmarks.links import LINKS, linked
from benchmarks.processes import PROC, used
from benchmarks.workloads import Workload
from twigcast.matching.engines.native import AVAILABLE

ENGINE = "native" if AVAILABLE else "streaming"
NAMES = [f"e{number}" for number in range(LINKS + 20)]
WORKLOAD = Workload(
    tuple(f"/a/{name}" for name in NAMES),
    (b"<a><e1/><e65/><e9/></a>", b"<a><e12/></a>", b"<a/>"),
)


@pytest.mark.parametrize("manner", ["alone", "documents in between"])
def test_after_all_changes_the_matches_are_those_of_before(manner: str) -> None:
    measurement = changed(WORKLOAD, f"{ENGINE}, {manner}")
    assert measurement.counts == {"after": 4}
    assert measurement.figures["adds_per_s"] > 0
    assert measurement.figures["slowest_add_ms"] > 0


def test_links_are_those_that_the_matching_ids_came_by() -> None:
    measurement = linked(WORKLOAD, ENGINE)
    assert measurement.counts == {"links": 3, "differences": 0}  # 1 and 65 came by one link.


def test_a_large_document_is_checked_against_lxml(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = Workload(("/nitf/head", "/nitf/none"), (b"<nitf/>",))
    monkeypatch.setattr(large, "SAMPLED", 1)
    monkeypatch.setattr(large, "load", lambda _: workload)
    monkeypatch.setattr(large, "large_document", lambda _: b"<nitf><head/></nitf>")
    definition = Definition(
        name="one", workload="nitf/none", subscriptions=2, documents=1, engines=()
    )
    measurement = large.measured(definition, f"{ENGINE}, 1 MB")
    assert measurement.counts == {f"{ENGINE}, 1 MB": 1, "differences": 0}
    assert measurement.figures["elements"] == 2


@pytest.mark.skipif(not PROC.exists(), reason="there is no /proc here")
def test_what_a_child_used_counts_while_it_lives_and_when_it_has_ended() -> None:
    before = used()
    work = "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "done\n"
        alive = used() - before
        child.communicate("\n")
    ended = used() - before
    assert alive.all_s >= 0.25
    assert ended.all_s >= alive.all_s
    assert ended.java_s <= ended.all_s, "a session of other tests may be at work beside"


def test_what_was_drawn_is_kept_for_the_other_processes_of_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(workloads.CACHE_VARIABLE, str(tmp_path))
    definition = Definition(
        name="one", workload="news/mixed", seed=1, subscriptions=5, documents=1, engines=()
    )
    drawn = workloads.load(definition).expressions
    (kept,) = workloads.cache_folder().iterdir()
    assert tuple(kept.read_text().split("\n")) == drawn
    assert workloads.load(definition).expressions == drawn
