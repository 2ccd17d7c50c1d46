"""Progress of pip: its output as progress that a person can follow, and as one line if it fails.

pip writes hundreds of lines, or with ``--quiet`` none while 450 MB arrive. Here its output is
read line by line. Downloads of several megabytes, builds and the final installation are shown: in
place on a terminal, elsewhere as a line every 50 MB. If pip fails, its last words are there.
"""

from __future__ import annotations

import re
import shutil
from collections import deque
from typing import Final, TextIO

__all__ = ["Display", "PipProgress"]

LINES_KEPT: Final = 2_000
"""Lines of pip's output kept for when it fails."""

LINES_SHOWN: Final = 12
"""Lines shown then; the reason is among the last."""

LARGE_BYTES: Final = 8_000_000
"""Smaller downloads are over before anybody has read their name."""

STEP_BYTES: Final = 50_000_000

_DOWNLOADING = re.compile(r"\s*Downloading (?:\S*/)?(?P<name>[^\s/]+?)(?:\.metadata)?(?: \(|$)")
_PROGRESS = re.compile(r"\s*Progress (?P<arrived>\d+) of (?P<size>\d+)")
_BUILDING = re.compile(r"\s*Building (?:editable|wheel) for (?P<name>\S+) .*: started")
_INSTALLING = re.compile(r"Installing collected packages: (?P<names>.+)")
_NO_PACKAGE = re.compile(r"ERROR: No matching distribution found for (?P<name>\S+)")
_NO_CONNECTION = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|Max retries exceeded|ConnectionError"
    r"|Temporary failure in name resolution|Network is unreachable"
)
_BOILERPLATE = re.compile(
    r"\s*($|note: This|hint: See|× |╰─>|error: (metadata-generation-failed|subprocess-exited)"
    r"|\[end of output\]|Failed to build|ERROR: Failed building)"
)
"""What pip writes below every failed build; the reason stands above it."""
_NO_ROOM = re.compile(r"No space left on device")


class Display:
    """A line that changes in place on a terminal; elsewhere, lines."""

    def __init__(self, stream: TextIO, *, terminal: bool) -> None:
        self._stream = stream
        self._terminal = terminal

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[2K{text[:width]}")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    @property
    def in_place(self) -> bool:
        """Whether a line can be replaced, so that small steps may be shown."""
        return self._terminal

    def clear(self) -> None:
        """Leave an empty line on a terminal."""
        if self._terminal:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()


class PipProgress:
    """Reads pip's lines and shows what takes long."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._name = "a package"
        self._shown = 0

    def feed(self, line: str) -> None:
        """Take in a line of pip's output."""
        if found := _PROGRESS.match(line):
            self._arrive(int(found["arrived"]), int(found["size"]))
            return
        self._lines.append(line)
        if found := _DOWNLOADING.match(line):
            self._name, self._shown = found["name"], 0
        elif found := _BUILDING.match(line):
            self._display.show(f"  building {found['name']}")
        elif found := _INSTALLING.match(line):
            number = found["names"].count(",") + 1
            self._display.show(f"  installing {number} package{'s' if number > 1 else ''}")

    def _arrive(self, arrived: int, size: int) -> None:
        step = 1_000_000 if self._display.in_place else STEP_BYTES
        if size < LARGE_BYTES or arrived < self._shown + min(step, size):
            return
        self._shown = arrived
        self._display.show(f"  {self._name}: {arrived / 1e6:,.0f} of {size / 1e6:,.0f} MB")

    @property
    def package_missing(self) -> str | None:
        """The package that has no file for this Python and platform, if that is why pip failed."""
        if self._first(_NO_CONNECTION) is not None:
            return None
        found = self._first(_NO_PACKAGE)
        return found["name"] if found else None

    @property
    def failure(self) -> str:
        """Why pip failed, in a line."""
        if self._first(_NO_ROOM) is not None:
            return "the disk is full"
        if self._first(_NO_CONNECTION) is not None:
            return "the package index cannot be reached"
        if self.package_missing is not None:
            return f"there is no {self.package_missing} for this Python and platform"
        errors = [line for line in self._without_noise() if re.match(r"(ERROR|error):", line)]
        return errors[-1] if errors else "see above"

    def last_lines(self) -> list[str]:
        """The end of pip's output, down to the reason why it failed."""
        return self._without_noise()[-LINES_SHOWN:]

    def _without_noise(self) -> list[str]:
        return [line.strip() for line in self._lines if not _BOILERPLATE.match(line)]

    def _first(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return next(filter(None, map(pattern.search, self._lines)), None)
