"""Many patterns, one document: which subscriptions it satisfies.

    >>> matcher = Matcher()
    >>> matcher.add(1, "//trade[price > 100]")
    >>> matcher.add(2, "/feed/*[@urgent]")
    >>> matcher.match(b"<feed><trade><price>120</price></trade></feed>")
    [1]

An id is an integer or a text. Subscriptions come and go at any time. Several threads may match, add
and remove at once; those that change something wait for each other. What the engines share is here;
an engine decides (:mod:`twigcast.matching.interface.engine`).

A process that was forked must not use a matcher that a thread of its parent was using at that
moment: the thread is not there to give back what it had locked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

from twigcast.copies import Copied, as_kind, attributes
from twigcast.display import counted, shown, size
from twigcast.door import door
from twigcast.errors import DocumentError, InternalError, PatternError, TwigcastError, UsageError
from twigcast.language.document.content import content_of
from twigcast.language.document.parse import LIBRARY_LIMITS, Document, DocumentLimits, Source
from twigcast.language.pattern import PATTERN_LIMITS, Pattern, PatternLimits
from twigcast.matching import batch, stored
from twigcast.matching.bindings import Binding, BindingFinder
from twigcast.matching.engines import native_batch
from twigcast.matching.engines.lxml import LxmlEngine
from twigcast.matching.engines.native import AVAILABLE, NativeEngine, beside
from twigcast.matching.explain.finding import Finder, Finding, Findings
from twigcast.matching.interface.engine import Decision, Engine
from twigcast.matching.interface.groups import Groups
from twigcast.matching.interface.ids import FIRST_OWN, AnyId, Id, IdCodes, check_id, is_own_code
from twigcast.matching.interface.rules import Rules, rules_of
from twigcast.matching.interface.statistics import MatcherStatistics, MatcherTally
from twigcast.matching.lazy_document import Unread
from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX
from twigcast.matching.streaming.engine import StreamingEngine
from twigcast.matching.streaming.positions import PositionedResult
from twigcast.slips import caller_items, caller_result, check_whole

if TYPE_CHECKING:
    import pyarrow as pa

_Key = TypeVar("_Key", bound=Hashable)

Written: TypeAlias = str | tuple[str, dict[str, str]]
"""An expression as it was written, with its namespaces if it has any."""

ENGINES: Final = ("auto", "native", "streaming", "lxml")
"""The names an engine can be asked for by; ``auto`` takes the fastest that is there: ``native``
where the kernel is installed, else ``streaming``."""


class Matcher(Copied):
    """Standing subscriptions, and the documents that satisfy them.

    ``rules`` are the subscriptions to begin with: a mapping from ids to expressions, or a list of
    expressions, whose ids are then 1, 2, … (:mod:`~twigcast.matching.interface.rules`). More come
    by :meth:`add`. An id is an integer of 64 bits or a text; answers are in the order of ids,
    integers first.

    >>> matcher = Matcher({"dear": "//trade[price > 100]", "urgent": "/feed/*[@urgent]"})
    >>> matcher.match("<feed><trade><price>120</price></trade></feed>")
    ['dear']

    ``engine`` is one of :data:`ENGINES`; ``limits`` bound documents, ``pattern_limits``
    expressions, ``residual_cost_max`` the work that one expression may make on one document, and
    ``document_cost_max`` that of all of them together: beyond it the dearest are undecided.
    ``keep_texts`` keeps expressions as they were written, for :meth:`find`.

    A document is bytes, a text with XML in it, an open file, an element or tree of lxml, or a
    :class:`~twigcast.language.Document` that was read before.
    """

    @door("making a matcher")
    def __init__(
        self,
        rules: Rules | None = None,
        *,
        engine: str = "auto",
        limits: DocumentLimits = LIBRARY_LIMITS,
        pattern_limits: PatternLimits = PATTERN_LIMITS,
        residual_cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        keep_texts: bool = True,
    ) -> None:
        self._engine = _engine(engine, limits, residual_cost_max, document_cost_max)
        self._codes = IdCodes()
        self._limits = limits
        self._pattern_limits = pattern_limits
        self._cost_max = residual_cost_max
        self._document_cost_max = document_cost_max
        self._texts: dict[int, Written] | None = {} if keep_texts else None
        self._tally = MatcherTally()
        self._changing = Lock()
        """Held by whoever adds, removes or stores: ids, texts and the engine change together."""
        for rule in () if rules is None else rules_of(rules, ENGINES):
            try:
                self.add(*rule)
            except PatternError as error:
                error.add_note(f"This is the rule {shown(rule.id)}.")
                raise

    @door("adding a subscription")
    def add(
        self, id: Id, xpath: str | Pattern, namespaces: Mapping[str, str] | None = None
    ) -> None:
        """Register an expression under an id of your choice, an integer or a text.

        Raises :class:`PatternError` if it is not XPath, :class:`UsageError` if the id is taken.
        """
        try:
            pattern = self._pattern(xpath, namespaces)
        except TwigcastError:
            self._check_free(id)  # A mistake of the id is reported first.
            raise
        with self._changing:
            code = self._check_free(id)
            if code is None:
                code = self._codes.assign(id)
            if self._texts is not None and isinstance(xpath, str):
                self._texts[code] = (xpath, dict(namespaces)) if namespaces else xpath
            try:
                self._engine.add(code, pattern)
            except Exception:
                self._forget(id, code)
                raise

    @door("removing a subscription")
    def remove(self, id: Id) -> None:
        """Forget a subscription. Raises :class:`UsageError` if there is none with that id."""
        with self._changing:
            code = self._codes.code(id)
            if code is None or not self._engine.remove(code):
                raise UsageError(f"no subscription with id {shown(id)}, so nothing to remove")
            self._forget(id, code)

    @door("matching a document")
    def match(self, document: Source | Document, skip: Collection[Id] = ()) -> list[AnyId]:
        """The ids of the subscriptions that the document satisfies, ascending, integers first.

        Ids in ``skip`` are left out, at no cost. Raises :class:`DocumentError` if the document
        cannot be read. Undecided subscriptions are not in the list: ask :meth:`decide`.

        >>> Matcher(["//price", "//cost"]).match(b"<trade><cost/></trade>")
        [2]
        """
        # Not by decide(): one entrance, one door.
        return list(self._codes.ids(self._decide(document, skip).matches))

    @door("matching a document")
    def decide(self, document: Source | Document, skip: Collection[Id] = ()) -> Decision:
        """The same, with the subscriptions that were too costly to decide listed apart.

        >>> Matcher(["//price", "//cost"]).decide(b"<trade><cost/></trade>")
        Decision(matches=(2,), undecided=())
        """
        return self._codes.decision(self._decide(document, skip))

    @door("finding what matched")
    def find(self, document: Source | Document, skip: Collection[Id] = ()) -> Findings:
        """What made each matching subscription match.

        Of a path its first nodes, with path, line and text; of ``and`` and ``or`` each operand
        that is true; of anything else its value (:mod:`~twigcast.matching.explain.finding`). The
        nodes are those of the expression as it was given to :meth:`add`; a subscription that came
        as a pattern, or from :meth:`from_buffer`, is known by its canonical text alone. Findings
        cost as much as ``document_cost_max`` says together; those behind are of the kind
        ``costly``.

        >>> found = Matcher({"dear": "price[. > 100]"}).find("<a><price>120</price></a>")
        >>> print(found["dear"].nodes[0])
        /a/price (line 1): 120
        """
        with self._tally:
            unread = document if isinstance(document, Document) else self._unread(document)
            decision = self._engine.decide(unread, self._codes.skipped(skip))
            finder = Finder(
                unread, cost_max=self._cost_max, document_cost_max=self._document_cost_max
            )
            found: dict[AnyId, Finding] = {}
            for one in self._codes.ids(decision.matches):
                written = self._written(one)
                if written is not None:
                    found[one] = finder.finding(*written)
        self._tally.add(undecided=len(decision.undecided))
        return Findings(found, self._codes.ids(decision.undecided))

    @door("making groups ready")
    def groups(self, members: Mapping[_Key, Collection[Id]]) -> Groups[_Key]:
        """Groups of ids made ready for :meth:`match_links` on many documents."""
        if not isinstance(members, Mapping):
            raise UsageError(f"groups map a key to a collection of ids, not {shown(members)}")
        return Groups(self._engine, self._codes, members)

    @door("matching a document")
    def match_links(
        self,
        document: Source | Document,
        groups: Mapping[_Key, Collection[Id]],
        skip: Collection[Id] = (),
    ) -> list[_Key]:
        """Which groups of ids have a match, in the order given.

        A group is decided by the first match found in it. One that only undecided subscriptions
        could decide counts as matching: a document too many can be dropped further on, one too
        few is lost. Where the groups stay the same, :meth:`groups` makes them ready once.
        """
        made = groups if isinstance(groups, Groups) else self.groups(groups)
        with self._tally:
            unread = document if isinstance(document, Document) else self._unread(document)
            ready = made.ready_for(self._engine, self._codes)
            decided, undecided = self._engine.decide_links(unread, ready, self._codes.skipped(skip))
        if undecided:
            self._tally.add(undecided=len(undecided))
        doubt = frozenset(undecided)
        return [
            key
            for key, codes, found in zip(groups, ready, decided, strict=True)
            if found or (doubt and not doubt.isdisjoint(codes))
        ]

    @door("matching a batch")
    def match_batch(
        self,
        documents: pa.Array[Any] | pa.ChunkedArray[Any],
        skip: Collection[Id] = (),
        *,
        threads: int = 1,
    ) -> pa.RecordBatch:
        """A row for each document of an Arrow array (binary or string).

        Columns: ``matches`` (list of ids, null where refused), ``error`` (null where fine) and
        ``undecided`` (list of ids). The ids are of the type int64, or string as soon as one of the
        matcher's ids is a text. A document that cannot be read never stops the others, nor does a
        string that is not UTF-8. The engine ``native`` shares the work among as many ``threads`` as
        asked for. Raises :class:`UsageError` for an array whose buffers do not fit together.
        """
        check_whole(threads, "threads")
        if isinstance(skip, Iterator):
            skip = tuple(caller_items(skip))  # It can be read but once, and each row asks.

        @door("matching a document")
        def decide(value: pa.Scalar[Any]) -> Decision | None:
            try:
                content = batch.content_of(value)
            except DocumentError:
                self._tally.add(documents=1, refused=1)
                raise
            return None if content is None else self._decide(content, skip)

        documents = batch.array_of(documents)
        if isinstance(self._engine, NativeEngine):
            skipped = self._codes.skipped(skip)
            try:
                with door("matching a batch"):
                    rows, alone = native_batch.decided_rows(
                        self._engine, documents, decide, skip=skipped, threads=threads
                    )
            except InternalError:
                # Whichever document it was, the others are answered one by one.
                return self._one_by_one(documents, decide)
            self._tally.add(documents=len(documents) - alone)
        else:
            return self._one_by_one(documents, decide)
        return batch.with_ids(rows, self._codes) if self._codes.in_use else rows

    def _one_by_one(
        self, documents: pa.Array[Any], decide: Callable[[pa.Scalar[Any]], Decision | None]
    ) -> pa.RecordBatch:
        rows = batch.decided_rows(documents, decide)
        return batch.with_ids(rows, self._codes) if self._codes.in_use else rows

    @door("following a document")
    def follow(
        self,
        document: Source | Document,
        groups: Sequence[Collection[Id]] = (),
        skip_from: Mapping[int, Collection[Id]] | None = None,
        *,
        eager: bool = False,
    ) -> PositionedResult:
        """What matches and *when*, since when each group has a match, where paths were seen last.

        ``skip_from`` has, for a number of end tags, the ids that need no answer behind the last of
        these. An ``eager`` reading ends as soon as every group has a match. Raises
        :class:`UsageError` if the engine does not read documents in order.
        """
        engine, codes = self._in_order(), self._codes
        account = engine.follow(
            self._read(document),
            [codes.codes(group) for group in groups],
            {ends: codes.skipped(ids) for ends, ids in (skip_from or {}).items()},
            eager=eager,
        )
        self._tally.add(undecided=len(account.undecided))
        if not codes.in_use:
            return account
        decided = {
            one: account.decided[code]
            for one in codes.ids(tuple(account.decided))
            if (code := codes.code(one)) is not None
        }
        return replace(account, decided=decided, undecided=codes.ids(account.undecided))

    @door("watching a path")
    def watch(
        self, id: Id, xpath: str | Pattern, namespaces: Mapping[str, str] | None = None
    ) -> None:
        """Have :meth:`follow` report where a path of elements was seen last.

        Ids of paths are apart from those of subscriptions. Raises :class:`UsageError` if the
        expression is more than a path, or the id is taken.
        """
        self._in_order().watch(id, self._pattern(xpath, namespaces))

    @door("ending the watch of a path")
    def unwatch(self, id: Id) -> None:
        """No longer watch a path. Raises :class:`UsageError` if there is none with that id."""
        self._in_order().unwatch(id)

    @door("finding bindings")
    def bindings(
        self, document: Source | Document, ids: Iterable[Id]
    ) -> dict[AnyId, tuple[Binding, ...]]:
        """What the wildcards of some subscriptions stand for in the document's first match.

        Raises :class:`UsageError` for an id that is not there, or whose pattern is not exact.
        """
        witness = BindingFinder(self._read(document))
        return {one: witness.bindings(self._pattern_under(one)) for one in caller_items(ids)}

    @door("counting")
    def statistics(self) -> MatcherStatistics:
        """What the matcher holds, and what it has done so far."""
        return MatcherStatistics(
            engine=self._engine.name,
            subscriptions=len(self),
            documents=self._tally.documents,
            refused=self._tally.refused,
            internal_errors=self._tally.internal_errors,
            undecided=self._tally.undecided,
            details=self._engine.statistics(),
        )

    @door("writing subscriptions")
    def to_bytes(self) -> bytes:
        """The subscriptions as bytes, for a file or another process."""
        with self._changing:
            return self._stored()

    def _stored(self) -> bytes:
        if isinstance(self._engine, NativeEngine):
            content = self._engine.to_bytes()
        else:
            content = stored.to_bytes(self._engine.patterns)
        there = self._engine.patterns  # An interrupt may have left a code that stands for nothing.
        ids = [pair for pair in self._codes.stored if pair[0] in there]
        return stored.with_ids(ids, content)

    @classmethod
    @door("reading stored subscriptions")
    def from_buffer(
        cls,
        buffer: bytes | memoryview,
        *,
        engine: str = "auto",
        limits: DocumentLimits = LIBRARY_LIMITS,
        pattern_limits: PatternLimits = PATTERN_LIMITS,
        residual_cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
    ) -> Self:
        """The subscriptions that :meth:`to_bytes` wrote. Raises :class:`UsageError` on other bytes.

        What the engine ``native`` wrote is used where it lies, so the buffer must not change: one
        that can be written to is refused. It is for that engine only. Limits are not written: give
        those that are to hold from here on.
        """
        matcher = caller_result(
            cls,
            engine=engine,
            limits=limits,
            pattern_limits=pattern_limits,
            residual_cost_max=residual_cost_max,
            document_cost_max=document_cost_max,
        )
        matcher._load(buffer)  # noqa: SLF001  # It is this class's own.
        return matcher

    def _load(self, buffer: bytes | memoryview) -> None:
        """Hold what is stored, and nothing else."""
        ids, content = stored.without_ids(_view(buffer))
        self._codes = IdCodes(ids)
        if NativeEngine.has_written(content):
            if not isinstance(self._engine, NativeEngine):
                raise UsageError(
                    "these subscriptions were compiled for the engine native; ask for that one, "
                    "where twigcast-kernel is installed, or write them with another engine"
                )
            self._engine = NativeEngine.from_buffer(
                memoryview(content),
                cost_max=self._cost_max,
                document_cost_max=self._document_cost_max,
                limits=self._limits,
            )
            stored.check_codes(ids, self._engine.ids_before(FIRST_OWN))
            return
        patterns = dict(stored.from_buffer(content))
        stored.check_codes(ids, (code for code in patterns if not is_own_code(code)))
        for code, pattern in patterns.items():
            self._engine.add(code, pattern)

    @door("copying a matcher")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: a matcher of its own, with the same subscriptions.

        It has the limits and the texts of this one as well, and counts from zero.
        """
        if isinstance(self._engine, StreamingEngine) and self._engine.watches:
            raise UsageError("a matcher that watches paths cannot be copied; unwatch them first")
        with self._changing:
            content = self._stored()
            state = attributes(self, but=_ITS_OWN)
            state["_texts"] = None if self._texts is None else dict(self._texts)
        limits = {
            "limits": self._limits,
            "pattern_limits": self._pattern_limits,
            "residual_cost_max": self._cost_max,
            "document_cost_max": self._document_cost_max,
        }
        return _restored, (type(self), content, self._engine.name, limits), state

    @door("counting subscriptions")
    def __len__(self) -> int:
        return len(self._engine.patterns)

    @door("looking for a subscription")
    def __contains__(self, id: object) -> bool:
        return self._code(id) is not None

    def __repr__(self) -> str:
        details = self._engine.statistics()
        memory = getattr(details, "index_bytes", None)
        parts = [
            counted(len(self), "subscription"),
            counted(details.patterns, "distinct pattern"),
            f"engine {self._engine.name}",
            *([] if memory is None else [size(memory)]),
        ]
        return f"<Matcher: {', '.join(parts)}>"

    def _code(self, id: object) -> int | None:
        """What the engine knows a subscription by; None if there is none."""
        code = self._codes.code(id)
        return code if code is not None and code in self._engine.patterns else None

    def _decide(self, document: Source | Document, skip: Collection[Id]) -> Decision:
        """The decision, with codes in the place of ids."""
        with self._tally:
            unread = document if isinstance(document, Document) else self._unread(document)
            decision = self._engine.decide(unread, self._codes.skipped(skip))
        if decision.undecided:
            self._tally.add(undecided=len(decision.undecided))
        return decision

    def _pattern(self, xpath: str | Pattern, namespaces: Mapping[str, str] | None) -> Pattern:
        if isinstance(xpath, Pattern):
            return xpath
        return Pattern.parse(xpath, namespaces, self._pattern_limits)

    def _written(self, id: Id) -> tuple[str, Mapping[str, str]] | None:
        """An expression as it was written, with its prefixes; None if it was removed by now."""
        code = self._code(id)
        if code is None:
            return None
        written = self._texts.get(code) if self._texts is not None else None
        if written is None:
            try:
                return self._engine.patterns[code].text, {}
            except KeyError:
                return None
        return (written, {}) if isinstance(written, str) else written

    def _pattern_under(self, id: Id) -> Pattern:
        code = self._codes.code(id)
        try:
            return self._engine.patterns[code]  # type: ignore[index]
        except (KeyError, TypeError):
            raise UsageError(f"no subscription with id {shown(id)}") from None

    def _check_free(self, id: Id) -> int | None:
        """The code of an id that may be added, if it has one already."""
        code = id if is_own_code(id) else self._codes.code(id)
        if code is None:
            check_id(id)
        elif code in self._engine.patterns:
            raise UsageError(
                f"id {shown(id)} is taken by {self._pattern_under(id).text}; remove it first"
            )
        return code

    def _forget(self, id: Id, code: int) -> None:
        """Let go of what was kept for a subscription that the engine does not have any more."""
        if self._codes.in_use:
            self._codes.release(id)
        if self._texts is not None:
            self._texts.pop(code, None)

    @property
    def reads_in_order(self) -> bool:
        """Whether the engine reads documents in order, which :meth:`follow` and watching need."""
        return isinstance(self._engine, StreamingEngine)

    def _in_order(self) -> StreamingEngine:
        if not isinstance(self._engine, StreamingEngine):
            raise UsageError(
                f"the engine {self._engine.name} does not read documents in order; "
                "take Matcher(engine='streaming')"
            )
        return self._engine

    def _read(self, document: Source | Document) -> Document:
        with self._tally:
            unread = document if isinstance(document, Document) else self._unread(document)
            if isinstance(unread, Unread):
                return Document(unread.content, unread.tree, unread.name)
            return unread

    def _unread(self, source: Source) -> Unread:
        """A document in any form, not yet read."""
        if isinstance(source, bytes):
            return Unread(source, self._limits)
        content, name = content_of(source, bytes_max=self._limits.bytes_max)
        return Unread(content, self._limits, name)


