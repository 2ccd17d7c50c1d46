"""What waits behind a batch is what has arrived and is not in a batch yet."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.streams import Place
from twigcast.files import PublicationLimits
from twigcast.files.archives.members import Selection
from twigcast.spark import Publications
from twigcast.spark.stream import reports
from twigcast.spark.stream.reports import BatchReport, WatchedFiles, messages_waiting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPORT = BatchReport(batch=0, documents=30, bytes=600, deliveries=1, dead_letters=0, seconds=2.0)


def _arrive(folder: Path, name: str, second: int, text: str = "<a/>") -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (second, second))
    return str(path)


@pytest.fixture
def watched(tmp_path: Path) -> WatchedFiles:
    return WatchedFiles({str(tmp_path): "feed"}, Selection(["*.xml"], PublicationLimits()))


def _waiting(watched: WatchedFiles) -> tuple[int | None, int | None]:
    told = watched.with_waiting(REPORT)
    return told.files_waiting, told.bytes_waiting


def test_files_that_are_younger_than_those_taken_up_are_waiting(
    watched: WatchedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = [_arrive(tmp_path, f"{number}.xml", number) for number in range(3)]
    assert _waiting(watched) == (3, 12), "nothing was taken up so far"
    watched.take([*taken, str(tmp_path / "gone.xml")])
    assert _waiting(watched) == (0, 0)
    _arrive(tmp_path, "4.xml", 40, "<abc/>")
    _arrive(tmp_path, "deep/er/5.xml", 50)
    assert _waiting(watched) == (2, 10)
    monkeypatch.setattr("time.time", lambda: 100.0)
    assert watched.with_waiting(REPORT).seconds_waiting == 60.0


def test_files_of_one_age_are_told_apart(watched: WatchedFiles, tmp_path: Path) -> None:
    names = [_arrive(tmp_path, f"{number}.xml", 7) for number in range(5)]
    for done in range(1, 6):
        watched.take(names[done - 1 : done])
        assert _waiting(watched) == (5 - done, 4 * (5 - done))


@pytest.mark.parametrize("name", ["notes.txt", ".new.xml", "_x/1.xml", "empty.xml"])
def test_what_is_no_document_does_not_wait(
    watched: WatchedFiles, tmp_path: Path, name: str
) -> None:
    _arrive(tmp_path, name, 9, "" if name == "empty.xml" else "<a/>")
    assert _waiting(watched) == (0, 0)


def test_what_waits_in_a_folder_of_too_many_files_is_not_counted(
    watched: WatchedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "WATCHED_FILES_MAX", 2)
    for number in range(3):
        _arrive(tmp_path, f"{number}.xml", number)
    assert _waiting(watched) == (None, None)


def test_a_folder_that_is_gone_has_nothing_that_waits(tmp_path: Path) -> None:
    place = tmp_path / "gone"
    watched = WatchedFiles({str(place): "feed"}, Selection(["*"], PublicationLimits()))
    assert _waiting(watched) == (0, 0)


def test_rates_are_those_of_the_whole_batch() -> None:
    assert (REPORT.documents_per_second, REPORT.bytes_per_second) == (15.0, 300.0)
    nothing = BatchReport(0, 0, 0, 0, 0, 0.0)
    assert (nothing.documents_per_second, nothing.bytes_per_second) == (0.0, 0.0)


def _progress(batch: int, *sources: tuple[object, object]) -> Any:  # noqa: ANN401 (as Spark has it)
    told = [
        SimpleNamespace(endOffset=json.dumps(end), latestOffset=json.dumps(latest))
        for end, latest in sources
    ]
    return SimpleNamespace(batchId=batch, sources=told)


def test_messages_that_wait_are_counted_over_all_partitions() -> None:
    done, latest = {"news": {"0": 5, "1": 7}}, {"news": {"0": 9, "1": 7}}
    found = messages_waiting([_progress(3, (done, latest)), _progress(4, (latest, latest))])
    assert found == {3: 4, 4: 0}


@pytest.mark.parametrize("offsets", [({"logOffset": 4}, None), (12, 13), (None, None)])
def test_what_waits_is_not_known_of_other_offsets(offsets: tuple[object, object]) -> None:
    assert messages_waiting([_progress(0, offsets)]) == {0: None}


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_stream_reports_each_batch_and_what_waits_behind_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(tmp_path, spark)
    for number in range(5):
        _arrive(place.documents, f"{number}.xml", 100 + number, "<a><b>7</b></a>")
    stream = place.start(Publications(place.documents, options={"maxFilesPerTrigger": "2"}))
    assert stream.wait()
    told = [
        (each.batch, each.documents, each.deliveries, each.files_waiting, each.bytes_waiting)
        for each in stream.reports
    ]
    assert told == [(0, 2, 4, 3, 45), (1, 2, 4, 1, 15), (2, 1, 2, 0, 0)]
    assert all(each.seconds > 0 and each.messages_waiting is None for each in stream.reports)
