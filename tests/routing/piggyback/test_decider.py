"""When an annotated document goes where, what is told about it, and what that took.

The broker of these tests has two neighbours and clients of its own; see
:mod:`tests.routing.neighbours`.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.annotated import parsed, table_of
from tests.routing.neighbours import EAST, UP, WEST, Broker, broker
from twigcast import Network
from twigcast.covering import Bound
from twigcast.errors import DocumentError
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations, Kinds
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    Decided,
    Deliver,
    LinkDown,
    LinkUp,
    Publication,
    Received,
    Send,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from twigcast.routing.piggyback.inference import learn

ONE, TWO = SubscriptionId(1), SubscriptionId(2)

FIVE = b"<r><a/><b/><c><d/></c></r>"
"""Five elements: //a is certain with the second, //b with the third, //d with the fifth."""


def five(protocol: str, kinds: str = "", **options: Any) -> Broker:  # noqa: ANN401
    """East asks for //d and //a, west for //b; clients here for //c and for //z."""
    return broker(
        protocol,
        kinds,
        own={1: "//c", 2: "//z"},
        east=("//d", "//a"),
        west=("//b",),
        **options,
    )


def sent(made: Broker) -> list[str]:
    """The links that documents went over, in order."""
    return [effect.link for effect in made.effects if isinstance(effect, Send)]


def delivered(made: Broker) -> list[int]:
    return [effect.subscription for effect in made.effects if isinstance(effect, Deliver)]


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


def told_to(made: Broker) -> dict[str, Annotations | None]:
    """What went with a document over each link."""
    return {
        effect.link: effect.message.annotations  # type: ignore[union-attr]
        for effect in made.effects
        if isinstance(effect, Send)
    }


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


def test_rows_that_do_not_occur_are_told_by_an_engine_that_reads_in_order_and_positions() -> None:
    made = broker("lazy", "+d-d", east=("//a/b/x", "//a/b/y", "//c/d/x", "//c/d/y", "//r"))
    made.answers(made.arrives(b"<r><a><b/></a><e/><e/></r>"))
    told = told_to(made)[EAST]
    assert told is not None
    assert told.absent is not None
    assert told.last


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


# Agreements.


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
