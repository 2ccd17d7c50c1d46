"""How documents, matchers and labels reach the workers.

How a compiled matcher reaches the workers was measured. A broadcast variable is copied into
every Python worker, dropped when the worker does something else in between, and does not exist
when Spark runs elsewhere and is only connected to (Spark Connect). So it travels as a *file* that
Spark copies to every machine once (``addArtifacts``, which works in both cases), under a name
that tells its content, since Spark refuses a second content for one name. Workers map the file,
and keep what they have loaded in :func:`twigcast.spark.worker.matching.loaded_matcher`, which lies
in an importable module: state in anything sent along with a task would be made anew for each task.

So do the labels of its subscriptions (:mod:`~twigcast.spark.worker.labels`), and the ways through
the network (:mod:`~twigcast.spark.worker.crossings`).

Documents in files travel as numbers: a task gets the number of a chunk, and finds in a shared
file which documents those are (:mod:`~twigcast.spark.worker.chunks`). Spark never sees a document
that it does not have to.

What workers do with documents is up to the plans beside this module.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

import pyarrow as pa
from pyspark import SparkFiles, TaskContext
from pyspark.sql.types import ArrayType, StringType

from twigcast.files import VersionedFile, write_index
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.spark.session.compatibility import arrow_function
from twigcast.spark.session.session import is_connected_to, is_embedded
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker.chunks import CARRIED_BYTES_MAX, plan_bytes
from twigcast.spark.worker.crossings import loaded_ways, ways_bytes
from twigcast.spark.worker.labels import labels_bytes, loaded_labels, loaded_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from twigcast.files import Entry
    from twigcast.matching import Matcher
    from twigcast.spark.session.compatibility import ColumnFunction
    from twigcast.spark.storage.sources import Publications
    from twigcast.spark.worker.crossings import CrossingModel

    Batches = Iterator[pa.RecordBatch]


WorkerFunction: TypeAlias = "Callable[[Batches], Batches]"
"""What a task of Spark's does with its rows."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents somewhere: rows that Spark shares out to tasks, and how a task opens them."""

    rows: DataFrame
    open: WorkerFunction
    limits: DocumentLimits = LIBRARY_LIMITS

    def answered(self, answer: WorkerFunction, schema: StructType) -> DataFrame:
        """What ``answer`` makes of the documents on workers, in rows of a schema."""
        opened = self.open

        def work(rows: Batches) -> Batches:
            yield from answer(opened(rows))

        return self.rows.mapInArrow(work, schema)


@dataclass(frozen=True, slots=True)
class SharedMatcher:
    """A compiled matcher, as a file that workers can get."""

    file: VersionedFile
    engine: str

    def load(self, limits: DocumentLimits = LIBRARY_LIMITS) -> Matcher:
        """The matcher for documents within limits, on a worker, which keeps it."""
        return worker.loaded_matcher(located(self.file), self.file.version, self.engine, limits)


@dataclass(frozen=True, slots=True)
class SharedLabels:
    """What stands behind the positions that matchers answer with, as files for workers."""

    labels: VersionedFile
    crossings: VersionedFile | None = None
    """The crossing model of a network of brokers; None if there is only one."""

    @property
    def files(self) -> list[VersionedFile]:
        """All of them."""
        return [self.labels, *([self.crossings] if self.crossings else [])]

    def load(self) -> pa.RecordBatch:
        """The labels, on a worker."""
        return loaded_labels(located(self.labels))

    def load_names(self) -> pa.Array[Any]:
        """The names of the subscriptions alone, on a worker."""
        return loaded_names(located(self.labels))

    def load_crossings(self) -> CrossingModel | None:
        """The crossing model, on a worker."""
        return loaded_ways(located(self.crossings)) if self.crossings else None


def share_matcher(spark: SparkSession, matcher: Matcher, *, engine: str = "auto") -> SharedMatcher:
    """Write a matcher, and make it known to workers."""
    shared = SharedMatcher(write_index(shared_folder(), matcher), engine)
    share(spark, shared.file)
    return shared


def share_labels(
    spark: SparkSession, labels: pa.RecordBatch, crossings: CrossingModel | None = None
) -> SharedLabels:
    """Write labels and a crossing model, and make them known to workers."""
    folder, content = shared_folder(), labels_bytes(labels)
    shared = SharedLabels(
        write_versioned(folder, stem="labels", ending=".arrow", content=content),
        None
        if crossings is None
        else write_versioned(folder, stem="ways", ending=".npz", content=ways_bytes(crossings)),
    )
    share(spark, *shared.files)
    return shared


def documents_in_chunks(
    spark: SparkSession, chunks: Sequence[Sequence[Entry]], publications: Publications
) -> Documents:
    """Documents in files, one task for each chunk."""
    plan = plan_bytes(chunks)
    carried, shared = plan, None
    if len(plan) > CARRIED_BYTES_MAX:
        carried = b""
        shared = write_versioned(shared_folder(), stem="chunks", ending=".arrow", content=plan)
        share(spark, shared)
    patterns, limits = tuple(publications.patterns), publications.limits
    record = publications.record

    def open_documents(rows: Batches) -> Batches:
        place = carried if shared is None else located(shared)
        yield from worker.open_chunks(rows, place, patterns=patterns, limits=limits, record=record)

    tasks = spark.range(0, len(chunks), 1, max(1, len(chunks)))
    return Documents(tasks, open_documents, publications.document_limits)


def documents_in_table(table: DataFrame, publications: Publications) -> Documents:
    """Documents in a table with the columns ``document``, ``content`` and ``origin``."""
    return Documents(table, lambda rows: rows, publications.document_limits)


def matching_function(matcher: SharedMatcher, labels: SharedLabels) -> ColumnFunction:
    """A function of a column of documents: the ids of the subscriptions that match."""

    def matching_ids(*columns: pa.Array[Any]) -> pa.Array[Any]:
        contents = worker.documents_in(columns)
        return worker.matching_names(contents, matcher.load(), labels.load_names())

    return arrow_function(matching_ids, ArrayType(StringType()))


def part_name() -> str:
    """A name for what this attempt of a task writes, which no other attempt has."""
    context = TaskContext.get()
    number = context.partitionId() if context else 0
    return f"part-{number:05}-{uuid4()}.snappy.parquet"


def share(spark: SparkSession, *files: VersionedFile) -> None:
    """Make files known to all workers, which find them by :func:`located`.

    An embedded Spark's workers read them where they are. To a Spark that is connected to they are
    sent. A cluster fetches them from where they are, and does so for every executor that is
    started, even what nobody asks for any more: it is a user that never goes.
    """
    is_fetched = not is_embedded(spark) and not is_connected_to(spark)
    with _LOCK:
        for file in files:
            _USED[file.path] += 1 + is_fetched
    if not is_embedded(spark):
        for file in files:  # Spark 4.0 takes one at a time.
            spark.addArtifacts(str(file.path), file=True)


def discard(*files: VersionedFile) -> None:
    """Remove shared files that nobody here uses any more; workers keep what they have loaded."""
    with _LOCK:
        for file in files:
            _USED[file.path] -= 1
            if _USED[file.path] <= 0:
                del _USED[file.path]
                file.path.unlink(missing_ok=True)


def located(file: VersionedFile) -> str:
    """Where a worker finds a shared file: Spark's copy, if there is one."""
    copy = SparkFiles.get(file.path.name)
    return copy if Path(copy).exists() else str(file.path)


_LOCK = Lock()
_USED: Counter[Path] = Counter()
"""How many users each shared file has."""


@cache
def shared_folder() -> Path:
    """Where shared files lie, until they are discarded or this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="twigcast-shared-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
