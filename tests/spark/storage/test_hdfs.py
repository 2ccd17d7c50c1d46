"""Everything goes through a real HDFS as through a folder: a name node and a data node of Hadoop.

Where Hadoop's servers cannot be had, these tests are skipped.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from twigcast.spark import Pipeline, Publications, read_table
from twigcast.spark.plans import writers
from twigcast.spark.storage import hadoop
from twigcast.spark.storage.batches import hadoop_store
from twigcast.spark.storage.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark.storage.hadoop import HadoopStore

pytestmark = [pytest.mark.spark, pytest.mark.deep, pytest.mark.xdist_group("spark")]

TOPOLOGY = {"brokers": ["hub", "north", "south"], "links": [["hub", "north"], ["hub", "south"]]}
RULES = [
    {"id": "any", "xpath": "/a", "subscriber": "ann", "broker": "north"},
    {"id": "b", "xpath": "//b", "broker": "south"},
    {"id": "c", "xpath": "//c[. > 5]"},
    {"id": "bad", "xpath": "//["},
]
CONTENTS = {f"{number}.xml": f"<a><b/><c>{number}</c></a>".encode() for number in range(12)}
CONTENTS |= {"broken.xml": b"<a>", "none.xml": b"<z/>"}


@pytest.fixture
def store(hdfs_root: str, spark: SparkSession) -> HadoopStore:
    """A folder of its own for each test."""
    return hadoop_store(f"{hdfs_root}/{uuid4().hex}", spark)


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of documents."""
    folder = tmp_path_factory.mktemp("documents") / "feed"
    folder.mkdir()
    for name, content in CONTENTS.items():
        (folder / name).write_bytes(content)
    return folder


def _rows(spark: SparkSession, out: str | Path) -> dict[str, list[str]]:
    """The rows of all tables that do not tell of the run itself."""
    names = [name for name in TABLES if name != "metrics"]
    return {name: sorted(map(str, read_table(spark, out, name).collect())) for name in names}


@pytest.mark.parametrize("shards", [1, 3])
def test_tables_are_those_of_a_folder(
    store: HadoopStore, spark: SparkSession, feed: Path, tmp_path: Path, shards: int
) -> None:
    pipeline = Pipeline(spark, TOPOLOGY, RULES, "covering", shards=shards)
    here = pipeline.disseminate(feed, tmp_path / "out")
    there = pipeline.disseminate(feed, store.location("out"))
    told = ("documents", "bytes", "deliveries", "dead_letters", "crossings", "shard_visits")
    assert [getattr(here, name) for name in told] == [getattr(there, name) for name in told]
    assert there.deliveries == 12 + 12 + 6
    assert _rows(spark, tmp_path / "out") == _rows(spark, store.location("out"))
    assert store.names("out") == ["_manifest", *sorted(TABLES)]


def test_parts_that_do_not_come_with_their_receipts_are_fetched_group_by_group(
    store: HadoopStore,
    spark: SparkSession,
    feed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writers, "SMALL_PART_BYTES_MAX", 0)
    monkeypatch.setattr(writers, "FETCHED_BYTES_MAX", 6000)
    monkeypatch.setattr(hadoop, "SPELLED_BYTES_MAX", 1000)
    pipeline = Pipeline(spark, TOPOLOGY, RULES)
    pipeline.disseminate(feed, tmp_path / "out", partitions=8)
    pipeline.disseminate(feed, store.location("out"), partitions=8)
    assert len(store.names("out/deliveries/batch=0")) == 7, "of eight tasks, one has no delivery"
    assert _rows(spark, tmp_path / "out") == _rows(spark, store.location("out"))


def _put(store: HadoopStore, folder: str) -> None:
    for name, content in CONTENTS.items():
        store.write_once(f"{folder}/{name}", content)


def _renamed(rows: dict[str, list[str]], place: str, other: str) -> dict[str, list[str]]:
    return {name: [row.replace(place, other) for row in each] for name, each in rows.items()}


