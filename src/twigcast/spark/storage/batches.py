"""Putting finished tables in place, so that a crash never leaves half of one.

A run writes one *batch*, number 0; a stream writes many. Each table has a folder for each batch,
which Spark and others read as a column ``batch``. The tables of a batch are written into a staging
folder inside the output folder and moved from there, each by one renaming, when all of them are
whole. The manifest of the batch is written last, when all that it stands for has been forced to
disk: a batch without one is not finished, whatever lies in its folders. It names the parts of each
table and their sizes, so that what was lost, added or exchanged later is not taken for a table::

    deliveries/batch=0/part-…
    traffic/batch=0/part-…
    _manifest/batch=0.json

Two kinds of places: folders of this machine (or mounted by all machines of a cluster), and
whatever else Spark can write to (:mod:`~twigcast.spark.storage.hadoop`). On object stores a
renaming is a copy, so there nothing is staged and moved: when all is matched, what was there is
removed, and each part is written once, where it stays. The manifest alone tells whether a batch is
finished.

Into a folder the workers write themselves, and not all that they write counts: a task may fail, or
be tried twice (:mod:`~twigcast.spark.worker.parquet_parts`). So their files lie apart, in
``attempts``, and those that count are moved from there into their table. An attempt that nobody
waits for any more may go on writing for a while; it can only write where nobody looks::

    _staging/batch=0/attempts/deliveries/part-…   as workers write them
    _staging/batch=0/deliveries/part-…            those that count
    deliveries/batch=0/                           when all tables are whole
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from pyspark.sql import SparkSession

from twigcast.display import printable, shown
from twigcast.errors import UsageError
from twigcast.files.opening import checked_path, read_regular
from twigcast.files.writing.durable import sync_folder, write_whole
from twigcast.spark.storage.hadoop import HadoopStore
from twigcast.spark.storage.manifests import (
    MANIFEST,
    NO_FILE,
    Span,
    has_batches,
    is_finished,
    parts_at,
    write_manifest,
)

STAGING = "_staging"
ATTEMPTS = "attempts"
COMPACTING = "_compacting"
"""Where batches that become one are written, beside those on their way."""
STREAM = "_stream.json"
"""What a stream is called, in its checkpoint and in its output folder."""
VERSIONS = "_versions"
CHANGES = "_changes"
"""What batches of a stream are matched with."""

WRITING_MAX = 16
"""Parts of up to 16 MB each that wait to be written."""

Existing: TypeAlias = Literal["refuse", "replace", "keep"]
"""What becomes of finished batches that are there already."""

_REMOVALS_MAX = 8
"""An attempt adds two files at most, and few go on when the others have ended."""

_LOCAL = re.compile(r"\Afile:(?://(?:localhost)?(?=/)|(?=/(?!/)))")
_SLASHES = re.compile(r"\A/+")
_PATTERN_CHARACTER = re.compile(r"[\\[\]{}*?]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")


class Store(Protocol):
    """A folder that tables are put into; names are relative to it."""

    def location(self, name: str) -> str:
        """Where Spark should write something with this name."""

    def folder(self, name: str) -> Path | None:
        """A folder with this name, made if need be; None where workers cannot write to it."""

    def exists(self, name: str) -> bool:
        """Whether there is something with this name."""

    def is_file(self, name: str) -> bool:
        """Whether there is a file with this name, and no folder."""

    def is_link(self, name: str) -> bool:
        """Whether the name leads elsewhere, wherever that is."""

    def names(self, name: str) -> list[str]:
        """What a folder holds, in the order of names; nothing if it is not there."""

    def sizes(self, name: str) -> dict[str, int]:
        """The bytes of each file that a folder holds, :data:`NO_FILE` for what is none."""

    def read(self, name: str) -> bytes:
        """A small file."""

    def delete(self, name: str) -> None:
        """Remove a file or a folder with all it holds; nothing happens if it is not there."""

    def move(self, source: str, target: str) -> None:
        """Give something that is there another name, which must be free; folders are made."""

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all, and force it to disk."""

    def write_later(self, name: str, content: bytes) -> Future[None]:
        """Write a file where it stays, beside others, and force it to disk; folders are made."""

    def sync(self, name: str) -> None:
        """Force to disk what a folder holds by name; what the files hold is their writers' work."""


