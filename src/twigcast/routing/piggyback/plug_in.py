"""The plug-in of strategies that annotate documents (Piggyback)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from twigcast.language import Document, DocumentLimits, Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import Change, Decide, Decided, LinkId
from twigcast.routing.piggyback.agreements import Agreements
from twigcast.routing.piggyback.annotated_table import AnnotatedRouteTable
from twigcast.routing.piggyback.decider import AnnotatedDecider
from twigcast.routing.plug_in import PlugIn
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables.in_flight import DocumentAgreements, OpenDocument
from twigcast.routing.tables.route_table import RouteTable


def plug_in_for(
    strategy: Strategy, *, engine: str = "auto", limits: DocumentLimits = LIBRARY_LIMITS
) -> PlugIn:
    """The plug-in that a strategy needs."""
    by_groups = strategy.unit == "path"
    if strategy.protocol == "none":
        return PlugIn(strategy, RouteTable(engine, limits=limits, by_groups=by_groups))
    return Piggybacking(strategy, AnnotatedRouteTable(engine, limits=limits, by_groups=by_groups))


class Piggybacking(PlugIn):
    """Agrees with neighbours on annotations, and decides documents with them."""

    routes: AnnotatedRouteTable

    def __init__(self, strategy: Strategy, routes: AnnotatedRouteTable) -> None:
        super().__init__(strategy, routes)
        self.agreed = Agreements(strategy)
        self._decider = AnnotatedDecider(strategy, self.routes, self.agreed)

    def switch_to(self, strategy: Strategy) -> None:
        """Annotate by another protocol, or with fewer kinds; what was agreed on stays."""
        self.strategy = strategy
        self.agreed.switch_to(strategy)
        self._decider = AnnotatedDecider(strategy, self.routes, self.agreed)

    # Tables.

    def add(self, pattern: Pattern) -> None:
        """A local subscription or a route came."""
        self.agreed.add(pattern)

    def remove(self, pattern: Pattern) -> None:
        """One goes."""
        self.agreed.remove(pattern)

    def remove_link(self, link: LinkId, routes: Iterable[Pattern]) -> None:
        """A link goes, which had these routes."""
        rows = self.agreed.remove_link(link)
        for pattern in routes:
            self.agreed.remove(pattern)
        for row in rows:
            self.routes.unwatch(row)

    def forget_link(self, link: LinkId) -> None:
        """A link is gone after a failure; :meth:`rebuild` follows."""
        self.agreed.restore_request(link, None)

    def rebuild(self, patterns: Iterable[Pattern]) -> None:
        """Begin anew with all local subscriptions and routes."""
        rows = self.agreed.rebuild(patterns)
        for row in set(self.routes.watched).difference(rows):
            self.routes.unwatch(row)
        for row in set(rows).difference(self.routes.watched):
            self.routes.watch(row)

    # Changes from and to neighbours.

    def check(self, change: Change, routes: int) -> None:
        """Raise ProtocolError for hints that cannot be meant by so many routes."""
        self.agreed.check(change, routes)

    def undo_of(self, link: LinkId) -> Callable[[], object]:
        """What takes back the next :meth:`receive` from a link; it cannot fail."""
        return partial(self.agreed.restore_request, link, self.agreed.request_of(link))

    def receive(
        self, link: LinkId, change: Change, added: Iterable[Pattern], withdrawn: Iterable[Pattern]
    ) -> None:
        """Take in what a neighbour would like to know with documents."""
        gone = set(withdrawn)
        for pattern in added:
            self.agreed.add(pattern)
        for pattern in gone:
            self.agreed.remove(pattern)
        routes = [each for each in self.routes.routes(link) if each not in gone]
        watch, unwatch = self.agreed.receive(link, change, routes)
        for row in watch:
            self.routes.watch(row)
        for row in unwatch:
            self.routes.unwatch(row)

    def hints(
        self, link: LinkId, forwarded: Callable[[], Iterable[Pattern]], session: int, number: int
    ) -> Hints | None:
        """What this broker would like to know with documents that come over a link."""
        if not self.agreed.kinds:
            return None
        return self.agreed.send(link, forwarded(), session, number)

    # Documents.

    def agreements(
        self, came_by: LinkId | None, annotations: Annotations | None
    ) -> DocumentAgreements:
        """What is agreed on now, and makes sense of annotations that came by a link."""
        sent = None
        if came_by is not None and annotations is not None:
            sent = self.agreed.table_for(came_by, annotations)
        return DocumentAgreements(sent, self.agreed.requests())

    def answers(self, effect: Decide, document: OpenDocument, read: Document) -> Iterator[Decided]:
        """The answers of :class:`AnnotatedDecider`."""
        return self._decider.answers(effect, document, read)

    def why_ignored(self, effect: Decide) -> str | None:
        """Why annotations were of no use to a document that the router itself decides."""
        if effect.annotations is None:
            return None
        return "the document goes everywhere whatever they say"
