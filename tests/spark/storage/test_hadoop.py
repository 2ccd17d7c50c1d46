"""Tables through Hadoop's file systems: written once where they stay, and none without a manifest.

What goes in comes from there as well. The file system is that of this machine, under another
address; :mod:`tests.spark.storage.test_hdfs` has a real HDFS.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from twigcast.errors import TwigcastError, UsageError
from twigcast.spark import Pipeline, pipeline, read_table
from twigcast.spark.plans import writers
from twigcast.spark.storage import elsewhere as elsewhere_files
from twigcast.spark.storage import hadoop
from twigcast.spark.storage.batches import hadoop_store
from twigcast.spark.storage.hadoop import HadoopStore
from twigcast.spark.storage.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = [{"id": "any", "xpath": "/a"}, {"id": "b", "xpath": "//b"}, {"id": "bad", "xpath": "//["}]
JOBS_MAX = 4


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """Twelve documents, of which one is broken."""
    folder = tmp_path / "feed"
    folder.mkdir()
    for number in range(11):
        (folder / f"{number}.xml").write_text("<a><b/></a>" if number % 2 else "<a/>")
    (folder / "broken.xml").write_text("<a>")
    return folder


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    """Folders of this machine are written to as those of other file systems are."""
    monkeypatch.setattr(pipeline, "local_store", lambda path: hadoop_store(f"file://{path}", spark))


def _pairs(spark: SparkSession, out: Path) -> list[tuple[str, str]]:
    rows = read_table(spark, out, "deliveries").collect()
    return sorted((Path(row["document"]).stem, row["subscription"]) for row in rows)


@pytest.fixture
def mounted(tmp_path: Path, spark: SparkSession) -> str:
    """The address of a folder, ``elsewhere``, in a file system that workers cannot open."""
    (tmp_path / "elsewhere").mkdir()
    server = f"x{uuid4().hex}"
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    link = f"fs.viewfs.mounttable.{server}.link./folder"
    configuration.set(link, f"file://{tmp_path}/elsewhere")
    return f"viewfs://{server}/folder"


EXPECTED = sorted(
    [(f"{number}", "any") for number in range(11)]
    + [(f"{number}", "b") for number in range(1, 11, 2)]
)


@pytest.mark.usefixtures("elsewhere")
def test_a_batch_takes_few_jobs_of_spark(tmp_path: Path, spark: SparkSession, feed: Path) -> None:
    context = spark.sparkContext
    context.setJobGroup("counted", "a batch")
    try:
        Pipeline(spark, None, RULES).disseminate(feed, tmp_path / "out")
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert 1 <= len(context.statusTracker().getJobIdsForGroup("counted")) <= JOBS_MAX
    assert _pairs(spark, tmp_path / "out") == EXPECTED


@pytest.mark.usefixtures("elsewhere")
def test_no_table_is_moved(
    tmp_path: Path, spark: SparkSession, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(HadoopStore, "move")
    Pipeline(spark, None, RULES).disseminate(feed, tmp_path / "out")
    assert _pairs(spark, tmp_path / "out") == EXPECTED
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"_manifest", *TABLES}, "and nothing is left"


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("written", range(7))
def test_a_run_that_dies_before_its_manifest_leaves_no_tables_and_is_cleared_up(
    tmp_path: Path,
    spark: SparkSession,
    feed: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: int,
) -> None:
    usual, left = HadoopStore.write_once, iter(range(written))

    def dying(store: HadoopStore, name: str, content: bytes) -> None:
        if next(left, None) is None:
            raise TwigcastError("the driver is killed")
        usual(store, name, content)

    run = Pipeline(spark, None, RULES)
    with monkeypatch.context() as patched:
        patched.setattr(HadoopStore, "write_once", dying)
        with pytest.raises(TwigcastError, match="the driver is killed"):
            run.disseminate(feed, tmp_path / "out", partitions=1)
    with pytest.raises(UsageError, match="holds no finished run"):
        read_table(spark, tmp_path / "out", "deliveries")
    run.disseminate(feed, tmp_path / "out", partitions=2)
    assert _pairs(spark, tmp_path / "out") == EXPECTED


@pytest.mark.usefixtures("elsewhere")
def test_what_is_overwritten_stays_until_all_is_matched(
    tmp_path: Path, spark: SparkSession, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Pipeline(spark, None, RULES).disseminate(feed, tmp_path / "out")

    def failing(*_: object) -> None:
        raise TwigcastError("not all is matched")

    other = Pipeline(spark, None, {"z": "//b"})
    with monkeypatch.context() as patched:
        patched.setattr(writers, "sums_of_receipts", failing)
        patched.setattr("twigcast.spark.plans.fused.sums_of_receipts", failing)
        with pytest.raises(TwigcastError, match="not all is matched"):
            other.disseminate(feed, tmp_path / "out", overwrite=True)
    assert _pairs(spark, tmp_path / "out") == EXPECTED
    other.disseminate(feed, tmp_path / "out", overwrite=True)
    assert _pairs(spark, tmp_path / "out") == [(str(number), "z") for number in (1, 3, 5, 7, 9)]


@pytest.mark.usefixtures("elsewhere")
def test_parts_that_do_not_come_with_receipts_are_fetched(
    tmp_path: Path, spark: SparkSession, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "SMALL_PART_BYTES_MAX", 0)
    monkeypatch.setattr(writers, "FETCHED_BYTES_MAX", 3000)
    monkeypatch.setattr(hadoop, "SPELLED_BYTES_MAX", 1000)
    Pipeline(spark, None, RULES).disseminate(feed, tmp_path / "out", partitions=6)
    assert _pairs(spark, tmp_path / "out") == EXPECTED
    parts = sorted((tmp_path / "out/deliveries/batch=0").glob("part-*"))
    assert [int(part.name.split("-")[1]) for part in parts] == list(range(6))


@pytest.mark.usefixtures("elsewhere")
def test_a_part_that_comes_again_and_differs_stops_the_run(
    tmp_path: Path, spark: SparkSession, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark may lose what it keeps, and documents may be gone when they are read again."""
    monkeypatch.setattr(writers, "SMALL_PART_BYTES_MAX", 0)
    usual = writers.ByDriver.write

    def write(tables: writers.ByDriver) -> None:
        spark.catalog.clearCache()
        (feed / "1.xml").unlink()
        usual(tables)

    monkeypatch.setattr(writers.ByDriver, "write", write)
    with pytest.raises(TwigcastError, match=r"has 14 rows, and its worker wrote 16"):
        Pipeline(spark, None, RULES).disseminate(feed, tmp_path / "out", partitions=1)
    with pytest.raises(UsageError, match="holds no finished run"):
        read_table(spark, tmp_path / "out", "deliveries")


