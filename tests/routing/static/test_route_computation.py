"""Two sweeps come to the routes that routers come to one change at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.networks import line, random_topology, star, tree
from tests.routing.vocabulary import (
    STRATEGIES,
    THEMES,
    WILDCARDS,
    Theme,
    advertisement_of,
    annotating,
)
from tests.strategies import NAMESPACES, subscriptions
from twigcast import Network
from twigcast.covering import Advertisement
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.routing import Topology
from twigcast.routing.events import BrokerId
from twigcast.routing.static.route_computation import Routes, forwarded_by, rounds, spread
from twigcast.routing.static.static_broker import StandingTables, agreements
from twigcast.routing.strategy import (
    Strategy,
    advertised,
    covering,
    flooding,
    identity,
    piggyback,
    prefix,
)

p = Pattern.parse
Own = Mapping[str, Sequence[Pattern]]
Promises = Mapping[str, Sequence[Advertisement]]

MORE: tuple[Strategy, ...] = (
    identity(unit="path"),
    covering(unit="path"),
    covering("producers", unit="path"),
    advertised(merging="imperfect", merge_every=0),
)


def routers(
    topology: dict[str, object], strategy: Strategy, own: Own, promises: Promises
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The routes that a network of routers comes to."""
    network = Network(topology, strategy)
    for broker, patterns in own.items():
        for pattern in patterns:
            network.subscribe(broker, "somebody", pattern)
    for broker, advertisements in promises.items():
        for advertisement in advertisements:
            network.advertise(broker, advertisement)
    network.merge()
    return {
        (broker, link): routes
        for broker in network.brokers
        for link, routes in network.tables(broker).routes.items()
    }


def check(topology: dict[str, object], strategy: Strategy, own: Own, promises: Promises) -> None:
    spanning = Topology.of(topology).tree()
    found = spread(spanning, strategy, own, promises)
    texts = {
        link: tuple(each.text for each in forwarded) for link, forwarded in found.forwarded.items()
    }
    assert texts == routers(topology, strategy, own, promises)
    if strategy.protocol != "none":
        check_hints(spanning, strategy, own, found)


def check_hints(spanning: Topology, strategy: Strategy, own: Own, found: Routes) -> None:
    tables = {
        BrokerId(broker): StandingTables(
            dict(enumerate(own.get(broker, ()))),
            {BrokerId(link): found.forwarded[broker, link] for link in spanning.neighbours(broker)},
        )
        for broker in spanning.brokers
    }
    asked = agreements(strategy, tables)
    for (broker, link), hints in found.hints.items():
        assert hints == asked[BrokerId(broker)].hints[BrokerId(link)]
    assert bool(found.hints) == bool(strategy.annotations and found.forwarded)


def drawn(rng: Random, theme: Theme) -> tuple[dict[str, object], Own, Promises]:
    """A network, and who asks for what in it and promises what."""
    topology = random_topology(rng, brokers_max=9)
    brokers: list[str] = topology["brokers"]
    own: dict[str, list[Pattern]] = {}
    for _ in range(rng.randrange(30)):
        own.setdefault(rng.choice(brokers), []).append(rng.choice(theme.spoken).pattern)
    promises: dict[str, list[Advertisement]] = {}
    for _ in range(rng.randrange(5)):
        schema = advertisement_of(rng.choice(theme.schemas))
        promises.setdefault(rng.choice(brokers), []).append(schema)
    return topology, own, promises


@pytest.mark.parametrize("strategy", [*STRATEGIES, *MORE], ids=str)
def test_the_routes_are_those_of_routers_under(strategy: Strategy) -> None:
    @given(st.integers(0), st.sampled_from(list(THEMES)))
    @settings(max_examples=settings().max_examples // 4)
    def chance(seed: int, theme: str) -> None:
        topology, own, promises = drawn(Random(seed), THEMES[theme])
        check(topology, strategy, own, promises)

    chance()


@given(
    st.integers(0),
    st.sampled_from([*annotating("lazy", "+s-sd"), *annotating("eager", ""), piggyback("eager")]),
    st.sampled_from([WILDCARDS, THEMES["alike"]]),
)
def test_routes_and_hints_are_those_of_routers_that_annotate(
    seed: int, strategy: Strategy, theme: Theme
) -> None:
    topology, own, promises = drawn(Random(seed), theme)
    check(topology, strategy, own, promises)


@given(
    st.lists(st.integers(0, 13), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 99), subscriptions()), max_size=12),
    st.sampled_from([covering(), prefix(depth=2), covering(unit="path")]),
)
def test_the_routes_are_those_of_routers_whatever_is_asked_for(
    parents: list[int], asked: list[tuple[int, object]], strategy: Strategy
) -> None:
    topology = tree(parents)
    brokers = topology["brokers"]
    own: dict[str, list[Pattern]] = {}
    for number, forwarded in asked:
        pattern = p(forwarded.text, NAMESPACES)  # type: ignore[attr-defined]
        own.setdefault(brokers[number % len(brokers)], []).append(pattern)
    check(topology, strategy, own, {})


def test_everybody_speaks_up_once_all_below_have_and_down_once_all_above_have() -> None:
    told = rounds(Topology.of(tree([0, 0, 1, 1, 2, 5])).tree())
    assert [[(turn.broker, *turn.to) for turn in turns] for turns in told] == [
        [("B7", "B6")],
        [("B4", "B2"), ("B5", "B2"), ("B6", "B3")],
        [("B2", "B1"), ("B3", "B1")],
        [("B1", "B2", "B3")],
        [("B2", "B4", "B5"), ("B3", "B6")],
        [("B6", "B7")],
    ]


@pytest.mark.parametrize("topology", [line(6), star(6), tree([0, 1, 1, 0, 3])], ids=str)
def test_each_link_is_spoken_over_once_in_each_direction(topology: dict[str, object]) -> None:
    spanning = Topology.of(topology).tree()
    spoken = [(turn.broker, to) for turns in rounds(spanning) for turn in turns for to in turn.to]
    ends = [link.between for link in spanning.links]
    assert sorted(spoken) == sorted([*ends, *((other, one) for one, other in ends)])


def test_a_broker_alone_says_nothing() -> None:
    alone = Topology.of({"brokers": ["here"]}).tree()
    assert rounds(alone) == ()
    assert spread(alone, covering(), {"here": [p("/a")]}) == Routes({})


def test_nothing_is_said_where_everything_is_flooded() -> None:
    found = spread(Topology.of(line(2)).tree(), flooding(), {"B1": [p("/a")]})
    assert found.forwarded == {("B1", "B2"): (), ("B2", "B1"): ()}


def test_a_broker_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="no broker 'B9'"):
        spread(Topology.of(line(2)).tree(), covering(), {"B9": [p("/a")]})
    with pytest.raises(UsageError, match="no broker 'B9'"):
        spread(Topology.of(line(2)).tree(), covering(), {}, {"B9": [advertisement_of(0)]})


def test_nobody_is_told_what_only_they_have_said() -> None:
    told = forwarded_by(
        covering(), [p("/b")], {"west": [p("/a")], "east": [p("/a/c")]}, ("west", "east")
    )
    assert {link: set(forwarded) for link, forwarded in told.items()} == {
        "west": {p("/b"), p("/a/c")},
        "east": {p("/b"), p("/a")},
    }
