"""What a broker is told and must not believe: nothing changes, and whoever said it is told why."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.routing.vocabulary import EXPRESSIONS, STRATEGIES
from twigcast.covering import Advertisement
from twigcast.language import DocumentLimits, Pattern
from twigcast.routing.broker.router import Router, RouterLimits
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    Decide,
    Decided,
    Deliver,
    Effect,
    Event,
    Garbled,
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
from twigcast.routing.strategy import Strategy, advertised
from twigcast.routing.wire.frames import VERSION, decode_effect, decode_event, encode, received

WEST, EAST, FAR = BrokerId("west"), BrokerId("east"), BrokerId("far")
A, B, C, D = (Pattern.parse(text) for text in ("/a", "/a/b", "/c", "//d"))
NEWS, STOCKS = (Advertisement.of_expressions([text]) for text in ("/a/b", "/stocks/stock"))
LONG = Pattern.parse("/a[" + " and ".join(f"@attribute{number}" for number in range(60)) + "]")

LIMITS = RouterLimits(
    links_max=3,
    subscriptions_max=3,
    routes_max=4,
    advertisements_max=2,
    pattern_characters_max=300,
    open_documents_max=2,
)


def publication(
    content: bytes = b"<a><b/></a>", *, origin: str = "here", publisher: str = "press"
) -> Publication:
    return Publication("d1", BrokerId(origin), publisher, content)


def prepared(strategy: Strategy, limits: RouterLimits = LIMITS) -> Router:
    """A broker in the middle of its life, with a document that is not decided yet."""
    router = Router(
        BrokerId("here"), strategy, limits=limits, document_limits=DocumentLimits(bytes_max=1_000)
    )
    events: list[Event] = [
        LinkUp(WEST),
        LinkUp(EAST),
        Received(WEST, Change(5, 1, routes=(A,), advertisements=(NEWS,))),
        Received(EAST, Change(2, 1)),
        Received(EAST, Change(2, 2, routes=(B, C))),
        Subscribe(SubscriptionId(1), "ann", B),
        Subscribe(SubscriptionId(2), "bob", C),
        Advertise(AdvertisementId(1), "press", NEWS),
        Woken(),
        Publish(publication()),
    ]
    for event in events:
        assert not any(isinstance(effect, Refuse) for effect in router.handle(event, now=1.0)), (
            event
        )
    return router


def change(number: int, session: int = 2, **told: Any) -> Received:  # noqa: ANN401 - fields
    return Received(EAST, Change(session, number, **told))


HOSTILE: dict[str, tuple[Event, str]] = {
    "link up twice": (LinkUp(EAST), "east"),
    "link to itself": (LinkUp(BrokerId("here")), "itself"),
    "unknown link down": (LinkDown(FAR), "far"),
    "change over an unknown link": (Received(FAR, Change(1, 1, routes=(A,))), "far"),
    "document over an unknown link": (
        Received(FAR, Arrive(publication(origin="far"))),
        "far",
    ),
    "subscription id taken": (Subscribe(SubscriptionId(1), "eve", D), "1"),
    "unknown subscription": (Unsubscribe(SubscriptionId(77)), "77"),
    "pattern too long": (Subscribe(SubscriptionId(3), "eve", LONG), "pattern_characters_max"),
    "advertisement id taken": (Advertise(AdvertisementId(1), "press", STOCKS), "1"),
    "unknown advertisement": (Unadvertise(AdvertisementId(77)), "77"),
    "old session begins again": (change(1, session=1, routes=(A,)), "session"),
    "same session begins again": (change(1, session=2, routes=(A,)), "session"),
    "change of an old session": (change(3, session=1, routes=(A,)), "session"),
    "change of a session to come": (change(3, session=3, routes=(A,)), "session"),
    "number missing": (change(4, routes=(A,)), "4"),
    "number twice": (change(2, routes=(A,)), "2"),
    "number nought": (change(0, routes=(A,)), "0"),
    "first change withdraws": (change(1, session=3, withdrawn=(B,)), "whole"),
    "first change unadvertises": (change(1, session=3, unadvertised=(NEWS,)), "whole"),
    "withdrawal of what is not there": (change(3, withdrawn=(A,)), "withdrawn"),
    "withdrawal of another link's route": (change(3, routes=(D,), withdrawn=(A,)), "withdrawn"),
    "withdrawal in the same breath": (change(3, routes=(D,), withdrawn=(D,)), "withdrawn"),
    "route that is there": (change(3, routes=(B,)), "already"),
    "unadvertising what is not there": (change(3, unadvertised=(STOCKS,)), "withdrawn"),
    "too many routes": (
        change(3, routes=tuple(Pattern.parse(f"/r{number}") for number in range(5))),
        "routes_max",
    ),
    "too many routes at first": (
        change(1, session=3, routes=tuple(Pattern.parse(f"/r{number}") for number in range(5))),
        "routes_max",
    ),
    "route too long": (change(3, routes=(LONG,)), "pattern_characters_max"),
    "too many advertisements": (
        change(
            3,
            advertisements=tuple(
                Advertisement.of_expressions([f"/r{number}"]) for number in range(3)
            ),
        ),
        "advertisements_max",
    ),
    "document too long": (Publish(publication(b"<a>" + b" " * 1_000 + b"</a>")), "bytes_max"),
    "document too long over a link": (
        Received(WEST, Arrive(publication(b"<a>" + b" " * 1_000 + b"</a>", origin="west"))),
        "bytes_max",
    ),
    "document that has come back": (Received(WEST, Arrive(publication())), "origin"),
    "document of another origin": (Publish(publication(origin="west")), "west"),
    "damaged frame": (received(EAST, b"T\x01 not a frame"), ""),
    "frame of a later version": (
        received(EAST, bytes((ord("T"), VERSION + 1)) + encode(Change(2, 3, routes=(D,)))[2:]),
        f"version {VERSION + 1}",
    ),
    "answer to nothing": (Decided(99), "99"),
    "answer before any question": (Decided(-1), "-1"),
}


def state(router: Router) -> object:
    """All that can be seen from outside but the number of refusals."""
    return router.tables(), router.statistics()._replace(refused=0), router.wake_at()


@pytest.mark.parametrize("strategy", [STRATEGIES[2], STRATEGIES[4], advertised()], ids=str)
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_changes_and_the_reason_comes_back_after(name: str, strategy: Strategy) -> None:
    router, (event, reason) = prepared(strategy), HOSTILE[name]
    before, refused = state(router), router.statistics().refused
    effects = router.handle(event, now=2.0)
    link = event.link if isinstance(event, Received | Garbled | LinkUp | LinkDown) else None
    assert effects == (Refuse(event, effects[0].reason, link),)  # type: ignore[union-attr]
    assert reason in effects[0].reason
    assert state(router) == before
    assert router.statistics().refused == refused + 1


@pytest.mark.parametrize("name", HOSTILE)
def test_life_goes_on_as_if_nothing_had_been_said_after(name: str) -> None:
    """The next good events give the same effects in a broker that was lied to."""
    lied_to, spared = prepared(advertised()), prepared(advertised())
    lied_to.handle(HOSTILE[name][0], now=2.0)
    assert _further(lied_to) == _further(spared)


def _further(router: Router) -> list[tuple[Effect, ...]]:
    """What a broker does next: a change comes, is passed on, a client leaves, a link is lost."""
    told = [
        router.handle(event, now=3.0)
        for event in (
            change(3, routes=(D,), withdrawn=(B,), advertisements=(STOCKS,)),
            Woken(),
            Unsubscribe(SubscriptionId(1)),
            Woken(),
            Publish(publication()),
        )
    ]
    for effect in told[-1]:
        assert isinstance(effect, Decide)
        told.append(router.handle(router.decide(effect), now=3.0))
    told += [router.handle(event, now=4.0) for event in (LinkDown(EAST), Woken())]
    return told


@pytest.mark.parametrize("name", HOSTILE)
def test_a_lie_is_refused_likewise_when_it_comes_over_the_wire(name: str) -> None:
    """And the refusal can go back the same way."""
    event, _ = HOSTILE[name]
    router = prepared(advertised())
    before = state(router)
    (refusal,) = router.handle(decode_event(encode(event)), now=2.0)
    assert refusal == prepared(advertised()).handle(event, now=2.0)[0]
    assert decode_effect(encode(refusal)) == refusal
    assert state(router) == before


LIMITED: dict[str, tuple[list[Event], Event]] = {
    "links_max": ([LinkUp(FAR)], LinkUp(BrokerId("farther"))),
    "subscriptions_max": (
        [Subscribe(SubscriptionId(3), "eve", D)],
        Subscribe(SubscriptionId(4), "eve", D),
    ),
    "advertisements_max": (
        [Advertise(AdvertisementId(2), "press", STOCKS)],
        Advertise(AdvertisementId(3), "press", STOCKS),
    ),
    "open_documents_max": ([Publish(publication())], Publish(publication())),
}


@pytest.mark.parametrize("limit", LIMITED)
def test_one_more_is_refused_by_the_name_of_the_limit(limit: str) -> None:
    router = prepared(advertised())
    allowed, too_many = LIMITED[limit]
    for event in allowed:
        assert not any(isinstance(effect, Refuse) for effect in router.handle(event, now=2.0))
    before = state(router)
    (refusal,) = router.handle(too_many, now=2.0)
    assert isinstance(refusal, Refuse)
    assert limit in refusal.reason
    assert state(router) == before


def test_what_is_said_twice_in_one_change_counts_once() -> None:
    router, plain = prepared(advertised()), prepared(advertised())
    for twice, once in (
        (change(3, routes=(D, D), advertisements=(STOCKS, STOCKS)), 1),
        (change(4, withdrawn=(D, D), unadvertised=(STOCKS, STOCKS)), 0),
    ):
        assert router.handle(twice, now=2.0) == ()
        assert len(router.tables().advertisements[EAST]) == once
        assert router.tables().routes[EAST].count("//d") == once
        router.handle(Woken(), now=2.0)
    assert router.tables() == plain.tables()


def test_a_change_of_the_session_before_is_refused_when_the_link_is_up_again() -> None:
    """It may have been on its way when the link broke, and fits no table any more."""
    router = prepared(STRATEGIES[2])
    for event in (LinkDown(EAST), LinkUp(EAST), Woken()):
        router.handle(event, now=2.0)
    before = state(router)
    (refusal,) = router.handle(change(3, routes=(D,)), now=2.0)
    assert isinstance(refusal, Refuse)
    assert "session" in refusal.reason
    assert state(router) == before
    router.handle(change(1, session=3, routes=(D,)), now=2.0)
    assert router.tables().routes[EAST] == ("//d",)


@pytest.mark.parametrize("content", [b"", b"<a>", b"not xml", b"<a/><b/>", b"\xff\xfe"])
def test_a_document_that_cannot_be_read_goes_nowhere(content: bytes) -> None:
    router = prepared(advertised())
    before = router.tables()
    (asked,) = router.handle(Publish(publication(content)), now=2.0)
    assert isinstance(asked, Decide)
    answer = router.decide(asked)
    assert answer.error
    (earlier,) = prepared(advertised()).handle(Publish(publication()), now=2.0)
    assert isinstance(earlier, Decide)
    first = router.decide(Decide(0, earlier.publication, None, earlier.version))
    effects = (*router.handle(first, now=2.0), *router.handle(answer, now=2.0))
    assert all(
        effect.publication.content != content for effect in effects if isinstance(effect, Deliver)
    )
    assert not any(
        effect.message.publication.content == content
        for effect in effects
        if isinstance(effect, Send) and isinstance(effect.message, Arrive)
    )
    assert [effect.reason for effect in effects if isinstance(effect, Refuse)] == [answer.error]
    assert router.tables() == before
    assert router.statistics().open_documents == 0


def test_an_answer_is_taken_once() -> None:
    router = prepared(STRATEGIES[2])
    (asked,) = router.handle(Received(WEST, Arrive(publication(origin="west"))), now=2.0)
    assert isinstance(asked, Decide)
    answer = router.decide(asked)
    assert router.handle(answer, now=2.0)
    before = state(router)
    (refusal,) = router.handle(answer, now=2.0)
    assert isinstance(refusal, Refuse)
    assert state(router) == before


def test_an_answer_with_links_and_subscriptions_that_are_not_there_sends_nothing() -> None:
    """They may have gone since; a document never goes back where it came from either."""
    router = prepared(STRATEGIES[2])
    (asked,) = router.handle(Received(WEST, Arrive(publication(origin="west"))), now=2.0)
    assert isinstance(asked, Decide)
    for link in (WEST, FAR):
        (refused,) = router.handle(Decided(asked.number, (link,)), now=2.0)
        assert isinstance(refused, Refuse)
        assert "cannot go over" in refused.reason
    assert router.handle(Decided(asked.number, (), (SubscriptionId(77),)), now=2.0) == ()


def test_an_answer_that_says_something_twice_does_not_count() -> None:
    router = prepared(STRATEGIES[2])
    (asked,) = router.handle(Received(WEST, Arrive(publication(origin="west"))), now=2.0)
    assert isinstance(asked, Decide)
    number, one = asked.number, SubscriptionId(1)
    waiting = router.statistics().open_documents
    wrong = (
        Decided(number, (EAST, EAST)),
        Decided(number, (EAST,), paths=((0,), (1,))),
        Decided(number, (), (one, one)),
        Decided(number, (), (one,), (one,)),
    )
    for answer in wrong:
        assert isinstance(router.handle(answer, now=2.0)[0], Refuse)
    assert router.statistics().open_documents == waiting
    router.handle(Decided(number, (EAST,), (one,), final=False), now=2.0)
    for answer in (Decided(number, (EAST,)), Decided(number, (), (one,))):
        assert isinstance(router.handle(answer, now=2.0)[0], Refuse)
    assert router.handle(Decided(number), now=2.0) == ()
    assert router.statistics().open_documents == waiting - 1


def test_no_row_of_drawn_events_ever_raises() -> None:
    """Half of what comes makes no sense; a broker only ever answers."""
    for seed in range(60):
        rng = Random(seed)
        router = prepared(rng.choice(STRATEGIES), RouterLimits())
        questions: list[Decide] = []
        for moment in range(60):
            event = _drawn_event(rng, router, questions)
            effects = router.handle(event, now=float(moment))
            if isinstance(event, Decided):
                questions = [asked for asked in questions if asked.number != event.number]
            questions += [effect for effect in effects if isinstance(effect, Decide)]
        assert router.statistics().refused > 0


def _drawn_event(rng: Random, router: Router, questions: list[Decide]) -> Event:
    link = rng.choice((WEST, EAST, FAR))
    patterns = [rng.choice(EXPRESSIONS).pattern for _ in range(4)]
    subscription = SubscriptionId(rng.randrange(6))
    promise = AdvertisementId(rng.randrange(4))
    promises = rng.sample((NEWS, STOCKS), rng.randrange(3))
    match rng.randrange(11):
        case 0:
            return LinkUp(link)
        case 1:
            return LinkDown(link)
        case 2 | 3:
            return Subscribe(subscription, "eve", patterns[0])
        case 4:
            return Unsubscribe(subscription)
        case 5:
            return Advertise(promise, "press", rng.choice((NEWS, STOCKS)))
        case 6:
            return Unadvertise(promise)
        case 7:
            changed = Change(
                rng.randrange(1, 9),
                rng.choice((0, 1, 1, 2, 3)),
                tuple(patterns[:2]),
                tuple(patterns[2 : 2 + rng.randrange(3)]),
                tuple(promises),
            )
            return Received(link, changed)
        case 8:
            arrived = Arrive(publication(origin=rng.choice(("west", "here"))), rng.random() < 0.5)
            return rng.choice((Received(link, arrived), Publish(publication())))
        case 9 if questions:
            return router.decide(rng.choice(questions))
        case _:
            return rng.choice((Woken(), Decided(rng.randrange(9), (link,), (subscription,))))
