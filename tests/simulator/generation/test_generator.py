"""Stories drawn from a scenario: where clients are, what they ask for, when things happen."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.simulator.stories import TREE, generated, published, subscribed
from twigcast.routing.events import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from twigcast.simulator import Scenario, simulate
from twigcast.simulator.schedule import ClientEvent, LinkLost, LinkReturns, TimedEvent


def brokers(phase: tuple[TimedEvent, ...]) -> list[str]:
    return [timed.broker for timed in phase if isinstance(timed, ClientEvent)]


def test_subscribers_are_where_they_are_said_to_be() -> None:
    workload = "[workload]\nsubscriptions = 2\nsubscribers_at = "
    assert brokers(generated(TREE + workload + '"leaves"').stage[1]) == ["b4", "b5", "b6", "b7"] * 2
    assert brokers(generated(TREE + workload + '["b2", "b6"]').stage[1]) == ["b2", "b6"] * 2
    assert len(set(brokers(generated(TREE + workload + '"all"').stage[1]))) == 7


def test_each_reader_asks_for_different_things() -> None:
    asked = subscribed(generated(TREE + "[workload]\nsubscriptions = 30\n"))
    by_reader: dict[str, list[str]] = {}
    for _, event in asked:
        by_reader.setdefault(event.subscriber, []).append(event.pattern.text)
    assert [len(set(texts)) for texts in by_reader.values()] == [30] * 7


def test_a_pool_bounds_how_many_different_subscriptions_there_are() -> None:
    asked = subscribed(generated(TREE + "[workload]\nsubscriptions = 30\npool = 5\n"))
    assert len(asked) == 7 * 30
    assert len({event.pattern for _, event in asked}) <= 5


def test_clients_of_one_broker_have_their_own_interests() -> None:
    text = TREE + '[workload]\ndtds = ["news", "parts", "clinic"]\ninterests = 1\n'
    roots: dict[str, set[str]] = {}
    for broker, event in subscribed(
        generated(text + "patterns = { wildcard = 0, descendant = 0 }\n")
    ):
        roots.setdefault(broker, set()).add(event.pattern.text.split("/")[1].split("[")[0])
    assert {len(kinds) for kinds in roots.values()} == {1}
    assert set().union(*roots.values()) <= {"news", "catalogue", "record"}


def test_subscriptions_may_come_one_after_the_other() -> None:
    phase = generated(TREE + "[workload]\nsubscriptions = 1\nsubscribe_every = 0.5\n").stage[1]
    assert [timed.at for timed in phase] == [0.5 * number for number in range(7)]


def test_clients_of_a_topology_subscribe_at_their_broker() -> None:
    text = (
        '[topology]\ngenerate = "transit-stub"\nbrokers = 3\nclients = 6\nclients_each = 2\n'
        "transit_domains = 2\ntransit_nodes = 2\nstubs = 2\nstub_nodes = 3\n"
        '[workload]\nper = "client"\nsubscriptions = 4\n'
    )
    schedule = generated(text)
    at = {client.name: client.broker for client in schedule.network.clients}
    asked = subscribed(schedule)
    assert len(asked) == 24
    assert all(at[event.subscriber] == broker for broker, event in asked)


def test_publishers_are_where_they_are_said_to_be_and_advertise_first() -> None:
    at = '[workload]\npublishers_at = ["b2", "b3"]\ndocuments = 4\ndtds = ["news", "parts"]\n'
    schedule = generated(TREE + at)
    assert [broker for _, broker, _ in published(schedule)] == ["b2", "b3", "b2", "b3"]
    promised = [
        (timed.broker, timed.event) for timed in schedule.stage[0] if isinstance(timed, ClientEvent)
    ]
    assert [broker for broker, _ in promised] == ["b2", "b2", "b3", "b3"]
    assert all(isinstance(event, Advertise) for _, event in promised)
    assert generated(TREE + at + "advertise = false\n").stage[0] == ()
    assert len(generated(TREE + at + "publishes = 1\n").stage[0]) == 2


def test_random_publishers_are_drawn_from_the_seed() -> None:
    text = TREE + "[workload]\npublishers = 3\ndocuments = 3\n"
    drawn = {
        tuple(broker for _, broker, _ in published(generated(text, seed=seed)))
        for seed in (1, 2, 3)
    }
    assert len(drawn) > 1
    assert all(len(set(places)) == 3 for places in drawn)


def test_documents_come_at_their_times() -> None:
    text = TREE + "[workload]\ndocuments = 3\n"
    assert [at for at, _, _ in published(generated(text + "publish_every = 2\n"))] == [0, 2, 4]
    assert [at for at, _, _ in published(generated(text + "publish_times = [5, 1, 1]\n"))] == [
        1,
        1,
        5,
    ]
    times = [at for at, _, _ in published(generated(text + "publish_rate = 10\n"))]
    assert times == sorted(times)
    assert times[0] > 0
    assert times[-1] < 3


def test_changes_happen_in_the_order_of_their_times() -> None:
    changes = (
        '[[change]]\nat = 3\ndo = "unsubscribe"\nname = "x"\n'
        '[[change]]\nat = 1\ndo = "subscribe"\nbroker = "b1"\nxpath = "//p:a"\nname = "x"\n'
        'namespaces = { p = "urn:p" }\n'
        '[[change]]\nat = 2\ndo = "advertise"\nbroker = "b2"\npublisher = "p"\ndtd = "news"\n'
        'name = "promise"\n'
        '[[change]]\nat = 4\ndo = "unadvertise"\nname = "promise"\n'
        '[[change]]\nat = 5\ndo = "link_down"\nbetween = ["b2", "b1"]\n'
        '[[change]]\nat = 6\ndo = "link_up"\nbetween = ["b1", "b2"]\n'
        '[[change]]\nat = 7\ndo = "publish"\nbroker = "b3"\ndocument = "<a/>"\n'
    )
    schedule = generated(TREE + "[workload]\ndocuments = 0\nsubscriptions = 0\n" + changes)
    kinds = [
        type(timed.event) if isinstance(timed, ClientEvent) else type(timed)
        for timed in schedule.then
    ]
    assert kinds == [
        Subscribe,
        Advertise,
        Unsubscribe,
        Unadvertise,
        LinkLost,
        LinkReturns,
        Publish,
    ]


def test_churn_goes_on_as_long_as_it_is_said_to() -> None:
    text = TREE + (
        "[workload]\ndocuments = 0\nsubscriptions = 1\n"
        "[churn]\nseconds = 50\nsubscribe = 2\nunsubscribe = 4\nlink_loss = 1\ndown_seconds = 3\n"
    )
    schedule = generated(text)
    came = sum(
        isinstance(each, ClientEvent) and isinstance(each.event, Subscribe)
        for each in schedule.then
    )
    went = sum(
        isinstance(each, ClientEvent) and isinstance(each.event, Unsubscribe)
        for each in schedule.then
    )
    assert 60 < came < 140
    assert came < went <= came + 7  # there were seven, and nobody leaves who is not there
    down: set[frozenset[str]] = set()
    for timed in schedule.then:
        match timed:
            case LinkLost(between=between):
                assert frozenset(between) not in down
                down.add(frozenset(between))
            case LinkReturns(between=between):
                down.remove(frozenset(between))
            case _:
                assert timed.at < 50
    assert not down
    results = simulate(Scenario.of(tomllib.loads(text), name="t", folder=Path()), schedule=schedule)
    assert results.refusals == ()
