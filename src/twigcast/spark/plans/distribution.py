"""Distribution of documents, matchers and labels to the workers.

How a compiled matcher reaches the workers was measured. A broadcast variable is copied into
every Python worker, dropped when the worker does something else in between, and does not exist
when Spark runs elsewhere and is only connected to (Spark Connect). There are three ways, and what
is known of the place chooses among them (:func:`shared`)::

    Spark inside this process      the file itself, which workers map
    elsewhere, up to 4 MB          carried: its bytes are part of the function that Spark sends
    elsewhere, larger              a file that Spark copies to every machine (``addArtifacts``)

What is *carried* needs no place that driver and workers share, and nothing of ours outlives the
query: it works where neither files nor folders are to be had (serverless), and for a plan that is
kept and used later. But Spark sends it with every task, and Spark Connect, which takes messages of
128 MB at most, with every question about the plan. So what is larger is a file of the session,
which both kinds of Spark have, under a name that tells its content, since Spark refuses a second
content for one name. A folder on a shared store would do as well, but somebody would have to name
it, and to clear it up.

Either way workers keep what they have loaded, by version, in
:func:`twigcast.spark.worker.matching.loaded_matcher`, which lies in an importable module: state in
anything sent along with a task would be made anew for each task.

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

from twigcast.files import VersionedFile, write_index
from twigcast.files.writing.versioned_files import VersionedContent, write_versioned
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.spark.session.session import is_connected_to, is_embedded
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker.chunks import CARRIED_BYTES_MAX, plan_bytes
from twigcast.spark.worker.crossings import crossing_model_bytes, load_crossing_model
from twigcast.spark.worker.labels import labels_bytes, loaded_labels, loaded_names
from twigcast.spark.worker.parquet_parts import ENDING, part_of_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from twigcast.files import Entry
    from twigcast.matching import Matcher
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
class SharedFile:
    """A file that workers can get: from a place that they know, or with what they are sent."""

    file: VersionedFile
    carried: VersionedContent | None = None

    @property
    def place(self) -> str | VersionedContent:
        """Where it is, on a worker."""
        return self.carried or located(self.file)


@dataclass(frozen=True, slots=True)
class SharedMatcher:
    """A compiled matcher, as a file that workers can get."""

    shared: SharedFile
    engine: str

    @property
    def file(self) -> VersionedFile:
        """The file."""
        return self.shared.file

    def load(self, limits: DocumentLimits = LIBRARY_LIMITS) -> Matcher:
        """The matcher for documents within limits, on a worker, which keeps it."""
        return worker.loaded_matcher(self.shared.place, self.file.version, self.engine, limits)


@dataclass(frozen=True, slots=True)
class SharedLabels:
    """What stands behind the positions that matchers answer with, as files for workers."""

    labels: SharedFile
    crossings: SharedFile | None = None
    """The crossing model of a network of brokers; None if there is only one."""

    @property
    def files(self) -> list[VersionedFile]:
        """All of them."""
        return [self.labels.file, *([self.crossings.file] if self.crossings else [])]

    def load(self) -> pa.RecordBatch:
        """The labels, on a worker."""
        return loaded_labels(self.labels.place)

    def load_names(self) -> pa.Array[Any]:
        """The names of the subscriptions alone, on a worker."""
        return loaded_names(self.labels.place)

    def load_crossings(self) -> CrossingModel | None:
        """The crossing model, on a worker."""
        return load_crossing_model(self.crossings.place) if self.crossings else None


def share_matcher(spark: SparkSession, matcher: Matcher, *, engine: str = "auto") -> SharedMatcher:
    """Write a matcher, and make it known to workers."""
    return SharedMatcher(shared(spark, write_index(shared_folder(), matcher)), engine)


def share_labels(
    spark: SparkSession, labels: pa.RecordBatch, crossings: CrossingModel | None = None
) -> SharedLabels:
    """Write labels and a crossing model, and make them known to workers."""

    def written(stem: str, ending: str, content: bytes) -> SharedFile:
        file = write_versioned(shared_folder(), stem=stem, ending=ending, content=content)
        return shared(spark, file)

    return SharedLabels(
        written("labels", ".arrow", labels_bytes(labels)),
        None
        if crossings is None
        else written("crossings", ".npz", crossing_model_bytes(crossings)),
    )


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


def documents_elsewhere(files: DataFrame, publications: Publications) -> Documents:
    """Documents in files that Spark has read: rows of ``path``, ``length`` and ``content``."""
    patterns, limits = tuple(publications.patterns), publications.limits
    record = publications.record

    def open_documents(rows: Batches) -> Batches:
        yield from worker.open_contents(rows, patterns=patterns, limits=limits, record=record)

    return Documents(files, open_documents, publications.document_limits)


def documents_in_table(table: DataFrame, publications: Publications) -> Documents:
    """Documents in a table with the columns ``document``, ``content`` and ``origin``."""
    return Documents(table, lambda rows: rows, publications.document_limits)


def part_name(run: str | None = None) -> str:
    """A name for what this attempt of a task writes, which no other attempt has.

    With ``run``, the attempts of a task have one name: what they make is not written by them.
    """
    context = TaskContext.get()
    number = context.partitionId() if context else 0
    return f"{part_of_task(number)}-{run or uuid4()}{ENDING}"


def shared(spark: SparkSession, file: VersionedFile) -> SharedFile:
    """A file made known to workers, or sent along with each task where it is small."""
    if not is_embedded(spark) and file.path.stat().st_size <= CARRIED_BYTES_MAX:
        with _LOCK:
            _USED[file.path] += 1
        return SharedFile(file, VersionedContent(file.version, file.path.read_bytes()))
    share(spark, file)
    return SharedFile(file)


def share(spark: SparkSession, *files: VersionedFile) -> None:
    """Make files known to all workers, which find them by :func:`located`.

    An embedded Spark's workers read them where they are. To a Spark that is connected to they are
    sent. A cluster fetches them from where they are, and does so for every executor that is
    started, even what nobody needs any more: it is a user that never goes.
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