def test_a_file_is_the_same_however_it_goes_to_java(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = hadoop_store(f"file://{tmp_path}/out", spark)
    content = bytes(range(256)) * 10
    store.write_once("spelled", content)
    monkeypatch.setattr(hadoop, "SPELLED_BYTES_MAX", 100)
    store.write_once("copied", content)
    assert store.read("spelled") == store.read("copied") == content


@pytest.mark.usefixtures("elsewhere")
def test_parts_have_the_schema_and_the_checksums_of_any_others(
    tmp_path: Path, spark: SparkSession, feed: Path
) -> None:
    Pipeline(spark, None, RULES).disseminate(feed, tmp_path / "out")
    for name, schema in TABLES.items():
        (part,) = (tmp_path / "out" / name / "batch=0").glob("part-*")
        assert part.name.endswith(".snappy.parquet")
        assert spark.read.parquet(str(part)).schema == schema
        assert pq.read_table(part, page_checksum_verification=True) is not None


def test_a_batch_has_everything_elsewhere(
    tmp_path: Path, spark: SparkSession, feed: Path, mounted: str
) -> None:
    there = tmp_path / "elsewhere"
    feed.rename(there / "feed")
    (there / "feed" / "note.txt").write_text("no document")
    (there / "feed" / "odd [1] %41.XML").write_text("<z/>")
    with zipfile.ZipFile(there / "more.zip", "w") as archive:
        archive.writestr("one.xml", "<a/>")
        archive.writestr("note.txt", "no document")
    (there / "named.txt").write_text("<a/>")
    (there / "rules.csv").write_text("id,xpath\nany,/a\nb,//b\nbad,//[\n")
    places = [f"{mounted}/{name}" for name in ("feed", "more.zip", "named.txt", "feed/1.xml")]
    run = Pipeline(spark, None, f"{mounted}/rules.csv").disseminate(places, f"{mounted}/out")
    assert (run.documents, run.dead_letters, run.rejected) == (15, 1, 1)
    assert _pairs(spark, there / "out") == sorted(
        [*EXPECTED, ("more.zip!one", "any"), ("named", "any")]
    )
    (letter,) = read_table(spark, there / "out", "dead_letters").collect()
    assert letter["document"].endswith("/feed/broken.xml")
    assert letter["stage"] == "parse"


def test_a_file_that_is_too_long_for_java_is_a_dead_letter(
    tmp_path: Path, spark: SparkSession, mounted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere" / "long.xml").write_text("<a>and so on</a>")
    (tmp_path / "elsewhere" / "short.xml").write_text("<a/>")
    monkeypatch.setattr(elsewhere_files, "FILE_BYTES_MAX", 10)
    run = Pipeline(spark, None, ["/a"]).disseminate(mounted, tmp_path / "out")
    assert (run.documents, run.deliveries, run.dead_letters) == (2, 1, 1)
    (letter,) = read_table(spark, tmp_path / "out", "dead_letters").collect()
    assert letter["stage"] == "read"
    assert "too many bytes for a file that Spark reads: 16" in letter["reason"]


def test_publications_that_are_nowhere_are_one_sentence(
    tmp_path: Path, spark: SparkSession, mounted: str
) -> None:
    with pytest.raises(UsageError, match=r"cannot read the publications: .*nowhere"):
        Pipeline(spark, None, ["/a"]).disseminate(f"{mounted}/nowhere", tmp_path / "out")
    with pytest.raises(UsageError, match=r"cannot read the subscriptions in .*nowhere"):
        Pipeline(spark, None, f"{mounted}/nowhere.csv")


def test_a_stream_has_everything_elsewhere(
    tmp_path: Path, spark: SparkSession, mounted: str
) -> None:
    there = tmp_path / "elsewhere"
    (there / "feed").mkdir()
    (there / "changes").mkdir()
    (there / "feed" / "1.xml").write_text("<a><b/></a>")

    def carry() -> list[tuple[str, str]]:
        Pipeline(spark, None, {"first": "//b"}).stream(
            f"{mounted}/feed",
            f"{mounted}/out",
            checkpoint=f"{mounted}/checkpoint",
            changes=f"{mounted}/changes",
        ).wait()
        return _pairs(spark, there / "out")

    assert carry() == [("1", "first")]
    change = '{"op": "add", "version": 1, "id": "second", "xpath": "/a"}\n'
    (there / "changes" / "1.jsonl").write_text(change)
    (there / "changes" / "2.jsonl.tmp").write_text("not whole")
    (there / "feed" / "2.xml").write_text("<a><b/></a>")
    (there / "feed" / "note.txt").write_text("no document")
    assert carry() == [("1", "first"), ("2", "first"), ("2", "second")]
