"""Manifests: the batches that are finished, and the files of their tables.

A manifest stands for one batch, or for a *span* of batches that were compacted into one::

    _manifest/batch=0-499.json     batches 0 to 499, in deliveries/batch=0-499/part-…
    _manifest/batch=7.json         one of these, before they were compacted: no longer looked at
    _manifest/batch=500.json       batch 500, in deliveries/batch=500/part-…
    _manifest/dropped.json         batches before a number are dropped

A span takes the place of all that lie inside it as soon as its manifest has its name, which is one
renaming. So whoever reads finds each batch once: a list of names that was read before has the old
manifests only, and the files that they name stay for a while
(:mod:`~twigcast.spark.stream.compaction`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from twigcast.errors import UsageError
from twigcast.spark.session.failures import cause
from twigcast.spark.storage.sealed import sealed, unsealed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twigcast.spark.storage.batches import Store

MANIFEST = "_manifest"

NO_FILE = -1
"""The size of what is no file."""

_KIND: Final = "manifest"
_REMEDY: Final = (
    "run again with overwrite (--overwrite), or, for a stream, delete it, and the batch is done "
    "again if Spark has it still"
)
_SPAN_REMEDY: Final = "put back a copy of it, for it stands for batches that are nowhere else"
_PART_REMEDY: Final = (
    "put the tables back as they were written, or run again with overwrite (--overwrite)"
)
_DROPPED: Final = f"{MANIFEST}/dropped.json"
_DROPPED_KIND: Final = "list of dropped batches"
_DROPPED_REMEDY: Final = "put back a copy of it, or delete it to keep what is still there"

_MANIFEST_NAME = re.compile(r"batch=(0|[1-9][0-9]*)(?:-([1-9][0-9]*))?\.json")
_LIKE_MANIFEST = re.compile(r"batch=.*\.json", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The batches from the first to the last, with both."""

    first: int
    last: int

    @property
    def folder(self) -> str:
        """What it is called in the folder of each table.

        >>> Span(7, 7).folder, Span(0, 499).folder
        ('batch=7', 'batch=0-499')
        """
        return f"batch={self.first}" if self.is_one else f"batch={self.first}-{self.last}"

    @property
    def manifest(self) -> str:
        """The name of its manifest."""
        return f"{MANIFEST}/{self.folder}.json"

    @property
    def is_one(self) -> bool:
        """Whether it is a single batch, as a run or a stream has written it."""
        return self.first == self.last

    def place(self, table: str) -> str:
        """Where its part of a table is."""
        return f"{table}/{self.folder}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What of a manifest is read again."""

    batch: int
    """The last batch that it stands for."""
    parts: dict[str, dict[str, int]]
    """The bytes of each part of each table."""
    first: int | None = None
    """The first batch, of several."""
    rows: dict[str, int] = field(default_factory=dict)
    """How many rows each table has."""
    finished: datetime | None = None
    """When the last batch was finished; unknown of those that were written before they had it."""
    compacted: datetime | None = None
    """When several batches became one."""

    @property
    def span(self) -> Span:
        """The batches that it stands for."""
        return Span(self.batch if self.first is None else self.first, self.batch)


@dataclass(frozen=True, slots=True)
class Dropped:
    """Batches that are dropped: all before a number."""

    before: int
    at: datetime


def write_manifest(store: Store, span: Span, fields: Mapping[str, object]) -> None:
    """Say that batches are finished, when all that it stands for is on disk."""
    content = {"batch": span.last, **({} if span.is_one else {"first": span.first}), **fields}
    store.write(span.manifest, sealed(_KIND, content))


def drop_before(store: Store, before: int, at: datetime) -> None:
    """Let all batches before a number be dropped."""
    content = {"before": before, "at": at.isoformat()}
    store.write(_DROPPED, sealed(_DROPPED_KIND, content))


def dropped(store: Store) -> Dropped | None:
    """Which batches are dropped, if any are."""
    if not store.exists(_DROPPED):
        return None
    place = store.location(_DROPPED)
    content = store.read(_DROPPED)
    return unsealed(_DROPPED_KIND, content, Dropped, place=place, remedy=_DROPPED_REMEDY)


def has_batches(store: Store) -> bool:
    """Whether any batch in a store is finished."""
    return bool(named_spans(store))


def whole_batches(store: Store) -> list[int]:
    """The numbers of the finished batches in a store; a :class:`UsageError` if one is damaged."""
    found = [read_manifest(store, span).span for span in spans(store)]
    return [number for span in found for number in range(span.first, span.last + 1)]


