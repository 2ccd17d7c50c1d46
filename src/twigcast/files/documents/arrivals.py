"""Files as they arrive in folders, each once, and none that is still being written.

Whoever watches looks again and again (:meth:`Arrivals.look`), with a pause between. A file is
*settled* when two looks in a row found it with the same size and the same times of change; then it
is handed out. A file that changes later is a new arrival. Hidden files, and those whose name fits
no pattern, are not seen: a writer that pauses for longer than the looks are apart writes under
such a name, and renames the file when it is complete.

Only files that are still there are remembered, and ``WATCHED_FILES_MAX`` of them at most.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from twigcast.door import door
from twigcast.files.documents.publications import (
    DEFAULT_LIMITS,
    DEFAULT_PATTERNS,
    AnyPath,
    Entry,
    EntryKind,
    list_files,
    list_members,
)
from twigcast.files.limits import PublicationLimits
from twigcast.files.opening import checked_path

WATCHED_FILES_MAX = 1_000_000
"""Some 200 bytes each are remembered. Files beyond are not seen until others are gone."""

_Sight: TypeAlias = int
"""Size, times of change and number of a file, as one number."""


class Arrivals:
    """The files of folders, each handed out once it has settled."""

    def __init__(
        self,
        folders: Iterable[AnyPath],
        *,
        patterns: Sequence[str] = DEFAULT_PATTERNS,
        limits: PublicationLimits = DEFAULT_LIMITS,
    ) -> None:
        self._folders = [checked_path(folder, "a folder") for folder in folders]
        self._patterns = patterns
        self._limits = limits
        self._seen: dict[str, tuple[_Sight, bool]] = {}
        self.overflowing = False
        """Whether there are more files than can be watched."""

    def look(self) -> Iterator[Entry]:
        """What has settled since the last look, in the order of names."""
        with door("looking for documents that arrive"):
            yield from self._look()

    def _look(self) -> Iterator[Entry]:
        before, self._seen = self._seen, {}
        found = (each for folder in self._folders for each in self._files(folder))
        settled: list[Entry] = []
        for each in islice(found, WATCHED_FILES_MAX):
            sight = _sight(each)
            if sight is None or each.path in self._seen:  # in two of the folders
                continue
            last, handed_out = before.get(each.path, (None, False))
            fresh = last == sight and not handed_out
            self._seen[each.path] = (sight, last == sight)
            if fresh:
                settled.append(each)
        self.overflowing = next(found, None) is not None
        for each in settled:
            yield from list_members(each, patterns=self._patterns, limits=self._limits)

    def _files(self, folder: AnyPath) -> Iterator[Entry]:
        return list_files(folder, patterns=self._patterns)


def _sight(found: Entry) -> _Sight | None:
    """What a file looks like; None if it has gone."""
    if found.kind is EntryKind.REFUSED:
        return hash(str(found.refusal))
    try:
        status = os.stat(found.path)  # noqa: PTH116 (the path is text, and there are many)
    except OSError:
        return None
    # Copies that keep their times, and numbers that disks give again, make two files look alike.
    times = status.st_mtime_ns, status.st_ctime_ns
    return hash((status.st_size, *times, status.st_ino))
