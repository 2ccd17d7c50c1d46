"""The delivery oracle: the expected receivers of a document, found without any router.

The oracle knows every subscription in force and every link. When a document is handed in, it is
matched once against all subscriptions. That gives the subscriptions that must receive it, and the
links it needs to cross (:mod:`~twigcast.routing.static.crossing_rules`).

What is expected is settled when the document is handed in. While changes are on their way, routers
may know less or more, and some missed or needless crossings cannot be helped; in a network at rest
nothing may differ.

Cost: one match for each document, and one visit to each broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from twigcast.errors import DocumentError
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.events import BrokerId, SubscriptionId
from twigcast.routing.static.crossing_rules import needed_links


@dataclass(frozen=True, slots=True)
class Expectation:
    """Who should receive a document, and which links lead there."""

    receivers: Mapping[BrokerId, AbstractSet[SubscriptionId]] = field(default_factory=dict)
    links: frozenset[tuple[BrokerId, BrokerId]] = frozenset()


class DeliveryOracle:
    """All subscriptions in force and all links, wherever they are."""

    def __init__(self, brokers: Iterable[BrokerId], engine: str = "auto") -> None:
        self._matcher = Matcher(engine=engine)
        self._numbers: dict[Pattern, int] = {}
        self._patterns: dict[tuple[BrokerId, SubscriptionId], Pattern] = {}
        self._subscribed: dict[int, dict[BrokerId, set[SubscriptionId]]] = {}
        self._linked: dict[BrokerId, dict[BrokerId, None]] = {broker: {} for broker in brokers}

    def subscribe(self, broker: BrokerId, id: SubscriptionId, pattern: Pattern) -> None:
        """A subscription comes into force; a second one of the same id is ignored."""
        if (broker, id) in self._patterns:
            return
        self._patterns[broker, id] = pattern
        number = self._numbers.setdefault(pattern, len(self._numbers))
        subscribed = self._subscribed.setdefault(number, {})
        if not subscribed:
            self._matcher.add(number, pattern)
        subscribed.setdefault(broker, set()).add(id)

    def unsubscribe(self, broker: BrokerId, id: SubscriptionId) -> None:
        """A subscription is in force no longer."""
        pattern = self._patterns.pop((broker, id), None)
        if pattern is None:
            return
        number = self._numbers[pattern]
        subscribed = self._subscribed[number]
        subscribed[broker].remove(id)
        if not subscribed[broker]:
            del subscribed[broker]
        if not subscribed:
            self._matcher.remove(number)

    def link(self, one: BrokerId, other: BrokerId) -> None:
        """There is a link."""
        self._linked[one][other] = None
        self._linked[other][one] = None

    def unlink(self, one: BrokerId, other: BrokerId) -> None:
        """A link is there no longer."""
        self._linked[one].pop(other, None)
        self._linked[other].pop(one, None)

    def expect(self, content: bytes, origin: BrokerId) -> Expectation:
        """Who should receive a document of this broker now; nobody, if it cannot be read."""
        try:
            matches = self._matcher.match(content)
        except DocumentError:
            return Expectation()
        receivers: dict[BrokerId, set[SubscriptionId]] = {}
        for number in matches:
            for broker, ids in self._subscribed[number].items():
                receivers.setdefault(broker, set()).update(ids)
        links = needed_links(origin, receivers.keys(), self._linked.__getitem__)
        return Expectation(receivers, frozenset(links))
