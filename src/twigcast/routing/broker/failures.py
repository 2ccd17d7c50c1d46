"""Unforeseen failures at a broker: counted, and reported to the driver of the router.

A router does no I/O and so writes no log. Its driver hands in a function that is called with each
:class:`~twigcast.errors.InternalError`, whose ``__cause__`` has the traceback.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from twigcast.door import door
from twigcast.errors import InternalError


class Failures:
    """How many there were. Documents are decided on many threads, so counting takes a lock."""

    def __init__(self, report: Callable[[InternalError], None] | None = None) -> None:
        self.count = 0
        self.report = report
        self._lock = Lock()

    def add(self, error: InternalError) -> None:
        """One more."""
        with self._lock:
            self.count += 1
        if self.report is not None:
            self.report(error)


@lru_cache(maxsize=32)  # There are a dozen kinds.
def door_of(kind: str) -> door:
    """The door that stands around events of a kind, made once."""
    return door(f"handling {kind}")
