"""The whole job on the benchmark workload, against what libxml2 says."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest

from twigcast.spark import run_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.deep]


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


@pytest.mark.parametrize("workload", ["d6_w20_s20", "d6_w20_s20_p1_n1"])
def test_deliveries_are_those_of_the_oracle(
    workload: str, shared_path: Callable[[str], Path], tmp_path: Path, spark: SparkSession
) -> None:
    folder = shared_path("bench/nitf")
    expressions = _lines(folder / "queries" / f"{workload}.txt.gz")[:1000]
    run = run_batch(expressions, folder / "documents.tar.gz", tmp_path / "out", spark=spark)
    assert (run.documents, run.dead_letters, run.rejected) == (500, 0, 0)
    expected = {
        (name, position)
        for name, *positions in map(str.split, _lines(folder / f"expected/{workload}.1000.txt.gz"))
        for position in map(int, positions)
    }
    rows = pyarrow.parquet.read_table(tmp_path / "out" / "deliveries").to_pylist()
    found = {(row["document"].rsplit("/", 1)[-1], int(row["subscription"]) - 1) for row in rows}
    assert found == expected
    assert len(rows) == len(expected)
