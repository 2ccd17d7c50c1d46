"""The forwarder: the four steps of a strategy, from patterns to what is sent over each link.

    put(pattern, source)  →  widen, hold back  →  direct, merge  →  changes()
                             Forwarded            Outgoing, one a link

Patterns come from the broker's own clients and from its neighbours. Those of a neighbour have been
through the same steps there, so widening them again changes nothing. Advertisements go their own
way, flooded but for those that others cover, and only where the strategy has directions.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, assert_never

from twigcast.covering import Advertisement
from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.language import Pattern
from twigcast.routing.events import LinkId
from twigcast.routing.forwarding.advertisement_table import AdvertisementTable
from twigcast.routing.forwarding.every_route import EveryRoute
from twigcast.routing.forwarding.outgoing_link import OutgoingLink
from twigcast.routing.forwarding.prefix_suppression import PrefixSuppression
from twigcast.routing.forwarding.suppression import Suppression
from twigcast.routing.path_unit.linear_parts import linear_parts
from twigcast.routing.strategy import Strategy


class LinkUpdate(NamedTuple):
    """What one neighbour has to be sent: first what is new, then what is no more."""

    routes: tuple[Pattern, ...]
    withdrawn: tuple[Pattern, ...]
    advertisements: tuple[Advertisement, ...]
    unadvertised: tuple[Advertisement, ...]


class Forwarder:
    """All that a broker sends to its neighbours, kept up to date."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._forwarded = _holding_back(strategy)
        self._outgoing: dict[LinkId, OutgoingLink] = {}
        self._advertisements = AdvertisementTable()
        self._wanted: Counter[Pattern] = Counter()
        """How many of the broker's own subscriptions need each pattern to be forwarded."""
        self._advertised: Counter[Advertisement] = Counter()
        self._redirected: set[LinkId] = set()
        """Links by which advertisements have come or gone since the neighbours were informed."""

    # Links.

    def add_link(self, link: LinkId) -> None:
        """A neighbour comes, who knows nothing yet."""
        self._outgoing[link] = OutgoingLink(self._strategy)
        self._advertisements.add_link(link)
        if self._forwarded is not None:
            self._forwarded.add_link(link)

    def remove_link(self, link: LinkId) -> None:
        """A neighbour goes, with all that came from there."""
        del self._outgoing[link]
        self._redirected.discard(link)
        self._advertisements.remove_link(link)
        if self._forwarded is not None:
            self._forwarded.remove_link(link)

    # Patterns.

    def subscribe(self, pattern: Pattern) -> None:
        """A client of the broker subscribes to a pattern."""
        for part in self._parts(pattern):
            self._wanted[part] += 1
            if self._wanted[part] == 1:
                self.add(part, None)

    def unsubscribe(self, pattern: Pattern) -> None:
        """A client of the broker has unsubscribed."""
        for part in self._parts(pattern):
            self._wanted[part] -= 1
            if not self._wanted[part]:
                del self._wanted[part]
                self.remove(part, None)

    def _parts(self, pattern: Pattern) -> tuple[Pattern, ...]:
        """The patterns to send to neighbours, so that a client receives what it subscribed to."""
        return linear_parts(pattern) if self._strategy.unit == "path" else (pattern,)

    def add(self, pattern: Pattern, source: LinkId | None) -> None:
        """A pattern came from a source that has not sent it yet."""
        if self._forwarded is not None:
            self._forwarded.add(pattern, source)

    def remove(self, pattern: Pattern, source: LinkId | None) -> None:
        """A source takes a pattern back."""
        if self._forwarded is not None:
            self._forwarded.remove(pattern, source)

    # Advertisements.

    def advertise(self, advertisement: Advertisement, source: LinkId | None) -> None:
        """An advertisement came from a source; the broker's own publishers may share one."""
        if source is None:
            self._advertised[advertisement] += 1
            if self._advertised[advertisement] > 1:
                return
        else:
            self._redirected.add(source)
        self._advertisements.add(advertisement, source)

    def unadvertise(self, advertisement: Advertisement, source: LinkId | None) -> None:
        """A source takes an advertisement back."""
        if source is None:
            self._advertised[advertisement] -= 1
            if self._advertised[advertisement]:
                return
            del self._advertised[advertisement]
        else:
            self._redirected.add(source)
        self._advertisements.remove(advertisement, source)

    # What is forwarded.

    def changes(self) -> dict[LinkId, LinkUpdate]:
        """What each neighbour has to be sent since the last call, in the order of links."""
        if self._forwarded is not None:
            for link, difference in self._forwarded.changes().items():
                self._outgoing[link].add(difference)
        for link in sorted(self._redirected):
            self._outgoing[link].advertised(self._advertisements.from_link(link))
        self._redirected.clear()
        advertised = self._advertisements.changes()
        updates = {}
        for link in sorted(self._outgoing):
            new, old = advertised.get(link, ((), ()))
            if self._strategy.towards == "all":
                new, old = (), ()
            outgoing = self._outgoing[link]
            if not self._strategy.merge_every and outgoing.wants_merge:
                outgoing.merge()  # Without a delay nothing need be sent unmerged first.
            updates[link] = LinkUpdate(*outgoing.flush(), new, old)
        return updates

    def merge(self) -> None:
        """A merge tick: merge anew what is forwarded over each link."""
        for link in sorted(self._outgoing):
            self._outgoing[link].merge()

    @property
    def wants_merge(self) -> bool:
        """Whether a merge tick could change something."""
        return any(outgoing.wants_merge for outgoing in self._outgoing.values())

    def forwarded(self, link: LinkId) -> tuple[Pattern, ...]:
        """All patterns that are forwarded over a link."""
        return self._outgoing[link].whole()

    def sizes(self) -> dict[LinkId, int]:
        """How many patterns are forwarded over each link."""
        return {link: len(self._outgoing[link]) for link in sorted(self._outgoing)}

    @property
    def advertisements(self) -> int:
        """How many different advertisements have come, from all sources."""
        return len(self._advertisements)

    def advertised_by(self, link: LinkId) -> tuple[Advertisement, ...]:
        """The advertisements that have come by a link."""
        return self._advertisements.from_link(link)

    def advertised_over(self, link: LinkId) -> tuple[Advertisement, ...]:
        """The advertisements that are passed on over a link."""
        return () if self._strategy.towards == "all" else self._advertisements.forwarded(link)


def _holding_back(strategy: Strategy) -> Suppression | None:
    match strategy.hold_back:
        case "everything":
            return None
        case "nothing":
            return EveryRoute()
        case "prefixed":
            return PrefixSuppression(strategy.depth)
        case "covered":
            return IncrementalCover()
        case _:
            assert_never(strategy.hold_back)
