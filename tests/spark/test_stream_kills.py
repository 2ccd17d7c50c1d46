"""Killed without warning, driver, Java and workers all at once: nothing is lost, nothing is twice.

The stream under test runs in a process of its own, which kills itself and all that it has started
at a given point; then it is started again, and killed at another one. Before each start the feed
of changes goes on, so that a batch which is done again would give itself away if it were matched
with other subscriptions than before.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.spark.clusters import DRIVER_SECONDS_MAX, started, until
from tests.spark.streams import finish_batches
from twigcast.spark.storage.batches import local_store
from twigcast.spark.storage.manifests import Span, spans, whole_batches

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

BATCHES = 4
DOCUMENTS = 10

PROGRAM = """
import os, signal, sys
from pathlib import Path

from tests.spark.clusters import session_of
from twigcast.spark import Pipeline, start_session
from twigcast.spark.storage.batches import BatchOutput, _LocalStore
from twigcast.spark.stream.versions import Versions

folder, point = Path(sys.argv[1]), sys.argv[2]


def die():
    for number in session_of(os.getsid(0)):
        if number != os.getpid():
            os.kill(number, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def deadly(home, name, when, before):
    whole = getattr(home, name)

    def patched(self, *arguments):
        if before and when(self, *arguments):
            die()
        given = whole(self, *arguments)
        if not before and when(self, *arguments):
            die()
        return given

    setattr(home, name, patched)


def settles(self, choice, version):
    return choice.record.batch == 1


match point:
    case "before the record":
        deadly(Versions, "settle", settles, before=True)
    case "behind the record":
        deadly(Versions, "settle", settles, before=False)
    case "before the manifest":
        deadly(_LocalStore, "write", lambda self, name, _: name == "_manifest/batch=1.json", True)
    case "behind the manifest":
        deadly(BatchOutput, "finish", lambda self, manifest: self.number == 1, before=False)


def half_by_half(batches):
    for batch in batches:
        half = len(batch) // 2
        yield batch.slice(0, half)
        first = batch.column("document")[0].as_py()
        if point == "in the middle" and first.startswith("1-"):
            die()
        if point == "a worker" and first.startswith("2-") and not (folder / "killed").exists():
            (folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield batch.slice(half)


spark = start_session("local[2,2]", quick=True)
schema = "document string, content string"
reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
feed = reader.parquet((folder / "feed").as_uri()).mapInArrow(half_by_half, schema)
pipeline = Pipeline(spark, None, {"all": "/a", "small": "//b[. < 5]"})
stream = pipeline.stream(
    feed, folder / "out", checkpoint=folder / "checkpoint", changes=folder / "changes"
)
stream.wait()
spark.stop()
"""


COMPACTING = """
import os, signal, sys
from pathlib import Path

from tests.spark.clusters import session_of
from twigcast.spark import compact, start_session
from twigcast.spark.storage.batches import _LocalStore

folder, point = Path(sys.argv[1]), sys.argv[2]


def die():
    for number in session_of(os.getsid(0)):
        if number != os.getpid():
            os.kill(number, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


whole = _LocalStore.write


def deadly(self, name, content):
    if name == "_manifest/batch=0-2.json" and point == "before the manifest":
        die()
    whole(self, name, content)
    if name == "_manifest/batch=0-2.json" and point == "behind the manifest":
        die()


_LocalStore.write = deadly
spark = start_session("local[2]", quick=True)
compact(spark, folder / "out", readers_hours=0)
spark.stop()
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a table of documents, one file for each batch, and a feed of changes."""
    for name in ("feed", "changes"):
        (tmp_path / name).mkdir()
    for batch in range(BATCHES):
        names = [f"{batch}-{number}" for number in range(DOCUMENTS)]
        contents = [f"<a><b>{number}</b></a>" for number in range(DOCUMENTS)]
        path = tmp_path / "feed" / f"{batch}.parquet"
        pyarrow.parquet.write_table(pa.table({"document": names, "content": contents}), path)
        os.utime(path, (batch, batch))  # Spark takes the oldest first.
    return tmp_path


def _started(work: Path, point: str, version: int) -> int:
    """Let the feed go on, and run the stream until it ends or is killed; its exit code."""
    change = {"op": "add", "version": version, "id": f"v{version}", "xpath": "//b"}
    path = work / "changes" / f"{version}.jsonl"
    path.write_text(json.dumps(change), encoding="utf-8")
    return _ended(PROGRAM, work, point, work / f"log-{version}.txt")


def _ended(program: str, work: Path, point: str, log: Path) -> int:
    """The exit code of a program that ends or is killed."""
    command: list[str | Path] = [sys.executable, "-c", program, work, point]
    with started(command, log) as driver:
        until(
            lambda: driver.process.poll() is not None,
            what=f"a program that is killed {point}",
            seconds=DRIVER_SECONDS_MAX,
        )
    return driver.process.returncode


def _check(work: Path, points: list[str]) -> None:
    """Each delivery is there once, by the subscriptions on the record of its batch."""
    for version, point in enumerate(points, start=1):
        code = _started(work, point, version)
        expected = 0 if point == points[-1] else -signal.SIGKILL
        assert code == expected, (work / f"log-{version}.txt").read_text(encoding="utf-8")
    out = work / "out"
    assert whole_batches(local_store(str(out))) == list(range(BATCHES))
    for batch in range(BATCHES):
        record = json.loads((out / "_versions" / f"batch={batch}.json").read_bytes())
        standing = ["all", *(f"v{version}" for version in range(1, record["version"] + 1))]
        found = pyarrow.parquet.read_table(out / "deliveries" / f"batch={batch}", partitioning=None)
        pairs = zip(
            found.column("document").to_pylist(),
            found.column("subscription").to_pylist(),
            strict=True,
        )
        numbers = range(DOCUMENTS)
        expected_pairs = [(f"{batch}-{number}", name) for number in numbers for name in standing]
        expected_pairs += [(f"{batch}-{number}", "small") for number in range(5)]
        assert Counter(pairs) == Counter(expected_pairs)


def _versions(work: Path) -> list[int]:
    records = (work / "out" / "_versions" / f"batch={batch}.json" for batch in range(BATCHES))
    return [json.loads(record.read_bytes())["version"] for record in records]


def test_a_stream_survives_being_killed(work: Path) -> None:
    _check(work, ["in the middle", "before the manifest", "a worker"])
    # What was on record when the first one was killed counts when the batch is done at last.
    assert _versions(work) == [1, 1, 3, 3]
    assert (work / "killed").exists()


@pytest.mark.deep
def test_a_stream_survives_being_killed_at_every_point(work: Path) -> None:
    points = ["before the record", "behind the record", "in the middle", "before the manifest"]
    _check(work, [*points, "behind the manifest", "a worker"])
    # Killed before the record was written, the batch was begun with what stood at the next start.
    assert _versions(work) == [1, 2, 6, 6]


def _rows(out: Path) -> Counter[tuple[object, ...]]:
    """The deliveries that manifests stand for, as whoever reads files finds them."""
    found: Counter[tuple[object, ...]] = Counter()
    for span in spans(local_store(str(out))):
        place = out / span.place("deliveries")
        table = pyarrow.parquet.read_table(place, partitioning=None)
        numbers = table.column("batch").to_pylist() if not span.is_one else [span.last] * len(table)
        rows = zip(
            *(table.column(name).to_pylist() for name in ("document", "subscription")),
            numbers,
            strict=True,
        )
        found.update(rows)
    return found


@pytest.mark.parametrize("point", ["before the manifest", "behind the manifest"])
def test_tables_survive_a_compaction_that_is_killed(tmp_path: Path, point: str) -> None:
    out = tmp_path / "out"
    finish_batches(out, range(BATCHES), documents=DOCUMENTS)
    before = _rows(out)
    assert sum(before.values()) == 2 * BATCHES * DOCUMENTS
    log = tmp_path / "log.txt"
    assert _ended(COMPACTING, tmp_path, point, log) == -signal.SIGKILL, log.read_text()
    is_compacted = point == "behind the manifest"
    assert (Span(0, 2) in spans(local_store(str(out)))) == is_compacted
    assert _rows(out) == before
    assert _ended(COMPACTING, tmp_path, "never", log) == 0, log.read_text()
    assert _rows(out) == before
    assert sorted(path.name for path in (out / "deliveries").iterdir()) == ["batch=0-2", "batch=3"]
    assert not (out / "_compacting").exists()
