"""Hints and annotations on the wire: they arrive whole and bounded; nothing depends on them."""

from __future__ import annotations

import random
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.annotated import (
    EVERY_KIND,
    contents,
    findings_of,
    pattern_sets,
    sent_for,
    table_of,
)
from tests.routing.wire_values import (
    ANNOTATIONS,
    ARRIVE,
    CHANGE,
    HINTS,
    altered,
    frame,
    many,
    refused,
)
from tests.strategies import THOROUGH
from twigcast.covering import Bound
from twigcast.errors import ProtocolError, UsageError
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import (
    ANNOTATION_BYTES_MAX,
    AnnotationLimits,
    Annotations,
    Kinds,
    annotate,
)
from twigcast.routing.annotations.hints import HINT_LIMITS, Hints, SimpleHint
from twigcast.routing.events import Arrive, BrokerId, Change, Decide, Decided, Publication
from twigcast.routing.wire.annotations import (
    HINT_WILDCARDS_MAX,
    SENT_PATTERNS_MAX,
    annotation_bytes,
    read_annotations,
)
from twigcast.routing.wire.frames import (
    Assembler,
    WireLimits,
    decode,
    decode_effect,
    decode_event,
    encode,
    frames,
)

DOCUMENT = Publication("p", BrokerId("b"), "c", b"<a/>")
HINTED = replace(many(9), hints=Hints(covered=(1,) * 9, simple=(SimpleHint(3, 2, (1, 4)),)))
SMALL = WireLimits(part_routes_max=3, part_bytes_max=200)


def parts_of(change: Change, limits: WireLimits) -> list[list[object]]:
    """The items of each of the frames."""
    return [msgspec.msgpack.decode(content[2:]) for content in frames(change, limits)]


# Round trips.


@given(pattern_sets(), contents(), st.sampled_from(EVERY_KIND), st.data())
def test_what_brokers_tell_each_other_is_read_as_it_was_written(
    patterns: list[Pattern], content: bytes, kinds: Kinds, data: st.DataObject
) -> None:
    table = table_of(data.draw(sent_for(patterns)), patterns, kinds)
    change = Change(3, 7, table.sent, hints=table.hints)
    assert decode(encode(change)) == change
    found = findings_of(table.sent, table.hints, content)
    limits = AnnotationLimits(bytes_max=data.draw(st.sampled_from([20, 60, 1_024])))
    told = annotate(kinds, table.hints, found, session=3, number=7, limits=limits)
    arrive = Arrive(DOCUMENT, annotations=told)
    assert decode(encode(arrive)) == arrive


@given(ANNOTATIONS)
def test_annotations_take_as_many_bytes_as_they_say(annotations: Annotations) -> None:
    content = annotation_bytes(annotations)
    assert len(content) == annotations.size
    assert read_annotations("annotations", content) == annotations


@given(HINTS)
def test_hints_that_come_can_be_worked_with(hints: Hints) -> None:
    change = decode(encode(Change(1, 1, hints=hints)))
    assert isinstance(change, Change)
    assert change.hints is not None
    assert (change.hints.order, change.hints.by_place) == (hints.order, hints.by_place)
    assert all(isinstance(hint, SimpleHint) for hint in change.hints.simple)


def test_bindings_that_come_are_bindings() -> None:
    told = Annotations(1, 1, matched=((0, (Bound(2, ("b", "{urn:p}c")),)),))
    (bounds,) = (bounds for _, bounds in read_annotations("", annotation_bytes(told)).matched)
    assert isinstance(bounds[0], Bound)


# With the last part.


@given(HINTS, st.integers(1, 30), st.integers(1, 9), st.integers(1, 300))
def test_hints_come_whole_and_with_the_last_part_alone(
    hints: Hints, routes: int, routes_max: int, bytes_max: int
) -> None:
    change = replace(many(routes), hints=hints)
    limits = WireLimits(part_routes_max=routes_max, part_bytes_max=bytes_max)
    *before, last = parts_of(change, limits)
    assert [items[-1] for items in before] == [None] * len(before)
    assert last[-1] is not None
    assembler = Assembler()
    *_, whole = map(assembler.take, frames(change, limits))
    assert whole == change


def test_long_hints_do_not_make_parts_smaller() -> None:
    long = replace(many(9), hints=Hints(covered=(1,) * 1_000))
    assert len(parts_of(long, SMALL)) == len(parts_of(many(9), SMALL)) == 3


def test_the_hints_of_one_change_are_not_those_of_the_next() -> None:
    assembler = Assembler()
    after = Change(5, 2, withdrawn=many(1).routes)
    assert [assembler.take(content) for content in frames(HINTED, SMALL)][-1] == HINTED
    assert assembler.take(encode(after)) == after


def test_hints_with_a_part_that_is_not_the_last_are_refused() -> None:
    first, _, last = parts_of(HINTED, SMALL)
    with pytest.raises(ProtocolError, match="last part alone") as caught:
        Assembler().take(frame(*first[:-1], last[-1]))
    assert caught.value.place == "hints"


