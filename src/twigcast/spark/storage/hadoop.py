"""Folders in file systems that Spark's Java machine knows: ``hdfs:``, ``s3a:``, ``gs:`` and so on.

Their addresses and credentials are Java's affair, so it is asked for everything, by py4j. A
question costs a millisecond or so, and bytes that go along are spelled out as text. So what is
larger than a few kilobytes is handed over as a file of this machine, which Java copies.

A file is there under its name when it was renamed (:meth:`HadoopStore.write`). On object stores a
renaming is a copy, which for a small file is nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twigcast.errors import UsageError
from twigcast.spark.session.compatibility import hadoop
from twigcast.spark.storage.manifests import NO_FILE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPELLED_BYTES_MAX: Final = 32 << 10
"""What goes to Java by itself: 7 MB a second, as a file 50."""

WRITERS_MAX: Final = 8
"""Files that are written at a time: a server takes its time for each, however small."""

_COPIED_BYTES: Final = 1 << 20
"""What Java reads and writes at a time."""


class HadoopStore:
    """A folder in such a file system; names are relative to it (``batches.Store``)."""

    def __init__(self, uri: str, spark: SparkSession) -> None:
        self._uri = uri.rstrip("/")
        self._java, configuration = hadoop(spark)
        self._path = self._java.org.apache.hadoop.fs.Path  # Each name on the way is a question.
        self._files: Any = self._at("").getFileSystem(configuration)

    def make(self) -> None:
        """Make the folder if need be."""
        if not self._files.mkdirs(self._at("")):
            raise UsageError(f"cannot make the output folder {self._uri}")

    def location(self, name: str) -> str:
        """Where Spark should read or write something with this name."""
        return f"{self._uri}/{name}"

    def folder(self, name: str) -> None:
        """Make a folder; workers cannot write to it."""
        self._files.mkdirs(self._at(name))

    def exists(self, name: str) -> bool:
        """Whether there is something with this name."""
        return bool(self._files.exists(self._at(name)))

    def is_file(self, name: str) -> bool:
        """Whether there is a file with this name, and no folder."""
        return self.exists(name) and bool(self._files.getFileStatus(self._at(name)).isFile())

    def is_link(self, name: str) -> bool:  # noqa: ARG002 (Hadoop's file systems have none)
        """Whether the name leads elsewhere."""
        return False

    def names(self, name: str) -> list[str]:
        """What a folder holds, in the order of names; nothing if it is not there."""
        if not self.exists(name):
            return []
        found = self._files.listStatus(self._at(name))
        return sorted(str(each.getPath().getName()) for each in found)

    def sizes(self, name: str) -> dict[str, int]:
        """The bytes of each file that a folder holds, :data:`NO_FILE` for what is none."""
        if not self.exists(name):
            return {}
        found = self._files.listStatus(self._at(name))
        return {
            str(each.getPath().getName()): int(each.getLen()) if each.isFile() else NO_FILE
            for each in found
        }

    def read(self, name: str) -> bytes:
        """A small file."""
        stream = self._files.open(self._at(name))
        try:
            return bytes(self._java.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    @contextmanager
    def copy_of(self, name: str) -> Iterator[Path]:
        """A file as one of this machine, for the time of a ``with``."""
        with tempfile.TemporaryDirectory(prefix="twigcast-copy-") as folder:
            file = Path(folder, "copy")
            # Java: do not remove it, and write no checksum beside the copy.
            self._files.copyToLocalFile(False, self._at(name), self._path(str(file)), True)  # noqa: FBT003
            yield file

    def is_folder(self) -> bool:
        """Whether it is there, and no file."""
        return self.exists("") and not self.is_file("")

    def whole(self) -> str:
        """Its address, with all that Hadoop's configuration adds to it."""
        return str(self._files.makeQualified(self._at("")).toString())

    def delete(self, name: str) -> None:
        """Remove a file or a folder with all it holds; nothing happens if it is not there."""
        self._files.delete(self._at(name), True)  # noqa: FBT003 (Java: recursively)

    def move(self, source: str, target: str) -> None:
        """Give something that is there another name, which must be free; folders are made."""
        self._files.mkdirs(self._at(target).getParent())
        if not self._files.rename(self._at(source), self._at(target)):
            raise UsageError(f"cannot move {self.location(source)} to {self.location(target)}")

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all, and force it to disk."""
        unfinished = f"{name}.tmp"
        self.write_once(unfinished, content)
        self.delete(name)
        if not self._files.rename(self._at(unfinished), self._at(name)):
            raise UsageError(f"cannot write {self.location(name)}")

    def write_later(self, name: str, content: bytes) -> Future[None]:
        """Write a file where it stays, beside others, and force it to disk; folders are made."""
        return _writers().submit(self.write_once, name, content)

    def write_once(self, name: str, content: bytes) -> None:
        """Write a file where it stays, and force it to disk; folders are made."""
        stream = self._files.create(self._at(name), True)  # noqa: FBT003 (Java: overwrite)
        try:
            if len(content) <= SPELLED_BYTES_MAX:
                stream.write(bytearray(content))
            else:
                self._copy(content, stream)
            if stream.hasCapability("hsync"):  # Object stores have nothing to force to disk.
                stream.hsync()
        finally:
            stream.close()

    def sync(self, name: str) -> None:
        """Hadoop's file systems keep names as soon as they have answered."""

    def _copy(self, content: bytes, stream: Any) -> None:  # noqa: ANN401 (a Java object)
        with tempfile.TemporaryDirectory(prefix="twigcast-part-") as folder:
            file = Path(folder, "part")
            file.write_bytes(content)
            source = self._java.java.io.FileInputStream(str(file))
            try:
                copy = self._java.org.apache.hadoop.io.IOUtils.copyBytes
                copy(source, stream, _COPIED_BYTES, False)  # noqa: FBT003 (Java: close neither)
            finally:
                source.close()

    def _at(self, name: str) -> Any:  # noqa: ANN401 (a Java object)
        return self._path(self.location(name).rstrip("/"))


@cache
def _writers() -> ThreadPoolExecutor:
    """Who writes files; each has a way to Java of its own, so they stay."""
    return ThreadPoolExecutor(WRITERS_MAX, "twigcast-hadoop")
