"""Tables of annotated routes that change while documents are being decided."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.annotated import parsed, table_of
from tests.routing.neighbours import EAST, WEST, Broker, broker
from tests.routing.piggyback.five_elements import FIVE, ONE, TWO, delivered, five, sent
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Kinds
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import (
    Change,
    Decided,
    Received,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from twigcast.routing.piggyback.inference import learn


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_tables_that_change_between_answers_are_of_no_interest(engine: str) -> None:
    made = five("eager", "+s", engine=engine)
    question = made.arrives(FIVE, made.matched("//a"))
    made.effects += made.router.handle(made.router.decide(question), now=1.0)
    (pattern_b,) = (each for each in made.routes if each.text == "//b")
    change = Change(1, 2, withdrawn=(pattern_b,))
    assert made.router.handle(Received(WEST, change), now=1.0) == ()
    made.router.handle(Subscribe(SubscriptionId(3), "s3", pattern_b), now=1.0)
    made.answers(question)
    assert (sent(made), delivered(made)) == ([EAST, WEST], [ONE])
    assert made.router.statistics().kept_for_snapshots == 0


def churn(made: Broker, patterns: list[Pattern], number: int) -> None:
    """East asks for more, and then for less again; a client comes and goes."""
    more, less = (patterns, ()) if number % 2 else ((), patterns)
    asked = [*parsed("//a/b/c", "//a/b/d"), *more]
    hints = table_of(asked, asked, Kinds.parse("+s-sd")).hints
    change = Change(1, number + 1, routes=tuple(more), withdrawn=tuple(less), hints=hints)
    assert made.router.handle(Received(EAST, change), now=1.0) == ()
    made.router.handle(Subscribe(TWO, "s2", patterns[0]), now=1.0)
    made.router.handle(Unsubscribe(TWO), now=1.0)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_annotated_documents_can_be_decided_on_a_thread_while_tables_change(engine: str) -> None:
    """Rows are watched and no longer watched meanwhile; what is told of them stays true."""
    made = broker("lazy", "+s-sd", own={1: "//a"}, east=("//a/b/c", "//a/b/d"), engine=engine)
    content, told = b"<a><b><c/></b></a>", made.matched("//a")
    questions = [made.arrives(content, told, name=f"p{number}") for number in range(150)]
    answers: list[Decided] = []
    wrong: list[BaseException] = []

    def decide() -> None:
        try:
            for question in questions:
                answers.extend((made.router.decide(question), made.router.decide(question)))
        except BaseException as error:  # noqa: BLE001 - told by the test
            wrong.append(error)

    thread = Thread(target=decide)
    thread.start()
    number = 1
    while thread.is_alive() and number < 150:
        churn(made, parsed("//x/b/c", "//a/b/c/e"), number)
        number += 1
    thread.join()
    assert not wrong
    assert {each.subscriptions for each in answers[::2]} == {(ONE,)}
    assert {(each.links, each.subscriptions) for each in answers[1::2]} == {((EAST,), ())}
    asked = parsed("//a/b/c", "//a/b/d")
    table = table_of(asked, asked, Kinds.parse("+s-sd"))
    for answer in answers[1::2]:
        assert answer.annotations[0] is not None
        assert learn(answer.annotations[0], table).matched == {asked[0]}
        assert learn(answer.annotations[0], table).hopeless == {asked[1]}
    for answer in answers:
        made.router.handle(answer, now=2.0)
    assert made.router.statistics().kept_for_snapshots == 0


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_row_that_is_watched_anew_while_a_document_is_decided_is_not_called_absent(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if another thread had handled two changes at the worst moment."""
    patterns = parsed("//a/b/c", "//a/b/d")
    made = broker("lazy", "-d", east=("//a/b/c", "//a/b/d"), engine=engine)
    question = made.arrives(b"<a><b><c/></b></a>")
    matcher = made.router._routes.route_matcher
    name = "follow" if engine == "streaming" else "decide"
    honest = getattr(matcher, name)

    def interrupted(*asked: Any, **options: Any) -> object:  # noqa: ANN401
        answer = honest(*asked, **options)
        for number, hints in ((2, Hints(covered=(0, 0))), (3, table_of(patterns, patterns).hints)):
            made.router.handle(Received(EAST, Change(1, number, hints=hints)), now=1.0)
        return answer

    monkeypatch.setattr(matcher, name, interrupted)
    answer = made.router.decide(question)
    assert answer.links == (EAST,)
    assert answer.annotations == (None,)
