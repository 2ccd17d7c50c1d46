"""The benchmark of streams counts what there is, and leaves nothing running."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import streaming
from benchmarks.stream_definitions import STREAM_DEFINITIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

DOCUMENTS = (b"<a><b/></a>", b"<a><c/></a>", b"<d/>")
EXPRESSIONS = ("/a", "//b", "/a/c")


@pytest.mark.parametrize("engine", STREAM_DEFINITIONS[0].engines)
def test_every_way_does_all_batches(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(streaming, "WARMING", 1)
    monkeypatch.setattr(streaming, "BATCHES", 2)
    place = streaming.Place(tmp_path, DOCUMENTS, changes=engine == streaming.CHANGED)
    with streaming.started(spark, engine, place, EXPRESSIONS) as wait:
        took = place.batches(wait)
    assert len(took) == 2
    assert min(took) > 0
    assert not spark.streams.active
    if engine == streaming.IDENTITY:
        assert spark.read.parquet(str(place.out)).count() == 3 * len(DOCUMENTS)
    else:
        assert place.deliveries() == streaming.expected(EXPRESSIONS, DOCUMENTS) == 3 * 4
