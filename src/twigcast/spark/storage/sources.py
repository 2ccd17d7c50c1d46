"""Sources of subscriptions and publications, in all forms that callers may give.

Subscriptions are a file, or whatever a Python program has at hand: expressions in a list, a mapping
from id to expression, rows with the columns of the file, or a DataFrame of such rows.

Publications are documents in folders, files and archives
(:mod:`twigcast.files.documents.publications`), or any table that Spark can read with the documents
in a column. What is meant is seen from the name (``.parquet``, ``.json``, ``.csv``, or a folder
that Spark has written such files into) unless the caller says it. Files in another file system than
this machine's are read by Spark (:mod:`~twigcast.spark.storage.elsewhere`), and named by their
address.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pyspark.sql import Column, DataFrame, Row, SparkSession, functions
from pyspark.sql.types import BinaryType, StringType

from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.files import (
    PublicationLimits,
    SubscriptionFile,
    gather_subscriptions,
    read_subscriptions,
)
from twigcast.files.documents.publications import (
    DEFAULT_LIMITS,
    DEFAULT_PATTERNS,
    AnyPath,
    selector_of,
)
from twigcast.files.opening import checked_path
from twigcast.files.subscriptions.file import subscriptions_in
from twigcast.files.subscriptions.row_formats import Row as FileRow
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.slips import caller_items, check_fields
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.session.session import start_session
from twigcast.spark.storage.batches import absolute, literally, local_path, reached

Subscriptions: TypeAlias = (
    AnyPath | SubscriptionFile | Mapping[int | str, str] | Iterable[object] | DataFrame
)
"""A path, a file already read, a mapping from id to expression, expressions, rows, a DataFrame."""

_FORMATS = {
    ".parquet": "parquet",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
}

_OPTIONS = {
    # As everybody but Spark writes CSV; documents have line ends.
    "csv": {"header": "true", "multiLine": "true", "quote": '"', "escape": '"'},
}


@dataclass(frozen=True)
class Publications:
    """Documents to be matched, and how to read them.

    ``source`` is a path, several, or a DataFrame. For tables, ``format`` is what Spark calls it,
    ``options`` are handed to its reader, ``content_column`` holds the documents (binary, or text)
    ``document_column`` their names and ``origin_column`` the brokers they are published at
    (``origin``, if there is such a column). For folders and archives, ``patterns`` say which files
    are documents. ``folder_names`` are what folders are called in the names of documents, where
    that is not their path.

    ``limits`` say how large documents may be, in tables too; elements, depth and the like are in
    ``document_limits``, whose ``bytes_max`` is that of ``limits``.

    With ``record``, files are dumps of any size, and their records are the documents: elements of a
    name (``page``, ``{uri}page``, ``*:page``) or a path (``/feed/entry``), wherever a task begins.
    """

    source: AnyPath | Sequence[AnyPath] | DataFrame
    format: str | None = None
    options: Mapping[str, str | bool | float] = field(default_factory=dict)
    content_column: str | None = None
    document_column: str | None = None
    origin_column: str | None = None
    patterns: Sequence[str] = DEFAULT_PATTERNS
    limits: PublicationLimits = DEFAULT_LIMITS
    folder_names: Mapping[str, str] = field(default_factory=dict)
    record: str | None = None
    document_limits: DocumentLimits = LIBRARY_LIMITS

    def __post_init__(self) -> None:
        check_fields(self)
        selector_of(self.record)
        bytes_max = self.limits.document_bytes_max
        object.__setattr__(
            self, "document_limits", replace(self.document_limits, bytes_max=bytes_max)
        )
        is_table = isinstance(self.source, DataFrame) or self.format or format_of(self.paths)
        if self.record is not None and is_table:
            raise UsageError(
                "record is for files, whose records are documents; a table has whole documents"
            )

    @property
    def paths(self) -> list[str]:
        """The paths of the source, of which a DataFrame has none."""
        if isinstance(self.source, DataFrame):
            return []
        if isinstance(self.source, str | os.PathLike):
            return [checked_path(self.source, "publications")]
        return [checked_path(path, "publications") for path in self.source]

    @property
    def are_files(self) -> bool:
        """Whether they are plain files, folders or archives, and no table."""
        return bool(self.paths) and (self.format or format_of(self.paths)) is None


def load_subscriptions(
    subscriptions: Subscriptions, session: Callable[[], SparkSession] = start_session
) -> SubscriptionFile:
    """Subscriptions from whatever holds them; rows count as lines, from 1.

    A file in another file system is read through a session.
    """
    match subscriptions:
        case SubscriptionFile():
            return subscriptions
        case str() | os.PathLike():
            place = checked_path(subscriptions, "a file of subscriptions")
            local = local_path(place)
            return _from_elsewhere(place, session()) if local is None else read_subscriptions(local)
        case DataFrame():
            return gather_subscriptions(_rows(subscriptions.collect()))
        case Mapping():
            pairs = (
                {"id": name, "xpath": xpath} for name, xpath in caller_items(subscriptions.items())
            )
            return gather_subscriptions(_rows(pairs))
        case Iterable() if not isinstance(subscriptions, bytes | bytearray | memoryview):
            return gather_subscriptions(_rows(caller_items(subscriptions)))
    raise UsageError(
        f"subscriptions are a path, a list of expressions, a mapping from id to expression, "
        f"rows or a DataFrame, not a {type(subscriptions).__name__}"
    )


def _from_elsewhere(place: str, spark: SparkSession) -> SubscriptionFile:
    """The subscriptions of a file in another file system."""
    folder, _, name = place.rpartition("/")
    try:
        with reached(folder, spark).copy_of(name) as path, path.open("rb") as file:
            return subscriptions_in(file, place)
    except SPARK_FAILURES as error:
        raise UsageError(f"cannot read the subscriptions in {place}: {cause(error)}") from error


def table_of(spark: SparkSession, publications: Publications) -> DataFrame | None:
    """The documents as a table with document, content and origin; None if they are plain files."""
    frame = frame_of(spark, publications)
    return None if frame is None else needed_columns(frame, publications)


def frame_of(spark: SparkSession, publications: Publications) -> DataFrame | None:
    """The table that documents are in, with all its columns; None if they are plain files."""
    if isinstance(publications.source, DataFrame):
        return publications.source
    chosen = publications.format or format_of(publications.paths)
    if chosen is None:
        return None
    options = reading_options(chosen, publications)
    places = [_place(path) for path in publications.paths]
    try:
        return spark.read.format(chosen).options(**options).load(places)
    except SPARK_FAILURES as error:
        raise UsageError(f"cannot read the publications as {chosen}: {cause(error)}") from error


def reading_options(format: str, publications: Publications) -> dict[str, str | bool | float]:
    """What Spark's reader is told about a table of some format."""
    return {**_OPTIONS.get(format, {}), **publications.options}


