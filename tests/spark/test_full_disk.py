"""A full disk, or one that cannot be written to: a clear error, and the next run makes good.

The disk is a small one in memory, which takes the right to mount it; elsewhere these tests are
skipped by name.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest

from twigcast.errors import TwigcastError, UsageError
from twigcast.spark import Pipeline
from twigcast.spark.storage.batches import local_store
from twigcast.spark.storage.manifests import whole_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SIZE_KIB = 512
DOCUMENTS = 30
SUBSCRIPTIONS = {f"s{number}": f"//b[. != {number}]" for number in range(2_000)}


class Disk:
    """A small disk and the documents beside it."""

    def __init__(self, folder: Path) -> None:
        self.path, self.feed = folder / "disk", folder / "feed"
        self.out = self.path / "out"
        self.path.mkdir()
        self.feed.mkdir()
        for number in range(DOCUMENTS):
            path = self.feed / f"{number:02}.xml"
            path.write_text(f"<a><b>{number}</b></a>", encoding="utf-8")

    def fill(self, *, but_kib: int) -> None:
        """Leave so much room, and no more."""
        free = shutil.disk_usage(self.path).free
        (self.path / "ballast").write_bytes(bytes(free - but_kib * 1024))

    def clear(self) -> None:
        (self.path / "ballast").unlink()

    def mount(self, options: str) -> None:
        _mount("-o", options, self.path)

    def check(self) -> None:
        """All is there once, and the documents are as they were."""
        batches = whole_batches(local_store(str(self.out)))
        tables = [
            pyarrow.parquet.read_table(
                self.out / "deliveries" / f"batch={batch}", partitioning=None
            )
            for batch in batches
        ]
        found = [
            (Path(row["document"]).stem, row["subscription"])
            for table in tables
            for row in table.select(["document", "subscription"]).to_pylist()
        ]
        expected = {
            (f"{document:02}", f"s{number}")
            for document in range(DOCUMENTS)
            for number in range(len(SUBSCRIPTIONS))
            if document != number
        }
        assert len(found) == len(expected)
        assert set(found) == expected
        assert sorted(path.name for path in self.feed.iterdir()) == [
            f"{number:02}.xml" for number in range(DOCUMENTS)
        ]


def _mount(*arguments: str | Path) -> None:
    try:
        subprocess.run(["mount", *arguments], check=True, capture_output=True)  # noqa: S607
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a disk of a given size cannot be made here: mounting is not allowed")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path)
    _mount("-t", "tmpfs", "-o", f"size={SIZE_KIB}k", "tmpfs", made.path)
    yield made
    subprocess.run(["umount", "--lazy", made.path], check=True)  # noqa: S607


@pytest.fixture(scope="module")
def pipeline(spark: SparkSession) -> Pipeline:
    return Pipeline(spark, None, SUBSCRIPTIONS)


@pytest.mark.parametrize("room_kib", [0, 24])
def test_a_run_says_that_the_disk_is_full_and_the_next_one_completes(
    disk: Disk, pipeline: Pipeline, room_kib: int
) -> None:
    disk.fill(but_kib=room_kib)
    with pytest.raises(TwigcastError, match=r"did not finish: .*No space left on device") as told:
        pipeline.disseminate(disk.feed, disk.out)
    assert "\n" not in str(told.value)
    assert not (disk.out / "_manifest").exists()
    disk.clear()
    run = pipeline.disseminate(disk.feed, disk.out)
    assert run.documents == DOCUMENTS
    disk.check()


def test_a_run_says_that_the_disk_cannot_be_written_to(disk: Disk, pipeline: Pipeline) -> None:
    disk.out.mkdir()
    disk.mount("remount,ro")
    with pytest.raises(UsageError, match=r"the output folder .*/out cannot be written to"):
        pipeline.disseminate(disk.feed, disk.out)
    disk.mount("remount,rw")
    pipeline.disseminate(disk.feed, disk.out)
    disk.check()


def test_a_stream_says_that_the_disk_is_full_and_the_next_one_goes_on(
    disk: Disk, pipeline: Pipeline, tmp_path: Path
) -> None:
    disk.fill(but_kib=24)
    with pytest.raises(TwigcastError, match=r"stopped: .*No space left on device"):
        pipeline.stream(disk.feed, disk.out, checkpoint=tmp_path / "checkpoint").wait()
    disk.clear()
    pipeline.stream(disk.feed, disk.out, checkpoint=tmp_path / "checkpoint").wait()
    disk.check()
