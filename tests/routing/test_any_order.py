"""Messages on their way: whatever overtakes what, tables settle, and nobody gets a document twice.

A :class:`~twigcast.routing.in_memory.network.Network` settles after each call. Here nothing waits:
each link is a row of frames in each direction, chance decides which row moves next, and clients,
publishers and breaking links go on all the while. A link that breaks loses part of what was on its
way, and its two ends learn of it at different times. Documents are decided late, by the tables they
came to.

What must hold at all times: no broker refuses what its neighbour says, no subscription gets
a document twice or one that does not satisfy it. And once all is quiet: the tables are those of a
network that has had no past, and the law holds for whatever is published then.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import settings

from tests.routing.networks import random_topology
from tests.routing.vocabulary import (
    DOCUMENTS,
    EXPRESSIONS,
    SCHEMAS,
    STRATEGIES,
    Expression,
    advertisement_of,
    satisfied,
)
from twigcast import Network
from twigcast.matching import ENGINES
from twigcast.matching.engines.native import AVAILABLE
from twigcast.routing.broker.router import Router, RouterLimits
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Decide,
    Deliver,
    Effect,
    Event,
    LinkDown,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
    Woken,
)
from twigcast.routing.strategy import Strategy
from twigcast.routing.wire.frames import decode, encode

Pair = tuple[str, str]


class Wires:
    """Routers, and what is on its way between them."""

    def __init__(self, rng: Random, strategy: Strategy) -> None:
        self.rng, self.strategy = rng, strategy
        topology = random_topology(rng, brokers_max=7)
        self.links: list[Pair] = [(one, other) for one, other in topology["links"]]
        limits = RouterLimits(batch_delay=rng.choice((0.0, 2.0, 10.0)))
        engine = rng.choice([name for name in ENGINES if name != "native" or AVAILABLE])
        self.routers = {
            name: Router(name, strategy, engine=engine, limits=limits)
            for name in topology["brokers"]
        }
        self.brokers = sorted(self.routers)
        self.now = 0.0
        self.rows: dict[Pair, deque[Event]] = {}
        """What comes to a broker from another, as (to, from)."""
        self.age: Counter[Pair] = Counter()
        """How often the two were joined or parted; a message of another age is lost."""
        self.seen: Counter[Pair] = Counter()
        """What the first of the two has noticed of that."""
        self.up: set[Pair] = set()
        self.asked: dict[int, tuple[str, Expression]] = {}
        self.promised: dict[int, tuple[str, int]] = {}
        self.questions: list[tuple[str, Decide]] = []
        self.delivered: Counter[tuple[str, int]] = Counter()
        self.published: dict[str, bytes] = {}
        self.numbers = 0
        for pair in self.links:
            self.join(pair)

    # Links.

    def join(self, pair: Pair) -> None:
        self.up.add(pair)
        self._both(pair, LinkUp)

    def part(self, pair: Pair) -> None:
        """The link breaks: of what is on its way, the last is lost."""
        self.up.remove(pair)
        for to, sender in (pair, pair[::-1]):
            row = self.rows[to, sender]
            kept = self.rng.randint(0, len(row))
            while len(row) > kept and isinstance(row[-1], Received):
                row.pop()
        self._both(pair, LinkDown)

    def _both(self, pair: Pair, kind: type[LinkUp | LinkDown]) -> None:
        for to, sender in (pair, pair[::-1]):
            self.age[to, sender] += 1
            self.rows.setdefault((to, sender), deque()).append(kind(BrokerId(sender)))

    # What happens.

    def tell(self, broker: str, event: Event) -> None:
        """Hand an event to a broker and do what it wants."""
        effects = self.routers[broker].handle(event, now=self.now)
        assert not any(isinstance(effect, Refuse) for effect in effects), effects
        self._perform(broker, effects)

    def _perform(self, broker: str, effects: Iterable[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send():
                    here, there = (broker, str(effect.link)), (str(effect.link), broker)
                    if self.seen[here] == self.age[here]:
                        message = decode(encode(effect.message))
                        assert message == effect.message
                        self.rows[there].append(Received(BrokerId(broker), message))
                case Decide():
                    self.questions.append((broker, effect))
                case Deliver():
                    self._deliver(broker, effect)
                case _:
                    raise AssertionError(effect)

    def _deliver(self, broker: str, delivery: Deliver) -> None:
        at, asked = self.asked[delivery.subscription]
        assert at == broker
        assert satisfied(asked, delivery.publication.content)
        key = (delivery.publication.id, delivery.subscription)
        self.delivered[key] += 1
        assert self.delivered[key] == 1, f"{key} comes twice"

    def move(self) -> bool:
        """One thing on its way gets on; whether there was any."""
        waiting = [pair for pair, row in self.rows.items() if row]
        sleepers = [
            name
            for name, router in self.routers.items()
            if (at := router.wake_at()) is not None and at <= self.now
        ]
        choices = len(waiting) + len(sleepers) + len(self.questions)
        if not choices:
            return False
        chosen = self.rng.randrange(choices)
        if chosen < len(waiting):
            to, sender = waiting[chosen]
            event = self.rows[to, sender].popleft()
            if not isinstance(event, Received):
                self.seen[to, sender] += 1
            self.tell(to, event)
        elif chosen < len(waiting) + len(sleepers):
            self.tell(sleepers[chosen - len(waiting)], Woken())
        else:
            broker, question = self.questions.pop(chosen - len(waiting) - len(sleepers))
            answer = self.routers[broker].decide(question)
            if not answer.final:
                self.questions.append((broker, question))
            self.tell(broker, answer)
        return True

    def settle(self) -> None:
        """Let everything arrive, and time pass until nobody wants to be woken."""
        while True:
            while self.move():
                pass
            wishes = [
                at for router in self.routers.values() if (at := router.wake_at()) is not None
            ]
            if not wishes:
                return
            self.now = max(self.now, *wishes)

    # Chance.

    def happen(self) -> None:
        """Somebody does something."""
        self.now += self.rng.random()
        match self.rng.choices(range(7), (6, 4, 2, 1, 3, 1, 1))[0]:
            case 0:
                number, broker = self._number(), self.rng.choice(self.brokers)
                asked = self.rng.choice(EXPRESSIONS[: self.rng.choice((9, 40, len(EXPRESSIONS)))])
                self.asked[number] = (broker, asked)
                self.tell(broker, Subscribe(SubscriptionId(number), "x", asked.pattern))
            case 1 if live := self._live():
                number = self.rng.choice(live)
                self.tell(self.asked[number][0], Unsubscribe(SubscriptionId(number)))
                self.asked[number] = ("", self.asked[number][1])
            case 2:
                number, broker = self._number(), self.rng.choice(self.brokers)
                schema = self.rng.randrange(len(SCHEMAS))
                self.promised[number] = (broker, schema)
                self.tell(
                    broker, Advertise(AdvertisementId(number), "press", advertisement_of(schema))
                )
            case 3 if self.promised:
                number = self.rng.choice(list(self.promised))
                self.tell(self.promised.pop(number)[0], Unadvertise(AdvertisementId(number)))
            case 4:
                self.publish(self.rng.choice(self.brokers), self.rng.choice(DOCUMENTS))
            case 5 if self.up:
                self.part(self.rng.choice(sorted(self.up)))
            case 6 if down := [pair for pair in self.links if pair not in self.up]:
                self.join(self.rng.choice(down))
            case _:
                pass

    def publish(self, broker: str, content: bytes) -> str:
        name = f"p{self._number()}"
        self.published[name] = content
        self.tell(broker, Publish(Publication(name, BrokerId(broker), "press", content)))
        return name

    def _live(self) -> list[int]:
        return [number for number, (broker, _) in self.asked.items() if broker]

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers

    # The oracle.

    def check(self) -> None:
        """All is quiet and every link is there: compare with a network without a past."""
        fresh = Network({"brokers": self.brokers, "links": self.links}, self.strategy)
        for number in self._live():
            broker, asked = self.asked[number]
            fresh.subscribe(broker, "x", asked.text, asked.namespaces)
        for broker, schema in self.promised.values():
            fresh.advertise(broker, SCHEMAS[schema], publisher="press")
        fresh.merge()
        for name, router in self.routers.items():
            assert router.tables() == fresh.tables(name), name
            assert router.statistics().open_documents == 0
            assert router.statistics().kept_for_snapshots == 0
        for content in self.rng.sample(DOCUMENTS, 5):
            name = self.publish(self.rng.choice(self.brokers), content)
            self.settle()
            due = {number for number in self._live() if satisfied(self.asked[number][1], content)}
            assert {number for publication, number in self.delivered if publication == name} == due


GENTLE = tuple(each for each in STRATEGIES if each.unadvertised == "flood")
"""A document that is refused goes back to its publisher; here nothing is to be refused."""


@pytest.mark.parametrize("strategy", GENTLE, ids=str)
def test_tables_settle_whatever_overtakes_what_under(strategy: Strategy) -> None:
    for seed in range(max(2, settings().max_examples // 16)):
        rng = Random(f"{seed}, {strategy}")
        wires = Wires(rng, strategy)
        haste = rng.choice((1, 3, 10))
        for _ in range(50):
            wires.happen()
            for _ in range(rng.randrange(haste)):
                wires.move()
        for pair in wires.links:
            if pair not in wires.up:
                wires.join(pair)
        wires.settle()
        wires.check()