_ITS_OWN: Final = frozenset({"_changing", "_codes", "_engine", "_tally"})
"""What a copy of a matcher makes for itself."""


def _restored(kind: type[Matcher], content: bytes, engine: str, limits: dict[str, Any]) -> Matcher:
    """A copy of a matcher, but for what it keeps beside the subscriptions."""
    return as_kind(kind, Matcher.from_buffer(content, engine=engine, **limits))


def _view(buffer: object) -> memoryview:
    """The bytes of any buffer whose bytes follow each other."""
    try:
        return memoryview(buffer).cast("B")  # type: ignore[arg-type]
    except TypeError:
        kind = type(buffer).__name__
        raise UsageError(f"stored subscriptions are bytes, not {kind}; give bytes(…)") from None
    except ValueError as error:  # a memoryview that was released
        raise UsageError(f"stored subscriptions cannot be read: {error}") from None


def _engine(name: str, limits: DocumentLimits, cost_max: int, document_cost_max: int) -> Engine:
    check_whole(cost_max, "residual_cost_max")
    check_whole(document_cost_max, "document_cost_max")
    match name:
        case "native":
            engine: type[NativeEngine | StreamingEngine | LxmlEngine] = NativeEngine
        case "auto":
            engine = NativeEngine if AVAILABLE else StreamingEngine
        case "streaming":
            engine = StreamingEngine
        case "lxml":
            engine = LxmlEngine
        case _:
            raise UsageError(f"no engine {shown(name)}; choose one of {', '.join(ENGINES)}")
    if issubclass(engine, NativeEngine):
        return engine(cost_max=cost_max, document_cost_max=document_cost_max, limits=limits)
    kernel = beside(cost_max=cost_max, document_cost_max=document_cost_max, limits=limits)
    return engine(cost_max=cost_max, document_cost_max=document_cost_max, kernel=kernel)
