"""Something fails that nobody foresaw: it is set aside alone, counted and reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.routing.broker.trap import (
    EVENTS,
    LINKS,
    PLACES,
    Trap,
    ready,
)
from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing import Network
from twigcast.routing.broker.failures import Failures
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    Decided,
    LinkDown,
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
from twigcast.routing.tables.in_flight import OpenDocuments
from twigcast.routing.tables.route_table import RouteTable

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
