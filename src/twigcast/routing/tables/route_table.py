"""The route table: routes and local subscriptions, and snapshots of them.

Two matchers stand here: one of the routes, which answers *which links*, and one of the broker's own
subscriptions, which answers *who*. A document is decided by the tables as they were when it came,
even if the answer takes its time on another thread and the tables change meanwhile. So a
:class:`Snapshot` is a version number, by which
:class:`~twigcast.routing.tables.versioned_matcher.VersionedMatcher` knows what was there::

    version 7     routes 1 2 3     document comes: snapshot of version 7
    version 8     routes 1   3 4   2 has left, and stays until the document is decided
    answer        of 1 2 3, whatever the tables are by now

Which links have a match is found fastest with groups of routes that were made ready for it. That
takes time for each route, and is lost with the next change; so it is done only for tables that
have not changed for a while. Until then all matches are found, and their links looked up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from twigcast.language import Document, DocumentLimits, Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.matching import Matcher
from twigcast.matching.interface.groups import Groups
from twigcast.routing.events import LinkId, SubscriptionId
from twigcast.routing.tables.versioned_matcher import VersionedMatcher

ROUTES_A_DOCUMENT: Final = 1_000
"""Making so many routes ready for groups takes about as long as groups save on one document."""


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """Which of the broker's own subscriptions a document satisfies."""

    matches: tuple[SubscriptionId, ...]
    undecided: tuple[SubscriptionId, ...]


@dataclass(slots=True)
class Snapshot:
    """The tables of one version, as far as documents have to know them."""

    version: int
    links: tuple[LinkId, ...]
    """All links there were, in the order of names."""
    routes_end: int
    """Routes with this number or a higher one came later."""
    locals_end: int
    """Local subscriptions likewise."""
    sizes: dict[LinkId, int]
    """How many routes each link had."""
    own: int
    """How many local subscriptions there were."""
    documents: int = 0
    """How many documents it has served."""
    members: dict[LinkId, tuple[int, ...]] | None = None
    """Of each link the numbers of its routes, once it has served for long enough."""
    ready: dict[LinkId | None, Groups[LinkId]] = field(default_factory=dict)
    """The routes of all links but one, made ready for the matcher when they are first needed."""


