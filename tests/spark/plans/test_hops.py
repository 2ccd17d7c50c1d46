"""The plan ``hops`` on Spark: the tables of the plan ``fused``, and of a network in memory."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.routing.networks import tree
from tests.routing.vocabulary import WILDCARDS
from twigcast import Network
from twigcast.errors import DocumentError, UsageError
from twigcast.files import PublicationLimits
from twigcast.spark import Pipeline, Publications, Run, pipeline
from twigcast.spark.plans import hops as plan
from twigcast.spark.storage.batches import hadoop_store
from twigcast.spark.worker.hops.files import read_visits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TOPOLOGY = tree([0, 0, 1, 1, 2, 5, 6])
"""Eight brokers, up to six links from each other."""

Published = tuple[str, bytes, str | None]
"""Name, content and origin of a document."""

BROKERS: list[str] = TOPOLOGY["brokers"]

RNG = Random("hops")
SUBSCRIPTIONS = [
    {
        "id": number,
        "xpath": RNG.choice(WILDCARDS.spoken).text,
        "subscriber": f"s{number}",
        "broker": RNG.choice(BROKERS),
    }
    for number in range(30)
]
CONTENTS = [*(RNG.choice(WILDCARDS.documents) for _ in range(38)), b"<m>", b""]
DOCUMENTS = [
    (f"d{number}", content, RNG.choice([*BROKERS, None])) for number, content in enumerate(CONTENTS)
]


@dataclass
class Tables:
    """What a run has written, in an order that all runs share."""

    deliveries: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    dead_letters: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    traffic: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    routes: Counter[tuple[Any, ...]] = field(default_factory=Counter)


def _documents(spark: SparkSession, more: Sequence[Published] = ()) -> DataFrame:
    rows = [*DOCUMENTS, *more]
    return spark.createDataFrame(rows, "document string, content binary, origin string")


def _run(
    spark: SparkSession,
    out: Path,
    strategy: str,
    *,
    plan: str = "hops",
    partitions: int = 8,
    more: Sequence[Published] = (),
) -> tuple[Run, Tables]:
    network = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, strategy, plan=plan)
    run = network.disseminate(
        _documents(spark, more), out / f"{plan}-{partitions}", partitions=partitions
    )
    found = Tables()
    for table, rows in vars(found).items():
        read = pq.read_table(out / f"{plan}-{partitions}" / table).to_pylist()
        rows.update(tuple(row.values()) for row in read)
    return run, found


@cache
def _in_memory(strategy: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Deliveries and crossings in a network of routers."""
    network = Network(TOPOLOGY, strategy)
    made = {
        network.subscribe(str(each["broker"]), str(each["subscriber"]), str(each["xpath"])): str(
            each["id"]
        )
        for each in SUBSCRIPTIONS
    }
    network.merge()
    deliveries: Counter[tuple[str, str]] = Counter()
    crossings: Counter[tuple[str, str]] = Counter()
    for name, content, origin in DOCUMENTS:
        try:
            outcome = network.publish(origin or BROKERS[0], content)
        except DocumentError:
            continue
        deliveries.update((name, made[each.subscription]) for each in outcome.deliveries)
        crossings.update(outcome.crossings)
    return deliveries, crossings


@pytest.fixture
def many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a few visits are shared out."""
    monkeypatch.setattr(plan, "TASK_VISITS_MIN", 1)


@pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")  # nobody advertises here
@pytest.mark.usefixtures("many_tasks")
@pytest.mark.parametrize(
    "strategy", ["covering", "flooding", "prefix(depth=1)", "piggyback", "advertised(unit=path)"]
)
def test_the_tables_are_those_of_the_other_plan_and_of_a_network_under(
    strategy: str, spark: SparkSession, tmp_path: Path
) -> None:
    run, tables = _run(spark, tmp_path, strategy)
    other, fused = _run(spark, tmp_path, strategy, plan="fused")
    assert tables == fused
    assert (run.crossings, run.needless) == (other.crossings, other.needless)
    assert (run.documents, run.bytes, run.dead_letters) == (len(DOCUMENTS), other.bytes, 2)
    assert (run.annotation_bytes > 0) == (strategy == "piggyback")
    deliveries, crossings = _in_memory(strategy)
    assert Counter({(row[0], row[2]): count for row, count in tables.deliveries.items()}) == (
        deliveries
    )
    assert Counter({row[:2]: row[2] for row in tables.traffic}) == crossings


@pytest.mark.usefixtures("many_tasks")
def test_the_number_of_partitions_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    _, one = _run(spark, tmp_path, "piggyback", partitions=1)
    assert _run(spark, tmp_path, "piggyback", partitions=2)[1] == one
    assert _run(spark, tmp_path, "piggyback", partitions=8)[1] == one


def test_each_worker_loads_each_broker_once(spark: SparkSession, tmp_path: Path) -> None:
    run, _ = _run(spark, tmp_path, "flooding")
    assert len(BROKERS) <= run.matcher_loads <= len(BROKERS) * run.workers


def test_what_is_too_much_for_the_driver_is_counted_by_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, here = _run(spark, tmp_path, "prefix(depth=1)", partitions=1)
    monkeypatch.setattr(plan, "COUNTED_HERE_MAX", 0)
    monkeypatch.setattr(plan, "VISITS_MAX", 20)
    _, there = _run(spark, tmp_path, "prefix(depth=1)", partitions=2)
    assert here == there
    assert any(row[4] for row in here.traffic), "some crossings are needless"


def test_a_document_that_begins_nowhere_or_nowhere_known_is_set_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    lost = [("lost", b"<m/>", "atlantis"), ("lost and broken", b"<m", "atlantis")]
    run, tables = _run(spark, tmp_path, "covering", more=lost)
    assert tables == _run(spark, tmp_path, "covering", plan="fused", more=lost)[1]
    stages = {row[0]: row[2] for row in tables.dead_letters}
    assert (stages["lost"], stages["lost and broken"]) == ("route", "parse")
    assert run.documents == len(DOCUMENTS) + 2


def _reading_until_killed(folder: str, plan: str, task: int) -> Iterator[pa.RecordBatch]:
    """The visits of a task, but the first who has seen some of the second hop's dies."""
    for visits in read_visits(folder, plan, task):
        yield visits
        if plan.endswith("hop-1.arrow"):
            try:
                (Path(folder) / "killed").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("many_tasks")
