"""The subscriptions of each batch of a stream, recorded before it is matched.

A stream takes up changes of subscriptions between two batches
(:mod:`twigcast.files.subscriptions.change_feed`). A batch that was cut off is repeated when the
stream is started again, and by then the feed may have gone on. Had some of its deliveries been sent
already, the repeated batch must not say otherwise. So it is written down first, in the output
folder, which files of the feed each batch takes up::

    _versions/batch=0.json    {"version": 2, "files": {"a.jsonl": …}, "before": null, …}
    _versions/batch=1.json    {"version": 2, "files": {},             "before": 0,    …}
    _versions/batch=2.json    {"version": 5, "files": {"b.jsonl": …, "c.jsonl": …}, "before": 0, …}

What stands at a batch are the first subscriptions and the files of all batches up to it, group by
group. ``before`` leads to the last batch that took up any, so a stream that starts again after a
million batches reads only the records that matter. Each file stands there with a digest: one that
has changed since, or that is gone, is an error.

A feed can be a table as well. Its new rows, those with a higher version than any before, whether
they counted or not, are then copied into ``_changes`` first, and from there on it is like a feed in
files. Rows without a version are new if there was none like them before.

A stream may be started again with other subscriptions, or with other brokers. The record has a
digest of both, so the batch that comes next tells all that is set aside now, of the first
subscriptions and of the changes taken up so far.

A record that is damaged, or that leads anywhere but back to an earlier batch that is on record, is
an error as well (:mod:`~twigcast.spark.storage.sealed`): without it nobody knows what a batch had.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Protocol, TypeAlias

from pyspark.sql import DataFrame, Row, SparkSession, functions
from pyspark.sql.types import BinaryType

from twigcast.display import shown
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import Rejected, SubscriptionFile
from twigcast.files.documents.publications import AnyPath
from twigcast.files.opening import read_regular
from twigcast.files.subscriptions.change_feed import (
    NO_VERSION,
    ChangeFile,
    StandingSubscriptions,
    change_file,
    files_of_feed,
    read_change_file,
    version_of,
    waiting_files,
)
from twigcast.files.subscriptions.file import DEFAULT_LIMITS
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.storage.batches import CHANGES, VERSIONS, Store, local_path, reached
from twigcast.spark.storage.hadoop import HadoopStore
from twigcast.spark.storage.manifests import NO_FILE
from twigcast.spark.storage.sealed import sealed, unsealed

Changes: TypeAlias = "AnyPath | DataFrame | Callable[[], DataFrame]"
"""A folder of files, a table, or what gives the table as it is by now."""

_NAME = re.compile(r"batch=([0-9]+)\.json")

_RECORD = "version record"
_PATHS = "list of paths"
_RECORD_REMEDY = (
    "put back a copy of it; if its batch is not finished, it can be deleted to begin the batch "
    "anew; else begin a new stream, with another output folder and checkpoint"
)
_PATHS_REMEDY = "delete it, and the batch takes the files that are there still"


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """What a batch is matched with."""

    batch: int
    version: int
    """The highest version that counts."""
    files: Mapping[str, str]
    """The files of the feed that this batch takes up, and their digests."""
    before: int | None
    """The last batch before this one that took up files."""
    matcher_version: str = ""
    """What it is compiled to."""
    first: str = ""
    """A digest of the subscriptions that stand before the first change, and of the brokers."""


@dataclass(frozen=True, slots=True)
class _Paths:
    """Which files a batch has."""

    batch: int
    paths: list[str]


class Feed(Protocol):
    """Where changes come from."""

    def waiting(self, batch: int, standing: StandingSubscriptions) -> list[ChangeFile]:
        """What was not taken up yet."""

    def again(self, name: str) -> ChangeFile:
        """What was taken up under a name."""


@dataclass(frozen=True, slots=True)
class BatchSubscriptions:
    """The subscriptions of a batch."""

    record: VersionRecord
    is_recorded: bool
    """Whether the record is from an earlier attempt at the batch."""
    subscriptions: SubscriptionFile
    """With what this batch sets aside."""
    before: VersionRecord | None = None
    """The record of the batch before."""

    @property
    def has_other_first(self) -> bool:
        """Whether the batch before, if any, began with other subscriptions or other brokers."""
        return self.before is None or self.before.first != self.record.first

    @property
    def is_first(self) -> bool:
        """Whether the batch before had other subscriptions; known when this one is settled."""
        return (
            self.before is None
            or self.has_other_first
            or bool(self.record.files)
            or self.before.matcher_version != self.record.matcher_version
        )


class Versions:
    """The versions of a stream's subscriptions, batch by batch.

    ``first`` are those that stand before the first change, ``brokers`` those there are.
    """

    def __init__(
        self,
        store: Store,
        first: SubscriptionFile,
        feed: Feed | None,
        *,
        brokers: Collection[str] | None = None,
    ) -> None:
        self._store = store
        self._first = first
        self._digest = _digest(first, brokers)
        self._feed = feed
        self._brokers = brokers
        self._standing = StandingSubscriptions(first, brokers)
        self._aside: tuple[Rejected, ...] = ()
        """What was set aside of the changes that batches before the first one here took up."""
        self._last: VersionRecord | None = None

    def choose(self, batch: int) -> BatchSubscriptions:
        """The subscriptions of a batch: those on record, else those that stand by now."""
        self._go_before(batch)
        found = self.recorded(batch)
        files = self._waiting(batch) if found is None else self._again(found)
        aside = self._standing.take_up(files)
        last = self._last
        record = found or VersionRecord(
            batch=batch,
            version=self._standing.version,
            files={file.name: file.digest for file in files},
            before=None if last is None else last.batch if last.files else last.before,
            first=self._digest,
        )
        self._last = record
        choice = BatchSubscriptions(record, found is not None, SubscriptionFile(()), last)
        if choice.has_other_first:
            aside = (*self._first.rejected, *self._aside, *aside)
        subscriptions = SubscriptionFile(self._standing.subscriptions, aside)
        return replace(choice, subscriptions=subscriptions)

    def settle(self, choice: BatchSubscriptions, matcher_version: str) -> BatchSubscriptions:
        """Write down what a batch is going to be matched with, if that was not done before.

        What was begun with other subscriptions is a :class:`UsageError`.
        """
        record = choice.record
        if not choice.is_recorded:
            record = replace(record, matcher_version=matcher_version)
            self._store.write(_name(record.batch), sealed(_RECORD, asdict(record)))
            self._last = record
        elif record.matcher_version != matcher_version:
            raise UsageError(
                f"batch {record.batch} was begun with other subscriptions, or in another network, "
                "and was cut off: start the stream with those again, or remove "
                f"{self._store.location(_name(record.batch))} to begin the batch anew"
            )
        return replace(choice, record=record)

    def recorded(self, batch: int) -> VersionRecord | None:
        """The record of a batch, if there is one; a :class:`UsageError` if it cannot be used."""
        return _recorded(self._store, batch)

    def _go_before(self, batch: int) -> None:
        """Let stand what stood when the batch before this one was matched."""
        if self._last is not None and self._last.batch == batch - 1:
            return
        self._standing = StandingSubscriptions(self._first, self._brokers)
        self._last = record = self._latest(batch)
        groups = []
        while record is not None:
            groups.append(record)
            record = None if record.before is None else self._before(record)
        taken_up = (self._standing.take_up(self._again(group)) for group in reversed(groups))
        self._aside = tuple(item for aside in taken_up for item in aside)

    def _before(self, record: VersionRecord) -> VersionRecord:
        assert record.before is not None
        return _needed(self._store, record.before, record.batch)

    def _latest(self, batch: int) -> VersionRecord | None:
        """The last record before a batch."""
        before = [number for number in _record_numbers(self._store) if number < batch]
        return self.recorded(max(before)) if before else None

    def _waiting(self, batch: int) -> list[ChangeFile]:
        return self._feed.waiting(batch, self._standing) if self._feed else []

    def _again(self, record: VersionRecord) -> list[ChangeFile]:
        if record.files and self._feed is None:
            raise UsageError(
                f"batch {record.batch} took up changes of subscriptions: name the feed again"
            )
        return [self._same(name, digest, record.batch) for name, digest in record.files.items()]

    def _same(self, name: str, digest: str, batch: int) -> ChangeFile:
        assert self._feed is not None
        if "/" in name or name in {"", ".", ".."}:
            raise UsageError(
                f"batch {batch} cannot have taken up {name!r}, which is no file of a change feed; "
                f"{_RECORD_REMEDY}"
            )
        file = self._feed.again(name)
        if file.digest != digest:
            raise TwigcastError(
                f"{name} of the change feed is not what it was when batch {batch} took it up; "
                "files of a feed must not change: put the old one back"
            )
        return file


def kept_paths(store: Store, batch: int, found: Sequence[str]) -> list[str]:
    """The paths of a batch's files: those on record, else those found, and then on record.

    Spark passes over files of a repeated batch that are gone by now, and nobody would know of them.
    """
    name = _paths_name(batch)
    if store.exists(name):
        content, place = store.read(name), store.location(name)
        kept = unsealed(_PATHS, content, _Paths, place=place, remedy=_PATHS_REMEDY)
        if kept.batch != batch:
            raise UsageError(f"cannot use {place}: it is that of batch {kept.batch}")
        return kept.paths
    if found:
        store.write(name, sealed(_PATHS, {"batch": batch, "paths": list(found)}))
    return list(found)


def forget_paths(store: Store, batch: int) -> None:
    """Remove that record: the batch is finished."""
    store.delete(_paths_name(batch))


def forget_versions(store: Store, batch: int) -> int:
    """Remove the records of batches before one that is finished that no batch needs; how many.

    A batch needs the record of the one before it, and all that took up changes of subscriptions.
    """
    record = _recorded(store, batch)
    if record is None:
        return 0
    kept = {batch}
    while record.before is not None:
        kept.add(record.before)
        record = _needed(store, record.before, record.batch)
    gone = [number for number in _record_numbers(store) if number < batch and number not in kept]
    for number in gone:
        store.delete(_name(number))
    return len(gone)


def _record_numbers(store: Store) -> list[int]:
    """The batches that have a record."""
    found = (_NAME.fullmatch(name) for name in store.names(VERSIONS))
    return [int(name[1]) for name in found if name]


def _recorded(store: Store, batch: int) -> VersionRecord | None:
    """The record of a batch, if there is one; a :class:`UsageError` if it cannot be used."""
    name = _name(batch)
    if not store.exists(name):
        return None
    place = store.location(name)
    record = unsealed(_RECORD, store.read(name), VersionRecord, place=place, remedy=_RECORD_REMEDY)
    if record.batch != batch:
        raise UsageError(
            f"cannot use {place}: it is that of batch {record.batch}; {_RECORD_REMEDY}"
        )
    if record.before is not None and not 0 <= record.before < batch:
        raise UsageError(
            f"cannot use {place}: it leads to batch {record.before}, which does not come "
            f"before it; {_RECORD_REMEDY}"
        )
    return record


def _needed(store: Store, batch: int, by: int) -> VersionRecord:
    """The record of a batch that a later one leads to."""
    found = _recorded(store, batch)
    if found is None:
        raise UsageError(
            f"{store.location(_name(batch))} is gone, which tells what batch {by} was matched "
            f"with; {_RECORD_REMEDY}"
        )
    return found


def feed_of(
    changes: Changes | None, store: Store, spark: SparkSession | None = None
) -> Feed | None:
    """A feed out of what a caller says; a :class:`UsageError` for what cannot be one.

    A folder in another file system is read through a session.
    """
    if changes is None:
        return None
    if isinstance(changes, DataFrame):
        return _TableFeed(lambda: changes, store)
    if callable(changes):
        return _TableFeed(changes, store)
    folder = local_path(changes)
    if folder is None:
        assert spark is not None
        return _FeedElsewhere(_folder_elsewhere(os.fspath(changes), spark))
    waiting_files(folder)
    return _FolderFeed(folder)


def _folder_elsewhere(place: str, spark: SparkSession) -> HadoopStore:
    try:
        found = reached(place, spark)
        if found.is_folder():
            return found
        reason = "it is no folder" if found.exists("") else "it is not there"
    except SPARK_FAILURES as error:
        reason = cause(error)
    raise UsageError(f"cannot read the change feed in {place}: {reason}")


class _FolderFeed:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def waiting(self, batch: int, standing: StandingSubscriptions) -> list[ChangeFile]:  # noqa: ARG002
        return [self.again(name) for name in waiting_files(self._folder, standing.taken)]

    def again(self, name: str) -> ChangeFile:
        return read_change_file(self._folder, name)


class _FeedElsewhere:
    def __init__(self, folder: HadoopStore) -> None:
        self._folder = folder

    def waiting(self, batch: int, standing: StandingSubscriptions) -> list[ChangeFile]:  # noqa: ARG002
        files = (name for name, size in self._folder.sizes("").items() if size != NO_FILE)
        return [self.again(name) for name in files_of_feed(files, standing.taken)]

    def again(self, name: str) -> ChangeFile:
        try:
            with self._folder.copy_of(name) as path:
                content = read_regular(path, DEFAULT_LIMITS.file_bytes_max)
        except SPARK_FAILURES as error:
            place = self._folder.location(name)
            raise UsageError(f"cannot read {place} of the change feed: {cause(error)}") from error
        return change_file(name, content)


class _TableFeed:
    def __init__(self, table: Callable[[], DataFrame], store: Store) -> None:
        self._table = table
        self._store = store

    def waiting(self, batch: int, standing: StandingSubscriptions) -> list[ChangeFile]:
        table: object = self._table()
        if not isinstance(table, DataFrame):
            raise UsageError(
                f"the change feed is a function that gives {shown(table)}; let it return a "
                "DataFrame, an empty one where nothing has changed"
            )
        rows = map(_fields, _maybe_new(table, standing.highest).collect())
        new = sorted((row for row in rows if _is_new(row, standing)), key=_place)
        if not new:
            return []
        name = f"batch={batch}.jsonl"
        lines = "".join(f"{_line(row)}\n" for row in new)
        self._store.write(f"{CHANGES}/{name}", lines.encode())
        return [self.again(name)]

    def again(self, name: str) -> ChangeFile:
        place = f"{CHANGES}/{name}"
        try:
            content = self._store.read(place)
        except OSError as error:
            raise UsageError(
                f"cannot read {self._store.location(place)}, a copy of the change feed: {error}"
            ) from error
        return change_file(name, content)


def _maybe_new(table: DataFrame, highest: int) -> DataFrame:
    """The rows of a feed without most of those whose version was seen before."""
    twice = sorted(name for name, times in Counter(table.columns).items() if times > 1)
    if twice:
        raise UsageError(
            f"the change feed has several columns {twice[0]!r}: nobody can tell which counts; "
            "rename all but one"
        )
    if isinstance(table.select("version").schema[0].dataType, BinaryType):
        return table
    text = functions.col("version").cast("string")
    is_whole = functions.coalesce(text.rlike(r"^\s*[0-9]+\s*$"), functions.lit(False))  # noqa: FBT003
    version = functions.when(is_whole, text.try_cast("long"))
    return table.where(version.isNull() | (version > functions.lit(highest)))


def _is_new(row: Mapping[str, object], standing: StandingSubscriptions) -> bool:
    version = version_of(row.get("version"))
    if version is not None and version <= standing.highest:
        return False
    # Of a line that is too long nobody has read the version, and no more than fits was kept.
    return _line(row)[: DEFAULT_LIMITS.line_bytes_max] not in standing.unversioned


def _fields(row: Row) -> dict[str, object]:
    return {name: _json_value(value) for name, value in row.asDict(recursive=True).items()}


def _json_value(value: object) -> object:
    """A value of a table as JSON can tell it; bytes are no text, and must not pass for one."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return {"bytes": value.hex()}
        case Mapping():
            return {str(key): _json_value(each) for key, each in value.items()}
        case list() | tuple():
            return [_json_value(each) for each in value]
    return str(value)


def _line(row: Mapping[str, object]) -> str:
    """A row as a line of ASCII.

    One that is too long begins with a digest, which tells it from others that begin like it.
    """
    line = json.dumps(row)
    if len(line) <= DEFAULT_LIMITS.line_bytes_max:
        return line
    return json.dumps({"sha256": sha256(line.encode()).hexdigest()}) + line


def _place(row: Mapping[str, object]) -> tuple[int, bool, str]:
    """A table has no order, so at one version removals come first, then ids."""
    version = version_of(row.get("version"))
    return NO_VERSION if version is None else version, row.get("op") != "remove", str(row.get("id"))


def _digest(first: SubscriptionFile, brokers: Collection[str] | None) -> str:
    known = None if brokers is None else sorted(brokers)
    digest = sha256(repr((first.rejected, known)).encode("utf-8", "surrogatepass"))
    for item in first.subscriptions:
        said = item.id, item.xpath, item.subscriber, item.broker, sorted(item.namespaces.items())
        digest.update(repr(said).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _paths_name(batch: int) -> str:
    return f"{VERSIONS}/batch={batch}.paths.json"


def _name(batch: int) -> str:
    return f"{VERSIONS}/batch={batch}.json"
