"""A document that is being read, and what is known about it so far.

:class:`OrderedReading` is one that was read in order: when each pattern was certain, where rows of
names occurred last, and what it took to find out. What the papers' brokers spend their time with is
comparing patterns with elements, so that is what is counted: for each pattern that is not skipped,
the elements up to the moment at which it was certain, or needed no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from lxml import etree

from twigcast.language import Document, Pattern
from twigcast.matching.bindings import BindingFinder
from twigcast.matching.streaming.positions import Position, PositionedResult
from twigcast.routing.annotations.agreement import AnnotationRequest
from twigcast.routing.events import Decide, LinkId
from twigcast.routing.piggyback.annotated_table import AnnotatedRouteTable
from twigcast.routing.piggyback.inference import Lessons
from twigcast.routing.tables.in_flight import DocumentAgreements
from twigcast.routing.tables.route_table import Snapshot

NO_LESSONS: Final = Lessons()


@dataclass
class DecisionContext:
    """A document that is being decided, and what is known about it so far."""

    effect: Decide
    document: Document
    snapshot: Snapshot
    agreements: DocumentAgreements
    lessons: Lessons = NO_LESSONS
    ignored: str | None = None
    skip_routes: set[int] = field(default_factory=set)
    skip_locals: set[int] = field(default_factory=set)
    sent: tuple[LinkId, ...] = ()
    """Links that the document has gone over already."""

    @property
    def skipped(self) -> int:
        """How many patterns need no comparing, thanks to annotations."""
        return len(self.skip_routes) + len(self.skip_locals)

    @cached_property
    def binding_finder(self) -> BindingFinder:
        """How patterns match it."""
        return BindingFinder(self.document)

    @cached_property
    def starts(self) -> list[int]:
        """Of each end tag, counted from 1, how many elements had begun by then."""
        begun, found = 0, [0]
        for event, _ in etree.iterwalk(self.document.tree, events=("start", "end"), tag="*"):
            if event == "start":
                begun += 1
            else:
                found.append(begun)
        return found

    def open_links(self) -> tuple[LinkId, ...]:
        """The links that are still to be decided."""
        closed = {*self.sent, self.effect.came_by}
        return tuple(link for link in self.snapshot.links if link not in closed)


class NameChainFindings:
    """Which rows of names occur in a document, and where last, as far as that is known."""

    def __init__(
        self,
        seen: Callable[[Pattern], bool | None],
        ended: Callable[[Pattern], int | None],
        ends: int | None,
    ) -> None:
        self._seen = seen
        self._ended = ended
        self.ends = ends

    def absent(self, request: AnnotationRequest) -> frozenset[int] | None:
        """The rows that a neighbour has requested and that do not occur."""
        return frozenset(
            place for place, (row, _) in enumerate(request.hints.rows) if self._seen(row) is False
        )

    def last(self, request: AnnotationRequest) -> dict[int, int]:
        """Where the others ended last."""
        found = ((place, self._ended(row)) for place, (row, _) in enumerate(request.hints.rows))
        return {place: ends for place, ends in found if ends is not None}


class OrderedReading:
    """A document read in order: when each pattern was certain, and what that took."""

    def __init__(
        self,
        case: DecisionContext,
        routes: AnnotatedRouteTable,
        skip_from: dict[int, tuple[set[int], set[int]]],
    ) -> None:
        self._case = case
        self._table = routes
        self._skip_from = skip_from
        document = case.document
        self.routes: PositionedResult = routes.route_matcher.follow(
            document, skip_from={ends: both[0] for ends, both in skip_from.items()}
        )
        self.own: PositionedResult = routes.local_matcher.follow(
            document, skip_from={ends: both[1] for ends, both in skip_from.items()}
        )
        self.end = self.routes.end.element
        """Elements of the document."""
        self._by_link: dict[LinkId, list[tuple[Position, int]]] = {}
        certain = dict(self.routes.decided)
        certain.update(dict.fromkeys(self.routes.undecided, self.routes.end))
        for number in routes.routes_of(certain, case.snapshot):
            link = routes.link_of(number)
            if link is not None:
                self._by_link.setdefault(link, []).append((certain[number], number))

    def first_matches(self) -> list[tuple[Position, LinkId]]:
        """The links that match, with the moment of the first match, in order."""
        links = self._case.open_links()
        return sorted(
            (min(self._by_link[link])[0], link) for link in links if link in self._by_link
        )

    @property
    def first_share(self) -> float:
        """The share of the document behind which the first link matches; 1 if none does."""
        first_matches = self.first_matches()
        return first_matches[0][0].element / self.end if first_matches else 1.0

    def matched_by(self, link: LinkId, position: Position) -> set[int]:
        """The routes of a link that were certain by then; what is in doubt is not among them."""
        doubt = set(self.routes.undecided)
        return {
            each for when, each in self._by_link[link] if when <= position and each not in doubt
        }

    @property
    def rows(self) -> NameChainFindings:
        """What was seen of rows of names."""
        result, table, never = self.routes, self._table, set(self.routes.never)

        def seen(row: Pattern) -> bool | None:
            number = table.row_number(row)
            return False if number in never else number in result.last or None

        def ended(row: Pattern) -> int | None:
            number = table.row_number(row)
            last = None if number is None else result.last.get(number)
            return None if last is None else last.ends

        return NameChainFindings(seen, ended, result.end.ends)

    # Checks.

    def checks_lazy(self) -> int:
        """Checks until everything was certain."""
        return sum(self._limits(by_link=False))

    def checks_eager(self, element: int) -> int:
        """Checks until some element, if a link that has its match needs no more of them."""
        return sum(min(limit, element) for limit in self._limits(by_link=True))

    def _limits(self, *, by_link: bool) -> Iterator[int]:
        """For each pattern that is not skipped, how many elements it is compared with."""
        case, end = self._case, self.end
        done = (
            {link: position.element for position, link in self.first_matches()} if by_link else {}
        )
        routes_until, own_until = self._until(0), self._until(1)
        for link in case.open_links():
            certain = {number: position for position, number in self._by_link.get(link, ())}
            for number in self._table.route_numbers(link, case.snapshot):
                if number not in case.skip_routes:
                    found = certain.get(number)
                    own = found.element if found else routes_until.get(number, end)
                    yield min(own, done.get(link, end))
        for number in self._table.local_numbers(case.snapshot):
            if number not in case.skip_locals:
                position = self.own.decided.get(number)
                yield position.element if position else own_until.get(number, end)

    def _until(self, which: Literal[0, 1]) -> dict[int, int]:
        """Routes or local subscriptions that are skipped from some end tag on: elements by then."""
        found: dict[int, int] = {}
        for ends, both in self._skip_from.items():
            if ends:
                begun = self._case.starts[min(ends, len(self._case.starts) - 1)]
                found.update(dict.fromkeys(both[which], begun))
        return found
