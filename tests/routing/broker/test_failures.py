"""Something fails that nobody foresaw: it is set aside alone, counted and reported."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.language import Pattern, Schema
from twigcast.matching import Matcher
from twigcast.routing import Network, Router, Strategy
from twigcast.routing.broker.decider import DocumentDecider
from twigcast.routing.broker.documents import BrokerDocuments
from twigcast.routing.broker.failures import Failures
from twigcast.routing.broker.link_session import Session
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    Decided,
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
    Woken,
)
from twigcast.routing.forwarding.forwarder import Forwarder
from twigcast.routing.piggyback.agreements import Agreements
from twigcast.routing.piggyback.decider import AnnotatedDecider
from twigcast.routing.strategy import strategy
from twigcast.routing.tables.in_flight import OpenDocuments
from twigcast.routing.tables.route_table import RouteTable

LINKS = {"links": [["north", "hub"], ["hub", "south"], ["hub", "west"]]}
SCHEMA = Schema.parse(b"<!ELEMENT a (b|c)*><!ELEMENT b EMPTY><!ELEMENT c EMPTY>")
DOCUMENTS = (b"<a><b/></a>", b"<a><c/></a>", b"<a/>", b"<a><b/><c/></a>")
CALLED: list[Strategy] = [
    strategy("flooding"),
    strategy("identity"),
    strategy("covering"),
    strategy("best"),
    replace(strategy("covering"), unit="path"),
    strategy("piggyback"),
]
PLACES: list[tuple[type, str]] = [
    (Matcher, "decide"),
    (Matcher, "match_links"),
    (Matcher, "add"),
    (Matcher, "remove"),
    (RouteTable, "add"),
    (RouteTable, "subscribe"),
    (RouteTable, "snapshot"),
    (RouteTable, "close"),
    (RouteTable, "collect"),
    (RouteTable, "locals_for"),
    (RouteTable, "links_for"),
    (RouteTable, "add_link"),
    (Forwarder, "subscribe"),
    (Forwarder, "unsubscribe"),
    (Forwarder, "add"),
    (Forwarder, "remove"),
    (Forwarder, "advertise"),
    (Forwarder, "unadvertise"),
    (Forwarder, "add_link"),
    (Forwarder, "remove_link"),
    (Forwarder, "changes"),
    (DocumentDecider, "decide"),
    (DocumentDecider, "part_to_send"),
    (DocumentDecider, "check_size"),
    (BrokerDocuments, "_apply"),
    (AnnotatedDecider, "answers"),
    (Agreements, "add"),
    (Agreements, "remove"),
    (Agreements, "receive"),
    (Agreements, "send"),
    (Agreements, "requests"),
    (Agreements, "remove_link"),
]


class Trap:
    """Makes a method raise once, at some call of it; ``sprung`` tells whether it has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: tuple[type, str], at: int) -> None:
        kind, name = place
        self.sprung = False
        self._left = at
        whole: Callable[..., object] = getattr(kind, name)

        def trapped(*arguments: object, **named: object) -> object:
            self._left -= 1
            if self._left == 0:
                self.sprung = True
                raise KeyError("nobody foresaw this")
            return whole(*arguments, **named)

        monkeypatch.setattr(kind, name, trapped)


class World:
    """A network with some subscriptions, and who should receive what."""

    def __init__(self, chosen: Strategy) -> None:
        self.network = Network(LINKS, chosen)
        self.asked: dict[int, Pattern] = {}
        for broker, text in (("south", "//b"), ("west", "//c"), ("north", "//a[b]")):
            self.subscribe(broker, text)
        if chosen.needs_advertisements:
            for broker in ("north", "south", "west", "hub"):
                self.network.advertise(broker, SCHEMA)

    def subscribe(self, broker: str, text: str) -> None:
        self.asked[self.network.subscribe(broker, "ann", text)] = Pattern(text)

    def unsubscribe(self, one: int) -> None:
        self.network.unsubscribe(SubscriptionId(one))
        del self.asked[one]

    def check(self) -> None:
        """Every document from every broker reaches whom it should, and nobody else."""
        for broker in self.network.brokers:
            for content in DOCUMENTS:
                outcome = self.network.publish(broker, content)
                matcher = Matcher()
                for one, pattern in self.asked.items():
                    matcher.add(one, pattern)
                found = sorted(each.subscription for each in outcome.deliveries)
                assert found == sorted(matcher.match(content)), (broker, content)
                assert outcome.refused is None
            assert self.network.statistics(broker).open_documents == 0


