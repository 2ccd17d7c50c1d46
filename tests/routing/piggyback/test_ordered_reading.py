"""What is read of a document, and what is known without reading."""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.neighbours import EAST, WEST, broker
from tests.routing.piggyback.five_elements import FIVE, ONE, delivered, five, sent, told_to
from twigcast.routing.events import (
    Decided,
)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("protocol", ["eager", "lazy", "adaptive"])
def test_what_is_known_to_match_goes_on_unread_and_only_once(protocol: str, engine: str) -> None:
    made = five(protocol, "+s", engine=engine)
    answers = made.answers(made.arrives(FIVE, made.matched("//a", "//c")))
    assert (answers[0].links, answers[0].subscriptions) == ((EAST,), (ONE,))
    assert [each.is_unread for each in answers] == [True] + [False] * (len(answers) - 1)
    assert (sent(made), delivered(made)) == ([EAST, WEST], [ONE])
    assert made.router.statistics().sent_unread == 1


def test_patterns_that_are_decided_need_no_checks() -> None:
    """East is done, and so are //c and //z: //b alone is compared, with three elements."""
    made = five("lazy", "+s-s")
    told = made.annotations(
        matched=made.matched("//a", "//c").matched,
        unmatched=made.unmatched("//z", is_complete=False).unmatched,
    )
    first, last = made.answers(made.arrives(FIVE, told))
    assert (first.is_unread, first.checks) == (True, 0)
    assert (last.links, last.checks, last.skipped) == ((WEST,), 3, 3)


def test_positions_end_the_checks_of_routes_and_of_subscriptions() -> None:
    """No //b/x and no //b/x/y ends behind the first end tag; by then two elements have begun."""
    made = broker("lazy", "+d", own={1: "//b/x/y"}, east=("//b/x/z",))
    told = made.annotations(last=((made.row("//b/x"), 1),))
    (answer,) = made.answers(made.arrives(b"<r><a/><b/><b/><b/></r>", told))
    assert answer.checks == 2 + 2
    (answer,) = made.answers(made.arrives(b"<r><a/><b/><b/><b/></r>", name="q"))
    assert answer.checks == 5 + 5


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("protocol", ["lazy", "adaptive"])
def test_nothing_is_read_if_annotations_decide_everything(protocol: str, engine: str) -> None:
    """Not even whether it can be read.

    Its origin has seen to that; and a broker that sends something else in its place can lie about
    what matches as well. The audit is for both.
    """
    made = five(protocol, "-s", engine=engine)
    (answer,) = made.answers(made.arrives(b"<not <xml", made.unmatched("//z", "//b")))
    assert answer == Decided(
        answer.number,
        (EAST,),
        (ONE,),
        annotations=answer.annotations,
        skipped=5,
        is_unread=True,
    )
    assert (sent(made), delivered(made)) == ([EAST], [ONE])


def test_rows_that_do_not_occur_are_told_by_an_engine_that_reads_in_order_and_positions() -> None:
    made = broker("lazy", "+d-d", east=("//a/b/x", "//a/b/y", "//c/d/x", "//c/d/y", "//r"))
    made.answers(made.arrives(b"<r><a><b/></a><e/><e/></r>"))
    told = told_to(made)[EAST]
    assert told is not None
    assert told.absent is not None
    assert told.last
