"""Whole networks under an oracle who trusts nobody.

A :class:`Play` does to a network what it is told and keeps its own books: who asks for what at
which broker, who promised what, which links there are. After each publication it compares what
happened with what flooding would have done, by libxml2 and by the books alone:

- each subscription that the document satisfies, in the part of the network where it was published,
  receives it once, and nobody else does;
- each crossing is over a link that exists, begins where the document is, and none is made twice;
- under a perfect strategy there is somebody to satisfy behind each crossing.

:meth:`Play.check_tables` compares the tables with those of a network built afresh, in another
order, from what is left, and with what theory says they have to be. Whoever finds a fault raises
:class:`Fault`, which names the kind of fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from typing import Any, TypeVar

from tests.routing.vocabulary import (
    DOCUMENTS,
    SCHEMAS,
    STRATEGIES,
    THEMES,
    Expression,
    Theme,
    keeps,
    satisfied,
)
from twigcast import Network
from twigcast.covering import Advertisement, covers, overlaps
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.routing.events import BrokerId
from twigcast.routing.path_unit.linear_parts import linear_parts
from twigcast.routing.strategy import Strategy

PUBLISHERS = (None, "press", "agency")
Link = frozenset[str]


class Fault(AssertionError):  # noqa: N818 - a finding, not an error of ours
    """The network broke the law: ``kind`` says how, the text what happened."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {text}")


# Topologies.


def topology(links: Iterable[tuple[int, int]], count: int) -> dict[str, Any]:
    """The dictionary of a topology file, with brokers B1, B2 and so on."""
    return {
        "brokers": [f"B{number + 1}" for number in range(count)],
        "links": [[f"B{one + 1}", f"B{other + 1}"] for one, other in links],
    }


def line(count: int) -> dict[str, Any]:
    """Each broker linked to the next."""
    return topology(((number - 1, number) for number in range(1, count)), count)


def star(count: int) -> dict[str, Any]:
    """Every broker linked to the first."""
    return topology(((0, number) for number in range(1, count)), count)


def tree(parents: Sequence[int]) -> dict[str, Any]:
    """Each broker but the first linked to one before it: ``parents`` taken modulo their number."""
    links = ((parent % number, number) for number, parent in enumerate(parents, start=1))
    return topology(links, len(parents) + 1)


def spanning(known: dict[Link, float]) -> set[Link]:
    """The links in use: of those that make a circle, the last by latency and names is left out.

    This is Kruskal's algorithm; the network uses Prim's.
    """
    parts: dict[str, set[str]] = {}
    kept: set[Link] = set()
    for link in sorted(known, key=lambda link: (known[link], sorted(link))):
        one, other = (parts.setdefault(broker, {broker}) for broker in sorted(link))
        if one is not other:
            kept.add(link)
            one |= other
            parts.update(dict.fromkeys(other, one))
    return kept


# The books.


@dataclass(frozen=True)
class Subscribed:
    """A subscription as the oracle remembers it."""

    broker: str
    subscriber: str
    expression: Expression


@dataclass(frozen=True)
class Advertised:
    """An advertisement as the oracle remembers it."""

    broker: str
    publisher: str | None
    schema: int


