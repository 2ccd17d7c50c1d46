"""``twigcast run --stream``: what is typed reaches the stream, and what it does is summed up."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run.runs import NEEDED, a_run

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast
    from twigcast.spark import Run

pytest.importorskip("pyspark")

from twigcast.spark.stream.reports import BatchReport, report_of

STREAM = (*NEEDED, "--stream", "--checkpoint", "checkpoint")


@dataclass
class Batches:
    """Takes the place of a stream: each time somebody waits, there are two batches more."""

    runs: list[Run]
    is_interrupted: bool = False
    reports: tuple[BatchReport, ...] = ()
    is_stopped: bool = False
    waiting: dict[int, dict[str, Any]] = field(
        default_factory=lambda: {
            1: {"files_waiting": 1200, "bytes_waiting": 34_000, "seconds_waiting": 75.2},
            2: {"messages_waiting": 7},
            3: {"files_waiting": 0, "bytes_waiting": 0, "seconds_waiting": 0.0},
        }
    )
    asked: dict[str, Any] = field(default_factory=dict)
    sessions: list[tuple[str | None, dict[str, str]]] = field(default_factory=list)

    def wait(self, seconds: float) -> bool:
        assert seconds > 0
        for run in [self.runs.pop(0) for _ in self.runs[:2]]:
            self.reports += (replace(report_of(run, 2.0), **self.waiting[run.batch]),)
        if self.is_interrupted and not self.runs:
            signal.raise_signal(signal.SIGINT)
        return not (self.runs or self.is_interrupted)

    def stop(self) -> None:
        self.is_stopped = True


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Batches:
    """A stream of three batches, of which the first was there before."""
    runs = [a_run("out", batch=number, documents=number, rejected=0) for number in range(4)]
    rows = [_row(run) for run in runs[1:]]
    batches = Batches(runs[1:])
    (tmp_path / "feed").mkdir()

    class Pipeline:
        spark = None

        def __init__(self, *_: object, **__: object) -> None:
            pass

        def flooding_notice(self, _: object, *, remedy: str) -> None:
            assert "--advertise" in remedy

        def stream(self, source: object, out: str, **asked: object) -> Batches:
            batches.asked = {"source": source, "out": out, **asked}
            return batches

    def start_session(master: str | None, settings: dict[str, str]) -> None:
        batches.sessions.append((master, settings))

    monkeypatch.setattr("twigcast.spark.Pipeline", Pipeline)
    monkeypatch.setattr("twigcast.spark.start_session", start_session)
    monkeypatch.setattr("twigcast.cli.run.stream._metrics", lambda *_: rows)
    return batches


def _row(run: Run) -> dict[str, Any]:
    """A row of the table metrics."""
    told = {name: told for name, told in vars(run).items() if name not in {"out", "seconds"}}
    return {**told, "seconds_matching": 1.0, "seconds_writing": 0.5}


def test_each_batch_is_told_and_all_are_summed_up(twigcast: Twigcast, batches: Batches) -> None:
    result = twigcast("run", *STREAM)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        (
            "batch 1: 1 document and 99 deliveries in 2.0 s (0.5 documents/s, 2.5 MB/s), "
            "waiting: 1,200 files, 34 KB, the oldest for 75 s"
        ),
        (
            "batch 2: 2 documents and 99 deliveries in 2.0 s (1.0 documents/s, 2.5 MB/s), "
            "waiting: 7 messages"
        ),
        (
            "batch 3: 3 documents and 99 deliveries in 2.0 s (1.5 documents/s, 2.5 MB/s), "
            "nothing waits"
        ),
    ]
    assert result.stdout.splitlines() == [
        "batches                  3  out/_manifest",
        "documents                6  15.0 MB",
        "subscriptions            4  engine lxml",
        "deliveries             297  out/deliveries",
        "dead_letters             0  out/dead_letters",
        "rejected                 0  out/rejected",
        "seconds                4.5  matching 3.0, writing 1.5 (24 tasks, 2 workers)",
    ]
    assert not batches.is_stopped


def test_a_stream_that_somebody_interrupts_is_stopped_and_summed_up(
    twigcast: Twigcast, batches: Batches
) -> None:
    batches.is_interrupted = True
    before = signal.getsignal(signal.SIGINT)
    result = twigcast("run", *STREAM, "--every", "10", "--json")
    assert result.exit_code == 130
    assert batches.is_stopped
    assert signal.getsignal(signal.SIGINT) is before
    told = json.loads(result.stdout)
    assert (told["batches"], told["documents"], told["interrupted"]) == (3, 6, True)
    assert (told["documents_per_second"], told["bytes_per_second"]) == (1.0, 2_500_000.0)
    assert (told["files_waiting"], told["messages_waiting"]) == (0, None)
    assert told["started"] == "2026-01-02T00:00:00+00:00"


def test_a_stream_without_news_says_so(
    twigcast: Twigcast, batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches.runs.clear()
    monkeypatch.setattr("twigcast.cli.run.stream._metrics", lambda *_: [])
    result = twigcast("run", *STREAM)
    assert (result.exit_code, result.stdout) == (0, "batches                  0  no news\n")


def test_every_option_reaches_the_stream(twigcast: Twigcast, batches: Batches) -> None:
    words = "--every 2.5 --changes new --partitions 3 --schema s --master local[1]"
    assert twigcast("run", *STREAM, *words.split()).exit_code == 0
    source = batches.asked.pop("source")
    assert list(source.source) == ["feed"]
    assert batches.asked == {
        "out": "out",
        "checkpoint": "checkpoint",
        "trigger": 2.5,
        "changes": "new",
        "deliveries_to": None,
        "schema": "s",
        "partitions": 3,
    }
    assert batches.sessions == [("local[1]", {})]


def test_topics_of_kafka_reach_the_stream_and_spark_learns_to_speak_with_it(
    twigcast: Twigcast, batches: Batches
) -> None:
    from twigcast.spark.storage.kafka import CONNECTOR, KafkaTopic

    places = (*NEEDED[:2], *NEEDED[4:], "--stream", "--checkpoint", "c", "--kafka", "here:9092")
    options = "--topic-in docs --topic-out sent --option kafka.x=1 --option startingOffsets=latest"
    assert twigcast("run", *places, *options.split()).exit_code == 0
    reading = {"kafka.x": "1", "startingOffsets": "latest"}
    source = batches.asked["source"]
    assert (source.servers, source.topic, source.options) == ("here:9092", "docs", reading)
    few = ("--document-elements-max", "3", "--document-bytes-max", "20")
    assert twigcast("run", *places, *options.split(), *few).exit_code == 0
    source = batches.asked["source"]
    assert (source.limits.document_bytes_max, source.document_limits.elements_max) == (20, 3)
    assert batches.asked["deliveries_to"] == KafkaTopic("here:9092", "sent", {"kafka.x": "1"})
    given = ("--setting", "spark.jars=a.jar")
    assert twigcast("run", *places, *options.split(), *given).exit_code == 0
    assert batches.sessions == [
        *2 * [(None, {"spark.jars.packages": CONNECTOR})],
        (None, {"spark.jars": "a.jar"}),
    ]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
def test_a_stream_goes_on_where_it_was(shop: Path, twigcast: Twigcast) -> None:
    (shop / "feed").mkdir()
    (shop / "good.xml").rename(shop / "feed" / "good.xml")
    words = ("--subscriptions", "subs.txt", *NEEDED[2:], "--stream", "--checkpoint", "checkpoint")
    first = twigcast("run", *words, "--json")
    assert first.exit_code == 1, first.output
    (shop / "cheap.xml").rename(shop / "feed" / "cheap.xml")
    second = twigcast("run", *words, "--json")
    assert second.exit_code == 0, second.output
    sums = [json.loads(result.stdout) for result in (first, second)]
    assert [(told["batches"], told["documents"]) for told in sums] == [(1, 1), (1, 1)]
    assert [(told["deliveries"], told["rejected"]) for told in sums] == [(3, 1), (1, 0)]
    assert all(told["started"].endswith("+00:00") for told in sums)
    assert sums[0]["subscriptions"] == sums[1]["subscriptions"] == 3
    assert twigcast("run", *words).stdout == "batches                  0  no news\n"
