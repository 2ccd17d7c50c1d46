"""Paths as they come in, and files that can be read without waiting.

A path that is empty is nearly always a variable that was never set. To the system it is the folder
that we stand in, so it is refused by name instead (:func:`checked_path`).

Whatever a path leads to may be exchanged between a look at it and its opening. A pipe in the place
of a file would keep us waiting for ever, and a device may have no end, so
:func:`open_regular` looks at what it has opened, and opens without waiting.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from twigcast.errors import UsageError
from twigcast.slips import caller_result

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

AnyPath: TypeAlias = str | os.PathLike[str]

_READ_BYTES = 1 << 20

_WITHOUT_WAITING = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def checked_path(path: object, what: str) -> str:
    """The path as text; UsageError if it is empty, or can be no path at all.

    >>> checked_path("", "a topology")
    Traceback (most recent call last):
    twigcast.errors.UsageError: the path of a topology is empty; "." is the folder you are in
    """
    try:
        text = caller_result(os.fspath, path)  # type: ignore[arg-type]
    except TypeError:  # no path, or one that gives no text
        text = None
    if not isinstance(text, str):
        kind = type(path).__name__
        raise UsageError(f"the path of {what} is text or a pathlib.Path, not {kind}")
    if not text:
        raise UsageError(f'the path of {what} is empty; "." is the folder you are in')
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise UsageError(f"no file can have the name {text!r}: it has half of a pair") from None
    if "\0" in text:
        raise UsageError(f"no file can have the name {text!r}: it has a zero byte")
    return text


def open_regular(path: AnyPath) -> BinaryIO:
    """An ordinary file, open for reading; OSError for pipes, devices and folders."""
    return io.BufferedReader(_WithoutWaiting(_opened(path)))


class _WithoutWaiting(io.FileIO):
    """A file that reports where there is nothing to read yet, as in /proc/kmsg.

    Python would return None, or as much as there was, as if the file were at its end.
    """

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return count

    # These go by readinto; those of FileIO do not.
    read = io.RawIOBase.read  # type: ignore[assignment]
    readall = io.RawIOBase.readall


def read_regular(path: AnyPath, bytes_max: int) -> bytes:
    """All bytes of an ordinary file, or one more than allowed; OSError like open_regular."""
    opened = _opened(path)
    try:
        parts, left = [], bytes_max + 1
        while left and (part := os.read(opened, min(left, _READ_BYTES))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(opened)


def standard_input() -> BinaryIO:
    """What comes on standard input, from where it stands; UsageError if it is closed.

    Whoever has it open as well may have set that nobody waits for it. A reader that does not
    wait would take a pause for the end.
    """
    if sys.stdin is None:
        raise UsageError("standard input is closed; give a file, or send something into it")
    with suppress(OSError):  # It may be no file at all, but something in a test or a notebook.
        os.set_blocking(sys.stdin.fileno(), True)
    return sys.stdin.buffer


def _opened(path: AnyPath) -> int:
    opened = os.open(path, _WITHOUT_WAITING)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "it is no regular file")
