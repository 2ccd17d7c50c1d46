"""Documents in files of other file systems, which Spark's Java machine reads whole.

Workers cannot open such files, so Spark's source of whole files (``binaryFile``) lists them, reads
each, and hands its bytes over. What is in them workers find out as of any file: documents, packed
or not, archives, records of a dump (:func:`twigcast.spark.worker.matching.open_contents`). Which
files count is known by their names, before any is read.

A file goes through Java's memory in one piece, so :data:`FILE_BYTES_MAX` bounds it. A larger one is
not read, and is a dead letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as sql

from twigcast.errors import UsageError
from twigcast.files.archives.members import Selection
from twigcast.spark.session.compatibility import input_files
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.session.session import cores_of
from twigcast.spark.storage.batches import literally, reached
from twigcast.spark.worker.matching import FILE_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from twigcast.spark.storage.sources import Publications

_TASKS_PER_CORE = 4
FILES_PER_TASK_MAX = 5_000
"""As many small files take a core some ten seconds."""

_FILES = "path string, length long, content binary"


def files_elsewhere(
    spark: SparkSession, publications: Publications, partitions: int | None = None
) -> DataFrame:
    """Path, length and content of files; without content where that is too long, or gone.

    A :class:`UsageError` if there is nothing at a path, unless a stream has found it before.
    """
    paths, gone = list(dict.fromkeys(publications.paths)), []
    options = publications.options
    try:
        frame = _files(spark, paths, options)
    except SPARK_FAILURES as error:
        gone = [path for path in paths if not reached(path, spark).exists("")]
        if not (gone and publications.folder_names):
            raise UsageError(f"cannot read the publications: {cause(error)}") from error
        paths = [path for path in paths if path not in set(gone)]
        frame = _files(spark, paths, options)
    found = list(map(unquote, input_files(frame)))
    chosen = _chosen(spark, found, paths, Selection(publications.patterns, publications.limits))
    if len(chosen) < len(found):
        frame = _files(spark, chosen, options)
    suits = max(_TASKS_PER_CORE * cores_of(spark), -(-len(chosen) // FILES_PER_TASK_MAX))
    fits = sql.col("length") <= FILE_BYTES_MAX
    nothing = sql.lit(None).cast("binary").alias("content")
    # Spark reads no file that the condition leaves out.
    files = frame.where(fits).select("path", "length", "content")
    files = files.unionByName(frame.where(~fits).select("path", "length", nothing))
    if gone:
        rows = [(path, None, None) for path in gone]
        files = files.unionByName(spark.createDataFrame(rows, _FILES))
    return files.coalesce(partitions or suits)


def whole_address(spark: SparkSession, path: str) -> str:
    """The address of a place as Spark tells it, with the server that its configuration names."""
    told = path.rstrip("/")
    return told if urlsplit(told).netloc else reached(told, spark).whole()


def _files(
    spark: SparkSession, paths: Sequence[str], options: Mapping[str, str | bool | float]
) -> DataFrame:
    if not paths:
        return spark.createDataFrame([], _FILES)
    reader = spark.read.format("binaryFile").options(recursiveFileLookup=True, **options)
    return reader.load([literally(path) for path in paths])


def _chosen(
    spark: SparkSession, found: Sequence[str], given: Sequence[str], selection: Selection
) -> list[str]:
    """Those that are named themselves, or fit a pattern by their way in a folder."""
    named = {whole_address(spark, path) for path in given}
    folders = sorted(named.difference(found), key=len, reverse=True)

    def is_chosen(path: str) -> bool:
        folder = next((one for one in folders if path.startswith(f"{one}/")), "")
        return path in named or selection.wants(path.removeprefix(f"{folder}/"))

    return [path for path in found if is_chosen(path)]
