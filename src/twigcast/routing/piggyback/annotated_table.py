"""The route table of a broker that piggybacks: numbers by pattern, patterns by number, and rows.

Annotations are about patterns, so numbers are found by pattern here, and patterns by number. Beside
routes the matcher has *rows of names*, of which neighbours would like to know whether they occur.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import cast

from twigcast.language import DocumentLimits, Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.routing.events import LinkId, SubscriptionId
from twigcast.routing.tables.route_table import RouteTable, Snapshot


class AnnotatedRouteTable(RouteTable):
    """Routes and local subscriptions, also by pattern, and rows of names that are watched."""

    def __init__(
        self,
        engine: str = "auto",
        *,
        limits: DocumentLimits = LIBRARY_LIMITS,
        by_groups: bool = False,
    ) -> None:
        super().__init__(engine, limits=limits, by_groups=by_groups)
        self._route_of: dict[int, Pattern] = {}
        self._local_of: dict[int, Pattern] = {}
        self._locals_with: dict[Pattern, dict[int, None]] = {}
        """Of each pattern the numbers of the local subscriptions with it."""
        self._rows: dict[Pattern, int] = {}
        """Of each row of names that is watched its number."""

    def add(self, pattern: Pattern, link: LinkId) -> int:
        """Add a route to a link, which is not there yet; its number."""
        number = super().add(pattern, link)
        self._route_of[number] = pattern
        return number

    def subscribe(self, subscription: SubscriptionId, pattern: Pattern) -> int:
        """Add a local subscription, whose id is free; its number."""
        number = super().subscribe(subscription, pattern)
        self._local_of[number] = pattern
        self._locals_with.setdefault(pattern, {})[number] = None
        return number

    def discard_subscription(self, subscription: SubscriptionId) -> int:
        """Remove a local subscription; nothing leaves the matcher before :meth:`collect`."""
        number = super().discard_subscription(subscription)
        pattern = self._local_of.pop(number)
        del self._locals_with[pattern][number]
        if not self._locals_with[pattern]:
            del self._locals_with[pattern]
        return number

    def _forget_route(self, number: int) -> None:
        super()._forget_route(number)
        self._route_of.pop(number, None)

    # Rows of names.

    @property
    def reads_in_order(self) -> bool:
        """Whether the engine reports when something was certain, and where rows occurred last."""
        return self.route_matcher.reads_in_order

    @property
    def watched(self) -> Collection[Pattern]:
        """The rows of names that are watched."""
        return self._rows.keys()

    def watch(self, row: Pattern) -> None:
        """From now on find out whether a row of names occurs in documents."""
        self._changed()
        if self.reads_in_order:
            number = self._routes.take_number()
            self.route_matcher.watch(number, row)
        else:
            number = self._routes.add(row)
        self._rows[row] = number

    def unwatch(self, row: Pattern) -> None:
        """No longer watch a row."""
        self._changed()
        number = self._rows.pop(row)
        if self.reads_in_order:
            self.route_matcher.unwatch(number)
        else:
            self._routes.remove(number, self._version)
        self.collect()

    def row_number(self, row: Pattern) -> int | None:
        """The number of a row of names, if it is watched."""
        return self._rows.get(row)

    # Numbers and patterns.

    def numbers_of(self, patterns: Iterable[Pattern]) -> tuple[set[int], set[int]]:
        """The numbers of some patterns: as routes, and as local subscriptions."""
        # Each table is read once for all patterns: there are thousands for each document, and
        # another thread may remove some meanwhile.
        wanted = tuple(patterns)
        routes: set[int | None] = set()
        for table in tuple(self._links.values()):
            routes.update(map(table.get, wanted))
        routes.discard(None)
        own: set[int] = set()
        for numbers in filter(None, map(self._locals_with.get, wanted)):
            own.update(tuple(numbers))
        return cast("set[int]", routes), own

    def route_of(self, number: int) -> Pattern | None:
        """The pattern of a route, if it has not been removed."""
        return self._route_of.get(number)

    def patterns_of(self, routes: Iterable[int], own: Iterable[int]) -> list[Pattern]:
        """The patterns of some routes, and of some local subscriptions."""
        found = [
            *map(self._route_of.get, sorted(routes)),
            *map(self._local_of.get, sorted(own)),
        ]
        return [pattern for pattern in found if pattern is not None]

    def route_numbers(self, link: LinkId, snapshot: Snapshot) -> list[int]:
        """The numbers of the routes that a link had in a snapshot."""
        return list(self.routes_of(tuple(self._links.get(link, {}).values()), snapshot))

    def local_numbers(self, snapshot: Snapshot) -> list[int]:
        """The numbers of the local subscriptions of a snapshot."""
        return list(self.locals_of(tuple(self._local_ids), snapshot))
