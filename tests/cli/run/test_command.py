"""``twigcast run``: what is typed reaches the pipeline, and what it says reaches the screen."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from twigcast.errors import FloodingWarning

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast
    from twigcast.spark import Run

pytest.importorskip("pyspark")

EXECUTABLE = Path(sys.executable).with_name("twigcast")
NEEDED = ("--subscriptions", "subs.csv", "--publications", "feed", "--out", "out")


def a_run(out: str, **told: object) -> Run:
    """How a run went that nobody ran."""
    from twigcast.spark import Run

    usual: dict[str, Any] = {
        "run": "r1",
        "out": out,
        "batch": 0,
        "started": datetime(2026, 1, 2, tzinfo=UTC),
        "strategy": "covering",
        "plan": "fused",
        "shards": 1,
        "brokers": 5,
        "subscriptions": 4,
        "rejected": 0,
        "documents": 1234,
        "bytes": 5_000_000,
        "deliveries": 99,
        "internal_errors": 0,
        "dead_letters": 0,
        "routes": 12,
        "crossings": 345,
        "needless": 6,
        "shard_visits": 0,
        "annotation_bytes": 0,
        "engine": "lxml",
        "matcher_version": "abc",
        "matcher_loads": 2,
        "workers": 2,
        "partitions": 8,
        "seconds": {"matching": 1.5, "writing": 0.5},
    }
    return Run(**{**usual, **told})


@dataclass
class Asked:
    """What the pipeline was asked; it answers at once."""

    told: dict[str, object] = field(default_factory=dict)
    floods: bool = False
    made: tuple[Any, ...] = ()
    chosen: dict[str, Any] = field(default_factory=dict)
    source: Any = None
    out: str = ""
    how: dict[str, Any] = field(default_factory=dict)
    sessions: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    """Takes the place of the pipeline: remembers what it was asked, answers at once."""
    asked = Asked()
    (tmp_path / "feed").mkdir()

    class Pipeline:
        def __init__(self, *made: object, **chosen: object) -> None:
            asked.made, asked.chosen = made, chosen

        def flooding_notice(self, _: object, *, remedy: str) -> str | None:
            return f"they go over every link; {remedy}" if asked.floods else None

        def disseminate(self, source: object, out: str, **how: object) -> Run:
            if asked.floods:
                warnings.warn("the same at length", FloodingWarning, stacklevel=1)
            asked.source, asked.out, asked.how = source, out, how
            return a_run(out, **asked.told)

    def start_session(master: str, settings: dict[str, str]) -> None:
        asked.sessions.append((master, settings))

    monkeypatch.setattr("twigcast.spark.Pipeline", Pipeline)
    monkeypatch.setattr("twigcast.spark.start_session", start_session)
    return asked


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


def test_every_option_reaches_the_pipeline(
    twigcast: Twigcast, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    options = "--format csv --option sep=; --content-column xml --document-column name"
    more = "--files *.nitf --partitions 3 --overwrite --engine lxml --publications other"
    assert twigcast("run", *NEEDED, *options.split(), *more.split()).exit_code == 0
    assert list(asked.source.source) == ["feed", "other"]
    assert (asked.source.format, asked.source.options) == ("csv", {"sep": ";"})
    assert (asked.source.content_column, asked.source.document_column) == ("xml", "name")
    assert list(asked.source.patterns) == ["*.nitf"]
    assert asked.how == {"partitions": 3, "overwrite": True}
    assert asked.made == (None, None, "subs.csv", "best")
    assert (asked.chosen["engine"], asked.chosen["plan"], asked.sessions) == ("lxml", "fused", [])


def test_every_option_of_the_network_reaches_the_pipeline(
    twigcast: Twigcast, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "line.toml").write_text('links = [["north", "hub"], ["hub", "south"]]')
    network = "--topology line.toml --strategy advertised --plan hops --origin hub --shards 1"
    promises = "--advertise north=a.dtd --advertise hub=b.dtd --advertise north=c.dtd"
    words = (*network.split(), *promises.split(), "--origin-column at")
    assert twigcast("run", *NEEDED, *words[:-1], *words[-1].split()).exit_code == 0
    _, tree, _, strategy = asked.made
    assert (tree.brokers, strategy) == (("north", "hub", "south"), "advertised")
    assert asked.chosen["advertisements"] == {"north": ["a.dtd", "c.dtd"], "hub": ["b.dtd"]}
    assert (asked.chosen["plan"], asked.chosen["origin"]) == ("hops", "hub")
    assert asked.source.origin_column == "at"


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


def test_a_master_and_settings_are_where_the_session_starts(
    twigcast: Twigcast, asked: Asked
) -> None:
    words = ("--master", "spark://there:7077", "--setting", "spark.executor.memory=8g")
    assert twigcast("run", *NEEDED, *words).exit_code == 0
    assert asked.sessions == [("spark://there:7077", {"spark.executor.memory": "8g"})]


@pytest.mark.parametrize("refused", [{"rejected": 1}, {"dead_letters": 1}])
def test_refused_inputs_show_in_the_exit_code(
    twigcast: Twigcast, asked: Asked, refused: dict[str, int]
) -> None:
    asked.told.update(refused)
    assert twigcast("run", *NEEDED).exit_code == 1


@pytest.mark.parametrize("missing", [0, 2, 4])
def test_the_three_places_must_be_given(twigcast: Twigcast, missing: int) -> None:
    assert twigcast("run", *NEEDED[:missing], *NEEDED[missing + 2 :]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--option sep", "--option takes KEY=VALUE, such as header=true, not 'sep'"),
        ("--setting memory", "--setting takes KEY=VALUE, not 'memory'"),
        ("--strategy covering", "--strategy is about a network of brokers: add --topology FILE"),
        ("--plan hops", "--plan hops is about a network of brokers: add --topology FILE"),
        ("--origin hub", "--origin is about a network of brokers: add --topology FILE"),
        ("--advertise a=b", "--advertise is about a network of brokers: add --topology FILE"),
        ("--checkpoint c", "--checkpoint is for streams: add --stream"),
        ("--topic-out t", "--topic-out is for streams: add --stream"),
        ("--every 0", "--every is for streams: add --stream"),
        ("--stream", "--stream needs --checkpoint FOLDER, to know how far it has come"),
        ("--stream --checkpoint c --topic-out t", "topics need --kafka SERVERS, such as localhost"),
        (
            "--stream --checkpoint c --kafka k",
            "--kafka needs --topic-in NAME, --topic-out NAME, or",
        ),
        ("--stream --checkpoint c --overwrite", "--overwrite is not for streams, which go on"),
        ("--topic-in t", "documents come from --publications or from --topic-in, not from both"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_what_does_not_go_together_is_one_sentence(
    twigcast: Twigcast, words: str, sentence: str
) -> None:
    result = twigcast("run", *NEEDED, *words.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(f"twigcast: {sentence}")
    assert result.stderr.count("\n") == 1


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
