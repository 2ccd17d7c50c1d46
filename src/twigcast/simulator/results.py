"""Results of a run: deliveries, traffic on the links, sizes of tables.

Results are values; two runs of one schedule under one strategy have equal ones, but for the real
time they took. :meth:`Results.to_json` is what ``twigcast simulate --json`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import NamedTuple

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.routing.events import BrokerId, SubscriptionId
from twigcast.routing.in_memory.traffic import KINDS, Direction


class TimedDelivery(NamedTuple):
    """A document that reached a subscriber, and how many seconds after it was handed in."""

    publication: str
    broker: BrokerId
    subscriber: str
    subscription: SubscriptionId
    seconds: float


class Arrived(NamedTuple):
    """A document that reached subscribers of one broker, all at once."""

    publication: str
    broker: BrokerId
    seconds: float
    """After it was handed in."""
    subscribers: tuple[str, ...]
    subscriptions: tuple[SubscriptionId, ...]


class DeadDocument(NamedTuple):
    """A document that could not be read, or not be decided for a subscription."""

    at: float
    broker: BrokerId
    publication: str
    subscription: SubscriptionId | None
    reason: str


class RefusedDocument(NamedTuple):
    """What a broker refused, and why."""

    at: float
    broker: BrokerId
    event: str
    reason: str


@dataclass(frozen=True, slots=True)
class LinkDocuments:
    """The documents that crossed a link in one direction.

    ``needless`` led to no match; ``flooded`` led to none either, but went everywhere because
    nothing had been advertised that they keep to, which is nobody's fault.
    """

    crossings: int = 0
    needless: int = 0
    flooded: int = 0


@dataclass(frozen=True, slots=True)
class BrokerTables:
    """How large the tables of a broker are at the end."""

    routes: int
    """Over all links."""
    subscriptions: int
    """Of its own clients."""
    advertisements: int
    """That came by links."""
    forwarded: int
    """Patterns sent to neighbours, over all links."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What documents carried along under a strategy that piggybacks, and what came of it."""

    documents: int = 0
    """That crossed a link with annotations."""
    bytes: int = 0
    """Of all annotations; they are part of the traffic."""
    ignored: int = 0
    """Annotations that could not be used."""
    skipped: int = 0
    """Patterns that documents were not compared with, thanks to annotations."""
    sent_unread: int = 0
    """Documents that were sent on before they were touched, over all links."""
    spared: int = 0
    """Documents that a broker did not have to read at all."""
    checks: int = 0
    """Comparisons of patterns with elements, where the engine counts them."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Network resource usage (YAK, 6.3): the latencies of the links crossed, added up, in ms."""

    per_subscription_ms: float
    """By patterns sent and withdrawn, for each subscription that was handed in."""
    per_publication_ms: float


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """Seconds from handing a document in to its delivery; all 0 where nothing was delivered."""

    mean: float = 0.0
    median: float = 0.0
    percentile_95: float = 0.0
    longest: float = 0.0


def response_times(seconds: Sequence[float]) -> ResponseTimes:
    """The mean, and the values that half, 95 in 100 and all of them do not exceed.

    >>> response_times([4.0, 1.0, 2.0, 3.0])
    ResponseTimes(mean=2.5, median=2.0, percentile_95=4.0, longest=4.0)
    """
    if not seconds:
        return ResponseTimes()
    ranked = sorted(seconds)
    at = [ranked[ceil(share * len(ranked)) - 1] for share in (0.5, 0.95, 1.0)]
    return ResponseTimes(sum(ranked) / len(ranked), *at)