class Play:
    """A network, and the oracle's books about it."""

    def __init__(self, topology: dict[str, Any], strategy: Strategy, engine: str = "auto") -> None:
        self.strategy, self.engine = strategy, engine
        self.brokers: list[str] = list(topology["brokers"])
        self.known: dict[Link, float] = {frozenset(link): 1.0 for link in topology["links"]}
        self.links = spanning(self.known)
        self.network = Network(topology, strategy, engine=engine)
        self.subscriptions: dict[Any, Subscribed] = {}
        self.advertisements: dict[Any, Advertised] = {}
        self.calls = [f"network = Network({topology!r}, {str(strategy)!r}, engine={engine!r})"]

    # What is done to the network. Numbers are taken modulo what there is.

    def subscribe(self, broker: int, subscriber: str, expression: Expression) -> None:
        at = self._broker(broker)
        self._log(
            f"subscribe({at!r}, {subscriber!r}, {expression.text!r}, {expression.namespaces!r})"
        )
        made = self.network.subscribe(at, subscriber, expression.text, expression.namespaces)
        assert made not in self.subscriptions, f"subscription id {made} was given before"
        self.subscriptions[made] = Subscribed(at, subscriber, expression)

    def unsubscribe(self, number: int) -> None:
        if self.subscriptions:
            taken = list(self.subscriptions)[number % len(self.subscriptions)]
            self._log(f"unsubscribe({taken!r})  # {self.subscriptions[taken].expression.text}")
            self.network.unsubscribe(taken)
            del self.subscriptions[taken]

    def advertise(self, broker: int, publisher: str | None, schema: int) -> None:
        at, schema = self._broker(broker), schema % len(SCHEMAS)
        self._log(f"advertise({at!r}, SCHEMAS[{schema}], publisher={publisher!r})")
        made = self.network.advertise(at, SCHEMAS[schema], publisher=publisher)
        assert made not in self.advertisements, f"advertisement id {made} was given before"
        self.advertisements[made] = Advertised(at, publisher, schema)

    def unadvertise(self, number: int) -> None:
        if self.advertisements:
            taken = list(self.advertisements)[number % len(self.advertisements)]
            self._log(f"unadvertise({taken!r})")
            self.network.unadvertise(taken)
            del self.advertisements[taken]

    def remove_link(self, number: int) -> None:
        if self.known:
            one, other = sorted(map(sorted, self.known))[number % len(self.known)]
            self._log(f"remove_link({one!r}, {other!r})")
            self.network.remove_link(one, other)
            del self.known[frozenset((one, other))]
            self.links = spanning(self.known)

    def add_link(self, number: int, far: int, latency: float = 1.0) -> None:
        """Join a broker with one that it is not joined with, in its own part or in another."""
        one = self._broker(number)
        apart = [
            each
            for each in self.brokers
            if each != one and frozenset((one, each)) not in self.known
        ]
        if apart:
            other = apart[far % len(apart)]
            self._log(f"add_link({one!r}, {other!r}, latency_ms={latency!r})")
            self.network.add_link(one, other, latency_ms=latency)
            self.known[frozenset((one, other))] = latency
            self.links = spanning(self.known)

    def merge(self) -> None:
        self._log("merge()")
        self.network.merge()

    def publish(self, broker: int, publisher: str | None, content: bytes) -> None:
        """Publish, and check what happened."""
        at = self._broker(broker)
        self._log(f"publish({at!r}, {content!r}, publisher={publisher!r})")
        before = self._published()
        outcome = self.network.publish(at, content, publisher=publisher)
        if self.strategy.unit == "document" and self._published() - before != Counter(
            outcome.crossings
        ):
            self.fault("traffic", f"{self._published() - before} for {outcome.crossings}")
        if outcome.dead_letters:
            self.fault("dead letter", f"{outcome.dead_letters!r}")
        kept = self._keeps(at, publisher, content)
        refused = self.strategy.unadvertised == "refuse" and kept is False
        if bool(outcome.refused) != refused:
            self.fault("refusal", f"refused {outcome.refused!r}, expected {refused}")
        self._check_deliveries(at, content, outcome.deliveries, refused=refused)
        self._check_crossings(at, content, outcome.crossings, routed=bool(kept))

    def attempt(self, move: Callable[[], None]) -> None:
        """Do something; that a broker refuses what its neighbour says is a fault, too."""
        try:
            move()
        except Fault:
            raise
        except AssertionError as refused:
            self.fault("broken advertisement", str(refused))

    # The oracle.

    def fault(self, kind: str, text: str) -> None:
        history = "\nnetwork.".join(self.calls)
        raise Fault(kind, f"{text}\n{history}")

    def side(self, broker: str, without: str | None = None) -> set[str]:
        """The brokers that can be reached from one, not going by another."""
        reached, waiting = {broker}, [broker]
        while waiting:
            here = waiting.pop()
            for link in self.links:
                if here in link:
                    (there,) = link - {here}
                    if there != without and there not in reached:
                        reached.add(there)
                        waiting.append(there)
        return reached

    def _check_deliveries(
        self, at: str, content: bytes, deliveries: Iterable[Any], *, refused: bool
    ) -> None:
        part = self.side(at)
        expected = Counter(
            (each.subscriber, number)
            for number, each in self.subscriptions.items()
            if not refused and each.broker in part and satisfied(each.expression, content)
        )
        made = Counter((delivery.subscriber, delivery.subscription) for delivery in deliveries)
        if lost := expected - made:
            self.fault("lost", f"{dict(lost)} of {dict(expected)}")
        if extra := made - expected:
            kind = "twice" if extra.keys() <= expected.keys() else "extra"
            self.fault(kind, f"{dict(extra)} beside {dict(expected)}")

    def _check_crossings(
        self, at: str, content: bytes, crossings: Iterable[tuple[str, str]], *, routed: bool
    ) -> None:
        if self.strategy.unit == "path":
            crossings = dict.fromkeys(crossings)  # A message for each path.
        reached = {at}
        for here, there in crossings:
            if frozenset((here, there)) not in self.links:
                self.fault("no such link", f"{here} to {there}")
            if here not in reached:
                self.fault("out of nowhere", f"{here} to {there}, and {here} did not have it")
            if there in reached:
                self.fault("back", f"{here} to {there}, which had it already")
            reached.add(there)
            if self.strategy.perfect and (routed or self.strategy.towards == "all"):
                behind = self.side(there, without=here)
                if not any(
                    each.broker in behind and satisfied(each.expression, content)
                    for each in self.subscriptions.values()
                ):
                    self.fault("needless", f"{here} to {there}")

    def _published(self) -> Counter[tuple[str, str]]:
        """Documents that have crossed each link in each direction, by the network's own count."""
        counted = self.network.traffic.by_link()
        return Counter({pair: kinds["publish"] for pair, kinds in counted.items()})

    def _keeps(self, at: str, publisher: str | None, content: bytes) -> bool | None:
        """Whether a document keeps to what its publisher has advertised; None if nothing."""
        schemas = [
            advertised.schema
            for advertised in self.advertisements.values()
            if (advertised.broker, advertised.publisher) == (at, publisher)
        ]
        return any(keeps(schema, content) for schema in schemas) if schemas else None

    def check_annotations(self) -> None:
        """In a network that settles, no annotations are outdated, and nobody is called a liar."""
        for broker in self.brokers:
            counted = self.network.statistics(broker)
            if counted.annotations_ignored or counted.lies:
                self.fault("annotations", f"{broker}: {counted}")

    # Tables.

    def check_tables(self) -> None:
        """Merge, and compare all tables with those of a network built afresh."""
        self.merge()
        for part in self._parts():
            fresh = self._afresh(part)
            for broker in part:
                here, there = self.network.tables(broker), fresh.tables(broker)
                if here != there:
                    self.fault("tables", f"of {broker}:\n  {here}\nafresh:\n  {there}")
                self._check_counted(fresh, broker)
        self._check_theory()

    def _check_counted(self, fresh: Network, broker: str) -> None:
        """Where no link was ever lost, what was said less what was withdrawn is what stands."""
        view = fresh.tables(broker)
        for link, routes in view.forwarded.items():
            counted = fresh.traffic[broker, link]
            if counted["subscribe"] - counted["unsubscribe"] != len(routes) or counted[
                "advertise"
            ] - counted["unadvertise"] != len(view.advertised[link]):
                self.fault("traffic", f"{broker} to {link}: {counted} for {view}")

    def _parts(self) -> list[list[str]]:
        parts = {frozenset(self.side(broker)) for broker in self.brokers}
        return sorted(sorted(part) for part in parts)

    def _afresh(self, part: list[str]) -> Network:
        """A network of one part, everything there in the opposite order."""
        links = [sorted(link, reverse=True) for link in self.links if link <= set(part)]
        whole = {"brokers": part[::-1], "links": sorted(links)}
        network = Network(whole, self.strategy, engine=self.engine)
        for each in reversed(self.subscriptions.values()):
            if each.broker in part:
                network.subscribe(
                    each.broker, each.subscriber, each.expression.text, each.expression.namespaces
                )
        for advertised in reversed(self.advertisements.values()):
            if advertised.broker in part:
                schema = SCHEMAS[advertised.schema]
                network.advertise(advertised.broker, schema, publisher=advertised.publisher)
        network.merge()
        return network

    def _check_theory(self) -> None:
        """What is said over a link, by the definition of the strategy."""
        both_ways = [(BrokerId(one), BrokerId(other)) for one, other in map(sorted, self.links)]
        for here, there in both_ways + [(far, near) for near, far in both_ways]:
            view, far = self.network.tables(here), self.network.tables(there)
            said = set(view.forwarded[there])
            if said != set(far.routes[here]):
                self.fault("two minds", f"{here} says {said}, {there} knows {far.routes[here]}")
            if set(view.advertised[there]) != set(far.advertisements[here]):
                self.fault("two minds", f"{here} and {there} differ on advertisements")
            if self.strategy.hold_back == "prefixed" or self.strategy.merging != "none":
                continue
            heard = self._local(here).union(
                *(map(read, calls) for link, calls in view.routes.items() if link != there)
            )
            due = {each.text for each in self._due(heard, view.advertisements[there])}
            if said != due:
                self.fault("not by definition", f"{here} says {said} to {there}, not {due}")

    def _local(self, broker: str) -> frozenset[Pattern]:
        """What a broker's own clients need to be asked for."""
        own = {
            each.expression.pattern for each in self.subscriptions.values() if each.broker == broker
        }
        if self.strategy.unit == "path":
            return frozenset(part for pattern in own for part in linear_parts(pattern))
        return frozenset(own)

    def _due(self, heard: frozenset[Pattern], came: Iterable[str]) -> frozenset[Pattern]:
        """What is to be said of all that was heard elsewhere."""
        if self.strategy.floods:
            return frozenset()
        due = roots(heard) if self.strategy.hold_back == "covered" else heard
        advertised = [Advertisement.parse(text) for text in came]
        match self.strategy.towards:
            case "all":
                return due
            case "producers":
                return due if advertised else frozenset()
            case _:
                return frozenset(
                    each for each in due if any(overlaps(one, each) for one in advertised)
                )

    def _broker(self, number: int) -> str:
        return self.brokers[number % len(self.brokers)]

    def _log(self, call: str) -> None:
        self.calls.append(call)


