"""Networks in memory: what their methods do, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.poisoned import GOOD, POISONED
from tests.routing.vocabulary import STRATEGIES
from twigcast import (
    DocumentError,
    DocumentLimitError,
    Network,
    Pattern,
    PatternError,
    Schema,
    UsageError,
)
from twigcast.covering import Advertisement
from twigcast.errors import FloodingWarning
from twigcast.language import Document
from twigcast.routing import Router, RouterLimits, Strategy, Topology
from twigcast.routing.events import (
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    LinkUp,
    Publication,
    Received,
    Send,
    SubscriptionId,
)
from twigcast.routing.strategy import advertised, covering
from twigcast.routing.wire.frames import encode, received

IGNORES_FLOODING = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")

LINE = {"links": [["a", "b"], ["b", "c"]]}
CIRCLE = {"links": [["a", "b"], ["b", "c"], ["c", "a"]]}
NEWS = Schema.parse(b"<!ELEMENT news (item*)> <!ELEMENT item (#PCDATA)>")
RUNAWAY = "//*[count(preceding::*/namespace::*) > 9]"
WIDE = b"<r>" + b"<t/>" * 4_000 + b"</r>"
"""On which the expression above is too costly."""


def receivers(network: Network, broker: str, document: bytes) -> list[tuple[str, int]]:
    """Who receives a document, and for which subscription."""
    found = network.publish(broker, document).deliveries
    return [(each.subscriber, each.subscription) for each in found]


# Clients.


def test_a_document_is_delivered_where_it_was_asked_for_and_goes_nowhere_else() -> None:
    network = Network({"links": [["a", "b"], ["b", "c"], ["b", "d"]]}, "covering")
    asked = network.subscribe("c", "ann", "/x")
    outcome = network.publish("a", b"<x/>")
    (delivery,) = outcome.deliveries
    assert (delivery.subscriber, delivery.subscription, delivery.broker) == ("ann", asked, "c")
    assert delivery.publication == outcome.publication
    assert outcome.crossings == (("a", "b"), ("b", "c"))
    assert (outcome.refused, outcome.dead_letters) == (None, ())


def test_who_asks_twice_receives_twice_and_an_id_takes_back_one() -> None:
    network = Network(LINE)
    one, other = (network.subscribe("c", "ann", "/x") for _ in range(2))
    assert receivers(network, "a", b"<x/>") == [("ann", one), ("ann", other)]
    network.unsubscribe(one)
    assert receivers(network, "a", b"<x/>") == [("ann", other)]


def test_prefixes_are_those_of_the_subscription() -> None:
    network = Network(LINE)
    network.subscribe("c", "ann", "/p:x", {"p": "urn:one"})
    network.subscribe("c", "bob", "/p:x", {"p": "urn:two"})
    network.subscribe("b", "cem", Pattern.parse("/*:x"))
    found = network.publish("a", b"<x xmlns='urn:two'/>").deliveries
    assert [each.subscriber for each in found] == ["cem", "bob"]


def test_publications_have_different_names() -> None:
    network = Network(LINE)
    assert len({network.publish("a", b"<x/>").publication for _ in range(3)}) == 3


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_network_of_one_broker_serves_its_clients(strategy: Strategy) -> None:
    network = Network({"brokers": ["alone"]}, strategy)
    asked = network.subscribe("alone", "ann", "/x")
    network.merge()
    assert receivers(network, "alone", b"<x/>") == [("ann", asked)]
    assert network.brokers == ("alone",)
    assert network.traffic.total() == 0


# What is refused.


def test_an_unknown_broker_is_refused_by_every_method() -> None:
    network = Network(LINE)
    for attempt in (
        lambda: network.subscribe("z", "ann", "/x"),
        lambda: network.advertise("z", NEWS),
        lambda: network.publish("z", b"<x/>"),
        lambda: network.tables("z"),
        lambda: network.statistics("z"),
        lambda: network.remove_link("a", "z"),
        lambda: network.add_link("z", "a"),
    ):
        with pytest.raises(UsageError, match=r"no broker 'z' in .* there are a, b, c"):
            attempt()


def test_an_id_that_is_not_there_is_refused() -> None:
    network = Network(LINE)
    asked, promised = network.subscribe("a", "ann", "/x"), network.advertise("a", NEWS)
    network.unsubscribe(asked)
    network.unadvertise(promised)
    with pytest.raises(UsageError, match=f"no subscription with id {asked}"):
        network.unsubscribe(asked)
    with pytest.raises(UsageError, match=f"no advertisement with id {promised}"):
        network.unadvertise(promised)
    with pytest.raises(UsageError, match="no subscription"):
        network.unsubscribe(SubscriptionId(promised))
    with pytest.raises(UsageError, match="no advertisement"):
        network.unadvertise(AdvertisementId(asked))


def test_an_expression_that_is_none_changes_nothing() -> None:
    network = Network(LINE)
    with pytest.raises(PatternError):
        network.subscribe("a", "ann", "/x[")
    assert network.statistics("a").subscriptions == 0
    assert network.traffic.total() == 0


@IGNORES_FLOODING
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_document_that_cannot_be_read_is_an_error_and_the_next_one_is_delivered(
    strategy: Strategy,
) -> None:
    network = Network(LINE, strategy)
    asked = network.subscribe("c", "ann", "/x")
    for unreadable in (b"", b"<x>", b"no document"):
        with pytest.raises(DocumentError):
            network.publish("a", unreadable)
    assert network.traffic.total("publish") == 0
    assert network.statistics("a").open_documents == 0
    assert receivers(network, "a", b"<x/>") == [("ann", asked)]


def test_a_document_that_is_too_large_names_the_limit() -> None:
    network = Network(LINE)
    with pytest.raises(DocumentLimitError) as refused:
        network.publish("a", b"<x>" + b" " * 10_000_000 + b"</x>")
    assert refused.value.limit == "bytes_max"


def test_a_number_is_no_document() -> None:
    number: Any = 5
    network = Network(LINE)
    with pytest.raises(UsageError, match=r"a document is bytes, .* not int"):
        network.publish("a", number)
    assert network.statistics("a").documents == 0


def test_a_publisher_over_a_limit_of_its_broker_is_told() -> None:
    network = Network(LINE, limits=RouterLimits(open_documents_max=0))
    outcome = network.publish("a", b"<x/>")
    assert outcome.refused is not None
    assert "open_documents_max" in outcome.refused
    assert (outcome.deliveries, outcome.crossings) == ((), ())


def test_a_subscription_over_a_limit_of_its_broker_is_refused() -> None:
    network = Network(LINE, limits=RouterLimits(subscriptions_max=1))
    network.subscribe("a", "ann", "/x")
    with pytest.raises(UsageError, match="subscriptions_max"):
        network.subscribe("a", "ann", "/y")
    assert network.tables("a").subscriptions == (("ann", "/x"),)


def test_too_many_links_are_refused_before_anything_changes() -> None:
    with pytest.raises(UsageError, match=r"broker 'b' would have 2 links .*links_max"):
        Network(LINE, limits=RouterLimits(links_max=1))
    four = {"links": [["a", "b"], ["b", "c"], ["c", "d"]]}
    network = Network(four, "covering", limits=RouterLimits(links_max=2))
    network.subscribe("d", "ann", "/x")
    before = [network.tables(name) for name in "abcd"]
    with pytest.raises(UsageError, match=r"broker 'b' would have 3 links .*links_max"):
        network.add_link("b", "d", latency_ms=0.5)
    assert [network.tables(name) for name in "abcd"] == before
    assert network.publish("a", b"<x/>").crossings == (("a", "b"), ("b", "c"), ("c", "d"))


def test_a_topology_in_two_parts_is_refused_at_the_start() -> None:
    with pytest.raises(UsageError, match="in 2 parts"):
        Network({"brokers": ["a", "b"], "links": []})


# What cannot be decided.


@IGNORES_FLOODING
@pytest.mark.parametrize("strategy", [covering(), advertised()], ids=str)
def test_a_subscription_that_is_too_costly_has_a_dead_letter_and_stops_nobody(
    strategy: Strategy,
) -> None:
    network = Network(LINE, strategy)
    costly = network.subscribe("c", "ann", RUNAWAY)
    cheap = network.subscribe("c", "bob", "//t")
    outcome = network.publish("a", WIDE)
    assert [each.subscription for each in outcome.deliveries] == [cheap]
    assert outcome.dead_letters == ((costly, "too costly to decide here"),)
    assert network.statistics("c").dead_letters == 1


def test_what_is_too_costly_on_the_way_travels_on() -> None:
    network = Network(LINE, "covering")
    costly = network.subscribe("c", "ann", RUNAWAY)
    outcome = network.publish("a", WIDE)
    assert outcome.crossings == (("a", "b"), ("b", "c"))
    assert [letter[0] for letter in outcome.dead_letters] == [costly]


# Advertisements.


def test_subscriptions_go_where_an_advertisement_came_from_and_leave_with_it() -> None:
    network = Network({"links": [["a", "b"], ["b", "c"], ["b", "d"]]}, "advertised")
    network.subscribe("c", "ann", "/news/item")
    promised = network.advertise("a", NEWS)
    assert network.tables("a").routes == {"b": ("/news/item",)}
    assert network.tables("d").routes == {"b": ()}
    assert all(len(network.tables(name).advertisements["b"]) == 1 for name in "cd")
    network.unadvertise(promised)
    assert network.tables("a").routes == {"b": ()}
    assert all(network.tables(name).advertisements == {"b": ()} for name in "cd")


def test_a_promise_may_be_made_from_samples() -> None:
    network = Network(LINE, "advertised")
    samples = [Document.parse(b"<news><item>rain</item></news>")]
    network.advertise("a", Advertisement.of_documents(samples))
    network.subscribe("c", "ann", "/news/item")
    network.subscribe("c", "ann", "/news/note")
    assert network.tables("a").routes["b"] == ("/news/item",)


@pytest.mark.parametrize(("unadvertised", "crossings"), [("flood", 2), ("refuse", 0)])
def test_a_document_that_breaks_its_promise_is_flooded_or_refused(
    unadvertised: str, crossings: int
) -> None:
    network = Network(LINE, f"advertised(unadvertised={unadvertised})")
    network.advertise("a", NEWS, publisher="press")
    network.subscribe("c", "ann", "/letter")
    outcome = network.publish("a", b"<letter/>", publisher="press")
    assert network.traffic.total("publish") == len(outcome.crossings) == crossings
    if unadvertised == "flood":
        assert (len(outcome.deliveries), outcome.refused) == (1, None)
    else:
        assert outcome.deliveries == ()
        assert outcome.refused == (
            "the document has /letter, which its publisher 'press' has not advertised; "
            "advertise it first"
        )


def test_a_refused_document_leaves_nothing_behind() -> None:
    network = Network(LINE, advertised(unadvertised="refuse"))
    network.advertise("a", NEWS)
    assert network.publish("a", b"<letter/>").refused is not None
    assert network.statistics("a").open_documents == 0
    assert network.publish("a", b"<news/>").refused is None


@IGNORES_FLOODING
def test_each_publisher_is_held_to_its_own_promise() -> None:
    network = Network(LINE, advertised(unadvertised="refuse"))
    network.advertise("a", NEWS, publisher="press")
    network.advertise("a", Schema.parse(b"<!ELEMENT letter EMPTY>"), publisher="post")
    assert network.publish("a", b"<letter/>", publisher="post").refused is None
    assert network.publish("a", b"<letter/>", publisher="press").refused is not None
    assert network.publish("a", b"<letter/>", publisher="nobody").refused is None


# Links.


def test_a_spare_link_takes_the_place_of_one_that_is_lost() -> None:
    network = Network(CIRCLE, "covering")
    asked = network.subscribe("c", "ann", "/x")
    assert network.publish("b", b"<x/>").crossings == (("b", "a"), ("a", "c"))
    network.remove_link("c", "a")
    outcome = network.publish("b", b"<x/>")
    assert outcome.crossings == (("b", "c"),)
    assert [each.subscription for each in outcome.deliveries] == [asked]
    network.add_link("a", "c")
    assert network.publish("b", b"<x/>").crossings == (("b", "a"), ("a", "c"))


def test_a_spare_link_that_is_lost_changes_no_table() -> None:
    network = Network(CIRCLE, "covering")
    network.subscribe("c", "ann", "/x")
    before = [network.tables(name) for name in "abc"]
    network.remove_link("b", "c")
    assert [network.tables(name) for name in "abc"] == before


def test_a_quicker_link_is_taken_into_the_tree() -> None:
    network = Network(LINE, "covering")
    network.subscribe("c", "ann", "/x")
    network.add_link("a", "c", latency_ms=0.5)
    assert network.publish("a", b"<x/>").crossings == (("a", "c"),)


@IGNORES_FLOODING
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_network_in_two_parts_goes_on_and_is_whole_again(strategy: Strategy) -> None:
    network = Network(LINE, strategy)
    near, far = network.subscribe("a", "ann", "/x"), network.subscribe("c", "bob", "/x")
    network.merge()
    before = [network.tables(name) for name in "abc"]
    network.remove_link("c", "b")
    assert receivers(network, "b", b"<x/>") == [("ann", near)]
    assert receivers(network, "c", b"<x/>") == [("bob", far)]
    network.add_link("b", "c")
    network.merge()
    assert [network.tables(name) for name in "abc"] == before
    assert sorted(receivers(network, "b", b"<x/>")) == [("ann", near), ("bob", far)]


@pytest.mark.parametrize(
    ("attempt", "reason"),
    [
        (lambda network: network.remove_link("a", "c"), "no link between 'a' and 'c'"),
        (lambda network: network.add_link("a", "b"), "have a link already"),
        (lambda network: network.add_link("a", "a"), "'a' has no link to itself"),
        (lambda network: network.add_link("a", "c", latency_ms=-1), "0 or more, not -1"),
        (lambda network: network.add_link("a", "c", latency_ms=float("nan")), "not nan"),
    ],
)
def test_a_link_that_cannot_be_meant_is_refused(attempt: Any, reason: str) -> None:  # noqa: ANN401
    network = Network(LINE)
    before = network.topology
    with pytest.raises(UsageError, match=reason):
        attempt(network)
    assert network.topology is before


def test_a_topology_may_be_a_value() -> None:
    topology = Topology.of(LINE)
    assert Network(topology).topology == topology == Network(LINE).topology


# Time.


def test_what_comes_and_goes_in_a_batch_is_not_said() -> None:
    network = Network(LINE, "identity")
    with network.batch():
        network.subscribe("a", "ann", "/x")
        network.unsubscribe(network.subscribe("a", "ann", "/y"))
        assert network.tables("b").routes["a"] == ()
    assert network.tables("b").routes["a"] == ("/x",)
    assert network.traffic.by_kind()["subscribe"] == 2


def test_batches_may_be_inside_each_other() -> None:
    network = Network(LINE, "identity")
    with network.batch():
        with network.batch():
            network.subscribe("a", "ann", "/x")
        assert network.tables("b").routes["a"] == ()
    assert network.tables("b").routes["a"] == ("/x",)


def test_a_batch_that_fails_settles_all_the_same() -> None:
    network = Network(LINE, "identity")

    def fail() -> None:
        with network.batch():
            network.subscribe("a", "ann", "/x")
            network.subscribe("a", "ann", "/x[")

    with pytest.raises(PatternError):
        fail()
    assert network.tables("c").routes["b"] == ("/x",)


def test_a_document_that_is_published_in_a_batch_finds_a_settled_network() -> None:
    network = Network(LINE, "identity")
    with network.batch():
        network.subscribe("c", "ann", "/x")
        assert len(network.publish("a", b"<x/>").deliveries) == 1


def test_links_lost_and_back_in_a_batch_leave_the_same_tables() -> None:
    network = Network(CIRCLE, "covering")
    network.subscribe("c", "ann", "/x")
    before = [network.tables(name) for name in "abc"]
    with network.batch():
        network.remove_link("a", "b")
        network.add_link("b", "a")
    assert [network.tables(name) for name in "abc"] == before


def test_a_network_settles_whatever_a_change_may_wait_elsewhere() -> None:
    network = Network(LINE, "identity", limits=RouterLimits(batch_delay=5.0))
    network.subscribe("c", "ann", "/x")
    assert network.tables("a").routes["b"] == ("/x",)


def test_patterns_are_merged_when_time_passes_and_not_before() -> None:
    pair = Schema.parse(b"<!ELEMENT x (y | z)*> <!ELEMENT y EMPTY> <!ELEMENT z EMPTY>")
    network = Network(LINE, "advertised(merging=perfect)")
    network.advertise("a", pair)
    first = network.subscribe("c", "ann", "/x/y")
    network.subscribe("c", "bob", "/x/z")
    network.settle()
    assert network.tables("a").routes["b"] == ("/x/y", "/x/z")
    network.merge()
    assert network.tables("a").routes["b"] == ("/x/*",)
    network.unsubscribe(first)
    network.merge()
    assert network.tables("a").routes["b"] == ("/x/z",)
    said = network.traffic.total()
    network.merge()
    assert network.traffic.total() == said


# Advertisements that are missing.

ROOTED = b"<!ELEMENT a EMPTY>"


@pytest.mark.parametrize("strategy", ["advertised", "covering(towards=producers)"])
def test_documents_of_a_publisher_without_an_advertisement_are_warned_of_once(
    strategy: str,
) -> None:
    network = Network({"links": [["north", "south"]]}, strategy)
    with pytest.warns(FloodingWarning) as told:
        outcomes = [
            network.publish("north", b"<a/>", publisher=who) for who in ("Post", "Post", None)
        ]
    assert [outcome.crossings for outcome in outcomes] == [(("north", "south"),)] * 3
    first, second = (str(each.message) for each in told)
    assert "publisher 'Post' at 'north' has advertised nothing" in first
    assert "network.advertise('north', schema, publisher='Post')" in first
    assert "whoever publishes at 'north' has advertised nothing" in second
    assert "the strategy best" in second
    assert told[0].filename == __file__


def test_whoever_has_advertised_is_not_warned_until_it_is_taken_back() -> None:
    network = Network({"links": [["north", "south"]]}, "advertised")
    promise = network.advertise("north", ROOTED, publisher="Post")
    network.publish("north", b"<a/>", publisher="Post")
    network.unadvertise(promise)
    with pytest.warns(FloodingWarning, match="'Post' at 'north' has advertised nothing"):
        network.publish("north", b"<a/>", publisher="Post")


@pytest.mark.parametrize("strategy", ["best", "covering", "flooding"])
def test_where_no_advertisement_is_needed_nobody_is_warned(strategy: str) -> None:
    network = Network({"links": [["north", "south"]]}, strategy)
    assert network.publish("north", b"<a/>").deliveries == ()  # a warning is an error in tests


def test_a_single_broker_has_nowhere_to_flood_to() -> None:
    network = Network({"brokers": ["alone"]}, "advertised")
    assert network.publish("alone", b"<a/>").crossings == ()


@pytest.mark.parametrize("content", POISONED.values(), ids=POISONED)
@pytest.mark.parametrize("chosen", ["flooding", "covering", "piggyback"])
def test_a_poisoned_document_is_refused_at_any_broker_and_the_next_delivered(
    chosen: str, content: bytes
) -> None:
    network = Network({"links": [["north", "hub"], ["hub", "south"]]}, chosen)
    for broker in network.brokers:
        network.subscribe(broker, "ann", "//b")
    for broker in network.brokers:
        with pytest.raises(DocumentError):
            network.publish(broker, content)
        assert len(network.publish(broker, GOOD).deliveries) == 3
    for broker in network.brokers:
        counted = network.statistics(broker)
        assert (counted.refused, counted.documents) == (1, 4)
        assert (counted.open_documents, counted.internal_errors, counted.dead_letters) == (0, 0, 0)


@pytest.mark.parametrize("content", POISONED.values(), ids=POISONED)
@pytest.mark.parametrize("chosen", ["flooding", "covering", "piggyback"])
def test_a_poisoned_document_over_the_wire_is_a_dead_letter(chosen: str, content: bytes) -> None:
    router = Router("here", chosen)
    for link in ("north", "south"):
        router.handle(LinkUp(BrokerId(link)), now=0.0)
    router.handle(Received(BrokerId("south"), Change(1, 1, (Pattern("//b"),))), now=0.0)
    for number, sent in enumerate((content, GOOD, content)):
        publication = Publication(f"p{number}", BrokerId("far"), "", sent)
        arrived = received(BrokerId("north"), encode(Arrive(publication)))
        assert arrived == Received(BrokerId("north"), Arrive(publication))
        (question,) = router.handle(arrived, now=1.0)
        assert isinstance(question, Decide)
        (effect,) = router.handle(router.decide(question), now=1.0)
        if sent is GOOD:
            assert effect == Send(BrokerId("south"), Arrive(publication, chosen == "flooding"))
        else:
            assert isinstance(effect, DeadLetter)
            assert effect.publication == publication
    assert router.statistics().open_documents == router.statistics().internal_errors == 0