@dataclass(frozen=True, slots=True)
class Results:
    """All that is known of a run once it is over."""

    strategy: str
    publications: int
    subscriptions: int
    """Handed in, whether they were taken back later or not."""
    arrived: tuple[Arrived, ...]
    """Deliveries, in the order of time."""
    missed: int
    """Deliveries that the oracle expected and nobody received."""
    unexpected: int
    """Deliveries that the oracle did not expect."""
    repeated: int
    """Deliveries of a document to a subscription that had received it already."""
    dead_letters: tuple[DeadDocument, ...]
    refusals: tuple[RefusedDocument, ...]
    lost: int
    """Messages that were lost with their link."""
    documents: Mapping[Direction, LinkDocuments]
    messages: Mapping[Direction, Mapping[str, int]]
    """What crossed each link in each direction, by kind."""
    bytes: Mapping[Direction, int]
    usage: Usage
    tables: Mapping[BrokerId, BrokerTables]
    busy: Mapping[BrokerId, float]
    """Seconds that each broker had something to do."""
    queue_longest: int
    response: ResponseTimes
    events: int
    set_up_seconds: float
    simulated_seconds: float
    carried: Carried | None = None
    """None where documents carry nothing."""
    stopped: str | None = None
    """The bound at which the run was stopped, if it was."""
    real_seconds: float = field(default=0.0, compare=False)

    @property
    def delivered(self) -> int:
        """How many deliveries there were."""
        return sum(len(each.subscriptions) for each in self.arrived)

    @property
    def deliveries(self) -> Iterator[TimedDelivery]:
        """One after the other; there may be millions."""
        for each in self.arrived:
            for who, subscription in zip(each.subscribers, each.subscriptions, strict=True):
                yield TimedDelivery(each.publication, each.broker, who, subscription, each.seconds)

    @property
    def crossings(self) -> int:
        """How many times a document crossed a link."""
        return sum(each.crossings for each in self.documents.values())

    @property
    def needless(self) -> int:
        """How many of these led to no match."""
        return sum(each.needless for each in self.documents.values())

    @property
    def flooded(self) -> int:
        """How many led to no match, but went everywhere for want of an advertisement."""
        return sum(each.flooded for each in self.documents.values())

    @property
    def routes(self) -> int:
        """Routes of all brokers together."""
        return sum(each.routes for each in self.tables.values())

    @door("counting")
    def total(self, kind: str) -> int:
        """Messages of one kind over all links; UsageError if there is no such kind."""
        if kind not in KINDS:
            raise UsageError(f"messages are of the kinds {', '.join(KINDS)}, not {shown(kind)}")
        return sum(each[kind] for each in self.messages.values())

    @door("writing results")
    def to_json(self) -> dict[str, object]:
        """Everything but the deliveries one by one, as an object for JSON."""
        return {
            "strategy": self.strategy,
            "publications": self.publications,
            "subscriptions": self.subscriptions,
            "deliveries": self.delivered,
            "missed": self.missed,
            "unexpected": self.unexpected,
            "repeated": self.repeated,
            "dead_letters": [each._asdict() for each in self.dead_letters],
            "refusals": [each._asdict() for each in self.refusals],
            "lost": self.lost,
            "crossings": self.crossings,
            "needless": self.needless,
            "flooded": self.flooded,
            "traffic": {kind: self.total(kind) for kind in KINDS},
            "bytes": sum(self.bytes.values()),
            "usage": asdict(self.usage),
            "response_seconds": asdict(self.response),
            "links": [self._link_json(*link) for link in self.documents],
            "brokers": [
                {"broker": broker, **asdict(tables), "busy_seconds": self.busy[broker]}
                for broker, tables in self.tables.items()
            ],
            "queue_longest": self.queue_longest,
            "events": self.events,
            "set_up_seconds": self.set_up_seconds,
            "simulated_seconds": self.simulated_seconds,
            "real_seconds": self.real_seconds,
            "stopped": self.stopped,
            **({"carried": asdict(self.carried)} if self.carried else {}),
        }

    def _link_json(self, sender: str, to: str) -> dict[str, object]:
        link = sender, to
        return {
            "from": sender,
            "to": to,
            **asdict(self.documents[link]),
            "traffic": dict(self.messages[link]),
            "bytes": self.bytes[link],
        }
