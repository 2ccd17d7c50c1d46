"""Plug-ins: what a strategy may add to a router. By default that is nothing.

A router calls its plug-in wherever something could be added: when its tables change, when changes
go to neighbours or come from them, and when a document is decided. One that annotates documents is
:class:`~twigcast.routing.piggyback.plug_in.Piggybacking`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from twigcast.errors import UsageError
from twigcast.language import Document, Pattern
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import Change, Decide, Decided, LinkId
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables.in_flight import DocumentAgreements, OpenDocument
from twigcast.routing.tables.route_table import RouteTable


class PlugIn:
    """A plug-in that adds nothing, with the route table of its router."""

    def __init__(self, strategy: Strategy, routes: RouteTable) -> None:
        self.strategy = strategy
        self.routes = routes

    def switch_to(self, strategy: Strategy) -> None:
        """Work by another strategy from now on; UsageError if that is not possible."""
        raise UsageError(f"there is nothing to turn from: {self.strategy} has no annotations")

    # Tables.

    def add(self, pattern: Pattern) -> None:
        """A local subscription or a route came."""

    def remove(self, pattern: Pattern) -> None:
        """One goes."""

    def remove_link(self, link: LinkId, routes: Iterable[Pattern]) -> None:
        """A link goes, which had these routes."""

    def forget_link(self, link: LinkId) -> None:
        """A link is gone after a failure; :meth:`rebuild` follows."""

    def rebuild(self, patterns: Iterable[Pattern]) -> None:
        """Begin anew with all local subscriptions and routes."""

    # Changes from and to neighbours.

    def check(self, change: Change, routes: int) -> None:
        """Raise ProtocolError for a change that cannot be meant, after which there are so many."""

    def undo_of(self, link: LinkId) -> Callable[[], object]:
        """What takes back the next :meth:`receive` from a link; it cannot fail."""
        return lambda: None

    def receive(
        self, link: LinkId, change: Change, added: Iterable[Pattern], withdrawn: Iterable[Pattern]
    ) -> None:
        """A change came; what it withdraws still stands among the routes."""

    def hints(
        self, link: LinkId, forwarded: Callable[[], Iterable[Pattern]], session: int, number: int
    ) -> Hints | None:
        """What goes along with a change that is sent over a link."""
        return None

    # Documents.

    def agreements(
        self, came_by: LinkId | None, annotations: Annotations | None
    ) -> DocumentAgreements | None:
        """What has to be kept as it is until a document is decided."""
        return None

    def answers(
        self, effect: Decide, document: OpenDocument, read: Document
    ) -> Iterator[Decided] | None:
        """The answers in place of the router's own; None if that shall answer."""
        return None

    def why_ignored(self, effect: Decide) -> str | None:
        """Why the router's own answer makes no use of annotations that were there to be used."""
        return None
