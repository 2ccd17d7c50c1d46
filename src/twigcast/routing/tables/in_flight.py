"""Documents that are being decided, and the order in which their answers count.

Answers may come in any order: a large document on one thread takes longer than a small one on
another. Documents of one origin leave in the order in which they came all the same; an answer that
is early waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from twigcast.covering import Advertisement
from twigcast.routing.annotations.agreement import AnnotationRequest, SentTable
from twigcast.routing.events import BrokerId, Decide, Decided, LinkId, SubscriptionId
from twigcast.routing.tables.route_table import Snapshot


@dataclass(frozen=True, slots=True)
class DocumentAgreements:
    """What brokers had agreed on about annotations when a document came."""

    sent: SentTable | None
    """What makes sense of the annotations it came with, if they were made for that."""
    requests: Mapping[LinkId, AnnotationRequest]
    """What neighbours would like to know about it."""


@dataclass(slots=True)
class OpenDocument:
    """A document that is being decided."""

    effect: Decide
    snapshot: Snapshot
    held_to: tuple[Advertisement, ...] = ()
    """What its publisher has advertised, if it is held to that."""
    agreements: DocumentAgreements | None = None
    """None where documents have no annotations."""
    to_come: Iterator[Decided] | None = None
    """The answers that are still to be found, once somebody has begun."""
    answers: deque[Decided] = field(default_factory=deque)
    """Answers that wait for the documents of the same origin before it."""
    is_answered: bool = False
    links: set[LinkId] = field(default_factory=set)
    """Links that answers have named so far."""
    subscriptions: set[SubscriptionId] = field(default_factory=set)
    """Subscriptions that answers have named so far."""


class OpenDocuments:
    """All documents that are being decided, by number."""

    def __init__(self) -> None:
        self.next_number = 0
        self._documents: dict[int, OpenDocument] = {}
        self._in_order: dict[BrokerId, deque[int]] = {}
        """Of each origin its documents, in the order they came."""

    def add(self, document: OpenDocument) -> None:
        """A document comes, under the next number."""
        self._documents[self.next_number] = document
        origin = document.effect.publication.origin
        self._in_order.setdefault(origin, deque()).append(self.next_number)
        self.next_number += 1

    def __getitem__(self, number: int) -> OpenDocument:
        return self._documents[number]

    def get(self, number: int) -> OpenDocument | None:
        """The document with a number, if it is still being decided."""
        return self._documents.get(number)

    def __len__(self) -> int:
        return len(self._documents)

    def fault(self, answer: Decided) -> str | None:
        """Why an answer cannot count; None if it can. Nothing may be answered twice."""
        document = self._documents.get(answer.number)
        if document is None or document.is_answered:
            return f"no document waits for the answer {answer.number}"
        links = set(answer.links)
        if len(links) < len(answer.links) or links & document.links:
            return f"the answer {answer.number} names a link twice"
        if not links <= set(document.snapshot.links) or document.effect.came_by in links:
            return f"the answer {answer.number} names a link that the document cannot go over"
        if {len(answer.paths), len(answer.annotations)} - {0, len(links)}:
            return f"the answer {answer.number} does not say of each link what goes over it"
        named = (*answer.subscriptions, *answer.undecided)
        if len(set(named)) < len(named) or not document.subscriptions.isdisjoint(named):
            return f"the answer {answer.number} names a subscription twice"
        return None

    def answer(self, answer: Decided) -> Iterator[tuple[OpenDocument, Decided]]:
        """The answers that count now, in order; a document is gone after its final one."""
        document = self._documents[answer.number]
        document.answers.append(answer)
        document.is_answered = answer.final
        document.links.update(answer.links)
        document.subscriptions.update(answer.subscriptions, answer.undecided)
        yield from self._due(document.effect.publication.origin)

    def give_up(self, answer: Decided, error: str) -> Iterator[tuple[OpenDocument, Decided]]:
        """The same where taking an answer in has failed: the document is one with an error.

        Those behind it must not wait for ever. If its driver will ask for more answers, the error
        is the next.
        """
        document = self._documents.get(answer.number)
        if document is None:
            return
        failed = Decided(answer.number, error=error)
        if not answer.final:
            document.to_come = iter((failed,))
            return
        document.answers = deque(each for each in document.answers if each is not answer)
        document.answers.append(failed)
        document.is_answered = True
        yield from self._due(document.effect.publication.origin)

    def _due(self, origin: BrokerId) -> Iterator[tuple[OpenDocument, Decided]]:
        waiting = self._in_order[origin]
        while waiting:
            first = self._documents[waiting[0]]
            while first.answers:
                yield first, first.answers.popleft()
            if not first.is_answered:
                return
            del self._documents[waiting.popleft()]
        del self._in_order[origin]
