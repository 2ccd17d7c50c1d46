"""Documents that are decided late, out of order, or on another thread."""

from __future__ import annotations

from threading import Thread

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.two_neighbours import EAST, ONE, TWO, WEST, A, B, comes, router, told
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    BrokerId,
    Change,
    Decided,
    LinkDown,
    LinkUp,
    Received,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from twigcast.routing.strategy import identity
from twigcast.routing.tables.route_table import RouteTable

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
