"""The plumbing between Spark and :mod:`~twigcast.spark.worker.matching`.

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

What the workers do with documents is up to the caller: :func:`outcomes_of` sends a row for each
back to Spark, :func:`receipts_of` has them write files and sends a row for each task.
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
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, StringType

from twigcast.files import VersionedFile, write_index
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.spark.session.session import is_connected_to, is_embedded
from twigcast.spark.storage import tables
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker.chunks import CARRIED_BYTES_MAX, plan_bytes
from twigcast.spark.worker.crossings import loaded_ways, ways_bytes
from twigcast.spark.worker.labels import labels_bytes, loaded_labels, loaded_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql._typing import UserDefinedFunctionLike
    from pyspark.sql.types import StructType

    from twigcast.files import Entry
    from twigcast.matching import Matcher
    from twigcast.spark.storage.sources import Publications
    from twigcast.spark.worker.crossings import CrossingModel

    Batches = Iterator[pa.RecordBatch]


WorkerFunction: TypeAlias = "Callable[[Batches], Batches]"
"""What a worker does with documents."""

Documents: TypeAlias = "Callable[[WorkerFunction, StructType], DataFrame]"
"""Documents somewhere: have them answered, in rows of a schema."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled matcher and what stands behind its answers, as files that workers can get."""

    matcher: VersionedFile
    labels: VersionedFile
    engine: str
    ways: VersionedFile | None = None
    """Through a network of brokers; None if there is only one."""


def share_compiled(
    spark: SparkSession,
    labels: pa.RecordBatch,
    matcher: Matcher,
    *,
    engine: str = "auto",
    ways: CrossingModel | None = None,
) -> Compiled:
    """Write a matcher, its subscriptions' labels and the ways, and make them known to workers."""
    folder = shared_folder()
    compiled = Compiled(
        matcher=write_index(folder, matcher),
        labels=write_labels(labels),
        engine=engine,
        ways=None if ways is None else write_ways(ways),
    )
    share(spark, compiled.matcher, compiled.labels, *([compiled.ways] if compiled.ways else []))
    return compiled


def write_labels(labels: pa.RecordBatch) -> VersionedFile:
    """Labels as a file to be shared."""
    content = labels_bytes(labels)
    return write_versioned(shared_folder(), stem="labels", ending=".arrow", content=content)


def write_ways(ways: CrossingModel) -> VersionedFile:
    """Ways as a file to be shared."""
    return write_versioned(shared_folder(), stem="ways", ending=".npz", content=ways_bytes(ways))


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

    def answered(answer: WorkerFunction, schema: StructType) -> DataFrame:
        def answer_chunks(batches: Batches) -> Batches:
            place = carried if shared is None else located(shared)
            yield from answer(worker.open_chunks(batches, place, patterns=patterns, limits=limits))

        numbers = spark.range(0, len(chunks), 1, max(1, len(chunks)))
        return numbers.mapInArrow(answer_chunks, schema)

    return answered


def documents_in_table(table: DataFrame) -> Documents:
    """Documents in a table with the columns ``document``, ``content`` and ``origin``."""
    return table.mapInArrow


def outcomes_of(documents: Documents, compiled: Compiled) -> DataFrame:
    """A row for each document, in Spark's hands."""

    def answer(batches: Batches) -> Batches:
        yield from _matched(batches, compiled)

    return documents(answer, tables.OUTCOMES)


def receipts_of(documents: Documents, compiled: Compiled, folder: str) -> DataFrame:
    """A row for each task, whose rows the workers write into ``folder``.

    To be asked for once: every time Spark computes it, workers write anew.
    """
    schemas = {table: tables.parquet_schema(tables.TABLES[table]) for table in parts.WRITTEN}

    def answer(batches: Batches) -> Batches:
        context = TaskContext.get()
        number = context.partitionId() if context else 0
        yield from parts.write_outcomes(
            _matched(batches, compiled),
            folder=folder,
            part=f"part-{number:05}-{uuid4()}.snappy.parquet",
            schemas=schemas,
            labels=loaded_labels(located(compiled.labels)),
            ways=ways_here(compiled),
        )

    return documents(answer, tables.RECEIPTS)


def matching_function(compiled: Compiled) -> UserDefinedFunctionLike:
    """A function of a column of documents: the ids of the subscriptions that match."""

    # Spark reads the annotations to learn what kind of function this is. Of what columns it is, a
    # function in Python cannot say: that is seen by those who get them.
    def matching_ids(*columns: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        contents = worker.documents_in(columns)
        matcher = _loaded(compiled)
        names = loaded_names(located(compiled.labels))
        return worker.matching_names(contents, matcher, names)

    made: UserDefinedFunctionLike
    made = arrow_udf(matching_ids, ArrayType(StringType()))  # type: ignore[call-overload]
    return made


def _matched(documents: Batches, compiled: Compiled) -> Batches:
    return worker.match_batches(
        documents, _loaded(compiled), version=compiled.matcher.version, ways=ways_here(compiled)
    )


def ways_here(compiled: Compiled) -> CrossingModel | None:
    """The ways through the network, on a worker."""
    return loaded_ways(located(compiled.ways)) if compiled.ways else None


def _loaded(compiled: Compiled) -> Matcher:
    file = compiled.matcher
    return worker.loaded_matcher(located(file), file.version, compiled.engine)


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
        spark.addArtifacts(*(str(file.path) for file in files), file=True)


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
