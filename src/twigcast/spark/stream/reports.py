"""Reports of a stream: what each batch took, and what waits behind it.

Spark knows how far it is in a topic of Kafka. Of watched folders it does not, so they are looked
through when a batch is finished: it takes up the oldest files first, so those that are younger than
the last one it took up are waiting.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from twigcast.files.archives.members import Selection

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    from twigcast.spark.result import Run

REPORTS_MAX: Final = 1_000
"""Reports that are kept for whoever asks for them now and then."""

WATCHED_FILES_MAX: Final = 1_000_000
"""To look through so many takes some seconds; what waits in larger folders is not counted."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """How a batch went, and what waits behind it; None is what is not known.

    ``files_waiting`` and ``bytes_waiting`` are those of watched folders, and the oldest of these
    files has been there for ``seconds_waiting``. ``messages_waiting`` are those of a topic.
    """

    batch: int
    documents: int
    bytes: int
    deliveries: int
    dead_letters: int
    seconds: float
    files_waiting: int | None = None
    bytes_waiting: int | None = None
    seconds_waiting: float | None = None
    messages_waiting: int | None = None

    @property
    def documents_per_second(self) -> float:
        """The rate, of the whole batch."""
        return self.documents / self.seconds if self.seconds else 0.0

    @property
    def bytes_per_second(self) -> float:
        """The rate, of the whole batch."""
        return self.bytes / self.seconds if self.seconds else 0.0


def report_of(run: Run, seconds: float) -> BatchReport:
    """How a batch went that took so long, with all that belongs to it."""
    counts = run.documents, run.bytes, run.deliveries, run.dead_letters
    return BatchReport(run.batch, *counts, seconds)


@dataclass
class WatchedFiles:
    """The documents in watched folders, and which of them were taken up last."""

    roots: Mapping[str, str]
    selection: Selection
    _youngest_ms: int = -1
    _of_that_age: set[str] = field(default_factory=set)

    def take(self, paths: Iterable[str]) -> None:
        """Note the files of a batch; those that are gone are left out."""
        ages: dict[str, int] = {}
        for path in paths:
            with suppress(OSError):
                ages[path] = _age(Path(path).stat())
        youngest = max(ages.values(), default=-1)
        if youngest > self._youngest_ms:
            self._youngest_ms, self._of_that_age = youngest, set()
        self._of_that_age.update(path for path, age in ages.items() if age == self._youngest_ms)

    def with_waiting(self, report: BatchReport) -> BatchReport:
        """A report with what waits now."""
        files = size = 0
        oldest = now = time.time()
        for number, found in enumerate(self._found()):
            if number >= WATCHED_FILES_MAX:
                return report
            with suppress(OSError):  # It may go meanwhile.
                status = found.stat()
                if status.st_size and self._is_waiting(found.path, _age(status)):
                    files, size = files + 1, size + status.st_size
                    oldest = min(oldest, status.st_mtime)
        waited = now - oldest
        return replace(report, files_waiting=files, bytes_waiting=size, seconds_waiting=waited)

    def _is_waiting(self, path: str, age: int) -> bool:
        if age < self._youngest_ms or path in self._of_that_age:
            return False
        root = next(root for root in self.roots if path.startswith(f"{root}/"))
        return self.selection.wants(path.removeprefix(f"{root}/"))

    def _found(self) -> Iterator[os.DirEntry[str]]:
        """The files in all folders, but for those that Spark passes over by their names."""
        folders = list(self.roots)
        while folders:
            with suppress(OSError), os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith((".", "_")):
                        continue
                    if entry.is_dir():
                        folders.append(entry.path)
                    else:
                        yield entry


def _age(status: os.stat_result) -> int:
    """When a file was changed, as exactly as Spark looks at it."""
    return status.st_mtime_ns // 1_000_000


def messages_waiting(progress: Iterable[StreamingQueryProgress]) -> dict[int, int | None]:
    """How many messages each batch has left in its topics, by what Spark reports."""
    return {each.batchId: _left(each) for each in progress}


def _left(progress: StreamingQueryProgress) -> int | None:
    """The messages behind the end of a batch; None where a source has other offsets.

    They look like ``{"news": {"0": 17, "1": 4}}``.
    """
    left = 0
    try:
        for source in progress.sources:
            done, latest = json.loads(source.endOffset), json.loads(source.latestOffset)
            left += sum(
                latest[topic][partition] - offset
                for topic, offsets in done.items()
                for partition, offset in offsets.items()
            )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return left
