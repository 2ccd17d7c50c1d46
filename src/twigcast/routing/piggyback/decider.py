"""The decider of annotated documents, by its protocols: eager, lazy, adaptive.

Annotations are looked at first (Piggyback, 5.1). Whatever matches by them is forwarded and
delivered before the document is touched, under every protocol; what cannot match by them is
skipped. If nothing is left, the document is not read here at all. Else:

*eager* (ES, 3.2.1)
    a link is sent the document as soon as it has its first match, and its other patterns are
    skipped from there on. What can be sent to the next broker is what was found by then.
*lazy* (L, 3.2.2)
    every pattern is decided, and then the document goes over all links that match, with everything
    that is known about it.
*adaptive*
    eager if the first match is certain before a threshold, as a share of the document, else lazy.

An answer is given at each position at which something can be done, so a driver that takes its time
between them, as the simulator does, sees what a protocol is worth. Positions are known to an engine
that reads in order (``streaming``). With any other, what is eager is sent when all links have been
decided, and before the broker's own subscriptions are; adaptive is lazy; and there are no positions
(PD).

**Checks.** An answer has the number of checks that led to it: see
:mod:`~twigcast.routing.piggyback.ordered_reading`.

**Audit.** Annotations can be untrue. With ``audit``, a share of the annotated documents, drawn by
their ids, is decided without them first and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias
from zlib import crc32

from twigcast.errors import ProtocolError
from twigcast.language import Document, Pattern
from twigcast.routing.annotations.annotations import Annotations, LinkFindings, annotate
from twigcast.routing.events import Decide, Decided, LinkId, SubscriptionId
from twigcast.routing.piggyback.agreements import Agreements
from twigcast.routing.piggyback.annotated_table import AnnotatedRouteTable
from twigcast.routing.piggyback.inference import derive, learn
from twigcast.routing.piggyback.ordered_reading import (
    NO_LESSONS,
    DecisionContext,
    NameChainFindings,
    OrderedReading,
)
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables.in_flight import OpenDocument
from twigcast.routing.tables.route_table import Snapshot

_Own: TypeAlias = tuple[tuple[SubscriptionId, ...], tuple[SubscriptionId, ...]]
"""Local subscriptions that match, and those in doubt."""


class AnnotatedDecider:
    """Decides documents for one router that piggybacks."""

    def __init__(
        self,
        strategy: Strategy,
        routes: AnnotatedRouteTable,
        agreements: Agreements,
    ) -> None:
        self._strategy = strategy
        self._routes = routes
        self._kinds = agreements.kinds
        self._limits = agreements.limits

    def answers(self, effect: Decide, document: OpenDocument, read: Document) -> Iterator[Decided]:
        """The answers to a question, in order; the last is final.

        Raises DocumentError if the document has to be read and cannot be.
        """
        assert document.agreements is not None
        case = DecisionContext(effect, read, document.snapshot, document.agreements)
        self._learn(case)
        if case.lessons is not NO_LESSONS and self._is_audited(effect):
            yield self._audited(case)
            return
        first = self._by_annotations_alone(case)
        if first is not None:
            yield first
            if first.final:
                return
        yield from self._read(case)

    # Lessons of annotations.

    def _learn(self, case: DecisionContext) -> None:
        annotations = case.effect.annotations
        if annotations is None:
            return
        if case.agreements.sent is None:
            case.ignored = "they were made for another table"
            return
        try:
            case.lessons = learn(annotations, case.agreements.sent.table)
        except ProtocolError as error:
            case.ignored = str(error)

    def _by_annotations_alone(self, case: DecisionContext) -> Decided | None:
        """What can be done without a look at the document; None if there is nothing."""
        lessons, snapshot = case.lessons, case.snapshot
        if lessons is NO_LESSONS:
            return None
        yes_routes, yes_locals = self._numbers(lessons.matched, snapshot)
        no_routes, no_locals = self._numbers(lessons.hopeless, snapshot)
        known = {self._routes.link_of(number) for number in yes_routes}
        case.sent = tuple(link for link in case.open_links() if link in known)
        case.skip_routes, case.skip_locals = yes_routes | no_routes, yes_locals | no_locals
        hopeless = Counter(map(self._routes.link_of, no_routes))
        is_all = len(case.skip_locals) == snapshot.own and all(
            hopeless[link] == snapshot.sizes[link] for link in case.open_links()
        )
        if not (case.sent or yes_locals or is_all):
            return None
        return Decided(
            case.effect.number,
            case.sent,
            self._routes.subscriptions(yes_locals, snapshot),
            annotations=tuple(self._derived(case, link) for link in case.sent),
            skipped=case.skipped if is_all else 0,
            is_unread=True,
            ignored=case.ignored,
            final=is_all,
        )

    def _numbers(self, patterns: Iterable[Pattern], of: Snapshot) -> tuple[set[int], set[int]]:
        routes, own = self._routes.numbers_of(patterns)
        return set(self._routes.routes_of(routes, of)), set(self._routes.locals_of(own, of))

    def _derived(self, case: DecisionContext, link: LinkId) -> Annotations | None:
        request, came = case.agreements.requests.get(link), case.effect.annotations
        if request is None or came is None or case.agreements.sent is None:
            return None
        return derive(
            came,
            case.agreements.sent.table,
            kinds=self._kinds,
            routes=request.routes,
            hints=request.hints,
            session=request.session,
            number=request.number,
            limits=self._limits,
            lessons=case.lessons,
        )

    # Reading the document.

    def _read(self, case: DecisionContext) -> Iterator[Decided]:
        protocol = self._strategy.protocol
        if not self._routes.reads_in_order:
            if protocol == "eager":
                return self._eager_at_once(case)
            return iter((self._lazy(case),))
        reading = OrderedReading(case, self._routes, self._hopeless_from(case))
        if protocol == "adaptive":
            protocol = "eager" if reading.first_share <= self._strategy.threshold else "lazy"
        if protocol == "eager":
            return self._eager(case, reading)
        return iter((self._lazy_in_order(case, reading),))

    def _hopeless_from(self, case: DecisionContext) -> dict[int, tuple[set[int], set[int]]]:
        """From which end tag on which routes and which local subscriptions cannot match."""
        found = {0: (case.skip_routes, case.skip_locals)}
        for ends, patterns in case.lessons.hopeless_from.items():
            found[ends] = self._numbers(patterns, case.snapshot)
        return found

    def _lazy(self, case: DecisionContext) -> Decided:
        """Everything at once, by an engine that knows no positions."""
        matcher = self._routes.route_matcher
        matched: set[int] = set()
        undecided: tuple[int, ...] = ()
        if case.open_links():
            decision = matcher.decide(case.document, case.skip_routes)
            matched, undecided = set(decision.matches), decision.undecided
        rows = self._rows_by_match(case, matched)
        return self._decided(case, matched, undecided, own=self._own(case), rows=rows)

    def _rows_by_match(self, case: DecisionContext, matched: set[int]) -> NameChainFindings:
        def seen(row: Pattern) -> bool | None:
            number = self._routes.row_number(row)
            if number is None or number >= case.snapshot.routes_end:
                return None  # Nobody watched, or somebody only began while this was decided.
            return number in matched

        return NameChainFindings(seen, lambda _: None, None)

    def _lazy_in_order(self, case: DecisionContext, reading: OrderedReading) -> Decided:
        found_routes = reading.routes
        answer = self._decided(
            case,
            set(found_routes.decided),
            found_routes.undecided,
            own=self._own_in_order(case, reading),
            rows=reading.rows,
        )
        return replace(answer, position=reading.end, checks=reading.checks_lazy())

    def _decided(
        self,
        case: DecisionContext,
        matched: set[int],
        undecided: Iterable[int],
        *,
        own: _Own,
        rows: NameChainFindings,
    ) -> Decided:
        """The final answer, when all patterns have been decided."""
        by_link: dict[LinkId | None, set[int]] = {}
        in_doubt: set[LinkId | None] = set()
        for number in self._routes.routes_of(matched, case.snapshot):
            by_link.setdefault(self._routes.link_of(number), set()).add(number)
        for number in self._routes.routes_of(undecided, case.snapshot):
            in_doubt.add(self._routes.link_of(number))
        links = tuple(link for link in case.open_links() if link in by_link or link in in_doubt)
        annotations = tuple(
            self._annotated(
                case, link, by_link.get(link, set()), rows, is_complete=link not in in_doubt
            )
            for link in links
        )
        return Decided(
            case.effect.number,
            links,
            *own,
            annotations=annotations,
            skipped=case.skipped,
            ignored=case.ignored,
        )

    def _own(self, case: DecisionContext) -> _Own:
        """Local subscriptions that match and have not been named yet, and those in doubt."""
        if case.snapshot.own == len(case.skip_locals) and case.effect.came_by is not None:
            return (), ()  # Its origin reads every document, since nobody else has.
        decision = self._routes.local_matcher.decide(case.document, case.skip_locals)
        return (
            self._routes.subscriptions(decision.matches, case.snapshot),
            self._routes.subscriptions(decision.undecided, case.snapshot),
        )

    def _own_in_order(self, case: DecisionContext, reading: OrderedReading) -> _Own:
        return (
            self._routes.subscriptions(reading.own.decided, case.snapshot),
            self._routes.subscriptions(reading.own.undecided, case.snapshot),
        )

    def _annotated(
        self,
        case: DecisionContext,
        link: LinkId,
        matched: set[int],
        rows: NameChainFindings,
        *,
        is_complete: bool,
    ) -> Annotations | None:
        """What goes to the broker behind a link."""
        request = case.agreements.requests.get(link)
        if request is None:
            return None
        places = request.places
        known = {*map(self._routes.route_of, matched), *case.lessons.matched}
        found = {places[one] for one in known if one in places}

        def bindings(place: int) -> tuple[tuple[int, tuple[str, ...]], ...] | None:
            pattern = request.routes[place]
            return case.binding_finder.bindings(pattern) if pattern.exact else None

        findings = LinkFindings(
            matched=frozenset(found),
            is_complete=is_complete,
            bindings=bindings,
            last=rows.last(request),
            absent=rows.absent(request),
            ends=rows.ends,
        )
        return annotate(
            self._kinds,
            request.hints,
            findings,
            session=request.session,
            number=request.number,
            limits=self._limits,
        )

    # Eager.

    def _eager_at_once(self, case: DecisionContext) -> Iterator[Decided]:
        """Links first, by an engine that knows no positions; then the broker's own."""
        links = self._routes.links_for(
            case.document, case.snapshot, case.effect.came_by, skip=case.skip_routes
        )
        links = tuple(link for link in links if link not in case.sent)
        number = case.effect.number
        yield Decided(number, links, final=False, annotations=(None,) * len(links))
        yield Decided(number, (), *self._own(case), skipped=case.skipped, ignored=case.ignored)

    def _eager(self, case: DecisionContext, reading: OrderedReading) -> Iterator[Decided]:
        number, counted = case.effect.number, 0
        nothing = NameChainFindings(lambda _: None, lambda _: None, None)
        for position, link in reading.first_matches():
            found = reading.matched_by(link, position)
            annotations = self._annotated(case, link, found, nothing, is_complete=False)
            checks = reading.checks_eager(position.element)
            yield Decided(
                number,
                (link,),
                annotations=(annotations,),
                position=position.element,
                checks=checks - counted,
                final=False,
            )
            counted = checks
        yield Decided(
            number,
            (),
            *self._own_in_order(case, reading),
            position=reading.end,
            checks=reading.checks_eager(reading.end) - counted,
            skipped=case.skipped,
            ignored=case.ignored,
        )

    # Audit.

    def _is_audited(self, effect: Decide) -> bool:
        share = crc32(effect.publication.id.encode()) / (1 << 32)
        return share < self._strategy.audit

    def _audited(self, case: DecisionContext) -> Decided:
        """The answer without annotations, and whether they were true."""
        lessons, too_late = case.lessons, self._hopeless_from(case)
        case.lessons = NO_LESSONS
        yes_routes, yes_locals = self._numbers(lessons.matched, case.snapshot)
        no_routes, no_locals = self._numbers(lessons.hopeless, case.snapshot)
        if self._routes.reads_in_order:
            # Rows of names are watched there: only a reading finds them.
            reading, misled = (
                OrderedReading(case, self._routes, skips) for skips in ({}, too_late)
            )
            answer = self._lazy_in_order(case, reading)
            no_routes |= reading.routes.decided.keys() - misled.routes.decided.keys()
            no_locals |= reading.own.decided.keys() - misled.own.decided.keys()
        else:
            answer = self._lazy(case)
        routes = self._routes.route_matcher.decide(case.document)
        own = self._routes.local_matcher.decide(case.document)
        wrong = {
            "matches": (
                yes_routes.difference(routes.matches, routes.undecided),
                yes_locals.difference(own.matches, own.undecided),
            ),
            "does not match": (
                no_routes.intersection(routes.matches),
                no_locals.intersection(own.matches),
            ),
        }
        for claim, (of_routes, of_own) in wrong.items():
            for pattern in self._routes.patterns_of(of_routes, of_own):
                return replace(answer, lie=f"it says that {pattern.text} {claim}; that is not so")
        return answer