@cache
def read(text: str) -> Pattern:
    """The pattern of a canonical text."""
    return Pattern.parse(text, limits=CANONICAL_LIMITS)


_covers = cache(lambda wider, narrower: covers(wider=wider, narrower=narrower))


@cache
def roots(patterns: frozenset[Pattern]) -> frozenset[Pattern]:
    """Of each class that nothing outside it covers, the least text: by all pairs."""
    above = {
        narrower: {wider for wider in patterns if _covers(wider, narrower)} for narrower in patterns
    }
    for middle in patterns:
        for each in patterns:
            if middle in above[each]:
                above[each] |= above[middle]
    found = set()
    for each, wider in above.items():
        alike = {other for other in wider if each in above[other]}
        if alike == wider:
            found.add(min(alike | {each}, key=lambda pattern: pattern.text))
    return frozenset(found)


# Chance plays.


class Mood:
    """What a play is about: some of what a theme has, so that things meet often."""

    def __init__(self, rng: Random, theme: Theme | None = None) -> None:
        self.rng = rng
        theme = theme or rng.choice(list(THEMES.values()))
        share = rng.choice((0.1, 0.3, 1.0))
        self.spoken = _some(rng, theme.spoken, share)
        self.documents = _some(rng, theme.documents, share)
        self.schemas = _some(rng, theme.schemas, share)
        self.publishers = _some(rng, PUBLISHERS, share)

    def subscribe(self, play: Play) -> None:
        play.subscribe(self.number(), self.rng.choice("xyz"), self.rng.choice(self.spoken))

    def subscribe_to_many(self, play: Play) -> None:
        """One broker's clients ask for much of what there is."""
        broker = self.number()
        for expression in self.rng.sample(self.spoken, min(6, len(self.spoken))):
            play.subscribe(broker, "w", expression)

    def unsubscribe(self, play: Play) -> None:
        play.unsubscribe(self.number())

    def advertise(self, play: Play) -> None:
        publisher, schema = self.rng.choice(self.publishers), self.rng.choice(self.schemas)
        play.advertise(self.number(), publisher, schema)

    def unadvertise(self, play: Play) -> None:
        play.unadvertise(self.number())

    def publish(self, play: Play) -> None:
        publisher, content = self.rng.choice(self.publishers), self.rng.choice(self.documents)
        play.publish(self.number(), publisher, content)

    def publish_as_advertised(self, play: Play) -> None:
        """A document that keeps to what its publisher has advertised, if there is one."""
        if play.advertisements:
            advertised = self.rng.choice(list(play.advertisements.values()))
            kept = [each for each in DOCUMENTS if keeps(advertised.schema, each)]
            broker = play.brokers.index(advertised.broker)
            play.publish(broker, advertised.publisher, self.rng.choice(kept))

    def remove_link(self, play: Play) -> None:
        play.remove_link(self.number())

    def do_much_at_once(self, play: Play) -> None:
        """Several things between two messages."""
        play.calls.append("batch() of the next five")
        with play.network.batch():
            for move in self.rng.choices(self.QUIET, k=5):
                move(self, play)

    def add_link(self, play: Play) -> None:
        play.add_link(self.number(), self.number(), self.rng.choice((0.5, 1.0, 2.0)))

    def merge(self, play: Play) -> None:
        play.merge()

    QUIET = (subscribe, unsubscribe, unsubscribe, advertise, unadvertise, remove_link, add_link)

    def number(self) -> int:
        return self.rng.randrange(99)


