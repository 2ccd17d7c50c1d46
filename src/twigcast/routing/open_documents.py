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
from twigcast.routing.events import BrokerId, Decide, Decided, LinkId
from twigcast.routing.piggyback import Asked, SaidSo
from twigcast.routing.route_table import Snapshot

__all__ = ["OpenDocument", "OpenDocuments"]


@dataclass(slots=True)
class OpenDocument:
    """A document that is being decided."""

    effect: Decide
    snapshot: Snapshot
    held_to: tuple[Advertisement, ...] = ()
    """What its publisher has advertised, if it is held to that."""
    said: SaidSo | None = None
    """What makes sense of the annotations it came with, if they were made for that."""
    asked: Mapping[LinkId, Asked] = field(default_factory=dict)
    """What neighbours would like to be told about it."""
    to_come: Iterator[Decided] | None = None
    """The answers that are still to be found, once somebody has begun."""
    answers: deque[Decided] = field(default_factory=deque)
    """Answers that wait for the documents of the same origin before it."""
    is_answered: bool = False


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

    def __len__(self) -> int:
        return len(self._documents)

    def waits_for(self, number: int) -> bool:
        """Whether an answer with that number is still to come."""
        document = self._documents.get(number)
        return document is not None and not document.is_answered

    def answer(self, answer: Decided) -> Iterator[tuple[OpenDocument, Decided]]:
        """The answers that count now, in order; a document is gone after its final one."""
        document = self._documents[answer.number]
        document.answers.append(answer)
        document.is_answered = answer.final
        origin = document.effect.publication.origin
        waiting = self._in_order[origin]
        while waiting:
            first = self._documents[waiting[0]]
            while first.answers:
                yield first, first.answers.popleft()
            if not first.is_answered:
                return
            del self._documents[waiting.popleft()]
        del self._in_order[origin]
