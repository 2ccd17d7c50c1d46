"""``twigcast run``: what is typed reaches the pipeline, and what it says reaches the screen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run.runs import NEEDED

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast
    from tests.cli.run.conftest import Asked

pytest.importorskip("pyspark")

EXECUTABLE = Path(sys.executable).with_name("twigcast")


@pytest.mark.usefixtures("asked")
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


def test_with_a_network_the_summary_tells_of_it(
    twigcast: Twigcast, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "line.toml").write_text('links = [["north", "hub"], ["hub", "south"]]')
    asked.told.update(shards=16, shard_visits=2000)
    result = twigcast("run", *NEEDED, "--topology", "line.toml")
    assert result.stderr == ""
    assert result.stdout.splitlines()[2:7] == [
        "brokers                  5  covering, plan fused",
        "routes                  12  out/routes",
        "shards                  16  2,000 visits of 1,234 documents",
        "deliveries              99  out/deliveries",
        "crossings              345  out/traffic, 6 needless",
    ]


def test_documents_that_nobody_has_advertised_are_told_of_on_one_line(
    twigcast: Twigcast, asked: Asked
) -> None:
    asked.floods = True
    result = twigcast("run", *NEEDED)
    assert result.stderr == "they go over every link; name a DTD by --advertise BROKER=DTD\n"
    assert result.exit_code == 0


@pytest.mark.usefixtures("asked")
def test_json_is_one_object_with_the_metrics(twigcast: Twigcast) -> None:
    told = json.loads(twigcast("run", *NEEDED, "--json").stdout)
    assert (told["deliveries"], told["crossings"], told["plan"]) == (99, 345, "fused")
    assert told["started"] == "2026-01-02T00:00:00+00:00"
    assert told["seconds"] == {"matching": 1.5, "writing": 0.5}


def test_links_that_make_circles_are_left_out_and_named(
    twigcast: Twigcast, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "ring.json").write_text('{"links": [["a", "b"], ["b", "c"], ["c", "a"]]}')
    result = twigcast("run", *NEEDED, "--topology", "ring.json")
    assert result.exit_code == 0
    assert result.stderr == (
        "the links of ring.json make circles: documents travel along the minimum spanning tree, "
        "without b-c\n"
    )
    assert [link.between for link in asked.made[1].links] == [("a", "b"), ("c", "a")]


@pytest.mark.parametrize("refused", [{"rejected": 1}, {"dead_letters": 1}])
def test_refused_inputs_show_in_the_exit_code(
    twigcast: Twigcast, asked: Asked, refused: dict[str, int]
) -> None:
    asked.told.update(refused)
    assert twigcast("run", *NEEDED).exit_code == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "the topology is in 2 parts that no link joins: a, b | c; add links between them"),
        (("--plan", "leaps"), "the topology is in 2 parts"),
    ],
)
def test_a_topology_in_two_parts_is_refused_before_spark_starts(
    shop: Path, twigcast: Twigcast, words: tuple[str, ...], sentence: str
) -> None:
    (shop / "parts.json").write_text('{"brokers": ["a", "b", "c"], "links": [["a", "b"]]}')
    places = ("--subscriptions", "subs.txt", "--publications", "good.xml", "--out", "out")
    elsewhere = ("--master", "spark://nowhere:7077")
    result = twigcast("run", *places, *elsewhere, "--topology", "parts.json", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"twigcast: {sentence}")
    assert not (shop / "out").exists()


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("master", [(), ("--master", "spark://nowhere:7077")])
def test_missing_files_are_a_matter_of_usage_and_found_before_spark_starts(
    twigcast: Twigcast, master: tuple[str, ...]
) -> None:
    nowhere = twigcast("run", *NEEDED, *master)
    assert nowhere.exit_code == 2
    assert "no publications at feed" in nowhere.stderr
    no_file = ("--subscriptions", "none.txt", "--publications", "good.xml", "--out", "out")
    assert twigcast("run", *no_file, *master).exit_code == 2


@pytest.mark.spark
def test_the_run_delivers_what_match_answers(shop: Path) -> None:
    import pyarrow.parquet as pq

    (shop / "ring.json").write_text('{"links": [["a", "b"], ["b", "c"], ["c", "a"]]}')
    words = ("--subscriptions", "subs.txt", "--publications", "good.xml", "--publications")
    network = ("--topology", "ring.json", "--origin", "c")
    command = [str(EXECUTABLE), "run", *words, "broken.xml", "--out", "out", "--json", *network]
    told = subprocess.run(
        [*command, "--master", "local[1]"], cwd=shop, capture_output=True, text=True, check=False
    )
    assert told.returncode == 1, told.stderr
    (line,) = told.stdout.splitlines()
    metrics = json.loads(line)
    assert (metrics["documents"], metrics["dead_letters"], metrics["rejected"]) == (2, 1, 1)
    assert (metrics["crossings"], metrics["needless"], metrics["brokers"]) == (1, 0, 3)
    rows = pq.read_table(shop / "out" / "deliveries").to_pylist()
    assert sorted((row["document"], row["subscription"], row["hops"]) for row in rows) == [
        ("good.xml", "1", 1),
        ("good.xml", "3", 1),
        ("good.xml", "5", 1),
    ]
    (said,) = told.stderr.splitlines()
    assert said.startswith("the links of ring.json make circles")
