"""One input, one answer: whatever the plan, the partitions and the strategy, batch or stream.

The oracles are libxml2 for who receives a document, networks of routers and the simulator for the
links that it crosses.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle import oracle
from tests.simulator.schedules import publishes, subscribes
from twigcast import Network
from twigcast.files.schemas import shipped_schema
from twigcast.routing import Topology
from twigcast.routing.strategy import Strategy
from twigcast.routing.strategy import strategy as strategy_of
from twigcast.simulator import Schedule, Simulation
from twigcast.spark import Pipeline, Run
from twigcast.spark.storage.tables import TABLES
from twigcast.workload import PatternShape, generate_documents, generate_patterns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

BROKERS = ("hub", "north", "south", "east", "north 1", "north 2", "south 1", "south 11", "east 1")
LINKS = (
    ("hub", "north"), ("hub", "south"), ("hub", "east"), ("north", "north 1"),
    ("north", "north 2"), ("south", "south 1"), ("south 1", "south 11"), ("east", "east 1"),
)  # fmt: skip
TOPOLOGY = {"brokers": list(BROKERS), "links": [list(link) for link in LINKS]}
ORIGINS = ("hub", "south 11", "north 2")

Link = tuple[str, str]


class Workload(NamedTuple):
    """Subscriptions as (id, expression, broker), and documents as (name, content, origin)."""

    subscriptions: Sequence[tuple[str, str, str]]
    documents: Sequence[tuple[str, bytes, str]]


class Answers(NamedTuple):
    """Who receives what, and how often each link is crossed, needlessly and in all, in bytes."""

    deliveries: set[tuple[str, str, str, int]]
    crossings: dict[Link, tuple[int, int]]
    needless: dict[Link, int]


def _drawn() -> Workload:
    """News, and readers who mostly ask for something of their own."""
    rng, schema = Random(7), shipped_schema("news")
    drawn = generate_patterns(
        schema,
        rng=rng,
        count=400,
        shape=PatternShape(depth_max=8, wildcard=0.1, descendant=0.2, nested=0.2, predicates=1.0),
    )
    patterns = [each for each in drawn if each.count("/") > 2][:90]
    assert len(patterns) == 90
    return Workload(
        [(f"s{n}", each, BROKERS[n * n % 9]) for n, each in enumerate(patterns)],
        [
            (f"d{n}", content, ORIGINS[n % 3])
            for n, content in enumerate(generate_documents(schema, rng=rng, count=24, elements=60))
        ],
    )


@pytest.fixture(scope="module")
def workload() -> Workload:
    return _drawn()


@pytest.fixture(scope="module")
def frame(spark: SparkSession, workload: Workload) -> DataFrame:
    """The documents, and two that cannot be disseminated."""
    columns = list(zip(*workload.documents, strict=True))
    names = [*columns[0], "broken", "lost"]
    contents = [*columns[1], b"<news>", b"<news/>"]
    origins = [*columns[2], "hub", "nowhere"]
    table = pa.table({"document": names, "content": contents, "origin": origins})
    return spark.createDataFrame(table).cache()


def _rows(workload: Workload) -> list[dict[str, str]]:
    """The subscriptions, and two that cannot be."""
    return [
        *({"id": who, "xpath": xpath, "broker": at} for who, xpath, at in workload.subscriptions),
        {"id": "no xpath", "xpath": "//[", "broker": "hub"},
        {"id": "no broker", "xpath": "//news", "broker": "nowhere"},
    ]


def _network(workload: Workload, strategy: Strategy) -> Answers:
    network = Network(TOPOLOGY, strategy)
    ids = {network.subscribe(at, who, xpath): who for who, xpath, at in workload.subscriptions}
    network.merge()
    tree = network.topology.tree()
    deliveries, crossings, sizes = set(), Counter[Link](), Counter[Link]()
    needless = Counter[Link]()
    for name, content, origin in workload.documents:
        outcome = network.publish(origin, content)
        needed: set[Link] = set()
        for each in outcome.deliveries:
            path = tree.path(origin, each.broker)
            deliveries.add((name, ids[each.subscription], each.broker, len(path) - 1))
            needed.update(pairwise(path))
        for link in outcome.crossings:
            crossings[link] += 1
            sizes[link] += len(content)
            needless[link] += link not in needed
    return Answers(
        deliveries, {link: (crossings[link], sizes[link]) for link in crossings}, +needless
    )


def _answers(out: Path) -> Answers:
    rows = pq.read_table(out / "deliveries").to_pylist()
    deliveries = [(r["document"], r["subscription"], r["broker"], r["hops"]) for r in rows]
    assert len(set(deliveries)) == len(deliveries), "nobody receives a document twice"
    traffic = pq.read_table(out / "traffic").to_pylist()
    crossings, sizes, needless = Counter[Link](), Counter[Link](), Counter[Link]()
    for row in traffic:
        link = row["broker"], row["neighbour"]
        crossings[link] += row["documents"]
        sizes[link] += row["bytes"]
        needless[link] += row["needless"]
    totals = {link: (crossings[link], sizes[link]) for link in crossings}
    return Answers(set(deliveries), totals, +needless)


def _check_tables(out: Path, run: Run) -> None:
    """What is not for anybody is set aside by name, and everything is counted."""
    letters = pq.read_table(out / "dead_letters").to_pylist()
    assert sorted((row["document"], row["stage"]) for row in letters) == [
        ("broken", "parse"),
        ("lost", "route"),
    ]
    rejected = {row["id"]: row["reason"] for row in pq.read_table(out / "rejected").to_pylist()}
    assert rejected["no broker"] == "there is no broker 'nowhere' in the topology"
    assert set(rejected) == {"no broker", "no xpath"}
    assert run.deliveries == pq.read_table(out / "deliveries").num_rows
    traffic = pq.read_table(out / "traffic").to_pydict()
    assert (run.crossings, run.needless) == (sum(traffic["documents"]), sum(traffic["needless"]))
    assert run.documents == 26


STRATEGIES = (
    "flooding",
    "identity",
    "covering",
    "prefix(depth=2)",
    "advertised",
    "piggyback(protocol=lazy)",
    "piggyback(protocol=eager, on=identity)",
)


@pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")  # nobody advertises here
@pytest.mark.parametrize("plan", ["fused", "hops"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_plan_and_strategy_does_what_a_network_of_routers_does(
    tmp_path: Path,
    spark: SparkSession,
    workload: Workload,
    frame: DataFrame,
    strategy: str,
    plan: str,
) -> None:
    pipeline = Pipeline(spark, TOPOLOGY, _rows(workload), strategy, plan=plan)
    run = pipeline.disseminate(frame, tmp_path)
    assert (run.plan, run.strategy) == (plan, str(strategy_of(strategy)))
    assert _answers(tmp_path) == _network(workload, strategy_of(strategy))
    _check_tables(tmp_path, run)


@pytest.mark.parametrize(("plan", "shards"), [("fused", 1), ("hops", 1), ("fused", 5)])
@pytest.mark.parametrize("partitions", [1, 2, 8])
def test_the_number_of_partitions_changes_nothing(
    tmp_path: Path,
    spark: SparkSession,
    workload: Workload,
    frame: DataFrame,
    plan: str,
    shards: int,
    partitions: int,
) -> None:
    pipeline = Pipeline(spark, TOPOLOGY, _rows(workload), "covering", plan=plan, shards=shards)
    run = pipeline.disseminate(frame, tmp_path, partitions=partitions)
    assert _answers(tmp_path) == _network(workload, strategy_of("covering"))
    _check_tables(tmp_path, run)


@pytest.mark.parametrize("strategy", ["flooding", "prefix(depth=2)"])
def test_shards_send_documents_over_the_same_links(
    tmp_path: Path, spark: SparkSession, workload: Workload, frame: DataFrame, strategy: str
) -> None:
    Pipeline(spark, TOPOLOGY, _rows(workload), strategy, shards=4).disseminate(frame, tmp_path)
    assert _answers(tmp_path) == _network(workload, strategy_of(strategy))


@pytest.mark.parametrize("plan", ["fused", "hops"])
def test_a_stream_gives_the_answers_of_a_batch(
    tmp_path: Path, spark: SparkSession, workload: Workload, frame: DataFrame, plan: str
) -> None:
    feed = tmp_path / "feed"
    for number in range(3):
        part = frame.filter(f"abs(hash(document)) % 3 = {number}").coalesce(1)
        part.write.mode("append").parquet(str(feed))
    pipeline = Pipeline(spark, TOPOLOGY, _rows(workload), "covering", plan=plan)
    source = (
        spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1).parquet(str(feed))
    )
    stream = pipeline.stream(source, tmp_path / "out", checkpoint=tmp_path / "checkpoint")
    stream.wait()
    assert len(list((tmp_path / "out" / "_manifest").iterdir())) == 3
    assert _answers(tmp_path / "out") == _network(workload, strategy_of("covering"))


@pytest.mark.parametrize("strategy", ["flooding", "covering", "prefix(depth=2)"])
def test_the_simulator_counts_the_same_documents(workload: Workload, strategy: str) -> None:
    """What Spark agrees with in the tests above, and the simulator are one."""
    stage = tuple(
        subscribes(at, n, xpath) for n, (_, xpath, at) in enumerate(workload.subscriptions)
    )
    then = tuple(
        publishes(origin, name, 10.0 + number, content)
        for number, (name, content, origin) in enumerate(workload.documents)
    )
    schedule = Schedule(Topology.of(TOPOLOGY).tree(), stage=(stage,), then=then, start=None)
    results = Simulation(schedule, strategy_of(strategy)).run()
    network = _network(workload, strategy_of(strategy))
    found = {link: each.crossings for link, each in results.documents.items() if each.crossings}
    assert found == {link: crossed for link, (crossed, _) in network.crossings.items()}
    needless = {link: each.needless for link, each in results.documents.items() if each.needless}
    assert needless == network.needless
    received = {
        (arrived.publication, workload.subscriptions[number][0], arrived.broker)
        for arrived in results.arrived
        for number in arrived.subscriptions
    }
    assert received == {each[:3] for each in network.deliveries}


def test_deliveries_are_those_of_libxml2(workload: Workload) -> None:
    """The network that everything is compared with answers as the oracle does."""
    expected = {
        (name, who, at)
        for name, content, _ in workload.documents
        for who, xpath, at in workload.subscriptions
        if oracle(xpath, content)
    }
    assert len(expected) > 50
    assert {each[:3] for each in _network(workload, strategy_of("best")).deliveries} == expected


@pytest.mark.parametrize(("plan", "shards"), [("fused", 1), ("hops", 1), ("fused", 3)])
def test_real_documents_reach_whom_libxml2_says(
    tmp_path: Path,
    spark: SparkSession,
    shared_path: Callable[[str], Path],
    plan: str,
    shards: int,
) -> None:
    folder = shared_path("data/xpath")
    lines = (folder / "sample.jsonl").read_text(encoding="utf-8").splitlines()
    rules: list[dict[str, Any]] = list(map(json.loads, lines))
    expected: dict[str, set[str]] = {}
    for line in (folder / "sample-expected.tsv").read_text().splitlines()[1:]:
        which, _, names_found = line.split("\t")
        expected[which] = {one.rpartition("=")[0] for one in names_found.split()}
    genres = {
        rule["genre"]: (folder / f"docs-{rule['genre']}.txt").read_text().split() for rule in rules
    }
    names = sorted({name for documents in genres.values() for name in documents})
    rows = [
        {
            "id": rule["id"], "xpath": rule["sub"], "namespaces": rule["ns"],
            "broker": BROKERS[number % 9],
        }
        for number, rule in enumerate(rules)
    ]  # fmt: skip
    pipeline = Pipeline(spark, TOPOLOGY, rows, "best", plan=plan, shards=shards)
    paths = [folder.parent / name for name in names]
    run = pipeline.disseminate(paths, tmp_path)
    assert (run.documents, run.rejected, run.needless) == (len(names), 0, 0)
    found = {
        (str(Path(row["document"]).relative_to(folder.parent)), row["subscription"])
        for row in pq.read_table(tmp_path / "deliveries").to_pylist()
    }
    # A rule was by_oracle on the documents of its own genre only.
    known = {rule["id"]: set(genres[rule["genre"]]) for rule in rules}
    assert {pair for pair in found if pair[0] in known[pair[1]]} == {
        (name, rule["id"]) for rule in rules for name in expected[rule["id"]] & known[rule["id"]]
    }
    assert set(TABLES) <= {path.name for path in tmp_path.iterdir()}
