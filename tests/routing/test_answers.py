"""Documents that are decided late, out of order, or on another thread, and changes that wait."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.language import Pattern
from twigcast.routing.broker.router import Router, RouterLimits
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    Decide,
    Decided,
    Deliver,
    Effect,
    LinkDown,
    LinkUp,
    Publication,
    Publish,
    Received,
    Send,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
    Woken,
)
from twigcast.routing.strategy import identity
from twigcast.routing.tables.route_table import RouteTable

EAST, WEST = BrokerId("east"), BrokerId("west")
A, B = Pattern.parse("//a"), Pattern.parse("//b")
ONE, TWO = SubscriptionId(1), SubscriptionId(2)


def router(**limits: Any) -> Router:  # noqa: ANN401 - any limit
    """A broker with a neighbour that wants //a, and one that wants //b."""
    made = Router(BrokerId("here"), identity(), limits=RouterLimits(**limits))
    for link, pattern in ((EAST, A), (WEST, B)):
        made.handle(LinkUp(link), now=0.0)
        made.handle(Received(link, Change(1, 1, routes=(pattern,))), now=0.0)
    made.handle(Woken(), now=100.0)
    return made


def comes(made: Router, name: str, content: bytes, origin: str = "here") -> Decide:
    """A document comes; the question it raises."""
    publication = Publication(name, BrokerId(origin), "press", content)
    event = (
        Publish(publication)
        if origin == "here"
        else Received(BrokerId(origin), Arrive(publication))
    )
    (effect,) = made.handle(event, now=100.0)
    assert isinstance(effect, Decide)
    return effect


def told(effects: tuple[Effect, ...]) -> list[tuple[str, object]]:
    """Which document goes where."""
    found: list[tuple[str, object]] = []
    for effect in effects:
        if isinstance(effect, Send) and isinstance(effect.message, Arrive):
            found.append((effect.message.publication.id, effect.link))
        elif isinstance(effect, Deliver):
            found.append((effect.publication.id, effect.subscription))
    return found


# The order of answers.


def test_documents_of_one_origin_leave_in_the_order_they_came() -> None:
    made = router()
    first, second = comes(made, "first", b"<a/>"), comes(made, "second", b"<a/>")
    assert made.handle(made.decide(second), now=101.0) == ()
    assert told(made.handle(made.decide(first), now=102.0)) == [("first", EAST), ("second", EAST)]


def test_documents_of_another_origin_do_not_wait() -> None:
    made = router()
    comes(made, "first", b"<a/>")
    other = comes(made, "other", b"<a/>", origin="west")
    assert told(made.handle(made.decide(other), now=101.0)) == [("other", EAST)]


def test_an_answer_in_parts_counts_at_once_and_the_next_waits_for_the_last() -> None:
    made = router()
    first, second = comes(made, "first", b"<a/>"), comes(made, "second", b"<b/>")
    begun = Decided(first.number, links=(EAST,), final=False)
    assert told(made.handle(begun, now=101.0)) == [("first", EAST)]
    assert made.handle(made.decide(second), now=101.0) == ()
    ended = Decided(first.number, links=(WEST,))
    assert told(made.handle(ended, now=102.0)) == [("first", WEST), ("second", WEST)]
    assert made.statistics().open_documents == 0


# Tables as they were.


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_document_is_decided_by_the_tables_it_came_to(engine: str) -> None:
    made = Router(BrokerId("here"), identity(), engine=engine)
    made.handle(LinkUp(EAST), now=0.0)
    made.handle(Received(EAST, Change(1, 1, routes=(A,))), now=0.0)
    made.handle(Subscribe(ONE, "ann", A), now=0.0)
    asked = comes(made, "first", b"<a><b/></a>")
    made.handle(Received(EAST, Change(1, 2, routes=(B,), withdrawn=(A,))), now=1.0)
    made.handle(Subscribe(TWO, "bob", B), now=1.0)
    made.handle(LinkUp(WEST), now=1.0)
    made.handle(Received(WEST, Change(1, 1, routes=(A,))), now=1.0)
    later = comes(made, "later", b"<b/>")
    assert told(made.handle(made.decide(asked), now=2.0)) == [("first", EAST), ("first", ONE)]
    assert told(made.handle(made.decide(later), now=2.0)) == [("later", EAST), ("later", TWO)]
    assert made.statistics().kept_for_snapshots == 0


def test_nothing_goes_to_who_has_left_since() -> None:
    made = router()
    made.handle(Subscribe(ONE, "ann", A), now=0.0)
    asked = comes(made, "first", b"<a/>")
    answer = made.decide(asked)
    made.handle(Unsubscribe(ONE), now=1.0)
    made.handle(LinkDown(EAST), now=1.0)
    assert made.handle(answer, now=2.0) == ()