def local_path(place: str | os.PathLike[str]) -> str | None:
    """The path that a place has on this machine, or None if it is in another file system.

    >>> local_path("out"), local_path("file:///tmp/out"), local_path("hdfs://host/out")
    ('out', '/tmp/out', None)

    Slashes in front count as one; to Hadoop, a name behind two is that of a machine.

    >>> local_path("//tmp/out"), local_path("file:////tmp/out")
    ('/tmp/out', '/tmp/out')
    """
    text = _SLASHES.sub("/", _LOCAL.sub("", os.fspath(place)))
    if text.startswith("file:"):
        raise UsageError(
            f"{shown(text)} is no address of a file: behind file:// stands a whole path of this "
            "machine, as in file:///tmp/out; or give the path alone"
        )
    return None if _SCHEME.match(text) else text


def checked_place(place: object, what: str) -> str:
    """Where tables are, as text; a :class:`UsageError` for what Spark can give no name to."""
    text = checked_path(place, what)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the path of {what} is no UTF-8, which Spark cannot name: {printable(text)}"
        ) from None
    local_path(text)
    return text


def local_store(path: str) -> Store:
    """A folder of this machine, made if need be; a :class:`UsageError` if it cannot be used."""
    store = _LocalStore(path)
    store.make()
    return store


def readable_store(place: str, spark: SparkSession | None = None) -> Store:
    """A folder in any file system, as it is; those of other machines need Spark."""
    local = local_path(place)
    if local is not None:
        return _LocalStore(local)
    assert spark is not None
    return reached(place, spark)


def literally(location: str) -> str:
    r"""A location that Spark is to read; to its readers it would be a pattern for many.

    >>> print(literally("file:///out[1]"))
    file:///out\[1\]
    """
    return _PATTERN_CHARACTER.sub(r"\\\g<0>", location)


def absolute(path: str) -> str:
    """A path of this machine that means the same to Spark's Java machine.

    That may stand in another folder, and takes ``..`` for the folder above by name, which it is not
    behind a link.
    """
    return os.path.realpath(path) if ".." in Path(path).parts else str(Path(path).absolute())


def hadoop_store(uri: str, spark: SparkSession) -> HadoopStore:
    """A folder in any file system that Hadoop knows, made if need be."""
    store = reached(uri, spark)
    store.make()
    return store


def reached(uri: str, spark: SparkSession) -> HadoopStore:
    """A place that is reached through Spark's Java machine, as it is."""
    from twigcast.spark.session.session import is_connected_to

    if is_connected_to(spark):
        raise UsageError(
            f"{uri} can be reached through Spark's Java machine only, which runs elsewhere (Spark "
            "Connect); choose a folder that this machine and the workers share"
        )
    return HadoopStore(uri, spark)


