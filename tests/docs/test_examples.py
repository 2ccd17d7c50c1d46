"""The examples are whole programs that run as they stand, and stay short enough to read."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = ROOT / "examples"
LINES_MAX = 80

FEED = {
    "storm.xml": "<news urgency='2'><headline>Storm ahead</headline></news>",
    "prize.xml": "<news urgency='6'><headline>A prize</headline></news>",
    "broken.xml": "<news>",
}
SUBSCRIPTIONS = """id,subscriber,xpath
urgent,Anna,/*[@urgency <= 3]
storms,Anna,"//headline[contains(., 'Storm')]"
prizes,Ben,"//headline[contains(., 'prize')]"
costly,Carla,/news/damage
wrong,Carla,//headline[
"""


@pytest.fixture
def newsroom(tmp_path: Path) -> Path:
    """A folder with a feed and its subscriptions."""
    (tmp_path / "feed").mkdir()
    for name, content in FEED.items():
        (tmp_path / "feed" / name).write_text(content, encoding="utf-8")
    (tmp_path / "subscriptions.csv").write_text(SUBSCRIPTIONS, encoding="utf-8")
    return tmp_path


def run_example(name: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short_and_is_run_here(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < LINES_MAX
    assert f'"{path.name}"' in Path(__file__).read_text(encoding="utf-8")


def test_match_folder_tells_who_receives_what(newsroom: Path) -> None:
    done = run_example("match_folder.py", "subscriptions.csv", "feed", folder=newsroom)
    assert done.stdout == "Anna: feed/storm.xml\nBen: feed/prize.xml\n"
    assert "subscriptions.csv, line 6: expected" in done.stderr
    assert "feed/broken.xml: Premature end" in done.stderr
    assert done.returncode == 1


def test_why_silent_explains_the_subscriptions_without_a_match(newsroom: Path) -> None:
    done = run_example("why_silent.py", "subscriptions.csv", "feed", folder=newsroom)
    assert done.stdout.startswith("costly: feed/")
    assert "step damage leads nowhere" in done.stdout
    assert not {"urgent", "storms", "prizes", "wrong"} & set(done.stdout.split(":"))
    assert (done.stderr, done.returncode) == ("", 0)


def test_network_tells_what_each_strategy_costs(newsroom: Path) -> None:
    placed = SUBSCRIPTIONS.replace("subscriber,", "subscriber,broker,", 1)
    for subscriber, broker in (("Anna", "rome"), ("Ben", "berlin"), ("Carla", "rome")):
        placed = placed.replace(f",{subscriber},", f",{subscriber},{broker},")
    (newsroom / "placed.csv").write_text(placed, encoding="utf-8")
    (newsroom / "line.toml").write_text('links = [["london", "berlin"], ["berlin", "rome"]]')
    done = run_example("network.py", "line.toml", "placed.csv", "feed", folder=newsroom)
    figures = {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines())}
    assert figures["strategy"] == ["deliveries", "documents", "patterns", "routes"]
    assert figures["flooding"] == ["3", "4", "0", "0"]
    assert figures["covering"] == ["3", "3", "8", "8"]
    assert {row[0] for name, row in figures.items() if name != "strategy"} == {"3"}
    assert "broken.xml, line 1, column 7: Premature end" in done.stderr
    assert done.stderr.count("subscription wrong: ") == 1
    assert done.returncode == 0


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_column_writes_a_row_for_each_interest(
    newsroom: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    spark: SparkSession = request.getfixturevalue("spark")
    table = parquet.read_table  # the result is read without Spark, as anybody might
    feed, out = newsroom / "feed.parquet", newsroom / "interests"
    rows = list(FEED.items())
    spark.createDataFrame(rows, "name string, content string").write.parquet(feed.as_uri())
    (newsroom / "subscriptions.csv").write_text(SUBSCRIPTIONS.rpartition("wrong")[0])
    words = [feed.as_uri(), str(newsroom / "subscriptions.csv"), out.as_uri()]
    monkeypatch.setattr(sys, "argv", ["spark_column.py", *words])
    runpy.run_path(str(EXAMPLES / "spark_column.py"), run_name="__main__")
    assert capsys.readouterr().out == "prizes 1\nstorms 1\nurgent 1\n"
    assert sorted(map(tuple, (row.values() for row in table(out).to_pylist()))) == [
        ("prize.xml", "prizes"),
        ("storm.xml", "storms"),
        ("storm.xml", "urgent"),
    ]
