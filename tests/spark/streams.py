"""What tests of streams share: folders for one, and the rows that it leaves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet

from twigcast.spark import Pipeline
from twigcast.spark.plans.writers import LocalTables
from twigcast.spark.storage.batches import Output, local_store
from twigcast.spark.storage.manifests import whole_batches
from twigcast.spark.storage.tables import TABLES, arrow_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark.stream.stream import Stream

TOPOLOGY = {
    "brokers": ["hub", "north", "south", "pole"],
    "links": [["hub", "north"], ["hub", "south"], ["north", "pole"]],
}
SUBSCRIPTIONS = [
    {"id": "small", "xpath": "//b[. < 5]", "broker": "pole", "subscriber": "ann"},
    {"id": "any", "xpath": "/a/b", "broker": "south"},
    {"id": "seven", "xpath": "//b[. = 7]"},
    {"id": "never", "xpath": "//c", "broker": "north"},
    {"id": "bad", "xpath": "//["},
    {"id": "lost", "xpath": "//b", "broker": "nowhere"},
]

Rows = list[dict[str, Any]]


class Place:
    """Folders for documents, changes, tables and a checkpoint."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.documents, self.changes = folder / "documents", folder / "changes"
        self.out, self.checkpoint = folder / "out", folder / "checkpoint"
        self.documents.mkdir()
        self.changes.mkdir()
        self.pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, "covering")

    def publish(self, name: str, *numbers: int) -> None:
        for number in numbers:
            path = self.documents / f"{name}-{number:02}.xml"
            path.write_text(f"<a><b>{number}</b></a>", encoding="utf-8")

    def change(self, name: str, *rows: Mapping[str, object]) -> None:
        path = self.changes / name
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def start(self, publications: object = None, **more: Any) -> Stream:  # noqa: ANN401
        given = {"checkpoint": self.checkpoint, "changes": self.changes, **more}
        return self.pipeline.stream(publications or self.documents, self.out, **given)  # type: ignore[arg-type]

    def run(self, publications: object = None, **more: Any) -> None:  # noqa: ANN401
        """Do what is there."""
        assert self.start(publications, **more).wait()

    def table(self, name: str) -> Rows:
        return rows_of(self.out, name)

    def forget_commit(self, batch: int) -> None:
        """What Spark has on disk when it dies before it notes that the batch is done."""
        (self.checkpoint / "commits" / str(batch)).unlink()
        (self.checkpoint / "commits" / f".{batch}.crc").unlink(missing_ok=True)


def rows_of(out: Path, name: str) -> Rows:
    """The rows of finished batches, with their numbers."""
    found: Rows = []
    for batch in whole_batches(local_store(str(out))):
        if not (out / name / f"batch={batch}").exists():
            continue
        table = pyarrow.parquet.read_table(out / name / f"batch={batch}", partitioning=None)
        found += [{**row, "batch": batch} for row in table.to_pylist()]
    return found


def plain(rows: Rows) -> list[str]:
    """Rows without the number of the batch, in an order that can be compared."""
    return sorted(
        repr({name: value for name, value in row.items() if name != "batch"}) for row in rows
    )


def pairs(rows: Rows) -> list[tuple[str, str]]:
    return sorted((Path(row["document"]).name, row["subscription"]) for row in rows)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def finish_batches(out: Path, numbers: Iterable[int], documents: int = 1) -> None:
    """Batches of a stream: each document is wanted by two subscriptions at two brokers."""
    output = Output(local_store(str(out)), TABLES, existing="keep")
    for number in numbers:
        batch = output.batch(number)
        batch.begin()
        rows = [
            (f"{number}-{each}.xml", "hash", f"s{each % 7}-{broker}", None, broker, 0)
            for each in range(documents)
            for broker in ("north", "south")
        ]
        tables = LocalTables(batch)
        tables.put("deliveries", arrow_of(rows, TABLES["deliveries"]))
        tables.put("dead_letters", arrow_of([], TABLES["dead_letters"]))
        finished = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
        told = {"deliveries": len(rows), "dead_letters": 0}
        batch.finish({"rows": told, "finished": finished.isoformat()})
