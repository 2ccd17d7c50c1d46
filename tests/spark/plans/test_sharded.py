"""With shards the plan ``fused`` writes the same tables, and documents go where they may match."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from twigcast.errors import TwigcastError, UsageError
from twigcast.spark import Pipeline, Run
from twigcast.spark.plans.design import design_of
from twigcast.spark.plans.writers import LocalTables
from twigcast.spark.storage.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PLACES = ("Alder", "Brook", "Cove", "Dale", "Elm", "Fen")
TOPICS = ("flood", "storm", "strike", "treaty")
TOPOLOGY = {
    "links": [["hub", "north"], ["hub", "south"], ["north", "fjord"], ["north", "moor"]],
}
BROKERS = ("hub", "north", "south", "fjord", "moor")
COSTLY = "//x[count(preceding::*) = count(following::*)]"

Rows = Counter[tuple[tuple[str, Any], ...]]


def _subscriptions() -> list[dict[str, str]]:
    asked = [
        f"/news[place = '{place}']//topic[. = '{topic}']" for place in PLACES for topic in TOPICS
    ]
    asked += ["//topic[. = 'storm']", "/news[count(topic) > 2]", "//x", COSTLY, "//["]
    rng = Random(1)
    return [
        {"id": f"s{number}", "xpath": xpath, "subscriber": "ann", "broker": rng.choice(BROKERS)}
        for number, xpath in enumerate(asked)
    ]


def _documents() -> list[tuple[str, bytes, str | None]]:
    rng = Random(2)
    found: list[tuple[str, bytes, str | None]] = []
    for number in range(60):
        places = "".join(f"<place>{rng.choice(PLACES)}</place>" for _ in range(rng.randint(0, 2)))
        topics = "".join(f"<topic>{rng.choice(TOPICS)}</topic>" for _ in range(rng.randint(0, 3)))
        content = f"<news>{places}{topics}</news>".encode()
        found.append((f"{number}.xml", content, rng.choice([*BROKERS, None])))
    costly = b"<news>" + b"<deep>" * 60 + b"</deep>" * 60 + b"<x/>" * 9_000 + b"</news>"
    return [
        *found,
        # Some come twice.
        *found[:10],
        ("costly.xml", costly, "moor"),
        ("broken.xml", b"<news>\n<place>Fen</news>", "hub"),
        ("lost.xml", found[0][1], "nowhere"),
    ]


@pytest.fixture(scope="module")
def publications(spark: SparkSession) -> DataFrame:
    rows = [(name, bytearray(content), origin) for name, content, origin in _documents()]
    return spark.createDataFrame(rows, "document string, content binary, origin string")


def _told(out: Path) -> dict[str, Rows]:
    """The rows of the tables, in no order."""
    told = {}
    for name in TABLES:
        if name != "metrics":
            rows = pq.read_table(out / name / "batch=0", partitioning=None).to_pylist()
            told[name] = Counter(tuple(sorted(row.items())) for row in rows)
    return told


def _run(
    spark: SparkSession, publications: DataFrame, out: Path, strategy: str, shards: int
) -> Run:
    pipeline = Pipeline(spark, TOPOLOGY, _subscriptions(), strategy, shards=shards)
    return pipeline.disseminate(publications, out, partitions=3)


@pytest.mark.parametrize(
    ("strategy", "counts"), [("covering", (2, 5)), ("prefix(depth=1)", (5,)), ("flooding", (5,))]
)
def test_tables_do_not_depend_on_shards(
    spark: SparkSession,
    publications: DataFrame,
    tmp_path: Path,
    strategy: str,
    counts: tuple[int, ...],
) -> None:
    one = _run(spark, publications, tmp_path / "one", strategy, 1)
    expected = _told(tmp_path / "one")
    assert {name for name, rows in expected.items() if rows} >= set(expected) - {"routes"}
    for shards in counts:
        run = _run(spark, publications, tmp_path / f"{shards}", strategy, shards)
        assert _told(tmp_path / f"{shards}") == expected
        for name in ("documents", "bytes", "deliveries", "dead_letters", "crossings", "needless"):
            assert getattr(run, name) == getattr(one, name)
        assert run.shards == shards
        assert 0 < run.shard_visits < shards * run.documents
        assert run.matcher_loads >= shards


def test_tables_do_not_depend_on_shards_where_the_driver_writes(
    spark: SparkSession, publications: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = _run(spark, publications, tmp_path / "one", "prefix(depth=1)", 1)
    monkeypatch.setattr("twigcast.spark.plans.writers.attempts_folder", lambda _: None)
    run = _run(spark, publications, tmp_path / "five", "prefix(depth=1)", 5)
    assert _told(tmp_path / "five") == _told(tmp_path / "one")
    assert (run.documents, run.bytes, run.crossings) == (one.documents, one.bytes, one.crossings)
    assert run.shard_visits > 0


def test_without_a_topology_there_are_shards_as_well(
    spark: SparkSession, publications: DataFrame, tmp_path: Path
) -> None:
    for shards in (1, 4):
        pipeline = Pipeline(spark, None, _subscriptions(), shards=shards)
        pipeline.disseminate(publications, tmp_path / f"{shards}")
    assert _told(tmp_path / "4") == _told(tmp_path / "1")
    assert _told(tmp_path / "4")["traffic"] == Counter()


def test_regional_interests_leave_most_shards_alone(spark: SparkSession, tmp_path: Path) -> None:
    asked = [f"/news[place = '{p}'][topic = '{t}']" for p in PLACES for t in TOPICS]
    rows = [(f"{p}.xml", f"<news><place>{p}</place><topic>storm</topic></news>") for p in PLACES]
    frame = spark.createDataFrame(rows, "document string, content string")
    run = Pipeline(spark, None, asked, shards=len(PLACES)).disseminate(frame, tmp_path / "out")
    assert (run.deliveries, run.shard_visits) == (len(PLACES), len(PLACES))


def test_no_documents_and_no_subscriptions_are_no_trouble(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.createDataFrame([], "document string, content string")
    run = Pipeline(spark, TOPOLOGY, [], shards=3).disseminate(frame, tmp_path / "out")
    assert (run.documents, run.deliveries, run.shard_visits) == (0, 0, 0)


def test_the_plan_hops_has_no_shards() -> None:
    with pytest.raises(UsageError, match="shards"):
        design_of(TOPOLOGY, plan="hops", shards=2)


def test_a_part_that_is_gone_fails_the_run(
    spark: SparkSession, publications: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = LocalTables.accept_parts

    def keep(put: LocalTables, receipts: Iterable[Row], attempts: Path) -> None:
        next(attempts.glob("deliveries/part-*")).unlink()
        usual(put, receipts, attempts)

    monkeypatch.setattr(LocalTables, "accept_parts", keep)
    with pytest.raises(TwigcastError, match="it is not there"):
        _run(spark, publications, tmp_path / "out", "covering", 4)
    assert not (tmp_path / "out" / "_manifest").exists()
