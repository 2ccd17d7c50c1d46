"""Tables are read as they were written, or not at all."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.sessions import session_of_a_user, tasks_by_job
from tests.spark.streams import finish_batches
from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.spark import read_table, run_batch
from twigcast.spark.session.failures import SPARK_FAILURES
from twigcast.spark.session.listing import LISTING_TASKS
from twigcast.spark.storage.tables import TABLES

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def _rows(spark: SparkSession, out: Path, name: str) -> list[str]:
    return sorted(map(str, read_table(spark, out, name).collect()))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    out = tmp_path_factory.mktemp("result") / "out"
    feed = spark.createDataFrame(
        [(f"<a><b>{number}</b></a>", f"document {number}") for number in range(40)],
        "content string, document string",
    )
    run_batch({f"s{number}": "//a" for number in range(20)}, feed.coalesce(1), out, spark=spark)
    return out


def test_a_page_that_was_damaged_is_never_read_as_other_rows(
    spark: SparkSession, out: Path
) -> None:
    (part,) = (out / "deliveries/batch=0").glob("part-*")
    whole, rows = part.read_bytes(), _rows(spark, out, "deliveries")
    rng = random.Random(5)
    refused = 0
    for place in rng.sample(range(4, len(whole) // 2), 12):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        part.write_bytes(damaged)
        try:
            assert _rows(spark, out, "deliveries") == rows
        except SPARK_FAILURES:
            refused += 1
    part.write_bytes(whole)
    assert refused
    assert _rows(spark, out, "deliveries") == rows


def test_columns_are_those_of_the_table_whatever_a_footer_says(
    spark: SparkSession, out: Path
) -> None:
    """Parquet has no checksum of a footer, in which Spark keeps the names of the columns."""
    (part,) = (out / "deliveries/batch=0").glob("part-*")
    whole, rows = part.read_bytes(), _rows(spark, out, "deliveries")
    head, told, tail = whole.rpartition(b'"name":"subscription"')
    assert told
    part.write_bytes(head + told.replace(b"subs", b"sups") + tail)
    assert _rows(spark, out, "deliveries") == rows
    part.write_bytes(whole)


@pytest.mark.parametrize("name", ["_metadata", "_common_metadata"])
def test_columns_are_those_of_the_table_whatever_lies_beside_its_parts(
    spark: SparkSession, out: Path, name: str
) -> None:
    """Spark would take these for the footers of all parts."""
    rows = _rows(spark, out, "deliveries")
    foreign = out / "deliveries/batch=0" / name
    columns = pa.table({"document": ["d.xml"], "foreign": [1]}).schema
    pq.write_metadata(columns, str(foreign))
    assert _rows(spark, out, "deliveries") == rows
    foreign.unlink()


def test_a_session_that_passes_over_damaged_files_does_not_pass_over_rows(
    spark: SparkSession, out: Path
) -> None:
    (part,) = (out / "deliveries/batch=0").glob("part-*")
    whole = part.read_bytes()
    damaged = bytearray(whole)
    damaged[60] ^= 0xFF
    setting = "spark.sql.files.ignoreCorruptFiles"
    spark.conf.set(setting, "true")
    try:
        part.write_bytes(damaged)
        with pytest.raises(SPARK_FAILURES):
            _rows(spark, out, "deliveries")
    finally:
        spark.conf.unset(setting)
        part.write_bytes(whole)


def test_a_part_that_was_lost_is_named_before_anything_is_read(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    (part,) = (out / "metrics/batch=0").glob("part-*")
    part.rename(tmp_path / part.name)
    with pytest.raises(UsageError, match=rf"metrics/batch=0/{part.name}: it is not there"):
        read_table(spark, out, "metrics")
    (tmp_path / part.name).rename(part)
    assert len(_rows(spark, out, "metrics")) == 1


def test_small_tables_of_another_run_are_told_by_their_names(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    run_batch(["//a"], out.parent, tmp_path / "other", spark=spark)
    own, other = out / "rejected/batch=0", tmp_path / "other/rejected/batch=0"
    own.rename(tmp_path / "own")
    other.rename(own)
    with pytest.raises(UsageError, match="rejected/batch=0/part-"):
        read_table(spark, out, "rejected")
    own.rename(other)
    (tmp_path / "own").rename(own)


@pytest.mark.parametrize("place", ["bogus://x/y", "hdfs:///x"])
def test_a_place_that_is_none_is_told_in_one_sentence(spark: SparkSession, place: str) -> None:
    with pytest.raises(TwigcastError, match="cannot read the table metrics of") as told:
        read_table(spark, place, "metrics")
    assert not isinstance(told.value, InternalError)


def test_looking_for_tables_leaves_nothing_behind(tmp_path: Path, spark: SparkSession) -> None:
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set("fs.viewfs.mounttable.there.link./there", f"file://{tmp_path}")
    for place in (f"{tmp_path}/out", "viewfs://there/there/out"):
        with pytest.raises(UsageError, match="holds no finished run"):
            read_table(spark, place, "metrics")
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_many_batches_is_found_by_few_tasks_in_any_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    finish_batches(tmp_path, range(1, 41))
    user = session_of_a_user(spark)
    jobs = tasks_by_job(spark).keys()
    table = read_table(user, tmp_path, "deliveries")
    assert max(count for job, count in tasks_by_job(spark).items() if job not in jobs) <= 8
    assert user.conf.get(LISTING_TASKS, "0") == "0", "the settings are the user's again"
    rows = {(row["document"], row["batch"]) for row in table.collect()}
    assert rows == {(f"{number}-0.xml", number) for number in range(1, 41)}


def test_a_table_that_no_batch_has_rows_of_is_read_with_its_columns(
    spark: SparkSession, tmp_path: Path
) -> None:
    finish_batches(tmp_path, [1])
    table = read_table(spark, tmp_path, "dead_letters")
    assert table.columns == [*TABLES["dead_letters"].names, "batch"]
    assert table.count() == 0
    assert not (tmp_path / "dead_letters").exists()