def test_a_worker_that_is_killed_loses_nothing_and_delivers_nothing_twice(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, expected = _run(spark, tmp_path, "covering", plan="fused")
    monkeypatch.setattr(plan, "read_visits", _reading_until_killed)
    _, tables = _run(spark, tmp_path, "covering")
    assert tables == expected


def test_where_workers_cannot_write_there_is_nowhere_to_put_a_document_down(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, plan="hops")
    told = "hdfs://host/out is in another file system: the plan hops .* take the plan fused"
    with pytest.raises(UsageError, match=told):
        network.disseminate(_documents(spark), "hdfs://host/out")
    with pytest.raises(UsageError, match=told):
        network.stream(tmp_path, "hdfs://host/out", checkpoint=tmp_path / "checkpoint")
    monkeypatch.setattr(pipeline, "local_store", lambda path: hadoop_store(f"file://{path}", spark))
    with pytest.raises(UsageError, match="give one that all workers share"):
        network.disseminate(_documents(spark), tmp_path / "out")


@pytest.mark.parametrize("strategy", ["covering", "piggyback"])
def test_text_was_decoded_already_whatever_it_declares(
    strategy: str, spark: SparkSession, tmp_path: Path
) -> None:
    encodings = ("UTF-16", "US-ASCII", "ISO-8859-1", "UTF-8")
    rows = [(name, f'<?xml version="1.0" encoding="{name}"?><m><c>é</c></m>') for name in encodings]
    documents = spark.createDataFrame(rows, "document string, content string").coalesce(1)
    asked = [{"id": n, "xpath": "/m[c = 'é']", "broker": at} for n, at in enumerate(BROKERS[-2:])]
    expected = {(name, str(n)) for name in encodings for n in range(2)}

    def received(plan: str, out: str) -> set[tuple[str, str]]:
        network = Pipeline(spark, TOPOLOGY, asked, strategy, plan=plan)
        run = network.disseminate(documents, tmp_path / out, partitions=1)
        assert (run.bytes, run.dead_letters) == (sum(len(row[1].encode()) for row in rows), 0)
        found = pq.read_table(tmp_path / out / "deliveries").to_pylist()
        return {(row["document"], row["subscription"]) for row in found}

    assert received("fused", "fused") == expected
    assert received("hops", "hops") == expected


@pytest.mark.parametrize("strategy", ["covering", "piggyback"])
def test_the_limit_of_sizes_can_be_raised(strategy: str, spark: SparkSession) -> None:
    content = f"<m>{2 * ('<!--' + 5_000_000 * ' ' + '-->')}</m>"
    frame = spark.createDataFrame([("d", content)], "document string, content string")
    asked = [{"id": n, "xpath": "/m", "broker": at} for n, at in enumerate(BROKERS)]
    network = Pipeline(spark, TOPOLOGY, asked, strategy, plan="hops")
    for allowed, deliveries in ((10_000_000, 0), (10_000_021, len(BROKERS))):
        limits = PublicationLimits(document_bytes_max=allowed)
        run = network.disseminate(Publications(frame, limits=limits))
        assert (run.deliveries, run.dead_letters) == (deliveries, not deliveries)


def test_nothing_published_gives_empty_tables(spark: SparkSession, tmp_path: Path) -> None:
    network = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, "flooding", plan="hops")
    (tmp_path / "nothing").mkdir()
    run = network.disseminate(tmp_path / "nothing", tmp_path / "out")
    assert (run.documents, run.deliveries, run.crossings) == (0, 0, 0)
    assert pq.read_table(tmp_path / "out" / "traffic").num_rows == 0


def test_without_a_topology_there_is_nowhere_to_hop(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="nowhere to hop"):
        Pipeline(spark, None, ["//m"], plan="hops")
