"""What the demo counts of deliveries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from twigcast.cli.demo.delivery_counts import read_tally
from twigcast.cli.demo.feed import DemoFeed

pytest.importorskip("pyspark")


def test_the_tally_counts_copies_once_for_a_subscriber(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        ("d1", "s1", "Ann", "east"),
        ("d1", "s2", "Ann", "east"),
        ("d1", "s3", "Bob", "west"),
        ("d2", "s1", "Ann", "east"),
    ]
    names = ("document", "subscription", "subscriber", "broker")
    batch = tmp_path / "deliveries" / "batch=0"
    batch.mkdir(parents=True)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), batch / "part-0.parquet")
    feed = DemoFeed(tmp_path, tmp_path, tmp_path, 4, 4, ("Ann", "Bob", "Cyd"))
    tally = read_tally(tmp_path, feed, Counter(Ann=2, Bob=1, Cyd=1))
    assert list(tally.received.items()) == [("Ann", 2), ("Bob", 1), ("Cyd", 0)]
    assert (tally.deliveries, tally.copies) == (4, 3)
    assert tally.delivered == {"Ann": 3, "Bob": 1}
    assert tally.by_broker == {"east": 2, "west": 1}
    assert tally.receivers == {0: 2, 1: 1, 2: 1}
    assert tally.unwanted == 2
    assert tally.by_subscription["s1"] == {"d1", "d2"}