def test_documents_and_subscriptions_are_read_as_from_a_folder(
    store: HadoopStore, spark: SparkSession, feed: Path, tmp_path: Path
) -> None:
    _put(store, "feed")
    store.write_once("feed/other.txt", b"<a/>")
    store.write_once("feed/.hidden/x.xml", b"<a/>")
    rules = "id,xpath,subscriber\n" + "".join(
        f"{rule['id']},{rule['xpath']},{rule.get('subscriber', '')}\n" for rule in RULES
    )
    (tmp_path / "rules.csv").write_text(rules)
    store.write_once("rules.csv", rules.encode())
    Pipeline(spark, None, tmp_path / "rules.csv").disseminate(feed, tmp_path / "out")
    there = Pipeline(spark, None, store.location("rules.csv"))
    run = there.disseminate(store.location("feed"), store.location("out"))
    assert (run.documents, run.dead_letters, run.rejected) == (14, 1, 1)
    local = _renamed(_rows(spark, tmp_path / "out"), str(feed), store.location("feed"))
    assert _rows(spark, store.location("out")) == local


def test_archives_are_opened_and_records_found(
    store: HadoopStore, spark: SparkSession, tmp_path: Path
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in CONTENTS.items():
            archive.writestr(name, content)
        archive.writestr("note.txt", "no document")
    taped = io.BytesIO()
    with tarfile.open(fileobj=taped, mode="w:gz") as tape:
        for name, content in CONTENTS.items():
            member = tarfile.TarInfo(f"monday/{name}")
            member.size = len(content)
            tape.addfile(member, io.BytesIO(content))
    dump = b"<feed>" + b"<a><b/></a>" * 5 + b"</feed>"
    for name, file in {"feed.zip": packed, "feed.tar.gz": taped}.items():
        store.write_once(name, file.getvalue())
        (tmp_path / name).write_bytes(file.getvalue())
    store.write_once("dump.xml", dump)
    pipeline = Pipeline(spark, None, RULES)
    names = ["feed.zip", "feed.tar.gz"]
    pipeline.disseminate([tmp_path / name for name in names], tmp_path / "out")
    run = pipeline.disseminate([store.location(name) for name in names], store.location("out"))
    assert (run.documents, run.dead_letters) == (28, 2)
    local = _renamed(_rows(spark, tmp_path / "out"), f"{tmp_path}/", store.location(""))
    assert _rows(spark, store.location("out")) == local
    records = Publications(store.location("dump.xml"), record="a")
    assert pipeline.disseminate(records, store.location("records")).documents == 5


def test_a_stream_has_everything_on_hdfs_and_goes_on_where_it_was(
    store: HadoopStore, spark: SparkSession
) -> None:
    place = store.location

    def carry() -> None:
        stream = Pipeline(spark, None, {"first": "//b"}).stream(
            place("feed"), place("out"), checkpoint=place("checkpoint"), changes=place("changes")
        )
        stream.wait()

    def found() -> list[tuple[str, str]]:
        rows = read_table(spark, place("out"), "deliveries").collect()
        return sorted((Path(row["document"]).name, row["subscription"]) for row in rows)

    store.write_once("feed/1.xml", b"<a><b/></a>")
    store.folder("changes")
    carry()
    assert found() == [("1.xml", "first")]
    change = b'{"op": "add", "version": 1, "id": "second", "xpath": "/a"}\n'
    store.write_once("changes/1.jsonl", change)
    store.write_once("feed/2.xml", b"<a><b/></a>")
    store.write_once("feed/sub/3.xml", b"<a/>")
    carry()
    later = [("2.xml", "first"), ("2.xml", "second"), ("3.xml", "second")]
    assert found() == [("1.xml", "first"), *later]
    # The driver was killed when all was written but the manifest and Spark's note of it.
    for name in ("out/_manifest/batch=1.json", "checkpoint/commits/1"):
        store.delete(name)
    store.write_once("out/deliveries/batch=1/part-00000-left.snappy.parquet", b"PAR1")
    store.delete("feed/2.xml")
    carry()
    assert found() == [("1.xml", "first"), ("3.xml", "second")]
    (letter,) = read_table(spark, place("out"), "dead_letters").collect()
    assert (Path(letter["document"]).name, letter["stage"]) == ("2.xml", "read")
    assert "not there any more" in letter["reason"]
