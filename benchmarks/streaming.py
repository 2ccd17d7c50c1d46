"""The kind ``streaming``: how long a small batch of a stream takes, beside Spark's own floor.

A stream watches a folder. Again and again a folder of documents is moved there, in one go, and the
time is taken until Spark has nothing left to do. The first batches warm up; of the others the
median counts. Nobody else wants anything of the session, and no pause is asked for between batches.

``identity``
    the floor: Spark reads the documents and writes them to Parquet as they are, overwriting the
    batch's own folder, which is what it takes to have them once.
``stream``
    ours: match, write six tables, put them in place, keep the records.
``stream, changed``
    the same, and before each batch one subscription goes and another comes, so that everything is
    compiled anew.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow.parquet

from benchmarks.definition import Definition
from benchmarks.measure import Measurement
from benchmarks.workloads import load
from twigcast.matching import Matcher
from twigcast.spark import Pipeline, start_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

IDENTITY, CHANGED = "identity", "stream, changed"

WARMING = 5
BATCHES = 10

_SCHEMA = "path string, modificationTime timestamp, length long, content binary"

Wait = Callable[[], object]


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    workload = load(definition)
    session = start_session("local[2]")
    with TemporaryDirectory() as folder:
        place = Place(Path(folder), workload.documents, changes=engine == CHANGED)
        with started(session, engine, place, workload.expressions) as wait:
            took = place.batches(wait)
        counts = {}
        if engine != IDENTITY:
            found = expected(workload.expressions, workload.documents)
            counts = {"differences": abs(place.deliveries() - found)}
    session.stop()
    figures = {
        "documents": len(workload.documents),
        "batch_ms": 1000 * median(took),
        "slowest_ms": 1000 * max(took),
    }
    return Measurement(engine=engine, counts=counts, figures=figures)


class Place:
    """The folders of a stream, and documents to move there."""

    def __init__(self, folder: Path, documents: Sequence[bytes], *, changes: bool) -> None:
        self.feed, self.changes = folder / "feed", folder / "changes"
        self.out, self.checkpoint = folder / "out", folder / "checkpoint"
        self._prepared = folder / "prepared"
        self._documents = documents
        self._is_changing = changes
        for path in (self.feed, self.changes, self._prepared):
            path.mkdir()

    def batches(self, wait: Wait) -> list[float]:
        """Seconds that each batch took, without those that warm up."""
        return [self._batch(number, wait) for number in range(WARMING + BATCHES)][WARMING:]

    def deliveries(self) -> int:
        """The deliveries of all batches."""
        files = (self.out / "metrics").rglob("*.parquet")
        return sum(pyarrow.parquet.read_table(f).column("deliveries")[0].as_py() for f in files)

    def _batch(self, number: int, wait: Wait) -> float:
        made = self._prepared / f"batch{number}"
        made.mkdir()
        for position, content in enumerate(self._documents):
            (made / f"{position}.xml").write_bytes(content)
        if self._is_changing:
            self._change(number)
        begun = time.perf_counter()
        made.rename(self.feed / made.name)
        wait()
        return time.perf_counter() - begun

    def _change(self, version: int) -> None:
        rows = [{"op": "add", "version": version, "id": f"new{version}", "xpath": "/none"}]
        if version:
            rows.append({"op": "remove", "version": version, "id": f"new{version - 1}"})
        path = self.changes / f"{version:03}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def started(
    session: SparkSession, engine: str, place: Place, expressions: Sequence[str]
) -> AbstractContextManager[Wait]:
    """A stream, and what waits until it has nothing left to do."""
    return _identity(session, place) if engine == IDENTITY else _stream(session, place, expressions)


def expected(expressions: Sequence[str], documents: Sequence[bytes]) -> int:
    """The deliveries that the bare matcher finds for all batches."""
    matcher = Matcher()
    for number, expression in enumerate(expressions):
        matcher.add(number, expression)
    return (WARMING + BATCHES) * sum(len(matcher.match(document)) for document in documents)


@contextmanager
def _identity(session: SparkSession, place: Place) -> Iterator[Wait]:
    def write(frame: DataFrame, number: int) -> None:
        frame.write.mode("overwrite").parquet(str(place.out / f"batch={number}"))

    reader = session.readStream.format("binaryFile").schema(_SCHEMA)
    frame = reader.option("recursiveFileLookup", "true").load(place.feed.as_uri())
    writer = frame.writeStream.foreachBatch(write).trigger(processingTime="0 seconds")
    query = writer.option("checkpointLocation", str(place.checkpoint)).start()
    yield query.processAllAvailable
    query.stop()


@contextmanager
def _stream(session: SparkSession, place: Place, expressions: Sequence[str]) -> Iterator[Wait]:
    pipeline = Pipeline(session, None, dict(enumerate(expressions)))
    stream = pipeline.stream(
        place.feed, place.out, checkpoint=place.checkpoint, changes=place.changes, trigger=0
    )
    yield stream.catch_up
    stream.stop()
