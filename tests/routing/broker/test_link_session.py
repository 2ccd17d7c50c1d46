"""Changes of a link are numbered from 1 in each session, which begins with the whole table."""

from __future__ import annotations

from tests.routing.two_neighbours import EAST, ONE, TWO, A, B, changes
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    BrokerId,
    Change,
    LinkDown,
    LinkUp,
    Subscribe,
    Woken,
)
from twigcast.routing.strategy import identity


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