def test_what_left_before_may_go_while_a_document_is_being_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if another thread had closed an older document at the worst moment."""
    table = RouteTable("lxml")
    table.subscribe(ONE, A)
    older = table.snapshot()
    table.unsubscribe(ONE)
    newer = table.snapshot()
    matcher, honest = table._locals.matcher, table._locals.matcher.decide

    def interrupted(content: bytes) -> object:
        answer = honest(content)
        table.close(older)
        return answer

    monkeypatch.setattr(matcher, "decide", interrupted)
    assert table.locals_for(b"<a/>", newer).matches == ()


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_documents_can_be_decided_on_a_thread_while_tables_change(engine: str) -> None:
    made = Router(BrokerId("here"), identity(), engine=engine)
    made.handle(LinkUp(EAST), now=0.0)
    made.handle(Received(EAST, Change(1, 1, routes=(A,))), now=0.0)
    made.handle(Subscribe(ONE, "ann", A), now=0.0)
    wrong: list[object] = []
    questions = [comes(made, f"p{number}", b"<a><b/></a>") for number in range(300)]
    answers: list[Decided] = []

    def decide() -> None:
        try:
            answers.extend(made.decide(question) for question in questions)
        except BaseException as error:  # noqa: BLE001 - told by the test
            wrong.append(error)

    thread = Thread(target=decide)
    thread.start()
    number = 0
    while thread.is_alive() and number < 300:
        number += 1
        changed = (B,) if number % 2 else ()
        made.handle(
            Received(
                EAST, Change(1, number + 1, routes=changed, withdrawn=() if changed else (B,))
            ),
            now=1.0,
        )
        made.handle(Subscribe(SubscriptionId(number + 1), "bob", B), now=1.0)
        made.handle(Unsubscribe(SubscriptionId(number + 1)), now=1.0)
    thread.join()
    assert not wrong
    assert {(answer.links, answer.subscriptions) for answer in answers} == {((EAST,), (ONE,))}
    for answer in answers:
        made.handle(answer, now=2.0)
    assert made.statistics().kept_for_snapshots == 0


# Changes that wait for company.


def changes(effects: tuple[Effect, ...]) -> dict[str, Change]:
    return {
        effect.link: effect.message
        for effect in effects
        if isinstance(effect, Send) and isinstance(effect.message, Change)
    }


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


def test_numbers_rise_by_one_and_a_new_session_begins_with_the_whole_table() -> None:
    made = Router(BrokerId("here"), identity())
    made.handle(Subscribe(ONE, "ann", A), now=0.0)
    made.handle(LinkUp(EAST), now=0.0)
    first = changes(made.handle(Woken(), now=0.0))[EAST]
    made.handle(Subscribe(TWO, "bob", B), now=1.0)
    second = changes(made.handle(Woken(), now=1.0))[EAST]
    made.handle(LinkDown(EAST), now=2.0)
    made.handle(LinkUp(EAST), now=2.0)
    third = changes(made.handle(Woken(), now=2.0))[EAST]
    assert [(each.number, each.routes) for each in (first, second, third)] == [
        (1, (A,)),
        (2, (B,)),
        (1, (A, B)),
    ]
    assert first.session == second.session < third.session


def test_a_session_begins_with_a_change_even_if_there_is_nothing_to_say() -> None:
    made = Router(BrokerId("here"), identity())
    made.handle(LinkUp(EAST), now=0.0)
    assert changes(made.handle(Woken(), now=0.0)) == {EAST: Change(1, 1)}


def test_an_id_that_was_given_anew_is_not_the_one_that_was_meant() -> None:
    made = router()
    made.handle(Subscribe(ONE, "ann", A), now=0.0)
    asked = comes(made, "first", b"<a/>")
    made.handle(Unsubscribe(ONE), now=1.0)
    made.handle(Subscribe(ONE, "bob", B), now=1.0)
    assert told(made.handle(made.decide(asked), now=2.0)) == [("first", EAST)]


def test_churn_while_documents_are_open_keeps_only_what_has_left() -> None:
    made = router()
    for number in range(300):
        made.handle(Subscribe(SubscriptionId(number), "ann", A), now=0.0)
    questions = []
    for number in range(300):
        made.handle(Unsubscribe(SubscriptionId(number)), now=1.0)
        questions.append(comes(made, f"p{number}", b"<a/>"))
    assert made.statistics().kept_for_snapshots == 299  # the first left before any document came
    for question in questions:
        made.handle(made.decide(question), now=2.0)
    assert made.statistics().kept_for_snapshots == 0
