"""What neighbours have agreed on: the change that annotations belong to, and hints."""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.neighbours import EAST, UP, WEST, broker
from tests.routing.piggyback.five_elements import FIVE, five, told_to
from twigcast.routing.events import (
    Change,
    LinkDown,
    LinkUp,
    Received,
    Subscribe,
    SubscriptionId,
)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_annotations_count_for_the_change_that_was_said_last_when_they_come(engine: str) -> None:
    made = five("lazy", "-s", engine=engine)
    old = made.unmatched("//b")
    early = made.arrives(b"<r><a/></r>", old, name="early")
    made.router.handle(Subscribe(SubscriptionId(3), "s3", made.routes[0]), now=1.0)
    made.flush()  # Nothing new: //a was said before.
    same = made.arrives(b"<r><a/></r>", old, name="same")
    (new,) = (each for each in broker("lazy", "-s", own={1: "//new"}).routes)
    made.router.handle(Subscribe(SubscriptionId(4), "s4", new), now=1.0)
    unsaid = made.arrives(b"<r><a/></r>", old, name="unsaid")
    made.flush()
    late = made.arrives(b"<r><a/></r>", old, name="late")
    answers = [made.answers(each)[-1] for each in (early, same, unsaid, late)]
    assert [bool(each.ignored) for each in answers] == [False, False, False, True]


def test_annotations_of_a_link_that_was_lost_and_is_back_are_outdated() -> None:
    made = five("lazy", "-s")
    old = made.unmatched("//b")
    made.router.handle(LinkDown(UP), now=1.0)
    made.router.handle(LinkUp(UP), now=1.0)
    assert made.answers(made.arrives(FIVE, old))[-1].ignored
    made.routes = ()
    made.flush()
    assert made.answers(made.arrives(FIVE, old, name="q"))[-1].ignored
    assert not made.answers(made.arrives(FIVE, made.unmatched("//z"), name="r"))[-1].ignored


def test_hints_are_refused_if_they_cannot_be_meant() -> None:
    made = five("lazy", "+s-s")
    hints = made.hints
    made.router.handle(LinkDown(WEST), now=1.0)
    made.router.handle(LinkUp(WEST), now=1.0)
    (effect,) = made.router.handle(Received(WEST, Change(2, 1, hints=hints)), now=1.0)
    assert "a number for each pattern" in getattr(effect, "reason", "")


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_rows_are_watched_as_long_as_somebody_asks_for_them(engine: str) -> None:
    made = broker("lazy", "-d", east=("//a/b/x", "//a/b/y"), west=("//a/b/x", "//r"), engine=engine)
    content = b"<r><x/></r>"
    made.answers(made.arrives(content))
    assert told_to(made)[WEST] is not None
    made.router.handle(LinkDown(EAST), now=1.0)
    made.answers(made.arrives(content, name="q"))
    assert told_to(made)[WEST] is not None
    made.router.handle(LinkDown(WEST), now=1.0)
    assert not made.router.statistics().kept_for_snapshots


def test_a_neighbour_that_sends_no_hints_is_told_nothing() -> None:
    made = five("lazy", "+s-s")
    change = Change(1, 2, routes=(made.routes[-1],))
    made.router.handle(Received(WEST, change), now=1.0)
    made.answers(made.arrives(FIVE))
    told = told_to(made)
    assert told[EAST] is not None
    assert told[WEST] is None