def last_batch(store: Store) -> int:
    """The number of the last finished batch, by the names of manifests; -1 if there is none."""
    return max((span.last for span in named_spans(store)), default=-1)


def is_finished(store: Store, batch: int) -> bool:
    """Whether a batch is finished; a :class:`UsageError` if nobody can tell."""
    one = Span(batch, batch)
    if store.exists(one.manifest):
        read_manifest(store, one)
        return True
    gone = dropped(store)
    if gone is not None and batch < gone.before:
        return True
    return any(span.first <= batch <= span.last for span in named_spans(store))


def spans(store: Store) -> list[Span]:
    """The batches that are there, in their order, each of them once."""
    gone = dropped(store)
    before = 0 if gone is None else gone.before
    found: list[Span] = []
    # The widest of those that begin alike comes first, and takes the place of the others.
    for span in sorted(named_spans(store), key=lambda span: (span.first, -span.last)):
        if span.last < before or (found and span.last <= found[-1].last):
            continue
        if found and span.first <= found[-1].last:
            names = [store.location(each.manifest) for each in (found[-1], span)]
            raise UsageError(
                f"cannot use {names[0]} and {names[1]}: both stand for batch {span.first}; "
                f"{_PART_REMEDY}"
            )
        found.append(span)
    return found


def named_spans(store: Store) -> list[Span]:
    """What has a manifest, by its name; others beside them are of no concern."""
    found = []
    for name in store.names(MANIFEST):
        if _LIKE_MANIFEST.fullmatch(name):
            match = _MANIFEST_NAME.fullmatch(name)
            span = match and Span(int(match[1]), int(match[2] or match[1]))
            if span is None or span.manifest != f"{MANIFEST}/{name}" or span.first > span.last:
                place = store.location(f"{MANIFEST}/{name}")
                raise UsageError(f"cannot use {place}: it is no manifest, by its name; remove it")
            found.append(span)
    return sorted(found)


def manifests_of(store: Store, table: str) -> list[Manifest]:
    """The manifests of the finished batches in a store, of which a table is all there.

    A :class:`UsageError` names what is not as it was written. Names and sizes are compared; what
    the files hold has checksums of its own, which are compared when they are read.
    """
    found = [read_manifest(store, span) for span in spans(store)]
    for manifest in found:
        check_parts(store, manifest, table)
    return found


def check_parts(store: Store, manifest: Manifest, table: str) -> None:
    """A :class:`UsageError` if a part of a table is not as it was written."""
    written = manifest.parts.get(table, {})
    place = manifest.span.place(table)
    there = parts_at(store, place)
    for name in sorted(written.keys() | there.keys()):
        wrong = _difference(written.get(name), there.get(name))
        if wrong is not None:
            where = store.location(f"{place}/{name}")
            raise UsageError(f"cannot use {where}: {wrong}; {_PART_REMEDY}")


def _difference(written: int | None, there: int | None) -> str | None:
    """What has become of a part, of which so many bytes were written, and as many are there."""
    if there is None:
        return "it is not there, and the run wrote it"
    if written is None:
        return "the run did not write it"
    if there == NO_FILE:
        return "it is no file"
    if written != there:
        return f"it has {there:,} bytes, and the run wrote {written:,}"
    return None


def parts_at(store: Store, place: str) -> dict[str, int]:
    """What a reader takes for the parts of a table, and their sizes."""
    found = sorted(store.sizes(place).items())
    return {name: size for name, size in found if not _is_hidden(name)}


def _is_hidden(name: str) -> bool:
    """Whether Spark's readers pass it over."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def read_manifest(store: Store, span: Span) -> Manifest:
    """What a manifest says; a :class:`UsageError` if it is damaged, or that of other batches."""
    place = store.location(span.manifest)
    remedy = _REMEDY if span.is_one else _SPAN_REMEDY
    if not store.is_file(span.manifest):
        raise UsageError(f"cannot use {place}: it is no manifest, for it is no file; {remedy}")
    try:
        content = store.read(span.manifest)
    except OSError as error:
        raise UsageError(f"cannot use {place}: {error.strerror}; {remedy}") from error
    except Py4JJavaError as error:
        raise UsageError(f"cannot use {place}: {cause(error)}; {remedy}") from error
    manifest = unsealed(_KIND, content, Manifest, place=place, remedy=remedy)
    if manifest.span != span:
        whose = manifest.span.folder.replace("=", " ")
        raise UsageError(f"cannot use {place}: it is that of {whose}; {remedy}")
    return manifest
