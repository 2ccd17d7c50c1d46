"""The decider of documents: where each has to go.

A document is parsed once at most, when its tree is first needed: by the engine that matches the
broker's own subscriptions, by the one that matches routes, by libxml2 for what these leave open, by
the advertisements that its publisher is held to, or by the plug-in.

Everything is decided by the tables as they were when the document came (see
:mod:`~twigcast.routing.tables.route_table`); nothing is changed, so this may run on another thread.
"""

from __future__ import annotations

from dataclasses import replace

from twigcast.covering.advertisements.advertisement import departure_from
from twigcast.errors import DocumentError
from twigcast.language import Document, DocumentLimits
from twigcast.matching.lazy_document import Unread
from twigcast.routing.broker.checks import Refused
from twigcast.routing.events import Decide, Decided, LinkId, Publication
from twigcast.routing.path_unit.path_messages import decide_paths, path_count, path_numbers, pruned
from twigcast.routing.plug_in import PlugIn
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables.in_flight import OpenDocument
from twigcast.routing.tables.route_table import Snapshot


class DocumentDecider:
    """Decides documents for one router."""

    def __init__(
        self,
        strategy: Strategy,
        limits: DocumentLimits,
        plug_in: PlugIn,
    ) -> None:
        self._strategy = strategy
        self._routes = plug_in.routes
        self._limits = limits
        self._plug_in = plug_in

    def check_size(self, publication: Publication) -> None:
        """Refuse what is too large before anybody looks at it."""
        size, size_max = len(publication.content), self._limits.bytes_max
        if size > size_max:
            raise Refused(
                f"document {publication.id!r} has {size:,} bytes where at most {size_max:,} are "
                "allowed (bytes_max)"
            )

    def decide(self, effect: Decide, document: OpenDocument) -> Decided:
        """Which links and which of the broker's own subscriptions the document is for.

        Until an answer is final, there is another to be asked for.
        """
        try:
            if document.to_come is not None:
                return next(document.to_come)
            read = Unread(effect.publication.content, self._limits)
            departure = self._departure(effect, document, read)
            if departure is not None and self._strategy.unadvertised == "refuse":
                return Decided(effect.number, error=departure)
            flooded = effect.flooded or departure is not None
            if not flooded:
                document.to_come = self._plug_in.answers(effect, document, read)
                if document.to_come is not None:
                    return next(document.to_come)
            return self._where(effect, document.snapshot, read, flooded=flooded)
        except DocumentError as error:
            return Decided(effect.number, error=str(error))

    def _where(
        self, effect: Decide, snapshot: Snapshot, document: Document, *, flooded: bool
    ) -> Decided:
        local = self._routes.locals_for(document, snapshot)
        others = tuple(link for link in snapshot.links if link != effect.came_by)
        paths: tuple[tuple[int, ...], ...] = ()
        if self._strategy.unit == "path":
            by_link = self._paths_for(effect, snapshot, document, others if flooded else ())
            links, paths = tuple(by_link), tuple(by_link.values())
        elif flooded:
            links = others
        else:
            links = self._routes.links_for(document, snapshot, effect.came_by)
        return Decided(
            effect.number,
            links,
            local.matches,
            local.undecided,
            flooded=flooded,
            paths=paths,
            ignored=self._plug_in.why_ignored(effect),
        )

    def _paths_for(
        self,
        effect: Decide,
        snapshot: Snapshot,
        document: Document,
        everything_to: tuple[LinkId, ...],
    ) -> dict[LinkId, tuple[int, ...]]:
        """Which paths of the document go over which link."""
        if everything_to:
            count = path_count(document)
            return dict.fromkeys(everything_to, path_numbers(count, effect.paths))
        groups = self._routes.groups(snapshot, effect.came_by)
        return decide_paths(
            self._routes.route_matcher, groups, document, effect.paths, limits=self._limits
        )

    def _departure(self, effect: Decide, document: OpenDocument, read: Document) -> str | None:
        """How the document departs from all that its publisher has advertised, if it does."""
        departure = departure_from(document.held_to, read)
        return departure and (
            f"the document has {departure}, which its publisher "
            f"{effect.publication.publisher!r} has not advertised; advertise it first"
        )

    def part_to_send(self, effect: Decide, kept: tuple[int, ...] | None) -> Publication:
        """The publication as it goes over a link: whole, or only some of its paths."""
        if kept is None:
            return effect.publication
        whole = effect.publication
        part = pruned(whole.content, kept, effect.paths, limits=self._limits)
        return replace(whole, content=part)
