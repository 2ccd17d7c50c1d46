"""Hints and annotations of strangers: useless hints are refused, useless annotations ignored.

A change with hints that cannot be meant is refused like any other, and changes nothing. A document
is never refused for what was told with it: it is decided as if nothing had been. And a broker that
does not piggyback takes no notice of either.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing import wire_values
from twigcast.covering import Bound
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import HINT_LIMITS, Hints, SimpleHint
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    Deliver,
    Effect,
    Event,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    SubscriptionId,
    Woken,
)
from twigcast.routing.strategy import Strategy, covering, piggyback
from twigcast.routing.wire.frames import decode_event, encode

WEST, EAST = BrokerId("west"), BrokerId("east")
A, B, C, D = (Pattern.parse(text) for text in ("//a/b", "//a/c", "//c/*", "/d"))
ROW = Pattern.parse("//a/b")
PROTOCOLS = [piggyback(space=None), piggyback("eager", space=None), piggyback("adaptive", "+sd-sd")]


def prepared(strategy: Strategy) -> tuple[Router, Change]:
    """A broker between two others, and what it has said to the one in the west."""
    router = Router("here", strategy)
    events: list[Event] = [
        LinkUp(WEST),
        LinkUp(EAST),
        Received(WEST, Change(1, 1)),
        Received(EAST, Change(2, 1, routes=(A, C))),
        Subscribe(SubscriptionId(1), "ann", B),
        Subscribe(SubscriptionId(2), "bob", C),
    ]
    for event in events:
        assert not router.handle(event, now=1.0), event
    (said,) = (
        effect.message
        for effect in router.handle(Woken(), now=1.0)
        if isinstance(effect, Send) and effect.link == WEST
    )
    assert isinstance(said, Change)
    return router, said


def hinted(hints: Hints | None) -> Received:
    """The next change of the broker in the east, which then has said three patterns."""
    return Received(EAST, Change(2, 2, routes=(D,), hints=hints))


def document(content: bytes = b"<a><b/><c><d/></c></a>", origin: str = "west") -> Publication:
    return Publication("d1", BrokerId(origin), "press", content)


def settled(router: Router, event: Event) -> list[Effect]:
    """What comes of an event when all questions are answered."""
    effects: list[Effect] = []
    for effect in router.handle(event, now=2.0):
        if not isinstance(effect, Decide):
            effects.append(effect)
            continue
        is_final = False
        while not is_final:
            answer = router.decide(effect)
            effects += router.handle(answer, now=2.0)
            is_final = answer.final
    return effects


def reached(effects: list[Effect]) -> set[str]:
    """The links and the subscribers that a document went to."""
    assert not any(isinstance(effect, Refuse) for effect in effects)
    return {effect.link for effect in effects if isinstance(effect, Send)} | {
        effect.subscriber for effect in effects if isinstance(effect, Deliver)
    }


def state(router: Router) -> object:
    """All that can be seen from outside but how much was refused or ignored."""
    seen = router.statistics()._replace(refused=0, annotations_ignored=0)
    return router.tables(), seen, router.wake_at()


# Hints.

HOSTILE_HINTS = {
    "a number too few": Hints((1, 1)),
    "a number too many": Hints((1, 1, 1, 1)),
    "nothing": Hints(),
    "less than nothing": Hints((1, -1, 1)),
    "a place that is not there": Hints((1, 1, 1), (SimpleHint(3, 1, ()),)),
    "a place before the first": Hints((1, 1, 1), (SimpleHint(-1, 1, ()),)),
    "places out of order": Hints((1, 1, 1), (SimpleHint(1, 1, ()), SimpleHint(0, 1, ()))),
    "a place twice": Hints((1, 1, 1), (SimpleHint(1, 1, ()), SimpleHint(1, 1, ()))),
    "a whole of no parts": Hints((1, 1, 1), (SimpleHint(0, 0, ()),)),
    "wildcard nought": Hints((1, 1, 1), (SimpleHint(0, 1, (0,)),)),
    "wildcards out of order": Hints((1, 1, 1), (SimpleHint(0, 1, (2, 1)),)),
    "a row that is none": Hints((1, 1, 1), rows=((C, 1),)),
    "a row twice": Hints((1, 1, 1), rows=((ROW, 2), (ROW, 2))),
    "a row too long": Hints((1, 1, 1), rows=((Pattern.parse("//a" + "/a" * 8), 2),)),
    "a row that less than none need": Hints((1, 1, 1), rows=((ROW, -1),)),
    "too many positions": Hints((1, 1, 1), rows=((ROW, 2),), placed=(1, 1)),
    "a position for less than none": Hints((1, 1, 1), rows=((ROW, 2),), placed=(-1,)),
    "too many rows": Hints(
        (1, 1, 1),
        rows=tuple((Pattern.parse(f"//a{n}"), 2) for n in range(HINT_LIMITS.rows_max + 1)),
    ),
}


@pytest.mark.parametrize("name", HOSTILE_HINTS)
def test_a_change_with_hints_that_cannot_be_meant_changes_nothing(name: str) -> None:
    router, _ = prepared(PROTOCOLS[0])
    before, event = state(router), hinted(HOSTILE_HINTS[name])
    (refusal,) = router.handle(event, now=2.0)
    assert refusal == Refuse(event, refusal.reason, EAST)  # type: ignore[union-attr]
    assert state(router) == before
    good = hinted(Hints((1, 1, 1), rows=((ROW, 2),)))
    assert router.handle(good, now=2.0) == ()
    assert router.tables().routes[EAST] == tuple(sorted(one.text for one in (A, C, D)))


@pytest.mark.parametrize("name", HOSTILE_HINTS)
def test_a_broker_that_does_not_piggyback_takes_no_notice_of_hints(name: str) -> None:
    router, said = prepared(covering())
    other, _ = prepared(covering())
    assert said.hints is None
    told = [each.handle(event, now=2.0) for each, event in
            ((router, hinted(HOSTILE_HINTS[name])), (other, hinted(None)))]  # fmt: skip
    assert told == [(), ()]
    published = Publish(document(origin="here"))
    assert settled(router, published) == settled(other, published)
    assert state(router) == state(other)


NUMBERS = st.integers(-1, 4)
PLAUSIBLE_HINTS = st.builds(
    Hints,
    st.lists(st.integers(0, 3), min_size=3, max_size=3).map(tuple),
    st.dictionaries(
        st.integers(0, 2), st.tuples(st.integers(1, 3), st.sets(st.integers(1, 3)))
    ).map(
        lambda asked: tuple(
            SimpleHint(place, parts, tuple(sorted(some)))
            for place, (parts, some) in sorted(asked.items())
        )
    ),
    st.dictionaries(wire_values.ROWS, NUMBERS).map(lambda rows: tuple(rows.items())),
    st.lists(NUMBERS, max_size=3).map(tuple),
)


@pytest.mark.parametrize("strategy", PROTOCOLS, ids=str)
@given(st.one_of(PLAUSIBLE_HINTS, PLAUSIBLE_HINTS, wire_values.HINTS))
def test_no_hints_ever_change_where_a_document_goes(strategy: Strategy, hints: Hints) -> None:
    router, _ = prepared(strategy)
    before = state(router)
    effects = router.handle(hinted(hints), now=2.0)
    if effects:
        assert isinstance(effects[0], Refuse)
        assert state(router) == before
    for content, wanted in (
        (b"<a><b/><c><d/></c></a>", {"east", "ann", "bob"}),
        (b"<a><b/></a>", {"east"}),
        (b"<a><c/></a>", {"ann"}),
        (b"<b/>", set()),
    ):
        assert reached(settled(router, Publish(document(content, "here")))) == wanted


# Annotations.


def test_annotations_that_are_true_are_not_ignored() -> None:
    router, said = prepared(PROTOCOLS[0])
    assert said.hints is not None
    assert len(said.hints.covered) == 3
    told = Annotations(said.session, said.number, unmatched=b"\0", is_complete=True)
    assert reached(settled(router, Received(WEST, Arrive(document(), annotations=told)))) == {
        "east", "ann", "bob"
    }  # fmt: skip
    assert router.statistics().annotations_ignored == 0
    assert router.statistics().skipped == 4


HOSTILE_ANNOTATIONS: dict[str, Annotations] = {
    "made for the change before": Annotations(0, -1, unmatched=b"\7"),
    "made for a change to come": Annotations(0, 1, unmatched=b"\7"),
    "made for another session": Annotations(1, 0, unmatched=b"\7"),
    "a place that is not there": Annotations(0, 0, matched=((3, ()),)),
    "a place before the first": Annotations(0, 0, matched=((-1, ()),)),
    "places out of order": Annotations(0, 0, matched=((1, ()), (0, ()))),
    "a place twice": Annotations(0, 0, matched=((0, ()), (0, ()))),
    "a binding nobody asked for": Annotations(0, 0, matched=((0, (Bound(9, ("x",)),)),)),
    "a row that is not there": Annotations(0, 0, last=((7, 1),)),
    "an end tag before the first": Annotations(0, 0, last=((0, 0),)),
    "no bits": Annotations(0, 0, unmatched=b""),
    "bits about nothing": Annotations(0, 0, unmatched=b"\xff"),
    "too many bits": Annotations(0, 0, unmatched=b"\1\0"),
    "bits about no rows": Annotations(0, 0, absent=b"\xff\xff"),
    "complete without bits": Annotations(0, 0, is_complete=True),
    "a yes and a no": Annotations(0, 0, matched=((0, ()),), unmatched=b"\7"),
}
"""Sessions and numbers are counted from those of what was said."""


@pytest.mark.parametrize("strategy", PROTOCOLS, ids=str)
@pytest.mark.parametrize("name", HOSTILE_ANNOTATIONS)
def test_a_document_is_decided_as_if_useless_annotations_had_not_come(
    name: str, strategy: Strategy
) -> None:
    router, said = prepared(strategy)
    plain, _ = prepared(strategy)
    drawn = HOSTILE_ANNOTATIONS[name]
    told = replace(drawn, session=said.session + drawn.session, number=said.number + drawn.number)
    event = Received(WEST, Arrive(document(), annotations=told))
    assert decode_event(encode(event)) == event
    without = settled(plain, Received(WEST, Arrive(document())))
    assert settled(router, event) == without
    assert reached(without) == {"east", "ann", "bob"}
    assert router.statistics().annotations_ignored == 1
    assert state(router) == state(plain)


PLACES = st.integers(-1, 3)
BOUNDS = st.builds(
    Bound, st.integers(0, 2), st.lists(st.sampled_from("abd"), max_size=2).map(tuple)
)
BITS = st.none() | st.integers(0, 8).map(lambda bits: bytes((bits,)))
PLAUSIBLE_ANNOTATIONS = st.builds(
    Annotations,
    st.just(0),
    st.just(0),
    st.dictionaries(PLACES, st.lists(BOUNDS, max_size=2).map(tuple), max_size=2).map(
        lambda matched: tuple(sorted(matched.items()))
    ),
    st.dictionaries(PLACES, st.integers(0, 4), max_size=2).map(lambda last: tuple(last.items())),
    BITS,
    BITS,
    st.booleans(),
)


@pytest.mark.parametrize("strategy", PROTOCOLS, ids=str)
@given(st.one_of(PLAUSIBLE_ANNOTATIONS, PLAUSIBLE_ANNOTATIONS, wire_values.ANNOTATIONS))
def test_no_annotations_ever_make_a_broker_refuse_a_document(
    strategy: Strategy, drawn: Annotations
) -> None:
    router, said = prepared(strategy)
    asked = Hints((2, 1, 1), (SimpleHint(2, 2, (2,)),), ((ROW, 2),), (1,))
    assert router.handle(hinted(asked), now=2.0) == ()
    told = replace(drawn, session=said.session, number=said.number)
    effects = settled(router, Received(WEST, Arrive(document(), annotations=told)))
    assert not any(isinstance(effect, Refuse | DeadLetter) for effect in effects)
    assert router.statistics().open_documents == 0


@pytest.mark.parametrize("name", HOSTILE_ANNOTATIONS)
def test_a_broker_that_does_not_piggyback_takes_no_notice_of_annotations(name: str) -> None:
    router, _ = prepared(covering())
    other, _ = prepared(covering())
    told = HOSTILE_ANNOTATIONS[name]
    effects = settled(router, Received(WEST, Arrive(document(), annotations=told)))
    assert effects == settled(other, Received(WEST, Arrive(document())))
    assert state(router) == state(other)
    assert router.statistics().annotations_ignored == 0