def _rows(given: Iterable[object]) -> Iterator[FileRow]:
    for number, item in enumerate(given, start=1):
        if isinstance(item, str):
            yield FileRow(number, item, {"id": number, "xpath": item})
            continue
        if not isinstance(item, Row | Mapping):
            raise UsageError(
                f"subscription {number} is a {type(item).__name__}: "
                "give expressions, or rows with id and xpath"
            )
        fields = item.asDict(recursive=True) if isinstance(item, Row) else dict(item)
        if len(fields) < len(item):
            raise UsageError(
                f"subscription {number} has several columns of one name; rename all but one"
            )
        if "id" not in fields and "subscription" in fields:
            fields["id"] = fields["subscription"]
        xpath = fields.get("xpath") or ""
        yield FileRow(number, xpath if isinstance(xpath, str) else shown(xpath), fields)


def format_of(paths: Sequence[str]) -> str | None:
    """The table format that the names tell, which must be one for all."""
    found = {_format_of_path(Path(local_path(path) or path)) for path in paths}
    if len(found) > 1:
        raise UsageError(
            "the publications are of several kinds; give those of one kind in one run, "
            "or say the format"
        )
    return found.pop() if found else None


def _format_of_path(path: Path) -> str | None:
    if not path.is_dir():
        return _FORMATS.get(path.suffix.lower())
    if path.suffix.lower() in _FORMATS:
        return _FORMATS[path.suffix.lower()]
    # What Spark writes is a folder of files named part-….
    parts = sorted(item.name for item in path.glob("part-*"))
    return _FORMATS.get(Path(parts[0]).suffix.lower()) if parts else None


def _place(path: str) -> str:
    """What Spark has to be told to read what is at a path, and nothing else."""
    local = local_path(path)
    return literally(path if local is None else f"file://{absolute(local)}")


def needed_columns(frame: DataFrame, publications: Publications) -> DataFrame:
    """A table of documents as workers want it: ``document``, ``content``, ``origin``."""
    names = named_columns(frame, publications)
    pairs = zip(names._fields, names.read(), strict=True)
    return frame.select(*(column.alias(name) for name, column in pairs))


class NamedColumns(NamedTuple):
    """What the columns of a table of documents are called; None for what it has not."""

    document: str | None
    content: str
    origin: str | None

    def read(self) -> tuple[Column, Column, Column]:
        """Name, content and origin, as workers want them."""
        return _text_or_null(self.document), quoted(self.content), _text_or_null(self.origin)


def named_columns(frame: DataFrame, publications: Publications) -> NamedColumns:
    """Which columns of a table hold what; a :class:`UsageError` if that cannot be told."""
    content = _content_column(frame, publications.content_column)
    document = publications.document_column or next(
        (name for name in ("document", "path") if name in frame.columns and name != content), None
    )
    if document is not None and document not in frame.columns:
        raise UsageError(f"there is no column {document!r} for the names: {_has(frame)}")
    origin = publications.origin_column or ("origin" if "origin" in frame.columns else None)
    if origin is not None and origin not in frame.columns:
        raise UsageError(f"there is no column {origin!r} for the origins: {_has(frame)}")
    for name in (content, document, origin):
        _check_unique(frame, name)
    return NamedColumns(document, content, origin)


def _check_unique(frame: DataFrame, name: str | None) -> None:
    """A :class:`UsageError` if a name stands for several columns of a table."""
    if name is None:
        return
    capitals_count = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    names = frame.columns if capitals_count else [each.lower() for each in frame.columns]
    if names.count(name if capitals_count else name.lower()) > 1:
        raise UsageError(
            f"there are several columns {name!r} to Spark: {_has(frame)}; rename all but one"
        )


def _text_or_null(column: str | None) -> Column:
    chosen = quoted(column) if column else functions.lit(None)
    return chosen.cast("string")


def quoted(name: str) -> Column:
    """The column of this name, whatever letters it has."""
    quoted = name.replace("`", "``")
    return functions.col(f"`{quoted}`")


def _content_column(frame: DataFrame, given: str | None) -> str:
    name = given or "content"
    if name not in frame.columns:
        raise UsageError(
            f"there is no column {name!r} that holds the documents: {_has(frame)}; name it with "
            "content_column"
        )
    if not isinstance(frame.schema[name].dataType, BinaryType | StringType):
        kind = frame.schema[name].dataType.simpleString()
        raise UsageError(f"the column {name!r} is {kind}: documents are binary or text")
    return name


def _has(frame: DataFrame) -> str:
    return f"the table has {', '.join(frame.columns)}"
