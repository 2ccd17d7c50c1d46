"""Who should have received a document, found out without any router.

The oracle knows every subscription in force and which links there are. When a document is handed in
he matches it once against all subscriptions, and says two things: which subscriptions must receive
it, and which links, each in one direction, lead to one of those. A document that crosses any other
link crosses it *needlessly*.

The expectation is that of the moment at which the document is handed in. While changes are on their
way, routers may know less or more, and some of what he counts as missed or needless cannot be
helped; in a network at rest nothing may differ.

Cost: one match for each document, and one visit to each broker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from twigcast.errors import DocumentError
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.events import BrokerId, SubscriptionId


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
        self._asking: dict[int, dict[BrokerId, set[SubscriptionId]]] = {}
        self._linked: dict[BrokerId, dict[BrokerId, None]] = {broker: {} for broker in brokers}

    def subscribe(self, broker: BrokerId, id: SubscriptionId, pattern: Pattern) -> None:
        """A subscription comes into force; one of the same id is replaced by nobody."""
        if (broker, id) in self._patterns:
            return
        self._patterns[broker, id] = pattern
        number = self._numbers.setdefault(pattern, len(self._numbers))
        asking = self._asking.setdefault(number, {})
        if not asking:
            self._matcher.add(number, pattern)
        asking.setdefault(broker, set()).add(id)

    def unsubscribe(self, broker: BrokerId, id: SubscriptionId) -> None:
        """A subscription is in force no longer."""
        pattern = self._patterns.pop((broker, id), None)
        if pattern is None:
            return
        number = self._numbers[pattern]
        asking = self._asking[number]
        asking[broker].remove(id)
        if not asking[broker]:
            del asking[broker]
        if not asking:
            self._matcher.remove(number)

    def link(self, one: BrokerId, other: BrokerId) -> None:
        """There is a link."""
        self._linked[one][other] = None
        self._linked[other][one] = None

    def unlink(self, one: BrokerId, other: BrokerId) -> None:
        """A link is there no longer."""
        self._linked[one].pop(other, None)
        self._linked[other].pop(one, None)

    def expect(self, content: bytes) -> Expectation:
        """Who should receive a document now; nobody, if it cannot be read."""
        try:
            matches = self._matcher.match(content)
        except DocumentError:
            return Expectation()
        receivers: dict[BrokerId, set[SubscriptionId]] = {}
        for number in matches:
            for broker, ids in self._asking[number].items():
                receivers.setdefault(broker, set()).update(ids)
        return Expectation(receivers, frozenset(leading_to(receivers.keys(), self._linked)))


def leading_to(
    wanted: AbstractSet[BrokerId], linked: dict[BrokerId, dict[BrokerId, None]]
) -> Iterator[tuple[BrokerId, BrokerId]]:
    """The links of a tree (or of several) behind which there is one of the wanted brokers.

    Each is told with its direction: from the first broker to the second.
    """
    above: dict[BrokerId, BrokerId | None] = {}
    for root in linked:
        if root not in above:
            order = _from(root, linked, above)
            inside: dict[BrokerId, int] = defaultdict(int)
            for broker in reversed(order):
                inside[broker] += broker in wanted
                parent = above[broker]
                if parent is not None:
                    inside[parent] += inside[broker]
            for broker in order:
                parent = above[broker]
                if parent is not None and inside[broker]:
                    yield parent, broker
                if parent is not None and inside[root] > inside[broker]:
                    yield broker, parent


def _from(
    root: BrokerId,
    linked: dict[BrokerId, dict[BrokerId, None]],
    above: dict[BrokerId, BrokerId | None],
) -> list[BrokerId]:
    """All that can be reached, each after the one above it, which is noted."""
    above[root] = None
    order = [root]
    for broker in order:
        for below in linked[broker]:
            if below not in above:
                above[below] = broker
                order.append(below)
    return order