# What does not fit.


TOO_MANY = {
    "covered": Hints(covered=(0,) * (SENT_PATTERNS_MAX + 1)),
    "simple": Hints(simple=(SimpleHint(0, 1, ()),) * (HINT_LIMITS.simple_max + 1)),
    "wildcards": Hints(simple=(SimpleHint(0, 1, (1,) * (HINT_WILDCARDS_MAX + 1)),)),
    "rows": Hints(rows=((Pattern.parse("//a"), 1),) * (HINT_LIMITS.rows_max + 1)),
    "placed": Hints(placed=(0,) * (HINT_LIMITS.rows_max + 1)),
    "numbers": Hints(covered=(2**64,)),
}


@pytest.mark.parametrize("what", TOO_MANY)
def test_hints_that_cannot_cross_are_refused_to_their_author_and_left_out_when_sent(
    what: str,
) -> None:
    change = replace(many(9), hints=TOO_MANY[what])
    with pytest.raises(UsageError):
        encode(change)
    assembler = Assembler()
    *_, whole = map(assembler.take, frames(change, SMALL))
    assert whole == many(9)


def test_as_many_hints_as_may_cross_do() -> None:
    row = Pattern.parse("//a/b")
    most = Hints(
        covered=(2**32,) * SENT_PATTERNS_MAX,
        simple=(SimpleHint(0, 1, (1,) * HINT_WILDCARDS_MAX),) * HINT_LIMITS.simple_max,
        rows=((row, 1),) * HINT_LIMITS.rows_max,
        placed=(0,) * HINT_LIMITS.rows_max,
    )
    change = replace(many(3), hints=most)
    assert decode(encode(change)) == change


def test_hints_that_no_frame_can_hold_are_left_out() -> None:
    (whole,) = frames(HINTED, WireLimits(frame_bytes_max=len(encode(HINTED))))
    assert decode(whole) == HINTED
    (whole,) = frames(HINTED, WireLimits(frame_bytes_max=len(encode(HINTED)) - 1))
    assert decode(whole) == many(9)


def long_annotations(more: int) -> Annotations:
    """Annotations that take so many bytes more than they may."""
    bare = Annotations(1, 1, unmatched=b"\1" * 1_000)
    return replace(bare, unmatched=b"\1" * (1_000 + ANNOTATION_BYTES_MAX - bare.size + more))


def test_annotations_may_reach_their_limit() -> None:
    arrive = Arrive(DOCUMENT, annotations=long_annotations(0))
    assert long_annotations(0).size == ANNOTATION_BYTES_MAX
    assert decode(encode(arrive)) == arrive


@pytest.mark.parametrize(
    "annotations",
    [
        long_annotations(1),
        Annotations(2**64, 1),
        Annotations(1, 1, matched=((0, (Bound(1, ("\ud800",)),)),)),
    ],
    ids=["too long", "too large", "half a character"],
)
def test_annotations_that_cannot_cross_are_refused_to_their_author_and_left_out_when_sent(
    annotations: Annotations,
) -> None:
    arrive = Arrive(DOCUMENT, annotations=annotations)
    with pytest.raises(UsageError):
        encode(arrive)
    (content,) = frames(arrive)
    assert decode(content) == Arrive(DOCUMENT)


def test_a_document_too_large_for_a_frame_is_refused_with_annotations_or_without() -> None:
    for told in (None, Annotations(1, 1)):
        arrive = Arrive(replace(DOCUMENT, content=bytes(500)), annotations=told)
        with pytest.raises(UsageError, match="frame_bytes_max"):
            list(frames(arrive, WireLimits(frame_bytes_max=500)))


# Whatever is none.


_ANNOTATIONS: list[object] = [1, 2, [[0, [[1, ["b"]]]]], [[0, 3]], b"\1", None, False]
_HINTS: list[object] = [[2, 1], [[0, 2, [1]]], [["//a/b", 2]], [1]]


def packed(items: object) -> bytes:
    return msgspec.msgpack.encode(items)