class RouteTable:
    """Routes by link, the broker's own subscriptions, and which of them a document satisfies.

    With ``by_groups``, there are :meth:`groups` of every snapshot.
    """

    def __init__(
        self,
        engine: str = "auto",
        *,
        limits: DocumentLimits = LIBRARY_LIMITS,
        by_groups: bool = False,
    ) -> None:
        self._by_groups = by_groups
        self._routes = VersionedMatcher(engine, limits)
        self._locals = VersionedMatcher(engine, limits)
        self._links: dict[LinkId, dict[Pattern, int]] = {}
        """Of each link its routes, with their numbers in the matcher."""
        self._link_of: dict[int, LinkId] = {}
        self._local_numbers: dict[SubscriptionId, int] = {}
        self._local_ids: dict[int, SubscriptionId] = {}
        self._version = 0
        self._snapshot: Snapshot | None = None
        self._open: dict[int, int] = {}
        """Of each version how many documents are being decided by it, the oldest version first."""

    # Changes.

    def add_link(self, link: LinkId) -> None:
        """A link without routes."""
        self._changed()
        self._links[link] = {}

    def remove_link(self, link: LinkId) -> None:
        """A link goes with all its routes."""
        self.discard_link(link)
        self.collect()

    def add(self, pattern: Pattern, link: LinkId) -> int:
        """Add a route to a link, which is not there yet; its number."""
        self._changed()
        number = self._routes.add(pattern)
        self._links[link][pattern] = number
        self._link_of[number] = link
        return number

    def remove(self, pattern: Pattern, link: LinkId) -> None:
        """A route leads to a link no more."""
        self.discard(pattern, link)
        self.collect()

    def discard(self, pattern: Pattern, link: LinkId) -> None:
        """The same, but nothing leaves the matcher before :meth:`collect`: this cannot fail."""
        self._changed()
        self._routes.remove(self._links[link].pop(pattern), self._version)

    def discard_link(self, link: LinkId) -> None:
        """A link goes with all its routes; nothing leaves the matcher before :meth:`collect`."""
        for pattern in tuple(self._links.get(link, ())):
            self.discard(pattern, link)
        self._changed()
        self._links.pop(link, None)

    def subscribe(self, subscription: SubscriptionId, pattern: Pattern) -> int:
        """Add a local subscription, whose id is free; its number."""
        self._changed()
        number = self._locals.add(pattern)
        self._local_numbers[subscription] = number
        self._local_ids[number] = subscription
        return number

    def unsubscribe(self, subscription: SubscriptionId) -> None:
        """A local subscription goes."""
        self.discard_subscription(subscription)
        self.collect()

    def discard_subscription(self, subscription: SubscriptionId) -> int:
        """The same, but nothing leaves the matcher before :meth:`collect`: this cannot fail."""
        self._changed()
        number = self._local_numbers.pop(subscription)
        self._locals.remove(number, self._version)
        return number

    def _changed(self) -> None:
        self._version += 1
        self._snapshot = None

    # What there is.

    @property
    def version(self) -> int:
        """Of the tables as they are now; it rises with every change."""
        return self._version

    def routes(self, link: LinkId) -> Collection[Pattern]:
        """The patterns that lead to a link."""
        return self._links[link].keys()

    def sizes(self) -> dict[LinkId, int]:
        """How many routes lead to each link."""
        return {link: len(routes) for link, routes in self._links.items()}

    @property
    def distinct(self) -> int:
        """How many different patterns lead to links."""
        return len(set().union(*self._links.values()))

    @property
    def kept_for_snapshots(self) -> int:
        """How many patterns have left and are kept for documents that are being decided."""
        return len(self._routes.left) + len(self._locals.left)

    # Documents.

    def snapshot(self) -> Snapshot:
        """The tables as they are now, kept until :meth:`close`."""
        snapshot = self._snapshot
        if snapshot is None:
            links = tuple(sorted(self._links))
            snapshot = Snapshot(
                self._version,
                links,
                self._routes.next_number,
                self._locals.next_number,
                self.sizes(),
                len(self._local_numbers),
            )
            self._snapshot = snapshot
        snapshot.documents += 1
        if snapshot.members is None and self._is_calm(snapshot):
            snapshot.members = {link: tuple(self._links[link].values()) for link in snapshot.links}
        self._open[snapshot.version] = self._open.get(snapshot.version, 0) + 1
        return snapshot

    def _is_calm(self, snapshot: Snapshot) -> bool:
        """Whether the tables have stayed as they are for long enough to make groups ready."""
        enough = len(self._link_of) // ROUTES_A_DOCUMENT
        return self._by_groups or snapshot.documents > enough

    def close(self, snapshot: Snapshot) -> None:
        """A document has been decided that needed the snapshot."""
        self._open[snapshot.version] -= 1
        if not self._open[snapshot.version]:
            del self._open[snapshot.version]
            self.collect()

    def collect(self) -> None:
        """Remove from the matchers what has left, and no open document needs any more."""
        oldest = next(iter(self._open), self._version)
        self._routes.collect(oldest, self._forget_route)
        self._locals.collect(oldest, self._forget_local)

    def _forget_route(self, number: int) -> None:
        self._link_of.pop(number, None)

    def _forget_local(self, number: int) -> None:
        del self._local_ids[number]

    def links_for(
        self,
        document: bytes | Document,
        snapshot: Snapshot,
        came_by: LinkId | None,
        *,
        skip: Collection[int] = (),
    ) -> tuple[LinkId, ...]:
        """The links with a route that the document satisfies, in order, but the one it came by.

        Routes in ``skip`` count as if they were not there. Raises DocumentError if it cannot be
        read. A route that is too costly to decide counts as satisfied: a document too many is
        dropped further on, one too few is lost.
        """
        if snapshot.links in ((), (came_by,)):
            return ()
        if snapshot.members is not None:
            groups = self.groups(snapshot, came_by)
            return tuple(self._routes.matcher.match_links(document, groups, skip))
        decision = self._routes.matcher.decide(document, skip)
        found = self.routes_of((*decision.matches, *decision.undecided), snapshot)
        links = set(map(self._link_of.get, found))
        return tuple(link for link in snapshot.links if link in links and link != came_by)

    def groups(self, snapshot: Snapshot, came_by: LinkId | None) -> Groups[LinkId]:
        """The routes of a snapshot by link, without the link a document came by."""
        groups = snapshot.ready.get(came_by)
        if groups is None:
            assert snapshot.members is not None
            others = {link: ids for link, ids in snapshot.members.items() if link != came_by}
            groups = snapshot.ready[came_by] = self._routes.matcher.groups(others)
        return groups

    def link_of(self, number: int) -> LinkId | None:
        """The link that a route leads to; None for what is no route."""
        return self._link_of.get(number)

    def routes_of(self, numbers: Iterable[int], snapshot: Snapshot) -> Iterator[int]:
        """Those of some routes that a snapshot is about."""
        return self._routes.of(numbers, snapshot.routes_end, snapshot.version)

    def locals_of(self, numbers: Iterable[int], snapshot: Snapshot) -> Iterator[int]:
        """Those of some local subscriptions that a snapshot is about."""
        return self._locals.of(numbers, snapshot.locals_end, snapshot.version)

    def subscriptions(
        self, numbers: Iterable[int], snapshot: Snapshot
    ) -> tuple[SubscriptionId, ...]:
        """The local subscriptions of a snapshot with some numbers, in the order they came."""
        return self._of_snapshot(sorted(numbers), snapshot)

    @property
    def local_matcher(self) -> Matcher:
        """The matcher of the broker's own subscriptions."""
        return self._locals.matcher

    @property
    def route_matcher(self) -> Matcher:
        """The matcher of routes, whose ids are those in :meth:`groups`."""
        return self._routes.matcher

    def locals_for(self, document: bytes | Document, snapshot: Snapshot) -> LocalAnswer:
        """The broker's own subscriptions that the document satisfies, in the order they came.

        Raises DocumentError if it cannot be read.
        """
        decision = self._locals.matcher.decide(document)
        return LocalAnswer(
            self._of_snapshot(decision.matches, snapshot),
            self._of_snapshot(decision.undecided, snapshot),
        )

    def _of_snapshot(
        self, numbers: Iterable[int], snapshot: Snapshot
    ) -> tuple[SubscriptionId, ...]:
        found = map(self._local_ids.get, self.locals_of(numbers, snapshot))
        return tuple(each for each in found if each is not None)