class Output:
    """A folder of tables, batch by batch."""

    def __init__(
        self, store: Store, tables: Collection[str], *, existing: Existing = "refuse"
    ) -> None:
        self.store = store
        self.tables = tables
        self.existing: Existing = existing
        self._check_own()
        if existing == "refuse":
            self.check_free()

    def batch(self, number: int, *, placed: Callable[[], None] = lambda: None) -> BatchOutput:
        """One batch on its way; ``placed`` is called when only its manifest is missing."""
        return BatchOutput(self, number, placed)

    def _check_own(self) -> None:
        """What is behind a link may be somebody else's: it is neither written to nor removed."""
        for name in (*self.tables, MANIFEST, STAGING, COMPACTING, STREAM, VERSIONS, CHANGES):
            if self.store.is_link(name):
                raise UsageError(
                    f"cannot use {self.store.location(name)}: it is a link, and tables stay inside "
                    "their output folder; remove it, or choose another folder"
                )

    def check_free(self) -> None:
        """A :class:`UsageError` if there is something in it that would have to be replaced."""
        place = self.store.location("")
        found = set(self.store.names(""))
        if STREAM in found:
            raise UsageError(
                f"{place} belongs to a stream; choose another folder, or overwrite it (--overwrite)"
            )
        if MANIFEST in found and has_batches(self.store):
            raise UsageError(
                f"{place} holds a finished run; choose another folder, or "
                "overwrite it (--overwrite)"
            )
        # A staging folder tells that the tables beside it are those of a run that died.
        foreign = [table for table in self.tables if table in found]
        if foreign and STAGING not in found:
            raise UsageError(
                f"{place} has {', '.join(foreign)} of another origin; choose another folder, or "
                "overwrite it (--overwrite)"
            )


class BatchOutput:
    """The tables of one batch on their way into a store."""

    def __init__(self, output: Output, number: int, placed: Callable[[], None]) -> None:
        self._output = output
        self._placed = placed
        self._store = output.store
        self.number = number
        self._span = Span(number, number)
        self._staging = f"{STAGING}/{self._span.folder}"
        self._is_cleared = False
        self._in_place: dict[str, dict[str, int]] = {}
        """The parts that are written where they stay, and their sizes."""
        self._writing: list[Future[None]] = []

    @property
    def keeps_empty(self) -> bool:
        """Whether tables without rows are written as well.

        Those of the first batch tell the columns to whoever reads files; of a stream that goes on
        for months, the other ones would be files by the thousand with nothing in them.
        """
        return self.number == 0

    @property
    def is_whole(self) -> bool:
        """Whether the batch is finished already; a :class:`UsageError` if nobody can tell."""
        return is_finished(self._store, self.number)

    def begin(self) -> None:
        """Clear what a run that died may have left."""
        if self._output.existing == "refuse":  # Another may have finished meanwhile.
            self._output.check_free()
        self._store.delete(self._staging)
        self._store.folder(self._staging)
        self._is_cleared = False
        self._in_place.clear()
        self._writing.clear()

    def location(self, name: str) -> str:
        """Where something is that goes when the batch is finished, for Spark to read."""
        return self._store.location(f"{self._staging}/{name}")

    def write_staged(self, name: str, content: bytes) -> None:
        """Write something that goes when the batch is finished."""
        self._store.write(f"{self._staging}/{name}", content)

    def folder(self, table: str) -> Path | None:
        """The folder of a table on its way, or None where only Spark can write."""
        return self._store.folder(f"{self._staging}/{table}")

    def attempts(self, table: str) -> Path | None:
        """The folder that workers write a table into, each attempt into a file of its own."""
        return self._store.folder(f"{self._staging}/{ATTEMPTS}/{table}")

    def keep(self, table: str, part: str) -> None:
        """Make a file that a worker has written part of its table."""
        source = f"{self._staging}/{ATTEMPTS}/{table}/{part}"
        self._store.move(source, f"{self._staging}/{table}/{part}")

    def write(self, table: str, part: str, content: bytes) -> None:
        """Have a part of a table written where it stays, in place of what was there before."""
        self._clear()
        self._in_place.setdefault(table, {})[part] = len(content)
        if len(self._writing) >= WRITING_MAX:
            self._writing.pop(0).result()
        name = f"{self._span.place(table)}/{part}"
        self._writing.append(self._store.write_later(name, content))

    def wait(self) -> None:
        """Wait until nothing is on its way any more; what failed is an error of :meth:`finish`.

        Who begins anew would find what comes later among his own.
        """
        wait(self._writing)

    def _clear(self) -> None:
        """Remove what was there before, the manifest first."""
        if self._is_cleared:
            return
        self._is_cleared = True
        replaces = self._output.existing == "replace"
        found = set(self._store.names(""))
        if MANIFEST in found:
            self._store.delete(MANIFEST if replaces else self._span.manifest)
        if replaces:
            for name in found & {STREAM, VERSIONS, CHANGES, COMPACTING}:
                self._store.delete(name)
        # Nothing that a manifest on disk stands for may go before the manifest does.
        self._store.sync("" if replaces else MANIFEST)
        for table in found.intersection(self._output.tables):
            self._store.delete(table if replaces else self._span.place(table))

    def finish(self, manifest: Mapping[str, object]) -> None:
        """Put all tables in place of what was there before, and the manifest last."""
        self._clear()
        parts = {}
        for table in self._output.tables:
            if self._in_place:
                parts[table] = dict(sorted(self._in_place.get(table, {}).items()))
                continue
            place, staged = self._span.place(table), f"{self._staging}/{table}"
            if self._store.exists(staged):
                self._store.move(staged, place)
                self._store.sync(place)
                self._store.sync(table)
            parts[table] = parts_at(self._store, place)
        self.wait()
        for written in self._writing:
            written.result()
        self._store.sync("")
        self._placed()
        write_manifest(self._store, self._span, {**manifest, "parts": parts})
        is_all = self._output.existing == "replace" or not self.number
        self._store.delete(STAGING if is_all else self._staging)


