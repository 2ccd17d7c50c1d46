"""Documents decided by several workers at a time, answered in the order in which they came.

With the engine ``native`` the workers are threads: the kernel lets go of Python's lock while it
reads a document, and all threads share one index. Threads were quicker than processes in each of
seven turns (4,000 and 12,000 documents, 20,000 subscriptions, two cores). Against one job they
took half the time on an idle machine (one turn), and gained little or lost on a busy one, so jobs
are only taken where asked for. The other engines are Python and hold the lock, so their workers
are processes, each with the subscriptions of its own; how much that gains was not measured on an
idle machine.

Work is handed out in chunks. No more than two chunks for each worker are on their way, so that
memory does not grow with the number of documents.

If a process dies (killed, out of memory), all that was on its way is done again by new processes,
one document at a time. A document during which the process dies again is refused, with that as its
error; the others are answered as if nothing had happened.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from twigcast.errors import DocumentError, InternalError, TwigcastError
from twigcast.language import DocumentLimits

if TYPE_CHECKING:
    from twigcast.files import Rejected
    from twigcast.files.documents.publications import Entry
    from twigcast.files.limits import Content
    from twigcast.matching import Decision, Matcher

CHUNK_DOCUMENTS_MAX = 32
CHUNK_BYTES_MAX = 1 << 20
"""Enough work that handing it over costs little, and little enough to be answered soon."""

_AHEAD = 2

Answer: TypeAlias = "Decision | DocumentError | InternalError"
_Document: TypeAlias = "tuple[Entry, str, Content]"


class MatcherBounds(NamedTuple):
    """The limits of a matcher, by the names that it has for them: every process has the same."""

    limits: DocumentLimits
    residual_cost_max: int
    document_cost_max: int


class WorkerGoneError(TwigcastError):
    """Processes that match cannot be started, or not any more."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A document with the matcher's answer, or why it cannot be read."""

    entry: Entry
    name: str
    content: Content
    answer: Answer


class Deciders(AbstractContextManager["Deciders"]):
    """Workers that share one matcher; with one job there are none, and the work is done here.

    ``rejected`` are the subscriptions that the matcher does not have, for they are none.
    """

    def __init__(
        self,
        matcher: Matcher,
        jobs: int,
        rejected: tuple[Rejected, ...],
        limits: MatcherBounds,
    ) -> None:
        self.rejected = rejected
        self._matcher = matcher
        self._jobs = jobs
        self._pool: Executor | None = None
        self._shared = matcher.statistics().engine == "native"
        if jobs > 1 and self._shared:
            self._pool = ThreadPoolExecutor(jobs)
        elif jobs > 1:
            self._shown = matcher.to_bytes(), matcher.statistics().engine, limits
            self._pool = self._processes()

    def _processes(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._jobs,
            # A process that is forked while threads run may hang.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=self._shown,
        )

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def answers(self, documents: Iterable[_Document]) -> Iterator[Answered]:
        """The answer on each document, in order."""
        if self._pool is None:
            for document in documents:
                (answer,) = _decide_all(self._matcher, [document[2]])
                yield Answered(*document, answer)
            return
        waiting: deque[tuple[list[_Document], Future[list[Answer]] | None]] = deque()
        for chunk in _chunks(documents):
            waiting.append((chunk, self._submit([content for _, _, content in chunk])))
            if len(waiting) > self._jobs * _AHEAD:
                yield from self._finished(*waiting.popleft())
        while waiting:
            yield from self._finished(*waiting.popleft())

    def _submit(self, contents: list[Content]) -> Future[list[Answer]] | None:
        """Hand work out; None if there is a process that has died, and nobody noticed yet."""
        assert self._pool is not None
        if self._shared:
            return self._pool.submit(_decide_all, self._matcher, contents)
        try:
            with _without_interrupts():
                return self._pool.submit(_decide_here, contents)
        except BrokenProcessPool:
            return None

    def _finished(
        self, chunk: list[_Document], future: Future[list[Answer]] | None
    ) -> Iterator[Answered]:
        answers = _answers(future)
        if answers is None:
            answers = [self._decided_alone(content) for _, _, content in chunk]
        for document, answer in zip(chunk, answers, strict=True):
            yield Answered(*document, answer)

    def _decided_alone(self, content: Content) -> Answer:
        """The answer on a document while nothing else is on its way to the processes."""
        answers = _answers(self._submit([content]))
        if answers is None:
            self._renew()
            answers = _answers(self._submit([content]))
        if answers is None:
            self._renew()
            return DocumentError("the process that matched it died, perhaps for want of memory")
        return answers[0]

    def _renew(self) -> None:
        """New processes in the place of those that died; WorkerGoneError if they do not start."""
        assert self._pool is not None
        self._pool.shutdown(cancel_futures=True)
        self._pool = self._processes()
        if _answers(self._submit([])) is None:
            raise WorkerGoneError(
                "the processes of --jobs end as soon as they start, perhaps for want of memory: "
                "take fewer"
            )


def _answers(future: Future[list[Answer]] | None) -> list[Answer] | None:
    """What came of work that was handed out; None if a process died meanwhile."""
    if future is None:
        return None
    try:
        return future.result()
    except (BrokenProcessPool, CancelledError):
        return None


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C waiting while processes are started, and from them for good.

    They inherit what is blocked. Else those that still begin would end with a traceback each.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _chunks(documents: Iterable[_Document]) -> Iterator[list[_Document]]:
    chunk: list[_Document] = []
    size = 0
    for document in documents:
        chunk.append(document)
        content = document[2]
        size += 0 if isinstance(content, DocumentError) else len(content)
        if len(chunk) >= CHUNK_DOCUMENTS_MAX or size >= CHUNK_BYTES_MAX:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _decide_all(matcher: Matcher, contents: Iterable[Content]) -> list[Answer]:
    return [_decide(matcher, content) for content in contents]


def _decide(matcher: Matcher, content: Content) -> Answer:
    if isinstance(content, DocumentError):
        return content
    try:
        return matcher.decide(content)
    except (DocumentError, InternalError) as error:
        return error


# In a process of its own.

_own: list[Matcher] = []


def _begin(stored: bytes, engine: str, limits: MatcherBounds) -> None:
    from twigcast.matching import Matcher

    Thread(target=_end_with_the_first, daemon=True).start()
    _own.append(Matcher.from_buffer(stored, engine=engine, **limits._asdict()))


def _end_with_the_first() -> None:
    """Do not wait for work for ever when the process that hands it out was killed."""
    first = multiprocessing.parent_process()
    assert first is not None
    wait([first.sentinel])
    os._exit(1)


def _decide_here(contents: list[Content]) -> list[Answer]:
    return _decide_all(_own[0], contents)
