"""A router tells its neighbours in time, and answers whatever happens."""

from __future__ import annotations

import pytest

from tests.routing.broker.trap import (
    EVENTS,
    Trap,
    failing,
    ready,
)
from tests.routing.two_neighbours import EAST, ONE, TWO, WEST, A, B, changes, router
from twigcast.language import Pattern
from twigcast.routing.broker.link_session import Session
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    Decide,
    LinkDown,
    LinkUp,
    Publication,
    Received,
    Refuse,
    Send,
    Subscribe,
    Unsubscribe,
    Woken,
)
from twigcast.routing.forwarding.forwarder import Forwarder
from twigcast.routing.piggyback.agreements import Agreements
from twigcast.routing.tables.route_table import RouteTable


def test_changes_wait_for_each_other_and_go_as_one() -> None:
    made = router(batch_delay=5.0)
    assert made.wake_at() is None
    assert made.handle(Subscribe(ONE, "ann", A), now=110.0) == ()
    assert made.handle(Subscribe(TWO, "bob", B), now=112.0) == ()
    assert made.wake_at() == 115.0
    assert made.handle(Woken(), now=114.0) == ()
    sent = changes(made.handle(Woken(), now=115.0))
    assert {link: change.routes for link, change in sent.items()} == {EAST: (A,), WEST: (B,)}
    assert made.wake_at() is None


def test_what_comes_and_goes_in_between_is_not_worth_a_word() -> None:
    made = router(batch_delay=5.0)
    made.handle(Subscribe(ONE, "ann", A), now=110.0)
    made.handle(Unsubscribe(ONE), now=111.0)
    assert made.handle(Woken(), now=115.0) == ()


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
