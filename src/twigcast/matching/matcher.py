"""Many patterns, one document: which subscriptions it satisfies.

    >>> matcher = Matcher()
    >>> matcher.add(1, "//trade[price > 100]")
    >>> matcher.add(2, "/feed/*[@urgent]")
    >>> matcher.match(b"<feed><trade><price>120</price></trade></feed>")
    [1]

Subscriptions come and go at any time. Several threads may match at once, also while one adds and
removes. What the engines share is here; an engine decides (:mod:`twigcast.matching.engine`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from twigcast.errors import DocumentError, UsageError
from twigcast.language.document import LIBRARY_LIMITS, Document, DocumentLimits
from twigcast.language.pattern import PATTERN_LIMITS, Pattern, PatternLimits
from twigcast.matching import batch, native_batch, stored
from twigcast.matching.bindings import Binding, Witness
from twigcast.matching.engine import Decision, Engine, EngineStatistics
from twigcast.matching.groups import Groups
from twigcast.matching.lxml_engine import LxmlEngine
from twigcast.matching.moments import Account
from twigcast.matching.native import AVAILABLE, NativeEngine
from twigcast.matching.residuals import COST_MAX
from twigcast.matching.streaming import StreamingEngine
from twigcast.matching.unread import Unread

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENGINES", "Matcher", "MatcherStatistics"]

_Key = TypeVar("_Key", bound=Hashable)

_INT64: Final = range(-(1 << 63), 1 << 63)

ENGINES: Final = ("auto", "native", "streaming", "lxml")
"""The names an engine can be asked for by; ``auto`` takes the fastest that is there: ``native``
where the kernel is installed, else ``streaming``."""


@dataclass(frozen=True, slots=True)
class MatcherStatistics:
    """How a matcher fares: what it holds, and what it has done so far."""

    engine: str
    subscriptions: int
    documents: int
    refused: int
    """Documents that could not be read."""
    undecided: int
    """Pairs of document and subscription that were too costly to decide."""
    details: EngineStatistics


class Matcher:
    """Standing subscriptions under integer ids, and the documents that satisfy them.

    ``engine`` is one of :data:`ENGINES`; ``limits`` bound documents, ``pattern_limits``
    expressions, and ``residual_cost_max`` the work that one expression may make on one document.
    """

    def __init__(
        self,
        engine: str = "auto",
        *,
        limits: DocumentLimits = LIBRARY_LIMITS,
        pattern_limits: PatternLimits = PATTERN_LIMITS,
        residual_cost_max: int = COST_MAX,
    ) -> None:
        self._engine = _engine(engine, limits, residual_cost_max)
        self._limits = limits
        self._pattern_limits = pattern_limits
        self._documents = self._refused = self._undecided = 0

    def add(
        self, id: int, xpath: str | Pattern, namespaces: Mapping[str, str] | None = None
    ) -> None:
        """Register an expression under an id of your choice.

        Raises :class:`PatternError` if it is not XPath, :class:`UsageError` if the id is taken.
        """
        if not isinstance(id, int):
            raise UsageError(f"an id is an integer, not {id!r}; keep your own names beside them")
        if not _INT64.start <= id < _INT64.stop:
            raise UsageError(f"the id {id} does not fit into 64 bits")
        if id in self:
            raise UsageError(f"id {id} is taken by {self._held(id).text}; remove it first")
        pattern = self._pattern(xpath, namespaces)
        self._engine.add(id, pattern)

    def remove(self, id: int) -> None:
        """Forget a subscription. Raises :class:`UsageError` if there is none with that id."""
        if id not in self:
            raise UsageError(f"no subscription with id {id}, so nothing to remove")
        self._engine.remove(id)

    def match(self, document: bytes | Document, skip: Collection[int] = ()) -> list[int]:
        """The ids of the subscriptions that the document satisfies, ascending.

        Ids in ``skip`` are left out, at no cost. Raises :class:`DocumentError` if the document
        cannot be read. Undecided subscriptions are not in the list: ask :meth:`decide`.
        """
        return list(self.decide(document, skip).matches)

    def decide(self, document: bytes | Document, skip: Collection[int] = ()) -> Decision:
        """The same, with the subscriptions that were too costly to decide told apart."""
        with self._counted(document) as unread:
            decision = self._engine.decide(unread, _quick(skip))
        self._undecided += len(decision.undecided)
        return decision

    def groups(self, members: Mapping[_Key, Collection[int]]) -> Groups[_Key]:
        """Groups of ids made ready for :meth:`match_links` on many documents."""
        return Groups(self._engine, members)

    def match_links(
        self,
        document: bytes | Document,
        groups: Mapping[_Key, Collection[int]],
        skip: Collection[int] = (),
    ) -> list[_Key]:
        """Which groups of ids have a match, in the order given.

        A group is decided by the first match found in it. One that only undecided subscriptions
        could decide counts as matching: a document too many can be dropped further on, one too
        few is lost. Where the groups stay the same, :meth:`groups` makes them ready once.
        """
        ready = groups if isinstance(groups, Groups) else self.groups(groups)
        with self._counted(document) as unread:
            decided, undecided = self._engine.decide_links(
                unread, ready.ready_for(self._engine), _quick(skip)
            )
        self._undecided += len(undecided)
        doubt = frozenset(undecided)
        return [
            key
            for (key, ids), found in zip(groups.items(), decided, strict=True)
            if found or (doubt and not doubt.isdisjoint(ids))
        ]

    def match_batch(
        self, documents: pa.Array[Any], skip: Collection[int] = (), *, threads: int = 1
    ) -> pa.RecordBatch:
        """A row for each document of an Arrow array (binary or string).

        Columns: ``matches`` (list of ids, null where refused), ``error`` (null where fine) and
        ``undecided`` (list of ids). A document that cannot be read never stops the others. The
        engine ``native`` shares the work among as many ``threads`` as asked for.
        """

        def decide(content: bytes) -> Decision:
            return self.decide(content, skip)

        if not isinstance(self._engine, NativeEngine):
            return batch.decided_rows(documents, decide)
        rows, alone = native_batch.decided_rows(
            self._engine, documents, decide, skip=_quick(skip), threads=threads
        )
        self._documents += len(documents) - alone
        return rows

    def follow(
        self,
        document: bytes | Document,
        groups: Sequence[Collection[int]] = (),
        skip_from: Mapping[int, Collection[int]] | None = None,
        *,
        eager: bool = False,
    ) -> Account:
        """What matches and *when*, since when each group has a match, where paths were seen last.

        ``skip_from`` has, for a number of end tags, the ids that need no answer behind the last of
        these. An ``eager`` reading ends as soon as every group has a match. Raises
        :class:`UsageError` if the engine does not read documents in order.
        """
        engine = self._in_order()
        account = engine.follow(self._read(document), groups, skip_from, eager=eager)
        self._undecided += len(account.undecided)
        return account

    def watch(
        self, id: int, xpath: str | Pattern, namespaces: Mapping[str, str] | None = None
    ) -> None:
        """Have :meth:`follow` tell where a path of elements was seen last.

        Ids of paths are apart from those of subscriptions. Raises :class:`UsageError` if the
        expression is more than a path, or the id is taken.
        """
        self._in_order().watch(id, self._pattern(xpath, namespaces))

    def unwatch(self, id: int) -> None:
        """No longer watch a path. Raises :class:`UsageError` if there is none with that id."""
        self._in_order().unwatch(id)

    def bindings(
        self, document: bytes | Document, ids: Iterable[int]
    ) -> dict[int, tuple[Binding, ...]]:
        """What the wildcards of some subscriptions stand for in the document's first match.

        Raises :class:`UsageError` for an id that is not there, or whose pattern is not exact.
        """
        witness = Witness(self._read(document))
        return {one: witness.bindings(self._held(one)) for one in ids}

    def statistics(self) -> MatcherStatistics:
        """What the matcher holds, and what it has done so far."""
        return MatcherStatistics(
            engine=self._engine.name,
            subscriptions=len(self),
            documents=self._documents,
            refused=self._refused,
            undecided=self._undecided,
            details=self._engine.statistics(),
        )

    def to_bytes(self) -> bytes:
        """The subscriptions as bytes, for a file or another process."""
        if isinstance(self._engine, NativeEngine):
            return self._engine.to_bytes()
        return stored.to_bytes(self._engine.patterns)

    @classmethod
    def from_buffer(
        cls,
        buffer: bytes | memoryview,
        engine: str = "auto",
        *,
        limits: DocumentLimits = LIBRARY_LIMITS,
        pattern_limits: PatternLimits = PATTERN_LIMITS,
        residual_cost_max: int = COST_MAX,
    ) -> Matcher:
        """The subscriptions that :meth:`to_bytes` wrote. Raises :class:`UsageError` on other bytes.

        What the engine ``native`` wrote is used where it lies, so the buffer must not change; it
        is for that engine only. Limits are not written: give those that are to hold from here on.
        """
        matcher = cls(
            engine,
            limits=limits,
            pattern_limits=pattern_limits,
            residual_cost_max=residual_cost_max,
        )
        if NativeEngine.has_written(buffer):
            if engine not in {"auto", "native"} or not AVAILABLE:
                raise UsageError(
                    "these subscriptions were compiled for the engine native; ask for that one, "
                    "where twigcast-kernel is installed, or write them with another engine"
                )
            matcher._engine = NativeEngine.from_buffer(
                memoryview(buffer), cost_max=residual_cost_max, limits=limits
            )
            return matcher
        for subscription, pattern in stored.from_buffer(buffer):
            matcher.add(subscription, pattern)
        return matcher

    def __len__(self) -> int:
        return len(self._engine.patterns)

    def __contains__(self, id: int) -> bool:
        return id in self._engine.patterns

    def _pattern(self, xpath: str | Pattern, namespaces: Mapping[str, str] | None) -> Pattern:
        if isinstance(xpath, Pattern):
            return xpath
        return Pattern.parse(xpath, namespaces, self._pattern_limits)

    def _held(self, id: int) -> Pattern:
        if id not in self:
            raise UsageError(f"no subscription with id {id}")
        return self._engine.patterns[id]

    def _in_order(self) -> StreamingEngine:
        if not isinstance(self._engine, StreamingEngine):
            raise UsageError(
                f"the engine {self._engine.name} does not read documents in order; "
                "take Matcher(engine='streaming')"
            )
        return self._engine

    def _read(self, document: bytes | Document) -> Document:
        if isinstance(document, Document):
            self._documents += 1
            return document
        with self._counted(document) as unread:
            return Document(document, unread.tree, None)

    @contextmanager
    def _counted(self, document: bytes | Document) -> Iterator[Document]:
        """The document, to be read when its tree is asked for; counted if it is refused then."""
        self._documents += 1
        try:
            yield document if isinstance(document, Document) else Unread(document, self._limits)
        except DocumentError:
            self._refused += 1
            raise


def _engine(name: str, limits: DocumentLimits, cost_max: int) -> Engine:
    match name:
        case "native":
            return NativeEngine(cost_max=cost_max, limits=limits)
        case "auto" if AVAILABLE:
            return NativeEngine(cost_max=cost_max, limits=limits)
        case "auto" | "streaming":
            return StreamingEngine(cost_max=cost_max)
        case "lxml":
            return LxmlEngine(cost_max=cost_max)
        case _:
            raise UsageError(f"no engine {name!r}; choose one of {', '.join(ENGINES)}")


def _quick(skip: Collection[int]) -> Collection[int]:
    return skip if isinstance(skip, set | frozenset | dict) or not skip else frozenset(skip)