def actions(world: World) -> Iterator[Callable[[], object]]:
    network = world.network
    yield lambda: network.publish("north", DOCUMENTS[0])
    yield lambda: world.subscribe("south", "//a/c")
    yield lambda: world.subscribe("west", "//*[c]")
    yield lambda: network.publish("hub", DOCUMENTS[3])
    yield lambda: world.unsubscribe(1)
    yield lambda: network.advertise("south", SCHEMA, publisher="press")
    yield lambda: network.remove_link("hub", "south")
    yield lambda: network.add_link("hub", "south")
    yield lambda: network.publish("south", DOCUMENTS[3])


@pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
@pytest.mark.parametrize("at", [1, 2, 5])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@pytest.mark.parametrize("chosen", CALLED, ids=lambda each: f"{each.name}-{each.unit}")
def test_a_network_delivers_as_before_after_something_failed(
    chosen: Strategy,
    place: tuple[type, str],
    at: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "twigcast")
    world = World(chosen)
    with monkeypatch.context() as patched:
        trap = Trap(patched, place, at)
        for action in actions(world):
            try:
                action()
            except UsageError as error:
                assert "failed: KeyError: 'nobody foresaw this'" in str(error)  # noqa: PT017
            except InternalError:
                pass
    if len(world.network.topology.links) < 3:
        world.network.add_link("hub", "south")
    world.check()
    counted = [world.network.statistics(each).internal_errors for each in world.network.brokers]
    assert sum(counted) == trap.sprung


def ready(chosen: Strategy | str = "covering") -> tuple[Router, list[InternalError]]:
    reported: list[InternalError] = []
    router = Router("hub", chosen, report=reported.append)
    router.handle(LinkUp(BrokerId("north")), now=0.0)
    router.handle(LinkUp(BrokerId("south")), now=0.0)
    router.handle(Received(BrokerId("north"), Change(1, 1, (Pattern("//b"),))), now=0.0)
    router.handle(Subscribe(SubscriptionId(1), "ann", Pattern("//c")), now=0.0)
    router.handle(Woken(), now=1.0)
    return router, reported


EVENTS: dict[str, Event] = {
    "a link": LinkUp(BrokerId("west")),
    "a subscription": Subscribe(SubscriptionId(2), "ann", Pattern("//d")),
    "a change": Received(
        BrokerId("north"), Change(1, 2, (Pattern("//d"), Pattern("//e")), (Pattern("//b"),))
    ),
    "a table": Received(BrokerId("north"), Change(2, 1, (Pattern("//d"), Pattern("//e")))),
}
TABLES = [place for place in PLACES if place[0] in {Matcher, RouteTable, Forwarder, Agreements}]


