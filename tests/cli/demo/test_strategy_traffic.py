"""What strategies send over links, for the same deliveries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.cli.demo.feed import write_feed
from twigcast.cli.demo.strategy_traffic import LinkLoad, carried_by_link, measure
from twigcast.errors import TwigcastError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytest.importorskip("pyspark")


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_strategy_that_delivers_something_else_is_no_comparison(
    tmp_path: Path, spark: SparkSession
) -> None:
    from twigcast.spark import Pipeline

    feed = write_feed(tmp_path, documents=20, subscriptions=40, seed=1)
    everything = {"one": "/news"}
    main = Pipeline(spark, feed.topology, everything).disseminate(feed.documents, tmp_path / "out")
    assert carried_by_link(tmp_path / "out") == {}
    with pytest.raises(TwigcastError, match="covering and best disagree on the demo"):
        measure(feed, main, "covering")


def test_what_links_carried_is_read_from_the_table(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batch = tmp_path / "traffic" / "batch=0"
    batch.mkdir(parents=True)
    columns = {
        "broker": ["hub", "hub"],
        "neighbour": ["east", "west"],
        "documents": [3, 1],
        "bytes": [300, 100],
        "needless": [2, 0],
        "needless_bytes": [200, 0],
    }
    pq.write_table(pa.table(columns), batch / "part-0.parquet")
    assert carried_by_link(tmp_path) == {
        ("hub", "east"): LinkLoad(3, 300, 2),
        ("hub", "west"): LinkLoad(1, 100, 0),
    }
