"""Brokers whose tables stand still do with each document what routers with these tables do.

A network plays for a while (:mod:`tests.routing.networks`). Then its tables are copied into
standing brokers, and documents are published in the network and walked from broker to broker by
hand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import settings

from tests.routing.networks import Play, line, random_play, read
from tests.routing.vocabulary import STRATEGIES, WAYS, WILDCARDS, annotating
from twigcast import Network
from twigcast.errors import DocumentError
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.events import BrokerId, LinkId, Publication
from twigcast.routing.static.static_broker import (
    AnnotatingBroker,
    PlainBroker,
    RoutingDecision,
    StandingTables,
    agreements,
    compiled_tables,
    route_id,
)
from twigcast.routing.strategy import Strategy, flooding, identity, piggyback

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

p = Pattern.parse


class RowByRow(PlainBroker):
    """A plain broker that is asked about one document after the other."""

    def decide(
        self,
        publication: Publication,
        came_by: LinkId | None,
        *,
        annotations: Annotations | None = None,  # noqa: ARG002 (nobody asked for any)
        flooded: bool = False,
    ) -> RoutingDecision:
        """As the worker of Spark does it, column by column."""
        decision = self.matcher.decide(publication.content)
        # A route in doubt counts: a document too many is dropped further on, one too few is lost.
        routed = self._links_of((*decision.matches, *decision.undecided))
        wanted = set(self.links if flooded else routed)
        links = tuple(link for link in self.links if link in wanted and link != came_by)
        return RoutingDecision(
            links,
            tuple(number for number in decision.matches if number >= 0),
            tuple(number for number in decision.undecided if number >= 0),
            (None,) * len(links),
        )

    def _links_of(self, ids: Iterable[int]) -> Iterable[LinkId]:
        for each in ids:
            if each < 0:
                yield self.links[bisect_right(self.ends, route_id(each))]


StandingBroker: TypeAlias = RowByRow | AnnotatingBroker


def standing_broker(
    strategy: Strategy, tables: StandingTables, *, engine: str = "auto"
) -> StandingBroker:
    """A broker with these tables, which annotates if the strategy says so."""
    if strategy.protocol == "none":
        sizes = {link: len(routes) for link, routes in tables.routes.items()}
        return RowByRow(compiled_tables(tables, engine=engine), sizes)
    return AnnotatingBroker(strategy, tables, engine=engine)


@dataclass
class Walk:
    """What became of a document that was walked by hand."""

    deliveries: list[int] = field(default_factory=list)
    undecided: list[int] = field(default_factory=list)
    crossings: list[tuple[str, str]] = field(default_factory=list)
    annotated: int = 0
    ignored: int = 0


def tables_of(
    network: Network, own: dict[str, dict[int, Pattern]]
) -> dict[BrokerId, StandingTables]:
    """The tables of a network that has settled, as they stand."""
    found = {}
    for broker in map(BrokerId, network.brokers):
        routes = network.tables(broker).routes
        found[broker] = StandingTables(
            own.get(broker, {}),
            {BrokerId(link): tuple(map(read, texts)) for link, texts in routes.items()},
        )
    return agreements(network.strategy, found)


def brokers_of(play: Play) -> dict[BrokerId, StandingBroker]:
    own: dict[str, dict[int, Pattern]] = {}
    for number, each in play.subscriptions.items():
        own.setdefault(each.broker, {})[number] = each.expression.pattern
    tables = tables_of(play.network, own)
    return {
        broker: standing_broker(play.strategy, each, engine=play.engine)
        for broker, each in tables.items()
    }


def walk(
    brokers: dict[BrokerId, StandingBroker], origin: str, content: bytes, *, flooded: bool
) -> Walk:
    publication = Publication("by hand", BrokerId(origin), "", content)
    found = Walk()
    going: list[tuple[BrokerId, LinkId | None, Annotations | None]]
    going = [(BrokerId(origin), None, None)]
    while going:
        broker, came_by, told = going.pop()
        answer = brokers[broker].decide(publication, came_by, annotations=told, flooded=flooded)
        found.deliveries += answer.own
        found.undecided += answer.undecided
        found.ignored += answer.ignored is not None
        for link, along in zip(answer.links, answer.annotations, strict=True):
            found.crossings.append((broker, link))
            found.annotated += along is not None
            going.append((link, broker, along))
    return found


def compare(play: Play, documents: list[bytes], rng: Random) -> int:
    """Publish and walk some documents; how often annotations went along."""
    play.network.merge()
    brokers, annotated = brokers_of(play), 0
    for content in documents:
        origin = rng.choice(play.brokers)
        publishers = [
            each.publisher for each in play.advertisements.values() if each.broker == origin
        ]
        publisher = rng.choice([None, *publishers])
        outcome = play.network.publish(origin, content, publisher=publisher)
        if outcome.refused is not None:
            continue
        kept = play._keeps(origin, publisher, content)
        flooded = play.strategy.floods or (play.strategy.towards != "all" and kept is None)
        if play.strategy.towards == "advertisers":
            flooded = not kept
        walked = walk(brokers, origin, content, flooded=flooded)
        assert sorted(walked.deliveries) == sorted(one.subscription for one in outcome.deliveries)
        assert Counter(walked.crossings) == Counter(outcome.crossings)
        assert not walked.undecided
        assert not walked.ignored or flooded
        annotated += walked.annotated
    return annotated


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_documents_go_the_same_ways_as_in_a_network_under(strategy: Strategy) -> None:
    for seed in range(max(2, settings().max_examples // 40)):
        rng = Random(f"standing, {strategy}, {seed}")
        play = random_play(rng, strategies=[strategy], documents=False, tables=False)
        documents = rng.sample(WILDCARDS.documents, 3) + [
            rng.choice(one) for one in ([b"<a/>"], [b"<a><b/><c/></a>"], [b"<m><b><e/></b></m>"])
        ]
        assert compare(play, documents, rng) == 0


@pytest.mark.parametrize("engine", ["auto", "streaming"])
@pytest.mark.parametrize(("protocol", "kinds"), WAYS, ids=str)
def test_annotated_documents_go_the_same_ways_as_in_a_network(
    protocol: str, kinds: str, engine: str
) -> None:
    rng = Random(f"standing, {protocol}, {kinds}, {engine}")
    strategies, annotated = annotating(protocol, kinds), 0  # type: ignore[arg-type]
    for strategy in rng.sample(
        strategies, max(2, min(len(strategies), settings().max_examples // 40))
    ):
        play = random_play(
            rng,
            strategies=[strategy],
            documents=False,
            tables=False,
            engine=engine,
            theme=WILDCARDS,
        )
        annotated += compare(play, rng.sample(WILDCARDS.documents, 8), rng)
    assert (annotated > 0) <= bool(kinds)


def test_a_mapped_matcher_makes_the_same_broker() -> None:
    tables = StandingTables(
        {7: p("//x"), 2: p("//y")},
        {
            BrokerId("west"): (p("//x"), p("//z")),
            BrokerId("east"): (),
            BrokerId("north"): (p("//y"),),
        },
    )
    mapped = Matcher.from_buffer(compiled_tables(tables).to_bytes())
    broker = RowByRow(mapped, {link: len(each) for link, each in tables.routes.items()})
    for content, came_by in ((b"<x/>", None), (b"<x><y/></x>", BrokerId("north")), (b"<q/>", None)):
        publication = Publication("d", BrokerId("here"), "", content)
        expected = standing_broker(identity(), tables).decide(publication, came_by)
        assert broker.decide(publication, came_by) == expected
    both = broker.decide(Publication("d", BrokerId("here"), "", b"<x><y/></x>"), None)
    assert (both.links, both.own) == (("north", "west"), (2, 7))


def test_a_flooded_document_goes_everywhere_but_back() -> None:
    neighbours = dict.fromkeys(map(BrokerId, ("west", "east", "north")), ())
    broker = standing_broker(flooding(), StandingTables({}, neighbours))
    publication = Publication("d", BrokerId("here"), "", b"<x/>")
    assert broker.decide(publication, BrokerId("east"), flooded=True).links == ("north", "west")
    assert broker.decide(publication, BrokerId("east")).links == ()


def test_annotations_spare_the_last_broker_the_reading() -> None:
    """What is not read cannot be refused: the broken document goes as the annotations say."""
    strategy = piggyback(on=identity(), annotations="-s")
    network = Network(line(2), strategy)
    made = [network.subscribe("B2", "ann", text) for text in ("//x", "//y")]
    asked: dict[str, dict[int, Pattern]] = {"B2": {made[0]: p("//x"), made[1]: p("//y")}}
    tables = tables_of(network, asked)
    here, there = (standing_broker(strategy, tables[each]) for each in map(BrokerId, ("B1", "B2")))
    whole = Publication("d", BrokerId("B1"), "", b"<x/>")
    answer = here.decide(whole, None)
    assert answer.links == ("B2",)
    broken = Publication("d", BrokerId("B1"), "", b"<x")
    told = there.decide(broken, BrokerId("B1"), annotations=answer.annotations[0])
    assert (told.own, told.links, told.ignored) == ((made[0],), (), None)
    with pytest.raises(DocumentError):
        there.decide(broken, BrokerId("B1"))


def test_a_document_in_doubt_goes_on_and_is_told_apart() -> None:
    costly = "count(//*[count(//*) > 1]) > 1"
    tables = StandingTables({3: p(costly), 4: p("//b")}, {BrokerId("west"): (p(costly),)})
    matcher = Matcher(residual_cost_max=10)
    for number, pattern in ((3, tables.own[3]), (4, tables.own[4]), (-1, tables.own[3])):
        matcher.add(number, pattern)
    content = b"<a>" + b"<b/>" * 100 + b"</a>"
    publication = Publication("d", BrokerId("here"), "", content)
    answer = RowByRow(matcher, {BrokerId("west"): 1}).decide(publication, None)
    assert (answer.links, answer.own, answer.undecided) == (("west",), (4,), (3,))


@pytest.mark.parametrize("strategy", [identity(), piggyback(), piggyback("eager")], ids=str)
def test_a_broken_document_is_refused_at_its_origin(strategy: Strategy) -> None:
    network = Network(line(3), strategy)
    brokers = tables_of(network, {})
    broker = standing_broker(strategy, brokers[BrokerId("B1")])
    with pytest.raises(DocumentError):
        broker.decide(Publication("d", BrokerId("B1"), "", b"<a>"), None)
