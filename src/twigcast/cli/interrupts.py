"""Ctrl-C as a request to come to an end, for work that has no end of its own."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Request", "end_on_request"]

_SLICE_SECONDS = 0.1
"""How soon a request is noticed while nothing else happens."""


class Request:
    """Whether somebody has asked for an end."""

    def __init__(self) -> None:
        self._made = False

    def make(self) -> None:
        """Ask for an end."""
        self._made = True

    def is_made(self) -> bool:
        """Whether an end was asked for."""
        return self._made

    def wait(self, seconds: float) -> None:
        """Let time pass, or less of it if an end is asked for."""
        until = time.monotonic() + seconds
        while not self._made and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_SECONDS))


@contextmanager
def end_on_request() -> Iterator[Request]:
    """Take the first Ctrl-C, or the word of a service manager, as a request.

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
