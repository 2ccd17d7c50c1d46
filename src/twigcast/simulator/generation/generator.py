"""The generator of schedules: subscriptions, publishers, documents and times, drawn from a seed.

All that a scenario leaves open is drawn here, each matter from a random generator of its own,
seeded with the seed and the name of the matter. So a change to the documents does not change the
subscriptions, and the schedule is the same for each strategy and on each machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, cycle, islice
from random import Random
from typing import Any

from twigcast.covering import Advertisement
from twigcast.errors import DocumentError, PatternError, UsageError
from twigcast.files import read_documents, read_subscriptions
from twigcast.files.schemas import read_schema, shipped_schema, shipped_schema_names
from twigcast.language import Document, Pattern, Schema
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Publication,
    Publish,
    Subscribe,
    SubscriptionId,
)
from twigcast.routing.topology.model import Tree
from twigcast.simulator.scenario.model import SUBSCRIPTIONS_MAX, Scenario
from twigcast.simulator.schedule import ClientEvent, Phase
from twigcast.workload import Vocabulary, generate_documents, generate_patterns


@dataclass(frozen=True, slots=True)
class Publisher:
    """Who publishes, where, and documents of which kinds."""

    name: str
    broker: BrokerId
    kinds: tuple[str, ...]


class IdRegistry:
    """The ids in use, and those that have a name by which changes refer to them."""

    def __init__(self) -> None:
        self._subscriptions: dict[BrokerId, Iterator[int]] = {}
        self._advertisements: dict[BrokerId, Iterator[int]] = {}
        self.subscriptions: dict[str, tuple[BrokerId, SubscriptionId]] = {}
        self.advertisements: dict[str, tuple[BrokerId, AdvertisementId]] = {}

    def subscription(self, broker: BrokerId) -> SubscriptionId:
        """The next id of a broker."""
        return SubscriptionId(next(self._subscriptions.setdefault(broker, count(1))))

    def advertisement(self, broker: BrokerId) -> AdvertisementId:
        """The next id of a broker."""
        return AdvertisementId(next(self._advertisements.setdefault(broker, count(1))))


class ScheduleGenerator:
    """Draws subscriptions and documents, for the stage and for changes alike."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.ids = IdRegistry()
        self._patterns: dict[str, Pattern] = {}
        self._schemas: dict[str, Schema] = {}
        self._where = f"{scenario.name}, [workload]"

    def rng_for(self, matter: str) -> Random:
        """The random generator of one matter."""
        return Random(f"{self.scenario.seed} {matter}")

    @cached_property
    def network(self) -> Tree:
        """The brokers and the links between them."""
        return self.scenario.network.tree(self.rng_for("topology"))

    @cached_property
    def brokers(self) -> tuple[BrokerId, ...]:
        """All of them."""
        return tuple(map(BrokerId, self.network.brokers))

    def broker(self, name: str, where: str) -> BrokerId:
        """A broker by its name; UsageError if there is none."""
        if name not in self.network.brokers:
            raise UsageError(f"{where}: there is no broker {name!r} in the topology")
        return BrokerId(name)

    def places(self, given: tuple[str, ...], key: str) -> tuple[BrokerId, ...]:
        """The brokers that ``all``, ``leaves`` or names stand for."""
        match given:
            case ("all",):
                return self.brokers
            case ("leaves",):
                return tuple(
                    broker for broker in self.brokers if len(self.network.neighbours(broker)) <= 1
                )
            case ():
                raise UsageError(f"{self._where}: {key} names no broker")
            case _:
                return tuple(self.broker(name, f"{self._where}, {key}") for name in given)

    def schema(self, kind: str) -> Schema:
        """The DTD of a kind of documents, by its name or from a file beside the scenario."""
        if kind not in self._schemas:
            path = self.scenario.folder / kind
            if kind in shipped_schema_names():
                self._schemas[kind] = shipped_schema(kind)
            elif path.is_file():
                self._schemas[kind] = read_schema(path)
            else:
                known = ", ".join(shipped_schema_names())
                raise UsageError(
                    f"{self._where}: there is no file {path}, and no DTD {kind!r} comes along: "
                    f"{known}"
                )
        return self._schemas[kind]

    def pattern(self, xpath: str) -> Pattern:
        """The pattern of a text, read once."""
        pattern = self._patterns.get(xpath)
        if pattern is None:
            pattern = self._patterns[xpath] = Pattern.parse(xpath)
        return pattern

    # Subscriptions.

    @cached_property
    def readers(self) -> tuple[tuple[str, BrokerId], ...]:
        """The subscribers and their brokers."""
        workload = self.scenario.workload
        places = self.places(workload.subscribers_at, "subscribers_at")
        if workload.per == "broker":
            return tuple((f"readers at {broker}", broker) for broker in places)
        clients = [client for client in self.network.clients if client.broker in set(places)]
        if not clients:
            raise UsageError(f'{self._where}: per = "client", but the topology has no clients')
        return tuple((client.name, BrokerId(client.broker)) for client in clients)

    @cached_property
    def interests(self) -> dict[BrokerId, tuple[str, ...]]:
        """The kinds of documents that the clients of each broker are interested in."""
        workload, rng = self.scenario.workload, self.rng_for("interests")
        return {
            broker: _some(workload.dtds, workload.interests, rng)
            for broker in dict.fromkeys(broker for _, broker in self.readers)
        }

    def subscriptions(self) -> Phase:
        """The subscriptions that are there before anything is published."""
        workload = self.scenario.workload
        if workload.subscriptions_file is not None:
            return self._subscriptions_of_file(workload.subscriptions_file)
        if not workload.subscriptions:
            return ()
        together = len(self.readers) * workload.subscriptions
        if together > SUBSCRIPTIONS_MAX:
            raise UsageError(
                f"{self._where}: there would be {together:,} subscriptions together, where at most "
                f"{SUBSCRIPTIONS_MAX:,} are allowed (SUBSCRIPTIONS_MAX)"
            )
        drawn = [
            (reader, broker, self.drawn_patterns(reader, broker, workload.subscriptions))
            for reader, broker in self.readers
        ]
        one_by_one = (
            (reader, broker, patterns[turn])
            for turn in range(workload.subscriptions)
            for reader, broker, patterns in drawn
        )
        return tuple(
            ClientEvent(
                number * workload.subscribe_every,
                broker,
                Subscribe(self.ids.subscription(broker), reader, pattern),
            )
            for number, (reader, broker, pattern) in enumerate(one_by_one)
        )

    def drawn_patterns(self, matter: str, broker: BrokerId, number: int) -> list[Pattern]:
        """Patterns of the kinds that a broker's clients are interested in."""
        rng, kinds = self.rng_for(f"patterns of {matter}"), self.interests[broker]
        chosen = [rng.choice(kinds) for _ in range(number)] if len(kinds) > 1 else kinds * number
        texts = {
            kind: iter(self._texts(kind, chosen.count(kind), rng)) for kind in dict.fromkeys(chosen)
        }
        return [self.pattern(next(texts[kind])) for kind in chosen]

    def _texts(self, kind: str, number: int, rng: Random) -> Sequence[str]:
        workload = self.scenario.workload
        if workload.pool is None:
            return list(self._generated(kind, number, rng))
        pool = self._pools[kind]
        return rng.sample(pool, number) if number <= len(pool) else rng.choices(pool, k=number)

    @cached_property
    def _pools(self) -> dict[str, list[str]]:
        size = self.scenario.workload.pool or 0
        return {
            kind: list(self._generated(kind, size, self.rng_for(f"pool of {kind}")))
            for kind in self.scenario.workload.dtds
        }

    def _generated(self, kind: str, number: int, rng: Random) -> Iterator[str]:
        return generate_patterns(
            self.schema(kind),
            rng=rng,
            count=number,
            shape=self.scenario.workload.pattern_shape,
            vocabulary=self._vocabulary,
        )

    def _subscriptions_of_file(self, name: str) -> Phase:
        file = read_subscriptions(self.scenario.folder / name)
        if file.rejected:
            first = file.rejected[0]
            raise UsageError(f"{name}, line {first.line}: {first.reason}")
        phase = []
        for number, item in enumerate(file.subscriptions):
            where = f"{name}, line {item.line}"
            broker = self.broker(item.broker, where) if item.broker else self.brokers[0]
            try:
                pattern = Pattern.parse(item.xpath, item.namespaces)
            except PatternError as error:
                raise UsageError(f"{where}: {error}") from None
            subscription = self.ids.subscription(broker)
            self.ids.subscriptions[str(item.id)] = broker, subscription
            at = number * self.scenario.workload.subscribe_every
            subscriber = item.subscriber or str(item.id)
            phase.append(ClientEvent(at, broker, Subscribe(subscription, subscriber, pattern)))
        return tuple(phase)

    # Publications.

    @cached_property
    def publishers(self) -> tuple[Publisher, ...]:
        """The publishers, each with its broker and kinds of documents."""
        workload, rng = self.scenario.workload, self.rng_for("publishers")
        if workload.publishers_at == ("random",):
            number = workload.publishers or 1
            many = number > len(self.brokers)
            at = rng.choices(self.brokers, k=number) if many else rng.sample(self.brokers, number)
        else:
            places = self.places(workload.publishers_at, "publishers_at")
            at = list(islice(cycle(places), workload.publishers or len(places)))
        return tuple(
            Publisher(f"publisher {number}", broker, _some(workload.dtds, workload.publishes, rng))
            for number, broker in enumerate(at, start=1)
        )

    def advertisements(self) -> Phase:
        """What the publishers advertise before they begin."""
        workload = self.scenario.workload
        if not workload.advertise:
            return ()
        return tuple(
            ClientEvent(
                0.0,
                publisher.broker,
                Advertise(self.ids.advertisement(publisher.broker), publisher.name, advertisement),
            )
            for publisher in self.publishers
            for advertisement in self._advertisements_of(publisher)
        )

    def advertisement(self, kind: str) -> Advertisement:
        """The advertisement of a kind of documents."""
        if kind not in self._advertised:
            self._advertised[kind] = Advertisement.of_schema(self.schema(kind))
        return self._advertised[kind]

    @cached_property
    def _advertised(self) -> dict[str, Advertisement]:
        return {}

    def _advertisements_of(self, publisher: Publisher) -> list[Advertisement]:
        if not self._read_documents:
            return [self.advertisement(kind) for kind in publisher.kinds]
        readable = []
        for _, content in self._read_documents:
            try:
                readable.append(Document.parse(content))
            except DocumentError:
                continue  # It is published all the same, and refused by its broker.
        return [Advertisement.of_documents(readable)] if readable else []

    def publications(self) -> Phase:
        """The documents, each with its time."""
        if self._read_documents:
            drawn = [
                (publisher, name, content)
                for publisher, (name, content) in zip(
                    cycle(self.publishers), self._read_documents, strict=False
                )
            ]
        else:
            drawn = list(self._drawn_documents())
        return tuple(
            ClientEvent(
                at,
                publisher.broker,
                Publish(Publication(name, publisher.broker, publisher.name, content)),
            )
            for at, (publisher, name, content) in zip(self._times(len(drawn)), drawn, strict=True)
        )

    @cached_property
    def _read_documents(self) -> list[tuple[str, bytes]]:
        given = self.scenario.workload.documents_from
        documents = []
        for name, content in read_documents([str(self.scenario.folder / one) for one in given]):
            if isinstance(content, DocumentError):
                raise UsageError(f"{self._where}, documents_from: {content}")
            documents.append((name, bytes(content)))
        if given and not documents:
            raise UsageError(f"{self._where}: documents_from leads to no document")
        return documents

    def _drawn_documents(self) -> Iterator[tuple[Publisher, str, bytes]]:
        workload, rng = self.scenario.workload, self.rng_for("documents")
        options: dict[str, Any] = dict(workload.document_options)
        drawing: dict[str, Iterator[bytes]] = {
            kind: generate_documents(
                self.schema(kind),
                rng=self.rng_for(f"documents of {kind}"),
                count=workload.documents,
                vocabulary=self._vocabulary,
                **options,
            )
            for kind in workload.dtds
        }
        digits = len(str(workload.documents))
        numbered = zip(range(1, workload.documents + 1), cycle(self.publishers), strict=False)
        for number, publisher in numbered:
            kind = rng.choice(publisher.kinds)
            yield publisher, f"document {number:0{digits}}", next(drawing[kind])

    def _times(self, number: int) -> list[float]:
        """The times of the documents, counted from the beginning of the schedule."""
        workload = self.scenario.workload
        if workload.publish_times is not None:
            if len(workload.publish_times) != number:
                count = len(workload.publish_times)
                raise UsageError(
                    f"{self._where}: publish_times has {count:,} times for {number:,} documents"
                )
            return list(workload.publish_times)
        if workload.publish_rate is None:
            return [place * workload.publish_every for place in range(number)]
        rng, now, times = self.rng_for("times of documents"), 0.0, []
        for _ in range(number):
            now += rng.expovariate(workload.publish_rate)
            times.append(now)
        return times

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(numbers=self.scenario.workload.numbers)


def _some(kinds: tuple[str, ...], number: int | None, rng: Random) -> tuple[str, ...]:
    """So many of the kinds, drawn at random and in the order given; all of them for None."""
    if number is None or number >= len(kinds):
        return kinds
    drawn = set(rng.sample(kinds, number))
    return tuple(kind for kind in kinds if kind in drawn)
