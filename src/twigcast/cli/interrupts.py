"""Ctrl-C: as a request to come to an end, for work that has no end of its own; and never lost.

SIGTERM, by which service managers request an end, is treated alike.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from twigcast.cli.starting import SIGNALLED, leave

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = SIGNALLED + signal.SIGINT
"""What a shell reports for a program that was interrupted."""

TERMINATED = SIGNALLED + signal.SIGTERM
"""The code that a shell reports for a program that has ended on request."""

_AGAIN_SECONDS = 0.01
"""How long after an interrupt that was lost the next one comes."""

_SLICE_SECONDS = 0.1
"""How soon a request is noticed while nothing else happens."""


class Request:
    """Whether an end was requested."""

    def __init__(self) -> None:
        self._made = False

    def make(self) -> None:
        """Ask for an end."""
        self._made = True

    def is_made(self) -> bool:
        """Whether an end was requested."""
        return self._made

    def wait(self, seconds: float) -> None:
        """Let time pass, or less of it if an end is requested."""
        until = time.monotonic() + seconds
        while not self._made and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_SECONDS))


@contextmanager
def end_on_request() -> Iterator[Request]:
    """Take the first Ctrl-C, or the signal of a service manager, as a request.

    A second Ctrl-C interrupts as usual.
    """
    request = Request()

    def made(number: int, _frame: FrameType | None) -> None:
        request.make()
        signal.signal(number, usual[signal.Signals(number)])

    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in usual:
        signal.signal(number, made)
    try:
        yield request
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


class Terminated(KeyboardInterrupt):
    """Somebody has requested this process to end (SIGTERM).

    Who clears up behind a Ctrl-C has the same to do.
    """


def end_in_order() -> None:
    """Have SIGTERM end the program as Ctrl-C does, so that nothing is left behind.

    Unless whoever started us has them ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler, leave}:
            signal.signal(number, _end)


def exit_code_of_signal() -> int | None:
    """The exit code of a program that was interrupted, whatever failed because of that; or None."""
    return _exit_codes[0] if _exit_codes else None


_exit_codes: list[int] = []


def _end(number: int, _frame: FrameType | None) -> None:
    _exit_codes.append(SIGNALLED + number)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def interrupt_again(unraisable: UnraisableHookArgs) -> None:
    """For ``sys.unraisablehook``: have a Ctrl-C that was lost come again.

    Python drops whatever is raised while it lets go of an object, KeyboardInterrupt too. Patterns
    are let go of all the time, and whoever pressed Ctrl-C at such a moment would wait for ever.
    """
    if issubclass(unraisable.exc_type, Terminated):
        threading.Timer(_AGAIN_SECONDS, _thread.interrupt_main, [signal.SIGTERM]).start()
    elif issubclass(unraisable.exc_type, KeyboardInterrupt):
        threading.Timer(_AGAIN_SECONDS, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(unraisable)
