"""Tables that Spark writes, where workers cannot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.spark import Publications, run_batch
from twigcast.spark.storage.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTENTS = {f"{number}": b"<a><b/></a>" if number % 3 else b"<a/>" for number in range(40)}
CONTENTS["broken"] = b"<a>"

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_another_file_system_gets_the_same_tables(tmp_path: Path, spark: SparkSession) -> None:
    feed = tmp_path / "feed"
    feed.mkdir()
    for name, content in CONTENTS.items():
        (feed / f"{name}.xml").write_bytes(content)
    rows = [
        {"id": "any", "xpath": "/a", "subscriber": "ann", "broker": "north"},
        {"id": "b", "xpath": "//b"},
        {"id": "bad", "xpath": "//["},
    ]
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    (tmp_path / "elsewhere").mkdir()
    configuration.set(
        "fs.viewfs.mounttable.default.link./elsewhere", f"file://{tmp_path}/elsewhere"
    )
    outs = {"here": f"{tmp_path}/here", "elsewhere": "viewfs:///elsewhere/out"}
    runs = {
        name: run_batch(rows, Publications(feed), out, spark=spark) for name, out in outs.items()
    }
    for name, schema in TABLES.items():
        here = spark.read.parquet(str(tmp_path / "here" / name / "batch=0"))
        elsewhere = spark.read.parquet(str(tmp_path / "elsewhere" / "out" / name / "batch=0"))
        assert here.schema == schema, name
        assert elsewhere.schema == schema, name
        if name != "metrics":
            assert sorted(map(str, here.collect())) == sorted(map(str, elsewhere.collect()))
    told = ("documents", "bytes", "deliveries", "dead_letters", "rejected", "partitions")
    here_sums, elsewhere_sums = ([getattr(run, name) for name in told] for run in runs.values())
    assert here_sums == elsewhere_sums
