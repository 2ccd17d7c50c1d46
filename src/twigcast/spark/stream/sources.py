"""Publications that keep arriving, for a stream: folders, tables, Kafka, any streaming DataFrame.

A *folder* is watched for new files. Spark keeps the account of which file belongs to which batch,
and that is all it does with them: a batch is a list of paths, which workers open as in any run
(:mod:`~twigcast.spark.worker.chunks`), archives and limits included. Handing over the documents,
Spark would take some milliseconds for each file. Files must appear whole, that is, be renamed into
place, and one that was taken up is not looked at again.

Everything else is a table whose rows are documents: what Spark can read as a stream in a format
that is named, a topic of Kafka, or a DataFrame that the caller has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from twigcast.errors import UsageError
from twigcast.files.archives.members import Selection
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.storage.batches import absolute, literally, local_path, reached
from twigcast.spark.storage.elsewhere import whole_address
from twigcast.spark.storage.kafka import KafkaTopic, documents_from
from twigcast.spark.storage.link_circles import check_links
from twigcast.spark.storage.sources import Publications, format_of, needed_columns, reading_options
from twigcast.spark.stream.reports import WatchedFiles

_WHOLE_FILES = "path string, modificationTime timestamp, length long, content binary"

_FILE_OPTIONS = {
    "recursiveFileLookup": "true",
    # A batch is listed by the driver, and is repeated as a whole.
    "maxFilesPerTrigger": "10000",
    # Spark silently passes over a file that is a week older than the newest one it has seen.
    "maxFileAge": "36500d",
}


_TABLES_OF_FILES = frozenset(("avro", "csv", "json", "orc", "parquet", "text", "xml"))


@dataclass(frozen=True)
class Arriving:
    """Publications that arrive: a streaming DataFrame, and what its rows stand for."""

    frame: DataFrame
    files: Callable[[Iterable[str]], Publications] | None = None
    """The documents among files that Spark names; None if the rows of a batch are documents."""
    watched: WatchedFiles | None = None
    """What waits in watched folders."""


def arriving(
    spark: SparkSession, given: Publications | KafkaTopic, *, schema: str | None = None
) -> Arriving:
    """What arrives at a place; a :class:`UsageError` if nothing can.

    ``schema`` is that of a table, in Spark's words; if it is not given, the files that are there
    tell it.
    """
    if isinstance(given, KafkaTopic):
        return Arriving(documents_from(spark, given))
    if isinstance(given.source, DataFrame):
        if not given.source.isStreaming:
            raise UsageError("the table does not stream: read it with spark.readStream")
        return Arriving(needed_columns(given.source, given))
    chosen = given.format or format_of(given.paths)
    if chosen is None:
        return _files(spark, given)
    frames = [_table(spark, path, chosen, given, schema=schema) for path in given.paths]
    return Arriving(needed_columns(reduce(DataFrame.union, frames), given))


def _files(spark: SparkSession, given: Publications) -> Arriving:
    folders = sorted(_folders(spark, given.paths), key=len, reverse=True)
    roots = {_whole(spark, path): path.rstrip("/") for path in folders}
    frames = [_watched(spark, root, given) for root in roots]
    watched = WatchedFiles(roots, Selection(given.patterns, given.limits))
    frame = reduce(DataFrame.union, frames)
    return Arriving(frame, lambda files: _documents(files, roots, given), watched)


def _folders(spark: SparkSession, paths: Iterable[str]) -> list[str]:
    found = []
    for path in paths:
        local = local_path(path)
        is_folder = reached(path, spark).is_folder() if local is None else Path(local).is_dir()
        if not is_folder:
            raise UsageError(f"{local or path} is no folder that could be watched for documents")
        found.append(local or path)
    return found


def _whole(spark: SparkSession, folder: str) -> str:
    """The path of a folder that means the same everywhere, as Spark tells it."""
    return whole_address(spark, folder) if local_path(folder) is None else absolute(folder)


def _watched(spark: SparkSession, root: str, given: Publications) -> DataFrame:
    options = {**_FILE_OPTIONS, **given.options}
    if local_path(root) is not None:
        check_links(root)
    reader = spark.readStream.format("binaryFile").schema(_WHOLE_FILES).options(**options)
    return reader.load(_place(root)).select("path")


def _documents(files: Iterable[str], roots: dict[str, str], given: Publications) -> Publications:
    """The files that are documents by their names.

    Whoever does the batch may be in another folder than the caller was, so paths are absolute. The
    names of documents begin as the caller has named the folder. Spark follows every link; which of
    them count, and which lead out of the folder, is seen when the files are listed.
    """
    selection = Selection(given.patterns, given.limits)
    found: list[str] = []
    for file in files:
        path = local_path(file) or file
        root = next((root for root in roots if path.startswith(f"{root}/")), "")
        if selection.wants(path.removeprefix(f"{root}/")):
            found.append(path)
    return replace(given, source=sorted(found), format=None, options={}, folder_names=roots)


def _table(
    spark: SparkSession, path: str, chosen: str, given: Publications, *, schema: str | None
) -> DataFrame:
    options = reading_options(chosen, given)
    place = _place(path)
    local = local_path(path)
    if local is not None and chosen in _TABLES_OF_FILES:
        options = {**_each_once(Path(local)), **options}
    try:
        if chosen == "binaryFile":
            schema, options = _WHOLE_FILES, {**_FILE_OPTIONS, **options}
        told = schema or spark.read.format(chosen).options(**options).load(place).schema
        return spark.readStream.format(chosen).schema(told).options(**options).load(place)
    except SPARK_FAILURES as error:
        raise UsageError(
            f"cannot read a stream of {chosen} from {path}: {cause(error)}"
            + ("" if schema else "; say the schema if there is no file yet")
        ) from error


def _each_once(table: Path) -> dict[str, str]:
    """What makes Spark's streams read each file of a table once, whatever its path looks like.

    Where that looks like a pattern of names, they read all files of its folder, again for each:
    unless they are to look into all folders below, or know from where on folders are named by
    columns.
    """
    try:
        items = [item for item in table.iterdir() if not item.name.startswith((".", "_"))]
    except OSError:  # Spark tells what is wrong with it
        return {}
    folders = [item.name for item in items if item.is_dir()]
    place = absolute(str(table))
    looks_like_pattern = literally(place) != place
    if any("=" in name for name in folders):
        return {"basePath": f"file://{place}"} if looks_like_pattern else {}
    is_flat = bool(items) and not folders
    return {"recursiveFileLookup": "true"} if is_flat or looks_like_pattern else {}


def _place(path: str) -> str:
    """A path that means the same to Spark, which would take brackets for a pattern of names."""
    local = local_path(path)
    if local is None:
        return path
    return f"file://{literally(absolute(local))}"
