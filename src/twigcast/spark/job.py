"""The plumbing between Spark and :mod:`~twigcast.spark.worker`.

How a compiled matcher reaches the workers was measured. A broadcast variable is copied into
every Python worker, dropped when the worker does something else in between, and does not exist
when Spark runs elsewhere and is only connected to (Spark Connect). So it travels as a *file* that
Spark copies to every machine once (``addArtifacts``, which works in both cases), under a name
that tells its content, since Spark refuses a second content for one name. Workers map the file,
and keep what they have loaded in :func:`twigcast.spark.worker.loaded_matcher`, which lies in an
importable module: state in anything sent along with a task would be made anew for each task.

Documents in files travel as numbers: a task gets the number of a chunk, and finds in a shared
file which documents those are (:mod:`~twigcast.spark.chunks`). Spark never sees a document that
it does not have to.
"""

from __future__ import annotations

import atexit
import io
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, StringType

from twigcast.files import VersionedFile, write_index
from twigcast.files.index import write_versioned
from twigcast.spark import tables, worker
from twigcast.spark.chunks import plan_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql._typing import UserDefinedFunctionLike

    from twigcast.files import Entry, SubscriptionFile
    from twigcast.matching import Matcher
    from twigcast.spark.sources import Publications

    Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled matcher and the ids behind its positions, as files that the workers can get."""

    matcher: VersionedFile
    names: VersionedFile
    engine: str


def share_compiled(
    spark: SparkSession, file: SubscriptionFile, matcher: Matcher, *, engine: str = "auto"
) -> Compiled:
    """Write a matcher and its subscriptions' ids, and make them known to all workers."""
    folder = _shared_folder()
    names = pa.table({"id": pa.array([str(item.id) for item in file.subscriptions], pa.string())})
    compiled = Compiled(
        matcher=write_index(folder, matcher),
        names=write_versioned(folder, stem="names", ending=".arrow", content=_file_bytes(names)),
        engine=engine,
    )
    _share(spark, compiled.matcher, compiled.names)
    return compiled


def match_chunks(
    spark: SparkSession,
    chunks: Sequence[Sequence[Entry]],
    compiled: Compiled,
    publications: Publications,
) -> DataFrame:
    """The outcomes of documents in files, one task for each chunk."""
    plan = write_versioned(
        _shared_folder(), stem="chunks", ending=".arrow", content=plan_bytes(chunks)
    )
    _share(spark, plan)
    plan_name = plan.path.name
    patterns, limits = tuple(publications.patterns), publications.limits

    def match_partition(batches: Batches) -> Batches:
        documents = worker.open_chunks(
            batches, SparkFiles.get(plan_name), patterns=patterns, limits=limits
        )
        yield from _matched(documents, compiled)

    numbers = spark.range(0, len(chunks), 1, max(1, len(chunks)))
    return numbers.mapInArrow(match_partition, tables.OUTCOMES)


def match_table(documents: DataFrame, compiled: Compiled) -> DataFrame:
    """The outcomes of documents in a table with the columns ``document`` and ``content``."""

    def match_partition(batches: Batches) -> Batches:
        yield from _matched(batches, compiled)

    return documents.mapInArrow(match_partition, tables.OUTCOMES)


def matching_function(compiled: Compiled) -> UserDefinedFunctionLike:
    """A function of a column of documents: the ids of the subscriptions that match."""

    # Spark reads the annotations to learn what kind of function this is.
    def matching_ids(contents: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        matcher = _loaded(compiled)
        names = worker.loaded_names(SparkFiles.get(compiled.names.path.name))
        return worker.matching_names(contents, matcher, names)

    made: UserDefinedFunctionLike
    made = arrow_udf(matching_ids, ArrayType(StringType()))  # type: ignore[call-overload]
    return made


def _matched(documents: Batches, compiled: Compiled) -> Batches:
    return worker.match_batches(documents, _loaded(compiled), version=compiled.matcher.version)


def _loaded(compiled: Compiled) -> Matcher:
    file = compiled.matcher
    return worker.loaded_matcher(SparkFiles.get(file.path.name), file.version, compiled.engine)


def _share(spark: SparkSession, *files: VersionedFile) -> None:
    spark.addArtifacts(*(str(file.path) for file in files), file=True)


@cache
def _shared_folder() -> Path:
    """Where shared files lie; executors may ask for them as long as this process lives."""
    folder = Path(tempfile.mkdtemp(prefix="twigcast-shared-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