T = TypeVar("T")


def _some(rng: Random, whole: Sequence[T], share: float) -> list[T]:
    return rng.sample(whole, max(2, int(share * len(whole))))


MOVES: dict[str, tuple[int, Callable[[Mood, Play], None]]] = {
    "subscribe": (12, Mood.subscribe),
    "subscribe to many": (1, Mood.subscribe_to_many),
    "unsubscribe": (4, Mood.unsubscribe),
    "advertise": (3, Mood.advertise),
    "unadvertise": (1, Mood.unadvertise),
    "publish": (4, Mood.publish),
    "publish as advertised": (4, Mood.publish_as_advertised),
    "remove link": (1, Mood.remove_link),
    "add link": (2, Mood.add_link),
    "merge": (1, Mood.merge),
    "much at once": (1, Mood.do_much_at_once),
}
"""What may happen next, and how often."""

LAST_WORDS = 12
"""Documents that are published when nothing more will happen: a fault may have had no witness."""


def random_topology(rng: Random, brokers_max: int = 15) -> dict[str, Any]:
    count = rng.randint(2, brokers_max)
    match rng.randrange(3):
        case 0:
            return line(count)
        case 1:
            return star(count)
        case _:
            return tree([rng.randrange(99) for _ in range(count - 1)])


def random_play(
    rng: Random,
    *,
    strategies: Sequence[Strategy] = STRATEGIES,
    moves: int = 40,
    brokers_max: int = 15,
    documents: bool = True,
    tables: bool = True,
    engine: str = "auto",
    theme: Theme | None = None,
) -> Play:
    """A whole play by chance alone; raises :class:`Fault`.

    Documents are published on the way unless ``documents`` says no; if ``tables`` says so, they are
    compared at the end.
    """
    play = Play(random_topology(rng, brokers_max), rng.choice(strategies), engine)
    mood = Mood(rng, theme)
    allowed = [move for name, move in MOVES.items() if documents or "publish" not in name]
    for _, move in rng.choices(allowed, [weight for weight, _ in allowed], k=moves):
        play.attempt(partial(move, mood, play))
    for content in mood.documents[:LAST_WORDS] if documents else ():
        play.attempt(partial(play.publish, mood.number(), rng.choice(mood.publishers), content))
    if tables:
        play.attempt(play.check_tables)
    return play
