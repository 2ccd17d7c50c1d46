"""When an annotated document goes where, what is told about it.

The broker of these tests has two neighbours and clients of its own; see
:mod:`tests.routing.neighbours`.
"""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.neighbours import EAST, UP, WEST, broker
from tests.routing.piggyback.five_elements import FIVE, ONE, TWO, delivered, five, sent, told_to
from twigcast import Network
from twigcast.covering import Bound
from twigcast.errors import DocumentError
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    DeadLetter,
    Decide,
    Decided,
    LinkDown,
    Publication,
    Received,
    Unsubscribe,
)


def places(answers: list[Decided]) -> list[tuple[tuple[str, ...], tuple[int, ...], int]]:
    """Links, subscriptions and position of each answer."""
    return [(each.links, each.subscriptions, each.position) for each in answers]


# Order, positions and checks, by hand.


def test_eager_answers_come_in_the_order_of_the_document() -> None:
    made = five("eager")
    answers = made.answers(made.arrives(FIVE))
    assert places(answers) == [((EAST,), (), 2), ((WEST,), (), 3), ((), (ONE,), 5)]
    assert [each.final for each in answers] == [False, False, True]
    assert (sent(made), delivered(made)) == ([EAST, WEST], [ONE])


def test_eager_checks_end_for_a_link_with_its_first_match() -> None:
    """Each pattern with each element: //a 2 and //d 2 as east is done then, //b 3, //c 4, //z 5."""
    made = five("eager")
    answers = made.answers(made.arrives(FIVE))
    assert [each.checks for each in answers] == [5 * 2, 1 + 1 + 1, 1 + 2]
    assert sum(each.checks for each in answers) == 2 + 2 + 3 + 4 + 5


def test_lazy_has_one_answer_at_the_end_and_checks_until_each_is_certain() -> None:
    """//a 2, //b 3, //c 4, //d 5, //z 5."""
    made = five("lazy")
    answers = made.answers(made.arrives(FIVE))
    assert places(answers) == [((EAST, WEST), (ONE,), 5)]
    assert answers[0].checks == 2 + 3 + 4 + 5 + 5


@pytest.mark.parametrize(
    ("threshold", "count"), [(0.0, 1), (0.39, 1), (0.4, 3), (0.5, 3), (1.0, 3)]
)
def test_adaptive_is_eager_if_the_first_match_comes_by_the_threshold(
    threshold: float, count: int
) -> None:
    """The first match comes with the second element of five."""
    made = five("adaptive", threshold=threshold)
    assert len(made.answers(made.arrives(FIVE))) == count
    assert (sent(made), delivered(made)) == ([EAST, WEST], [ONE])


def test_adaptive_is_lazy_if_no_link_matches() -> None:
    made = five("adaptive", threshold=0.99)
    answers = made.answers(made.arrives(b"<r><c/></r>"))
    assert places(answers) == [((), (ONE,), 2)]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("protocol", ["eager", "lazy", "adaptive"])
def test_every_protocol_sends_and_delivers_once(protocol: str, engine: str) -> None:
    made = five(protocol, engine=engine)
    made.answers(made.arrives(FIVE))
    assert (sorted(sent(made)), delivered(made)) == ([EAST, WEST], [ONE])
    assert made.router.statistics().open_documents == 0


@pytest.mark.parametrize(
    "engine", [each for each in EVERY_ENGINE if "streaming" not in each.values]
)
def test_without_moments_eager_sends_before_the_brokers_own_are_decided(engine: str) -> None:
    made = five("eager", engine=engine)
    answers = made.answers(made.arrives(FIVE))
    assert places(answers) == [((EAST, WEST), (), 0), ((), (ONE,), 0)]


# What annotations say comes first.


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_audited_document_that_cannot_be_read_goes_nowhere(engine: str) -> None:
    made = five("lazy", "-s", engine=engine, audit=1.0)
    (answer,) = made.answers(made.arrives(b"<not <xml", made.unmatched("//z", "//b")))
    assert answer.error
    assert [type(effect) for effect in made.effects] == [DeadLetter]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("protocol", ["lazy", "eager"])
def test_its_origin_reads_every_document(protocol: str, engine: str) -> None:
    """Even if nobody asks for anything."""
    network = Network({"brokers": ["b"], "links": []}, f"piggyback(protocol={protocol})")
    with pytest.raises(DocumentError):
        network.publish("b", b"<not <xml")
    made = broker(protocol, "+s", engine=engine)
    (*_, last) = made.answers(made.published(b"<not <xml"))
    assert last.error


@pytest.mark.parametrize("protocol", ["lazy", "eager"])
def test_a_document_that_is_partly_known_and_cannot_be_read_is_a_dead_letter(protocol: str) -> None:
    made = five(protocol, "+s")
    first, last = made.answers(made.arrives(b"<not <xml", made.matched("//a")))
    assert (first.links, first.final) == ((EAST,), False)
    assert last.error
    assert sent(made) == [EAST]
    assert made.router.statistics().dead_letters == 1
    assert made.router.statistics().open_documents == 0


# What is told on.


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_lazy_broker_tells_what_matched_and_what_did_not(engine: str) -> None:
    made = broker("lazy", "+s-sd", east=("//a", "//a/b", "//a/c"), engine=engine)
    made.answers(made.arrives(b"<r><a><b/></a></r>"))
    told = told_to(made)[EAST]
    assert told is not None
    assert (told.unmatched, told.is_complete, told.matched) == (bytes([0b100]), True, ())
    assert told.absent is not None