@pytest.mark.parametrize("chosen", ["covering", "piggyback"])
@pytest.mark.parametrize("place", TABLES, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("name", EVENTS)
def test_an_event_that_fails_is_refused_and_has_changed_nothing(
    name: str, at: int, place: tuple[type, str], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    router, reported = ready(chosen)
    before, event = router.tables(), EVENTS[name]
    with monkeypatch.context() as patched:
        trap = Trap(patched, place, at)
        effects = router.handle(event, now=2.0)
    assert len(reported) == trap.sprung == router.statistics().internal_errors
    if not trap.sprung or effects == ():
        return  # what leaves the matchers is out of the tables already
    assert effects == (Refuse(event, str(reported[0]), getattr(event, "link", None)),)
    assert isinstance(reported[0].__cause__, KeyError)
    told = router.handle(Woken(), now=3.0)
    assert router.tables() == before
    # Each neighbour is told the whole table, in a session of its own.
    changes = [each.message for each in told if isinstance(each, Send)]
    assert [each.number for each in changes if isinstance(each, Change)] == [1, 1]
    assert router.handle(event, now=4.0) == ()


def test_a_link_that_is_lost_is_lost_whatever_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ((Forwarder, "remove_link"), (RouteTable, "collect"), (Agreements, "remove")):
        router, reported = ready("piggyback")
        with monkeypatch.context() as patched:
            Trap(patched, place, 1)
            assert router.handle(LinkDown(BrokerId("north")), now=2.0) == ()
        assert len(reported) == 1
        router.handle(Woken(), now=3.0)
        assert set(router.tables().routes) == {"south"}
        assert router.tables().forwarded["south"] == ("//c",)


def test_a_broker_that_fails_whenever_it_is_woken_does_not_ask_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    router, reported = ready()
    router.handle(EVENTS["a subscription"], now=2.0)

    def changes(_: Forwarder) -> None:
        raise ArithmeticError

    with monkeypatch.context() as patched:
        patched.setattr(Forwarder, "changes", changes)
        while router.wake_at() is not None:
            (effect,) = router.handle(Woken(), now=3.0)
            assert isinstance(effect, Refuse)
    assert len(reported) == 3
    router.handle(Subscribe(SubscriptionId(3), "bob", Pattern("//e")), now=4.0)
    told = router.handle(Woken(), now=5.0)
    assert len(told) == 2
    assert router.tables().forwarded["north"] == ("//c", "//d", "//e")


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), MemoryError(), OSError(5, "y")])
def test_a_document_that_fails_is_refused_and_holds_up_no_other(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    router, reported = ready()
    first, second = (
        router.handle(Publish(Publication(name, router.name, "", b"<b/>")), now=2.0)[0]
        for name in ("p1", "p2")
    )
    assert isinstance(first, Decide)
    assert isinstance(second, Decide)

    def fails(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(Matcher, "decide", fails)
        patched.setattr(Matcher, "match_links", fails)
        answer = router.decide(first)
    assert answer == Decided(first.number, error=str(reported[0]))
    later = router.decide(second)
    assert router.handle(later, now=2.0) == ()
    refused, sent = router.handle(answer, now=2.0)
    assert isinstance(refused, Refuse)
    assert isinstance(sent, Send)
    assert router.statistics().internal_errors == 1
    assert router.statistics().open_documents == 0


@pytest.mark.parametrize("place", ["fault", "answer"])
def test_an_answer_that_fails_holds_up_no_document_behind_it(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    router, reported = ready()
    first, second = (
        router.handle(Publish(Publication(name, router.name, "", b"<b/>")), now=2.0)[0]
        for name in ("p1", "p2")
    )
    assert isinstance(first, Decide)
    assert isinstance(second, Decide)

    def fails(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(OpenDocuments, place, fails)
        (refused,) = router.handle(router.decide(first), now=2.0)
    assert refused == Refuse(Publish(first.publication), str(reported[0]))
    (sent,) = router.handle(router.decide(second), now=2.0)
    assert isinstance(sent, Send)
    assert router.statistics().open_documents == 0


def test_a_part_of_an_answer_that_fails_ends_in_a_dead_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    router, reported = ready("piggyback")
    publication = Publication("p1", BrokerId("far"), "", b"<a><b/></a>")

    def answers(_: AnnotatedDecider, effect: Decide, *__: object) -> Iterator[Decided]:
        yield Decided(effect.number, (BrokerId("north"),), final=False)
        yield Decided(effect.number)

    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(AnnotatedDecider, "answers", answers)
    (effect,) = router.handle(Received(BrokerId("south"), Arrive(publication)), now=2.0)
    assert isinstance(effect, Decide)
    with monkeypatch.context() as patched:
        patched.setattr(OpenDocuments, "answer", fails)
        assert router.handle(router.decide(effect), now=2.0) == ()
    (letter,) = router.handle(router.decide(effect), now=2.0)
    assert letter == DeadLetter(publication, None, str(reported[0]))
    assert router.statistics().open_documents == 0


def test_answers_that_fail_halfway_end_in_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    router, reported = ready("piggyback")
    publication = Publication("p1", BrokerId("far"), "", b"<a><b/></a>")

    def answers(_: AnnotatedDecider, effect: Decide, *__: object) -> Iterator[Decided]:
        yield Decided(effect.number, (BrokerId("north"),), final=False)
        raise LookupError

    monkeypatch.setattr(AnnotatedDecider, "answers", answers)
    (effect,) = router.handle(Received(BrokerId("south"), Arrive(publication)), now=2.0)
    assert isinstance(effect, Decide)
    (sent,) = router.handle(router.decide(effect), now=2.0)
    assert isinstance(sent, Send)
    (letter,) = router.handle(router.decide(effect), now=2.0)
    assert letter == DeadLetter(publication, None, str(reported[0]))
    assert router.statistics().open_documents == 0


def test_a_document_that_nobody_waits_for_is_the_callers_mistake() -> None:
    router, reported = ready()
    nobody = Decide(99, Publication("p", router.name, "", b"<a/>"), None, 1)
    with pytest.raises(UsageError, match="no document 99 waits"):
        router.decide(nobody)
    assert reported == []


def test_a_network_logs_what_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    network = Network(LINKS, "covering")
    network.subscribe("south", "ann", "//b")
    with monkeypatch.context() as patched:
        Trap(patched, (DocumentDecider, "decide"), 1)
        outcome = network.publish("north", b"<b/>")
    assert "deciding a document failed: KeyError" in str(outcome.refused)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith("broker north: deciding a document failed")
    assert record.exc_info is not None
    assert len(network.publish("north", b"<b/>").deliveries) == 1


@pytest.mark.parametrize("name", ["subscribe", "publish", "add_link", "remove_link", "merge"])
def test_only_our_own_errors_leave_a_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(LINKS, "covering")

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Network, "_run", fails)
    given: dict[str, tuple[Any, ...]] = {
        "subscribe": ("south", "ann", "//b"),
        "publish": ("north", b"<b/>"),
        "add_link": ("north", "south"),
        "remove_link": ("hub", "south"),
    }
    with pytest.raises(InternalError) as caught:
        getattr(network, name)(*given.get(name, ()))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert isinstance(caught.value, TwigcastError)


def test_failures_are_counted_without_a_listener() -> None:
    failures = Failures()
    failures.add(InternalError("trying", KeyError()))
    assert failures.count == 1


# Something fails each time.


def failing(*_: object, **__: object) -> None:
    raise ZeroDivisionError("again and again")


CAUSES: list[tuple[type, str]] = [
    (Forwarder, "add"),
    (Forwarder, "subscribe"),
    (Forwarder, "add_link"),
    (Forwarder, "changes"),
    (Agreements, "add"),
    (Agreements, "rebuild"),
    (Session, "begin"),
]


@pytest.mark.parametrize(
    ("place", "chosen"),
    [(place, "piggyback") for place in CAUSES]
    + [(place, "covering") for place in CAUSES if place[0] is not Agreements],
)
def test_a_router_answers_whatever_fails_each_time(
    place: tuple[type, str], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    router, reported = ready(chosen)
    document = Publication("p1", BrokerId("far"), "", b"<a><b/></a>")
    with monkeypatch.context() as patched:
        patched.setattr(*place, failing)
        Trap(patched, (RouteTable, "add"), 1)  # so that something has to be made anew
        for event in (EVENTS["a change"], *EVENTS.values(), Woken()):
            for effect in router.handle(event, now=2.0):
                assert isinstance(effect, Refuse | Send)
        for _ in range(20):
            if router.wake_at() is None:
                break
            router.handle(Woken(), now=2.0)
        assert router.wake_at() is None
        (question,) = router.handle(Received(BrokerId("south"), Arrive(document)), now=2.0)
        assert isinstance(question, Decide)
        router.handle(router.decide(question), now=2.0)
        assert router.statistics().open_documents == 0
        assert router.statistics().internal_errors == len(reported) > 0
    router.handle(LinkUp(BrokerId("east")), now=3.0)
    assert not router.statistics().needs_restart
    told = [each for each in router.handle(Woken(), now=4.0) if isinstance(each, Send)]
    assert {each.link for each in told} == set(router.tables().routes)
    for each in told:
        assert isinstance(each.message, Change)
        assert each.message.number == 1
        assert Pattern("//c") in each.message.routes


def test_a_router_tells_that_its_tables_could_not_be_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    router, reported = ready()
    with monkeypatch.context() as patched:
        patched.setattr(Forwarder, "add", failing)
        (refused,) = router.handle(EVENTS["a change"], now=2.0)
        assert isinstance(refused, Refuse)
        assert router.statistics().needs_restart
        assert [each.doing for each in reported] == [
            "handling Received",
            "recovering from a failure",
        ]
        (refused,) = router.handle(EVENTS["a subscription"], now=2.0)
        assert "ZeroDivisionError" in refused.reason  # type: ignore[union-attr]
        assert router.handle(LinkDown(BrokerId("north")), now=2.0) == ()
        assert set(router.tables().routes) == {"south"}
    assert router.handle(EVENTS["a subscription"], now=3.0) == ()
    assert not router.statistics().needs_restart
