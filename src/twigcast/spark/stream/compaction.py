"""Streams that go on for months: many batches become one, and old ones are dropped.

    compact(spark, "out/", keep_days=90)

Each batch leaves a file or more of every table that it has rows for. After thousands of them,
whoever reads a table opens thousands of files to find a few rows. So batches that lie side by side
are written anew as one *span*, sorted by broker and subscription, with the least and greatest value
of both beside every part and row group: who asks for one subscription reads those that may have it.
Rows stay as they are, and so does the number of their batch, as a column::

    deliveries/batch=0/part-…   deliveries/batch=1/part-…   …      deliveries/batch=0-499/part-…
    _manifest/batch=0.json      _manifest/batch=1.json      …  ->  _manifest/batch=0-499.json

The manifest of the span is written last, when all that it stands for is on disk, and from then on
it takes the place of the others (:mod:`~twigcast.spark.storage.manifests`). Killed before, the work
has changed nothing, and what it has left is removed by the next one. What was replaced stays for
those who have begun to read it, and is removed by a later call. A stream may go on meanwhile: the
last finished batch is left alone, and it writes behind that one. The same holds for batches that
are dropped: one small file says so, and their tables go later.

A span that has grown large is not written again, so that every row is copied a few times at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Final

from pyspark.sql import SparkSession

from twigcast.display import one_line, shown
from twigcast.door import door
from twigcast.errors import TwigcastError, UsageError
from twigcast.files.documents.publications import AnyPath
from twigcast.files.writing.durable import sync_file, sync_folder
from twigcast.spark.result import frame_of_batches
from twigcast.spark.session.failures import plain_spark_errors
from twigcast.spark.session.session import check_session
from twigcast.spark.storage.batches import (
    COMPACTING,
    Output,
    Store,
    checked_place,
    literally,
    local_path,
    readable_store,
)
from twigcast.spark.storage.folder_lock import alone
from twigcast.spark.storage.manifests import (
    MANIFEST,
    Manifest,
    Span,
    check_parts,
    drop_before,
    dropped,
    has_batches,
    named_spans,
    parts_at,
    read_manifest,
    spans,
    write_manifest,
)
from twigcast.spark.storage.tables import TABLES
from twigcast.spark.stream.versions import forget_versions

READERS_HOURS: Final = 1.0
"""Replaced and dropped files stay so long, for those who have begun to read them."""

SPAN_BYTES_MAX: Final = 128 << 20
"""A span is sorted and written as a whole; one of half that size is not written again."""

SPAN_MEMBERS_MAX: Final = 10_000
"""Folders that Spark reads at once; it holds some kilobytes for each."""

PART_BYTES: Final = 32 << 20
"""What a task sorts and writes, about."""

ROW_GROUP_BYTES: Final = 8 << 20
"""Readers pass over whole row groups, so that these should not be much; before compression."""

_DAYS_MAX: Final = 100_000
_HOURS_MAX: Final = 24 * _DAYS_MAX

_SORTED_BY: Final = ("broker", "subscription", "neighbour", "batch", "document")
_SPAN_FOLDER: Final = re.compile(r"batch=[0-9]+-[0-9]+")


@dataclass(frozen=True, slots=True)
class Compaction:
    """What has become of the batches of a stream."""

    batches: int
    """Finished batches that are there."""
    folders: int
    """In so many folders of each table."""
    compacted: int
    """Batches, and spans of them, that were written anew."""
    dropped: int
    """Batches that were dropped."""
    removed: int
    """Folders of each table that nobody reads any more, and that are gone."""
    versions: int
    """Records of subscriptions that no batch needs any more, and that are gone."""


@door("compacting a stream")
def compact(
    spark: SparkSession,
    out: AnyPath,
    *,
    keep_days: float | None = None,
    keep_batches: int | None = None,
    readers_hours: float = READERS_HOURS,
) -> Compaction:
    """Make the many batches of a stream few, and drop those that are too old.

    ``keep_days`` are those since a batch was finished, ``keep_batches`` how many are kept; without
    either, all are. The last batch stays. What was replaced or dropped ``readers_hours`` ago is
    removed. The stream may go on meanwhile, and tables may be read; one call at a time.
    """
    check_session(spark)
    place = checked_place(out, "an output folder")
    _check_number("keep_days", keep_days, _DAYS_MAX)
    _check_number("keep_batches", keep_batches, None)
    _check_number("readers_hours", readers_hours, _HOURS_MAX)
    with plain_spark_errors(f"cannot compact {one_line(place)}"):
        store = readable_store(place, spark)
        _check_batches(store, place)
        Output(store, TABLES, existing="keep")
        with alone(store, MANIFEST, by="compaction"):
            now = datetime.now(tz=UTC)
            store.delete(COMPACTING)
            removed = _sweep(store, now - timedelta(hours=readers_hours))
            gone = _drop(store, now, keep_days, keep_batches)
            found = _manifests(store)
            compacted = 0
            for group in _groups(found):
                _merge(spark, store, group, now)
                compacted += len(group)
            versions = forget_versions(store, found[-1].batch)
            if not readers_hours:
                removed += _sweep(store, now)
            left = spans(store)
    batches = sum(_count(span) for span in left)
    return Compaction(batches, len(left), compacted, gone, removed, versions)


def check_finished(out: AnyPath) -> None:
    """A :class:`UsageError` if there is nothing to compact, as far as it is known without Spark."""
    place = checked_place(out, "an output folder")
    if local_path(place) is not None:
        _check_batches(readable_store(place), place)


def _check_batches(store: Store, place: str) -> None:
    if not has_batches(store):
        raise UsageError(f"{place} holds no finished run")


def _check_number(name: str, given: float | None, most: int | None) -> None:
    """A :class:`UsageError` for what is no number of days, batches or hours."""
    if given is None:
        return
    whole = most is None
    kinds = int if whole else int | float
    if (
        isinstance(given, bool)
        or not isinstance(given, kinds)
        or not isfinite(given)
        or given < whole
        or (most is not None and given > most)
    ):
        allowed = "a whole number, 1 or more" if most is None else f"a number from 0 to {most:,}"
        raise UsageError(f"{name} is {allowed}, not {shown(given)}")


def _manifests(store: Store) -> list[Manifest]:
    return [read_manifest(store, span) for span in spans(store)]


def _count(span: Span) -> int:
    return span.last - span.first + 1


def _sweep(store: Store, until: datetime) -> int:
    """Remove what was replaced or dropped by then, and what a compaction has left that died.

    The manifest of a batch goes last: as long as it is there, there may be tables to remove.
    """
    live, gone, removed = spans(store), dropped(store), 0
    named = named_spans(store)
    wider = [read_manifest(store, span) for span in live if not span.is_one]
    for span in named:
        if span in live:
            continue
        if gone is not None and span.last < gone.before:
            since: datetime | None = gone.at
        else:
            since = next((each.compacted for each in wider if span.last <= each.batch), None)
        if since is not None and since <= until:
            for table in TABLES:
                store.delete(span.place(table))
            store.delete(span.manifest)
            removed += 1
    folders = {span.folder for span in named}
    for table in TABLES:
        for name in store.names(table):
            if _SPAN_FOLDER.fullmatch(name) and name not in folders:
                store.delete(f"{table}/{name}")
    return removed


def _drop(store: Store, now: datetime, keep_days: float | None, keep_batches: int | None) -> int:
    """Drop what is too old, but for the last batch; the number of batches dropped.

    While tables of dropped batches are still there, no more are: it counts from one day when.
    """
    gone = dropped(store)
    if gone is not None and any(span.last < gone.before for span in named_spans(store)):
        return 0
    found = _manifests(store)
    oldest = None if keep_days is None else now - timedelta(days=keep_days)
    before = count = 0
    for manifest, finished in zip(found[:-1], _finished(found), strict=False):
        too_old = oldest is not None and finished is not None and finished < oldest
        too_many = keep_batches is not None and found[-1].batch - manifest.batch >= keep_batches
        if not (too_old or too_many):
            break
        before = manifest.batch + 1
        count += _count(manifest.span)
    if before:
        drop_before(store, before, now)
    return count


def _finished(found: Sequence[Manifest]) -> list[datetime | None]:
    """When batches were finished; where that is not known, it was before the next one was."""
    times: list[datetime | None] = []
    for manifest in reversed(found):
        times.append(manifest.finished or (times[-1] if times else None))
    return times[::-1]


def _groups(found: Sequence[Manifest]) -> Iterator[list[Manifest]]:
    """Batches that are going to be one; the last one of all is left alone."""
    group: list[Manifest] = []
    size = 0
    for manifest in found[:-1]:
        weight = sum(sum(parts.values()) for parts in manifest.parts.values())
        is_full = size + weight > SPAN_BYTES_MAX or len(group) >= SPAN_MEMBERS_MAX
        is_next = bool(group) and manifest.span.first == group[-1].batch + 1
        is_large = weight >= SPAN_BYTES_MAX // 2
        if group and (is_full or is_large or not is_next):
            yield from [group] if len(group) > 1 else []
            group, size = [], 0
        if not is_large:
            group.append(manifest)
            size += weight
    yield from [group] if len(group) > 1 else []


def _merge(spark: SparkSession, store: Store, group: Sequence[Manifest], now: datetime) -> None:
    """Write batches anew as one span, and let its manifest take the place of theirs."""
    span = Span(group[0].span.first, group[-1].batch)
    rows = {table: sum(manifest.rows.get(table, 0) for manifest in group) for table in TABLES}
    parts = {}
    for table in TABLES:
        place = span.place(table)
        store.delete(place)
        if any(manifest.parts.get(table) for manifest in group):
            made = _written(spark, store, table, group)
            _check_rows(spark, store, made, rows[table])
            store.move(made, place)
            store.sync(place)
            store.sync(table)
        parts[table] = parts_at(store, place)
    store.sync("")
    if not {manifest.span for manifest in group} <= set(named_spans(store)):
        raise TwigcastError(
            f"{store.location('')} was written anew while it was compacted; compact it again"
        )
    finished = _finished(group)[-1]
    times = {"finished": finished and finished.isoformat(), "compacted": now.isoformat()}
    write_manifest(store, span, {**times, "rows": rows, "parts": parts})
    store.delete(COMPACTING)


def _written(spark: SparkSession, store: Store, table: str, group: Sequence[Manifest]) -> str:
    """Write what batches have of a table, sorted, and force it to disk; where it is."""
    for manifest in group:
        check_parts(store, manifest, table)
    frame = frame_of_batches(spark, store, table, group)
    order = [name for name in _SORTED_BY if name in frame.columns]
    size = sum(sum(manifest.parts.get(table, {}).values()) for manifest in group)
    ordered = frame.repartitionByRange(size // PART_BYTES + 1, *order).sortWithinPartitions(*order)
    made = f"{COMPACTING}/{table}"
    writer = ordered.write.options(**_WRITTEN, **{"parquet.block.size": str(ROW_GROUP_BYTES)})
    writer.parquet(store.location(made))
    folder = store.folder(made)
    if folder is not None:
        for path in folder.iterdir():
            sync_file(path)
        sync_folder(folder)
    return made


_WRITTEN: Final = {"parquet.page.write-checksum.enabled": "true"}


def _check_rows(spark: SparkSession, store: Store, made: str, rows: int) -> None:
    """A :class:`TwigcastError` unless there are as many rows as the manifests say."""
    found = spark.read.parquet(literally(store.location(made))).count()
    if found != rows:
        raise TwigcastError(
            f"{store.location(made)} has {found:,} rows, and its batches have {rows:,}: nothing "
            "was compacted"
        )