def test_an_eager_broker_tells_what_was_certain_by_then() -> None:
    made = broker("eager", "+s", east=("//a", "//b", "//c"))
    made.answers(made.arrives(b"<r><b/><a/></r>"))
    assert told_to(made)[EAST] == Annotations(1, 1, matched=((1, ()),))


def test_what_goes_on_unread_is_told_what_follows_from_what_came() -> None:
    made = broker("lazy", "-s", east=("//a", "//b"), own={1: "//c"})
    (answer,) = made.answers(made.arrives(b"", made.unmatched("//b")))
    assert answer.is_unread
    assert told_to(made)[EAST] == Annotations(1, 1, unmatched=bytes([0b10]), is_complete=True)


def test_who_asks_for_nothing_is_told_nothing() -> None:
    made = five("lazy", "")
    made.answers(made.arrives(FIVE))
    assert told_to(made) == {EAST: None, WEST: None}


# What cannot be used.

BAD: dict[str, dict[str, object]] = {
    "another session": {"session": 7},
    "another number": {"number": 7},
    "a place out of range": {"matched": ((5, ()),)},
    "a place below nothing": {"matched": ((-1, ()),)},
    "places out of order": {"matched": ((1, ()), (0, ()))},
    "a binding that was not asked for": {"matched": ((0, (Bound(1, ("a",)),)),)},
    "a row that is not there": {"last": ((9, 1),)},
    "too many bits": {"unmatched": b"\0\1"},
    "no bits": {"unmatched": b""},
    "a bit about nothing": {"unmatched": bytes([0b100000])},
    "rows that were not asked for": {"absent": b"\1"},
    "complete, and without bits": {"is_complete": True},
    "both": {"matched": ((0, ()),), "unmatched": b"\1"},
}


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("audit", [0.0, 1.0], ids=["", "audited"])
def test_what_cannot_be_meant_is_ignored_and_counted(fault: str, engine: str, audit: float) -> None:
    made = five("lazy", "+s-s", engine=engine, audit=audit)
    (answer,) = made.answers(made.arrives(FIVE, made.annotations(**BAD[fault])))
    assert answer.ignored
    assert answer.lie is None
    assert (sent(made), delivered(made)) == ([EAST, WEST], [ONE])
    assert made.router.statistics().annotations_ignored == 1
    assert made.router.statistics().skipped == 0


def test_annotations_of_a_flooded_document_are_ignored_and_counted() -> None:
    made = five("lazy", "-s")
    publication = Publication("p", BrokerId("afar"), "press", FIVE)
    arrival = Arrive(publication, flooded=True, annotations=made.unmatched("//a", "//c"))
    (question,) = made.router.handle(Received(UP, arrival), now=1.0)
    assert isinstance(question, Decide)
    made.answers(question)
    assert (sent(made), delivered(made)) == ([EAST, WEST], [ONE])
    assert made.router.statistics().annotations_ignored == 1


@pytest.mark.parametrize("protocol", ["eager", "lazy", "adaptive"])
def test_ignored_annotations_are_counted_once_however_many_answers_there_are(protocol: str) -> None:
    made = five(protocol, "+s")
    made.answers(made.arrives(FIVE, made.annotations(number=9)))
    assert made.router.statistics().annotations_ignored == 1


# What happens between two answers.


def test_a_link_that_is_lost_between_answers_is_not_sent_to() -> None:
    made = five("eager", "+s")
    question = made.arrives(FIVE, made.matched("//a"))
    made.effects += made.router.handle(made.router.decide(question), now=1.0)
    made.router.handle(LinkDown(WEST), now=1.0)
    made.router.handle(Unsubscribe(ONE), now=1.0)
    made.answers(question)
    assert (sent(made), delivered(made)) == ([EAST], [])
    assert made.router.statistics().kept_for_snapshots == 0


# Patterns that only libxml2 can decide, or nobody.

COSTLY = "//a[sum(preceding::a) = 7]"
WIDE = b"<a>" + b"<a/>" * 8_000 + b"</a>"


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_annotations_decide_what_an_index_cannot(engine: str) -> None:
    made = broker("lazy", "-s", own={1: "//a[count(b) > 1]", 2: "/a[b = c]"}, engine=engine)
    counting, _ = (each.text for each in made.routes)
    (answer,) = made.answers(made.arrives(b"", made.unmatched(counting)))
    assert (answer.subscriptions, answer.is_unread) == ((TWO,), True)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_is_undecided_here_may_be_known_from_annotations(engine: str) -> None:
    made = broker("lazy", "-s", own={1: COSTLY}, east=(COSTLY, "//b"), engine=engine)
    (answer,) = made.answers(made.arrives(WIDE))
    assert (answer.undecided, answer.links) == ((ONE,), (EAST,))
    told = answer.annotations[0]
    assert told is None or not told.is_complete
    (answer,) = made.answers(made.arrives(WIDE, made.unmatched("//b"), name="q"))
    assert (answer.undecided, answer.subscriptions) == ((), (ONE,))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("protocol", ["eager", "lazy", "adaptive"])
def test_what_is_undecided_is_sent_on_and_not_called_a_match(protocol: str, engine: str) -> None:
    made = broker(protocol, "+s", east=(COSTLY,), engine=engine)
    made.answers(made.arrives(WIDE))
    assert told_to(made) == {EAST: None}


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_whoever_cannot_decide_accuses_nobody(engine: str) -> None:
    made = broker("lazy", "-s", own={1: COSTLY}, east=(COSTLY, "//b"), engine=engine, audit=1.0)
    (answer,) = made.answers(made.arrives(WIDE, made.unmatched("//b")))
    assert (answer.undecided, answer.lie) == ((ONE,), None)
