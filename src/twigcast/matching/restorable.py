"""Restorable engines: patterns by id, and tables that can be made anew from them.

An interrupt can come in the middle of a change. The tables are not used any more then: whoever
comes next makes them anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from threading import Lock

from twigcast.language.pattern import Pattern
from twigcast.matching.interface.engine import MakeKernel


class RestorableEngine(ABC):
    """An engine with its tables in Python, and the kernel beside it where that is installed."""

    def __init__(self, kernel: MakeKernel | None) -> None:
        self._make_kernel = kernel
        self._pattern_of: dict[int, Pattern] = {}
        self._whole = True
        """Whether the tables agree with the patterns; false while something changes."""
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        """Empty the tables."""
        self._kernel = self._make_kernel() if self._make_kernel else None

    @abstractmethod
    def _take_in(self, id: int, pattern: Pattern) -> None:
        """Put a pattern into the tables."""

    @abstractmethod
    def _take_out(self, id: int, pattern: Pattern) -> None:
        """Take it out of them, with whatever only it needed."""

    def _mend(self) -> None:
        """Make the tables anew if an interrupt came between; the lock is held."""
        if self._whole:
            return
        self._begin()
        for one, pattern in self._pattern_of.items():
            self._add(one, pattern)
        self._whole = True

    def add(self, id: int, pattern: Pattern) -> None:
        """Take in a pattern under an id that is not in use."""
        with self._lock:
            self._mend()
            self._whole = False
            self._pattern_of[id] = pattern
            try:
                self._add(id, pattern)
            except Exception:
                del self._pattern_of[id]
                raise
            self._whole = True

    def _add(self, id: int, pattern: Pattern) -> None:
        if self._kernel is not None:
            self._kernel.add(id, pattern)
        self._take_in(id, pattern)

    def remove(self, id: int) -> bool:
        """Forget the id and whatever only it needed; whether it was there."""
        with self._lock:
            self._mend()
            if id not in self._pattern_of:
                return False
            self._whole = False
            pattern = self._pattern_of.pop(id)
            if self._kernel is not None:
                self._kernel.remove(id)
            self._take_out(id, pattern)
            self._whole = True
            return True

    @property
    def patterns(self) -> Mapping[int, Pattern]:
        """The pattern under each id."""
        return self._pattern_of

    @staticmethod
    def prepared(groups: Sequence[Collection[int]]) -> Sequence[Collection[int]]:
        """The groups as they are: these engines have no use for more."""
        return groups
