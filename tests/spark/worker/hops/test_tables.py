"""Tables of brokers in a file."""

from __future__ import annotations

from pathlib import Path

from tests.routing.networks import line
from tests.spark.worker.hops.stage import (
    Stage,
)
from twigcast.language import Pattern
from twigcast.routing.strategy import piggyback


def test_tables_of_equal_content_have_one_name(tmp_path: Path) -> None:
    stage = Stage(tmp_path, line(3), [("B3", Pattern.parse("//a"))], piggyback())
    one, other = stage.tables(), stage.tables()
    assert one == other
    assert one.broker(1) is other.broker(1)
    assert one.loads == 1
    assert not list(tmp_path.glob("*.tmp"))
