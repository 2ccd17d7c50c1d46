"""The result of a run: its sums, and its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from twigcast.display import html_table, one_line, shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.files.documents.publications import AnyPath
from twigcast.spark.session.failures import plain_spark_errors
from twigcast.spark.session.listing import few_listing_tasks
from twigcast.spark.session.session import check_session, running_session
from twigcast.spark.storage.batches import Store, checked_place, literally, readable_store
from twigcast.spark.storage.manifests import Manifest, manifests_of
from twigcast.spark.storage.tables import BATCH, TABLES


@dataclass(frozen=True, repr=False)
class Run:
    """How a run went; the fields are explained in the table ``metrics``."""

    run: str
    out: str
    batch: int
    started: datetime
    strategy: str
    plan: str
    shards: int
    brokers: int
    subscriptions: int
    rejected: int
    documents: int
    bytes: int
    deliveries: int
    dead_letters: int
    internal_errors: int
    routes: int
    crossings: int
    needless: int
    shard_visits: int
    annotation_bytes: int
    engine: str
    matcher_version: str
    matcher_loads: int
    workers: int
    partitions: int
    seconds: Mapping[str, float]

    @property
    def all_accepted(self) -> bool:
        """Whether no subscription was rejected and nothing became a dead letter."""
        return not self.rejected and not self.dead_letters

    def table(self, name: str) -> DataFrame:
        """One of the tables that it wrote, in the active Spark session."""
        active = running_session()
        if active is None:
            raise UsageError(
                "there is no Spark session, or its Java machine has gone; start one to read tables"
            )
        return read_table(active, self.out, name)

    def __repr__(self) -> str:
        return (
            f"<Run: {self.documents:,} documents, {self.deliveries:,} deliveries, "
            f"{self.crossings:,} crossings, {self.dead_letters:,} dead letters, "
            f"{self.rejected:,} rejected, tables in {one_line(self.out)}>"
        )

    def _repr_html_(self) -> str:
        return html_table(
            ("field", "value"), [(name, _shown(value)) for name, value in asdict(self).items()]
        )


@door("reading a table")
def read_table(spark: SparkSession, out: AnyPath, name: str) -> DataFrame:
    """A table of a run or a stream, of whose batches only those count that are finished.

    Its files are those that were written: a :class:`UsageError` names one that is missing, was
    added, or has another size. What they hold is compared with its checksums when Spark reads it,
    and its columns are those of :data:`~twigcast.spark.storage.tables.TABLES`, for what Spark would
    take them from has no checksum. The last one is ``batch``, the number of a row's batch.
    """
    check_session(spark)
    if name not in TABLES:
        raise UsageError(f"there is no table {shown(name)}; there are {', '.join(TABLES)}")
    place = checked_place(out, "an output folder")
    with plain_spark_errors(f"cannot read the table {name} of {one_line(place)}"):
        store = readable_store(place, spark)
        manifests = manifests_of(store, name)
        if not manifests:
            raise UsageError(f"{place} holds no finished run")
        return frame_of_batches(spark, store, name, manifests)


def frame_of_batches(
    spark: SparkSession, store: Store, name: str, manifests: Iterable[Manifest]
) -> DataFrame:
    """What some batches have of a table, with the number of its batch in each row.

    It is one reading of many folders, and one more where batches were compacted: their files have
    the number as a column.
    """
    schema = StructType([*TABLES[name], BATCH])
    reader = spark.read.schema(schema).options(**_COMPARED)
    base = store.location(name)
    found = [manifest.span for manifest in manifests if manifest.parts.get(name)]
    single = [f"{literally(base)}/{span.folder}" for span in found if span.is_one]
    compacted = [f"{literally(base)}/{span.folder}" for span in found if not span.is_one]
    with few_listing_tasks(spark):
        frames = [reader.parquet(*compacted)] if compacted else []
        if single:
            frames.append(reader.option("basePath", base).parquet(*single))
    return reduce(DataFrame.union, frames) if frames else spark.createDataFrame([], schema)


_COMPARED: Final = {
    "parquet.page.verify-checksum.enabled": "true",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}
"""Pages are written with checksums, which Spark would not look at; and a session may be set up to
pass over files that it cannot read, with all their rows."""


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{step} {took:.1f}" for step, took in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)
