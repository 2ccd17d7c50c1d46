"""Counters of a matcher's documents."""

from __future__ import annotations

from dataclasses import dataclass, fields
from threading import Lock
from types import TracebackType

from twigcast.display import html_table
from twigcast.errors import DocumentError, TwigcastError
from twigcast.matching.interface.engine import EngineStatistics


class MatcherTally:
    """Documents, and what became of them; several threads may count at a time.

    Each document is dealt with inside ``with tally:``, which counts it, and what it failed for.
    One object serves all documents: a small one is matched in the time that a generator of
    :func:`~contextlib.contextmanager` takes.

    >>> tally = MatcherTally()
    >>> with tally:
    ...     pass
    >>> tally.documents, tally.refused
    (1, 0)
    """

    __slots__ = ("_lock", "documents", "internal_errors", "refused", "undecided")

    def __init__(self) -> None:
        self.documents = self.refused = self.internal_errors = self.undecided = 0
        self._lock = Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.documents += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            return
        with self._lock:
            if isinstance(error, DocumentError):
                self.refused += 1
            elif isinstance(error, Exception) and not isinstance(error, TwigcastError | Warning):
                self.internal_errors += 1

    def add(self, *, documents: int = 0, refused: int = 0, undecided: int = 0) -> None:
        """Count documents that were dealt with elsewhere, or pairs that were left undecided."""
        with self._lock:
            self.documents += documents
            self.refused += refused
            self.undecided += undecided


@dataclass(frozen=True, slots=True)
class MatcherStatistics:
    """How a matcher fares: what it holds, and what it has done so far."""

    engine: str
    subscriptions: int
    documents: int
    refused: int
    """Documents that could not be read."""
    internal_errors: int
    """Documents that failed for a reason nobody foresaw."""
    undecided: int
    """Pairs of document and subscription that were too costly to decide."""
    details: EngineStatistics

    def _repr_html_(self) -> str:
        own = [(one.name, getattr(self, one.name)) for one in fields(self) if one.name != "details"]
        more = [(one.name, getattr(self.details, one.name)) for one in fields(self.details)]
        return html_table(("statistic", "value"), [*own, *more])
