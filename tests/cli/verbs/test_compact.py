"""``twigcast compact``: what is typed reaches the function, and what it has done is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

pytest.importorskip("pyspark")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What Spark and the function are asked for, in the place of both."""
    from twigcast.spark import Compaction

    asked: list[Any] = []

    def compact(spark: None, out: str, **given: object) -> Compaction:
        asked.append((spark, out, given))
        return Compaction(1500, 3, 1490, 20, 1490, 7)

    def start_session(master: str | None, settings: dict[str, str]) -> None:
        asked.append((master, settings))

    monkeypatch.setattr("twigcast.spark.compact", compact)
    monkeypatch.setattr("twigcast.spark.start_session", start_session)
    monkeypatch.setattr("twigcast.spark.stream.compaction.check_finished", lambda _: None)
    return asked


def test_every_option_reaches_the_function(twigcast: Twigcast, asked: list[Any]) -> None:
    words = "--keep-days 90.5 --keep-batches 8 --readers-hours 0 --master local[1] --setting a=b"
    assert twigcast("compact", "out", *words.split()).exit_code == 0
    given = {"keep_days": 90.5, "keep_batches": 8, "readers_hours": 0.0}
    assert asked == [("local[1]", {"a": "b"}), (None, "out", given)]


def test_what_was_done_is_told(twigcast: Twigcast, asked: list[Any]) -> None:
    assert twigcast("compact", "out").stdout.splitlines() == [
        "batches              1,500  in 3 folders of each table",
        "compacted            1,490  written anew, sorted",
        "dropped                 20  batches that were too old",
        "removed              1,490  folders of each table that nobody reads any more",
        "versions                 7  records of subscriptions that no batch needs",
    ]
    told = json.loads(twigcast("compact", "out", "--json").stdout)
    assert (told["batches"], told["removed"]) == (1500, 1490)
    assert asked[1][2]["readers_hours"] == 1.0


def test_files_stay_as_long_as_the_function_says(twigcast: Twigcast, asked: list[Any]) -> None:
    from twigcast.spark.stream.compaction import READERS_HOURS

    twigcast("compact", "out")
    assert asked[1][2]["readers_hours"] == READERS_HOURS


def test_a_folder_without_tables_is_refused_before_spark_is_started(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    result = twigcast("compact", str(tmp_path / "out"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "holds no finished run" in result.stderr
    assert list(tmp_path.iterdir()) == []