def test_the_shapes_that_are_altered_here_are_right() -> None:
    arrive = decode(frame(*altered(ARRIVE, 4, packed(_ANNOTATIONS))))
    told = Annotations(1, 2, ((0, (Bound(1, ("b",)),)),), ((0, 3),), b"\1")
    assert arrive == Arrive(DOCUMENT, annotations=told)
    change = decode(frame(*altered(CHANGE, 9, _HINTS)))
    asked = Hints((2, 1), (SimpleHint(0, 2, (1,)),), ((Pattern.parse("//a/b"), 2),), (1,))
    assert change == Change(1, 1, hints=asked)


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"", "annotations", "truncated"),
        (b"\xc1", "annotations", "malformed"),
        (packed(7), "annotations", "Expected `array`, got `int`"),
        (packed(_ANNOTATIONS[:-1]), "annotations", "at least length 7, got 6"),
        (packed([*_ANNOTATIONS, 1]), "annotations", "at most length 7, got 8"),
        (packed(_ANNOTATIONS) + b"\0", "annotations", "trailing"),
        (packed(altered(_ANNOTATIONS, 0, "1")), "annotations[0]", "Expected `int`, got `str`"),
        (packed(altered(_ANNOTATIONS, 1, 1.5)), "annotations[1]", "Expected `int`, got `float`"),
        (packed(altered(_ANNOTATIONS, 2, [[0]])), "annotations[2][0]", "at least length 2"),
        (packed(altered(_ANNOTATIONS, 2, [[0, [[1, [2]]]]])), "annotations[2][0][1][0][1][0]", ""),
        (packed(altered(_ANNOTATIONS, 3, [[0]])), "annotations[3][0]", "length 2"),
        (packed(altered(_ANNOTATIONS, 3, [[0, 1, 2]])), "annotations[3][0]", "length 2"),
        (packed(altered(_ANNOTATIONS, 4, "x")), "annotations[4]", "`bytes"),
        (packed(altered(_ANNOTATIONS, 6, 1)), "annotations[6]", "Expected `bool`, got `int`"),
        (b"\x97\x01\x02\xdd\xff\xff\xff\xff", "annotations[2]", "length <= 65536"),
        (b"\x97\x01\x02" + b"\x91" * 60_000, "annotations[2][0]", ""),
        (b"\x97\x01\x02\x91\x92\x00\x91\x92\x01\x91\xa1\xff", "annotations", "UTF-8"),
    ],
)
def test_what_is_wrong_with_annotations_is_told_with_its_place(
    content: bytes, place: str, reason: str
) -> None:
    error = refused(frame(*altered(ARRIVE, 4, content)))
    assert error.place == place
    assert reason in error.reason


def test_annotations_that_are_too_long_are_refused_unread() -> None:
    error = refused(frame(*altered(ARRIVE, 4, bytes(ANNOTATION_BYTES_MAX + 1))))
    assert error.place == "$[4]"
    assert "length <= 65536" in error.reason


@pytest.mark.parametrize(
    ("items", "place", "reason"),
    [
        (7, "$[9]", "got `int`"),
        (_HINTS[:-1], "$[9]", "at least length 4, got 3"),
        ([*_HINTS, 1], "$[9]", "at most length 4, got 5"),
        (altered(_HINTS, 0, ["1"]), "$[9][0][0]", "Expected `int`"),
        (altered(_HINTS, 1, [[0, 2]]), "$[9][1][0]", "at least length 3, got 2"),
        (altered(_HINTS, 1, [[0, 2, [1], 4]]), "$[9][1][0]", "at most length 3, got 4"),
        (altered(_HINTS, 1, [[0, 1, [1] * 1_025]]), "$[9][1][0][2]", "length <= 1024"),
        (altered(_HINTS, 1, [[0, 1, []]] * 4_097), "$[9][1]", "length <= 4096"),
        (altered(_HINTS, 2, [["//a", 1]] * 1_025), "$[9][2]", "length <= 1024"),
        (altered(_HINTS, 2, [["//a"]]), "$[9][2][0]", "length 2"),
        (altered(_HINTS, 2, [["//a", 1], ["//a[", 1]]), "hints.rows[1]", "expected"),
        (altered(_HINTS, 2, [["//a[c][b]", 1]]), "hints.rows[0]", "canonical"),
        (altered(_HINTS, 2, [["//" + "a" * 600_000, 1]]), "hints.rows[0]", "too large"),
        (altered(_HINTS, 3, [0] * 1_025), "$[9][3]", "length <= 1024"),
    ],
)
def test_what_is_wrong_with_hints_is_told_with_its_place(
    items: object, place: str, reason: str
) -> None:
    error = refused(frame(*altered(CHANGE, 9, items)))
    assert error.place == place
    assert reason in error.reason


@THOROUGH
@given(ANNOTATIONS, st.randoms(use_true_random=False))
def test_altered_annotations_are_refused_or_read_as_others(
    annotations: Annotations, rng: random.Random
) -> None:
    content = bytearray(annotation_bytes(annotations))
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(content) + 1)
        content[place : place + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
    try:
        read = read_annotations("annotations", bytes(content))
    except ProtocolError:
        return
    assert read_annotations("annotations", annotation_bytes(read)) == read


def test_annotations_are_held_to_the_same_in_questions_and_answers() -> None:
    decide = Decide(1, DOCUMENT, None, 1, annotations=Annotations(1, 2))
    decided = Decided(1, (BrokerId("b"),), annotations=(None, Annotations(1, 2)))
    good, bad = (annotation_bytes(Annotations(1, 2)), b"\x97\x01\xc0\x90\x90\xc0\xc0\xc2")
    assert decode_effect(encode(decide)) == decide
    assert decode_event(encode(decided)) == decided
    assert len(good) == len(bad)
    for content, reader in ((encode(decide), decode_effect), (encode(decided), decode_event)):
        assert good in content
        assert refused(content.replace(good, bad), reader).place == "annotations[1]"
