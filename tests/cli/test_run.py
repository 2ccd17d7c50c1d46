"""``twigcast run``: what is typed reaches the pipeline, and what it says reaches the screen."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

pytest.importorskip("pyspark")

EXECUTABLE = Path(sys.executable).with_name("twigcast")
NEEDED = ("--subscriptions", "subs.csv", "--publications", "feed", "--out", "out")


@dataclass
class Pipeline:
    """Takes the place of the pipeline: remembers what it was asked, answers at once."""

    rejected: int = 0
    dead_letters: int = 0
    asked: dict[str, Any] = field(default_factory=dict)

    def run_batch(
        self, subscriptions: str, publications: object, out: str, **asked: object
    ) -> object:
        from twigcast.spark import Run

        self.asked = {"subscriptions": subscriptions, "publications": publications, **asked}
        return Run(
            run="r1",
            out=out,
            started=datetime(2026, 1, 2, tzinfo=UTC),
            subscriptions=4,
            rejected=self.rejected,
            documents=1234,
            bytes=5_000_000,
            deliveries=99,
            dead_letters=self.dead_letters,
            engine="lxml",
            matcher_version="abc",
            matcher_loads=2,
            workers=2,
            partitions=8,
            seconds={"matching": 1.5, "writing": 0.5},
        )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    pipeline = Pipeline()
    monkeypatch.setattr("twigcast.spark.run_batch", pipeline.run_batch)
    return pipeline


@pytest.mark.usefixtures("pipeline")
def test_the_summary_tells_what_came_out_and_where_it_lies(twigcast: Twigcast) -> None:
    result = twigcast("run", *NEEDED)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "documents            1,234  5.0 MB",
        "subscriptions            4  engine lxml",
        "deliveries              99  out/deliveries",
        "dead_letters             0  out/dead_letters",
        "rejected                 0  out/rejected",
        "seconds                2.0  matching 1.5, writing 0.5 (8 tasks, 2 workers)",
    ]


@pytest.mark.usefixtures("pipeline")
def test_json_is_one_object_with_the_metrics(twigcast: Twigcast) -> None:
    told = json.loads(twigcast("run", *NEEDED, "--json").stdout)
    assert told["deliveries"] == 99
    assert told["started"] == "2026-01-02T00:00:00+00:00"
    assert told["seconds"] == {"matching": 1.5, "writing": 0.5}


def test_every_option_reaches_the_pipeline(twigcast: Twigcast, pipeline: Pipeline) -> None:
    options = "--format csv --option sep=; --content-column xml --document-column name"
    more = "--files *.nitf --partitions 3 --overwrite --engine lxml --publications other"
    assert twigcast("run", *NEEDED, *options.split(), *more.split()).exit_code == 0
    source = pipeline.asked["publications"]
    assert list(source.source) == ["feed", "other"]
    assert (source.format, source.options) == ("csv", {"sep": ";"})
    assert (source.content_column, source.document_column) == ("xml", "name")
    assert list(source.patterns) == ["*.nitf"]
    chosen = {name: pipeline.asked[name] for name in ("partitions", "overwrite", "engine", "spark")}
    assert chosen == {"partitions": 3, "overwrite": True, "engine": "lxml", "spark": None}


def test_a_master_is_where_the_session_starts(
    twigcast: Twigcast, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twigcast.spark.start_session", lambda master: f"session at {master}")
    assert twigcast("run", *NEEDED, "--master", "spark://there:7077").exit_code == 0
    assert pipeline.asked["spark"] == "session at spark://there:7077"


@pytest.mark.parametrize("refused", [{"rejected": 1}, {"dead_letters": 1}])
def test_refused_inputs_show_in_the_exit_code(
    twigcast: Twigcast, pipeline: Pipeline, refused: dict[str, int]
) -> None:
    vars(pipeline).update(refused)
    assert twigcast("run", *NEEDED).exit_code == 1


@pytest.mark.parametrize("missing", [0, 2, 4])
def test_the_three_places_must_be_given(twigcast: Twigcast, missing: int) -> None:
    assert twigcast("run", *NEEDED[:missing], *NEEDED[missing + 2 :]).exit_code == 2


@pytest.mark.usefixtures("pipeline")
def test_an_option_without_its_halves_is_a_matter_of_usage(twigcast: Twigcast) -> None:
    assert twigcast("run", *NEEDED, "--option", "sep").exit_code == 2


@pytest.mark.usefixtures("shop")
def test_missing_files_are_a_matter_of_usage_and_found_before_spark_starts(
    twigcast: Twigcast,
) -> None:
    nowhere = twigcast("run", *NEEDED)
    assert nowhere.exit_code == 2
    assert "no publications at feed" in nowhere.stderr
    no_file = ("--subscriptions", "none.txt", "--publications", "good.xml", "--out", "out")
    assert twigcast("run", *no_file).exit_code == 2


@pytest.mark.spark
def test_the_run_delivers_what_match_answers(shop: Path) -> None:
    import pyarrow.parquet as pq

    words = ("--subscriptions", "subs.txt", "--publications", "good.xml", "--publications")
    command = [str(EXECUTABLE), "run", *words, "broken.xml", "--out", "out", "--json", "--master"]
    told = subprocess.run([*command, "local[1]"], cwd=shop, capture_output=True, check=False)
    assert told.returncode == 1, told.stderr
    (line,) = told.stdout.splitlines()
    metrics = json.loads(line)
    assert (metrics["documents"], metrics["dead_letters"], metrics["rejected"]) == (2, 1, 1)
    rows = pq.read_table(shop / "out" / "deliveries").to_pylist()
    assert sorted((row["document"], row["subscription"]) for row in rows) == [
        ("good.xml", "1"),
        ("good.xml", "3"),
        ("good.xml", "5"),
    ]
    assert told.stderr == b""