class _LocalStore:
    def __init__(self, path: str) -> None:
        self._given = path
        self._path = Path(absolute(path))

    def make(self) -> None:
        """Make the folder if need be, and see whether it can be written to."""
        missing = [path for path in (self._path, *self._path.parents) if not path.exists()]
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            for path in missing:
                sync_folder(path.parent)
        except OSError as error:
            reason = error.strerror
            raise UsageError(f"cannot make the output folder {self._given}: {reason}") from error
        if not os.access(self._path, os.W_OK | os.X_OK):
            raise UsageError(f"the output folder {self._given} cannot be written to")

    def location(self, name: str) -> str:
        return f"file://{self._path / name}"

    def folder(self, name: str) -> Path:
        path = self._path / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def exists(self, name: str) -> bool:
        return (self._path / name).exists()

    def is_file(self, name: str) -> bool:
        return (self._path / name).is_file()

    def names(self, name: str) -> list[str]:
        path = self._path / name
        return sorted(each.name for each in path.iterdir()) if path.is_dir() else []

    def is_link(self, name: str) -> bool:
        return (self._path / name).is_symlink()

    def sizes(self, name: str) -> dict[str, int]:
        path = self._path / name
        if not path.is_dir():
            return {}
        with os.scandir(path) as found:
            return {each.name: each.stat().st_size if each.is_file() else NO_FILE for each in found}

    def read(self, name: str) -> bytes:
        return read_regular(self._path / name, sys.maxsize - 1)

    def delete(self, name: str) -> None:
        path = self._path / name
        if path.is_dir() and not path.is_symlink():
            _remove(path)
        else:
            path.unlink(missing_ok=True)

    def move(self, source: str, target: str) -> None:
        (self._path / target).parent.mkdir(parents=True, exist_ok=True)
        (self._path / source).rename(self._path / target)

    def write(self, name: str, content: bytes) -> None:
        write_whole(self._path / name, content)

    def write_later(self, name: str, content: bytes) -> Future[None]:
        self.write(name, content)
        written: Future[None] = Future()
        written.set_result(None)
        return written

    def sync(self, name: str) -> None:
        if (self._path / name).is_dir():
            sync_folder(self._path / name)


def _remove(folder: Path) -> None:
    """Remove a folder with all it holds, even if a worker that was given up adds a file to it."""
    for left in reversed(range(_REMOVALS_MAX)):
        try:
            shutil.rmtree(folder)
        except OSError:
            if not left:
                raise
        else:
            return
