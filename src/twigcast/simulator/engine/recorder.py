"""The recorder of a run: counts and notes, which become :class:`Results` in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from twigcast.routing.events import (
    Arrive,
    BrokerId,
    DeadLetter,
    Decided,
    Deliver,
    Message,
    Publication,
    Refuse,
    SubscriptionId,
)
from twigcast.routing.in_memory.traffic import Direction, Traffic
from twigcast.routing.strategy import Strategy
from twigcast.routing.topology.model import Tree
from twigcast.simulator.engine.oracle import Expectation
from twigcast.simulator.results import (
    Arrived,
    BrokerTables,
    Carried,
    DeadDocument,
    LinkDocuments,
    RefusedDocument,
    Results,
    Usage,
    response_times,
)

_NOBODY: Final[frozenset[SubscriptionId]] = frozenset()


@dataclass(slots=True)
class _TrackedDocument:
    """A document on its way, with what the oracle expects of it."""

    handed_in_at: float
    expectation: Expectation
    received: dict[BrokerId, Counter[SubscriptionId]] = field(default_factory=dict)

    def failures(self) -> tuple[int, int, int]:
        """How many deliveries are missing, unexpected, and repeated."""
        missed = unexpected = repeated = 0
        expected = self.expectation.receivers
        for broker in expected.keys() | self.received.keys():
            wanted, received = expected.get(broker, _NOBODY), self.received.get(broker, Counter())
            missed += len(wanted - received.keys())
            unexpected += len(received.keys() - wanted)
            repeated += received.total() - len(received)
        return missed, unexpected, repeated


class Record:
    """Everything that is counted or noted in one run."""

    def __init__(self, network: Tree, *, floods: bool) -> None:
        self._network = network
        self._floods = floods
        self._latency_ms: dict[Direction, float] = {}
        for link in network.links:
            one, other = map(BrokerId, link.between)
            self._latency_ms[one, other] = self._latency_ms[other, one] = link.latency_ms
        self.subscriptions = self.lost = self.queue_longest = 0
        self.busy: dict[BrokerId, float] = dict.fromkeys(map(BrokerId, network.brokers), 0.0)
        self._tracked: dict[str, _TrackedDocument] = {}
        self._arrived: list[Arrived] = []
        self._dead: list[DeadDocument] = []
        self._refusals: list[RefusedDocument] = []
        self._traffic = Traffic()
        self._crossings: Counter[Direction] = Counter()
        self._needless: Counter[Direction] = Counter()
        self._flooded: Counter[Direction] = Counter()
        self._carried: Counter[str] = Counter()

    def anew(self) -> Record:
        """An empty record of the same network, with the same subscriptions."""
        record = Record(self._network, floods=self._floods)
        record.subscriptions = self.subscriptions
        return record

    def handed_in(self, publication: Publication, expectation: Expectation, now: float) -> None:
        """A publisher hands in a document."""
        self._tracked[publication.id] = _TrackedDocument(now, expectation)

    def sent(self, sender: BrokerId, to: BrokerId, message: Message) -> int:
        """A message goes onto a link; returns its bytes."""
        link = sender, to
        before = self._traffic.bytes.get(link, 0)
        self._traffic.count(link, message)
        if isinstance(message, Arrive):
            self._crossings[link] += 1
            if message.annotations is not None:
                self._carried["documents"] += 1
                self._carried["bytes"] += message.annotations.size
            if link not in self._tracked[message.publication.id].expectation.links:
                excused = message.flooded and not self._floods
                (self._flooded if excused else self._needless)[link] += 1
        return self._traffic.bytes[link] - before

    def answered(self, answer: Decided) -> None:
        """A broker has found out where a document has to go, or a part of it."""
        carried = self._carried
        carried["checks"] += answer.checks
        carried["skipped"] += answer.skipped
        carried["ignored"] += answer.final and answer.ignored is not None
        if answer.is_unread:
            carried["sent_unread"] += len(answer.links)
            carried["spared"] += answer.final

    def delivered(self, broker: BrokerId, effects: Iterable[Deliver], now: float) -> None:
        """Subscribers of one broker receive documents."""
        for publication, each in groupby(effects, key=lambda effect: effect.publication):
            handed_out = list(each)
            tracked = self._tracked[publication.id]
            subscriptions = tuple([effect.subscription for effect in handed_out])
            tracked.received.setdefault(broker, Counter()).update(subscriptions)
            subscribers = tuple([effect.subscriber for effect in handed_out])
            seconds = now - tracked.handed_in_at
            self._arrived.append(
                Arrived(publication.id, broker, seconds, subscribers, subscriptions)
            )

    def dead(self, broker: BrokerId, effect: DeadLetter, now: float) -> None:
        """A document could not be read, or not be decided for a subscription."""
        fields = effect.publication.id, effect.subscription, effect.reason
        self._dead.append(DeadDocument(now, broker, *fields))

    def refused(self, broker: BrokerId, effect: Refuse, now: float) -> None:
        """A broker refuses an event."""
        kind = type(effect.event).__name__
        self._refusals.append(RefusedDocument(now, broker, kind, effect.reason))

    def results(
        self,
        *,
        strategy: Strategy,
        tables: Mapping[BrokerId, BrokerTables],
        stopped: str | None,
        events: int,
        set_up_seconds: float,
        simulated_seconds: float,
        real_seconds: float,
    ) -> Results:
        """All of it, once the run is over."""
        failures = [each.failures() for each in self._tracked.values()]
        missed, unexpected, repeated = map(sum, zip((0, 0, 0), *failures, strict=True))
        seconds = [each.seconds for each in self._arrived for _ in each.subscriptions]
        return Results(
            strategy=str(strategy),
            publications=len(self._tracked),
            subscriptions=self.subscriptions,
            arrived=tuple(self._arrived),
            missed=missed,
            unexpected=unexpected,
            repeated=repeated,
            dead_letters=tuple(self._dead),
            refusals=tuple(self._refusals),
            lost=self.lost,
            documents={
                link: LinkDocuments(
                    self._crossings[link], self._needless[link], self._flooded[link]
                )
                for link in self._latency_ms
            },
            messages={link: self._traffic[link] for link in self._latency_ms},
            bytes={link: self._traffic.bytes.get(link, 0) for link in self._latency_ms},
            usage=self._usage(),
            tables=tables,
            busy=self.busy,
            queue_longest=self.queue_longest,
            response=response_times(seconds),
            carried=None if strategy.protocol == "none" else Carried(**self._carried),
            events=events,
            set_up_seconds=set_up_seconds,
            simulated_seconds=simulated_seconds,
            stopped=stopped,
            real_seconds=real_seconds,
        )

    def _usage(self) -> Usage:
        subscribed = published = 0.0
        for link, latency_ms in self._latency_ms.items():
            messages = self._traffic[link]
            # A pattern that is withdrawn crosses the link just as one that is sent.
            subscribed += latency_ms * (messages["subscribe"] + messages["unsubscribe"])
            published += latency_ms * self._crossings[link]
        return Usage(
            per_subscription_ms=subscribed / max(self.subscriptions, 1),
            per_publication_ms=published / max(len(self._tracked), 1),
        )
