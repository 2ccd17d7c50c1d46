"""The wire: what is written is read as the same value, and nothing else is read at all."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from tests.routing.wire_values import (
    ARRIVE,
    CHANGE,
    DECODERS,
    EFFECTS,
    EVENTS,
    MESSAGES,
    NOTHING,
    altered,
    frame,
    refused,
)
from tests.strategies import NAMESPACES, THOROUGH, subscriptions
from twigcast.errors import PatternLimitError, ProtocolError, ProtocolLimitError
from twigcast.language import Pattern
from twigcast.language.xpath.parser import PatternLimits
from twigcast.routing.events import (
    Change,
    Message,
    Subscribe,
    SubscriptionId,
)
from twigcast.routing.wire import texts as wire_texts
from twigcast.routing.wire.frames import (
    VERSION,
    decode,
    encode,
    refusal,
)


@st.composite
def whole_language(draw: st.DrawFn) -> Pattern:
    """Any pattern that keeps to the usual limits."""
    try:
        return Pattern.parse(draw(subscriptions()).text, NAMESPACES)
    except PatternLimitError:
        reject()


# Round trips.


@given(MESSAGES)
def test_a_message_is_read_as_it_was_written(message: Message) -> None:
    assert decode(encode(message)) == message


@THOROUGH
@given(whole_language())
def test_every_pattern_crosses(pattern: Pattern) -> None:
    change = Change(1, 1, (pattern,), (pattern,))
    assert decode(encode(change)) == change
    assert refusal(Subscribe(SubscriptionId(1), "ann", pattern)) is None


# Whatever is not a frame.


@THOROUGH
@given(st.binary(max_size=60), st.sampled_from(DECODERS))
def test_any_bytes_are_refused_and_nothing_else_happens(
    content: bytes, reader: Callable[[bytes], object]
) -> None:
    assert refused(content, reader).reason
    head = bytes((ord("T"), VERSION))
    assert refused(head + content, reader).reason


@THOROUGH
@given(st.one_of(MESSAGES, EVENTS, EFFECTS), st.randoms(use_true_random=False))
def test_an_altered_frame_is_refused_or_read_as_a_value(
    value: Any,  # noqa: ANN401 - of any kind
    rng: random.Random,
) -> None:
    content = bytearray(encode(value))
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(content))
        match rng.randrange(3):
            case 0:
                content[place] = rng.randrange(256)
            case 1:
                content[place:place] = rng.randbytes(rng.randint(1, 4))
            case _:
                del content[place : place + rng.randint(1, 4)]
        content = content or bytearray(b"T")
    for reader in DECODERS:
        try:
            read: Any = reader(bytes(content))
        except ProtocolError:
            continue
        assert reader(encode(read)) == read


@given(st.one_of(MESSAGES, EVENTS, EFFECTS))
def test_no_beginning_of_a_frame_is_a_frame(value: Any) -> None:  # noqa: ANN401 - of any kind
    content = encode(value)
    for end in range(len(content)):
        for reader in DECODERS:
            assert refused(content[:end], reader).reason


@given(MESSAGES, st.binary(min_size=1, max_size=4))
def test_nothing_may_follow_a_message(message: Message, more: bytes) -> None:
    assert "trailing" in refused(encode(message) + more).reason


@pytest.mark.parametrize(
    ("items", "place", "reason"),
    [
        (altered(CHANGE, 0, "chance"), "$[0]", "Invalid value 'chance'"),
        (altered(CHANGE, 0, 1), "$[0]", "Expected `str`, got `int`"),
        (altered(CHANGE, 1, "1"), "$[1]", "Expected `int`, got `str`"),
        (altered(CHANGE, 1, 1.0), "$[1]", "Expected `int`, got `float`"),
        (altered(CHANGE, 1, float("nan")), "$[1]", "Expected `int`, got `float`"),
        (altered(CHANGE, 1, item=True), "$[1]", "Expected `int`, got `bool`"),
        (altered(CHANGE, 4, 1), "$[4]", "Expected `bool`, got `int`"),
        (altered(CHANGE, 5, None), "$[5]", "Expected `array`, got `None`"),
        (altered(CHANGE, 5, {"a": 1}), "$[5]", "Expected `array`, got `object`"),
        (altered(CHANGE, 5, ["//a", 1]), "$[5][1]", "Expected `str`, got `int`"),
        (altered(CHANGE, 5, [b"//a"]), "$[5][0]", "Expected `str`, got `bytes`"),
        ([*CHANGE, 1], None, "at most length 9, got 10"),
        (CHANGE[:-1], None, "at least length 10, got 9"),
        (NOTHING, None, "at least length 1, got 0"),
        (altered(ARRIVE, 1, ["p", "b", "c"]), "$[1]", "at least length 4, got 3"),
        (altered(ARRIVE, 1, ["p", "b", "c", "<a/>"]), "$[1][3]", "`bytes`"),
        (altered(ARRIVE, 1, ["p" * 1025, "b", "c", b""]), "$[1][0]", "length <= 1024"),
        (altered(CHANGE, 5, ["//a[c][b]"]), "routes[0]", "canonical"),
        (altered(CHANGE, 6, ["//a", "//a["]), "withdrawn[1]", "column 5: expected"),
        (altered(CHANGE, 6, ["//a\x00"]), "withdrawn[0]", "no character"),
        (altered(CHANGE, 6, ["//p:a"]), "withdrawn[0]", "expected"),
        (altered(CHANGE, 7, ["0: a=1"]), "advertisements[0]", "leads to no state"),
        (altered(CHANGE, 8, ["0: b=1 a=1\n1:"]), "unadvertised[0]", "canonical"),
        (altered(CHANGE, 8, ['0: a=1\n1: @x("\\ud800")']), "unadvertised[0]", "canonical"),
        (altered(CHANGE, 8, [""]), "unadvertised[0]", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    items: list[object], place: str | None, reason: str
) -> None:
    error = refused(frame(*items))
    assert error.place == place
    assert reason in error.reason


HOSTILE = {
    "an array of four billion": b"\xdd\xff\xff\xff\xff",
    "routes of four billion": b"\x9a\xa6change\x01\x01\x01\xc3\xdd\xff\xff\xff\xff",
    "routes that do not come": b"\x9a\xa6change\x01\x01\x01\xc3\xdd\x00\x10\x00\x00\xa1a",
    "a text of four billion": b"\x9a\xa6change\x01\x01\x01\xc3\x91\xdb\xff\xff\xff\xff",
    "bytes of four billion": b"\x95\xa6arrive\x94\xa0\xa0\xa0\xc6\xff\xff\xff\xff",
    "a map of four billion": b"\xdf\xff\xff\xff\xff",
    "arrays a million deep": b"\x91" * 1_000_000,
    "routes a million deep": b"\x9a\xa6change\x01\x01\x01\xc3" + b"\x91" * 1_000_000,
    "a content a million deep": b"\x95\xa6arrive\x94\xa0\xa0\xa0" + b"\x91" * 1_000_000,
    "paths a million deep": b"\x95\xa6arrive\x94\xa0\xa0\xa0\xc4\x00\xc2" + b"\x91" * 1_000_000,
    "maps a million deep": b"\x81\xa0" * 1_000_000,
    "a text that is not UTF-8": b"\x9a\xa6change\x01\x01\x01\xc3\x91\xa1\xff\x90\x90\x90\xc0",
    "half a character": b"\x95\xa6arrive\x94\xa3\xed\xa0\x80\xa0\xa0\xc4\x00\xc2\xc0\xc0",
    "a tag that is not UTF-8": b"\x9a\xa6\xffhange",
    "an extension": b"\x9a\xa6change\xd6\xff\x00\x00\x00\x00",
    "a byte that means nothing": b"\xc1",
    "a long tag": b"\x91\xdb\x00\x10\x00\x00" + b"x" * 1_048_576,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("reader", DECODERS, ids=["message", "event", "effect"])
def test_hostile_bytes_are_refused_in_little_memory(
    name: str, reader: Callable[[bytes], object]
) -> None:
    error = refused(bytes((ord("T"), VERSION)) + HOSTILE[name], reader)
    assert error.reason
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("/" + "/".join(["a"] * 1_025), "steps_max"),
        ("/" + "/".join(["a"] * 177), "WIRE_DEPTH_MAX"),
        ("//a" * 88, "WIRE_DEPTH_MAX"),
        ("//a" + "[not(b" * 35 + ")]" * 35, "WIRE_DEPTH_MAX"),
        ("//a" * 239 + "[.//a[2]]", "WIRE_DEPTH_MAX"),
        ("//a" + "[b" * 65 + "]" * 65, "predicate_depth_max"),
        ("//a" + "['']" * 513, "predicates_max"),
        ("not(" * 100_000, "nesting_max"),
        ("(" * 100_000, "nesting_max"),
        ("-" * 100_000 + "1", "nesting_max"),
        ("+".join(["1"] * 100_000), "operators_max"),
        ("//" + "a" * 600_000, "characters_max"),
    ],
)
def test_a_pattern_over_a_limit_is_refused_by_its_name(text: str, limit: str) -> None:
    error = refused(frame(*altered(CHANGE, 5, ["//a", text])))
    assert isinstance(error, ProtocolLimitError)
    assert (error.limit, error.place) == (limit, "routes[1]")
    assert error.given > error.allowed


def test_a_pattern_too_deep_for_the_stack_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_texts, "WIRE_PATTERN_LIMITS", PatternLimits(*[1 << 30] * 7))
    error = refused(frame(*altered(CHANGE, 5, ["(" * 9_999 + "a" + ")" * 9_999])))
    assert "nested too deeply" in error.reason


def test_an_advertisement_over_a_limit_is_refused_by_its_name() -> None:
    labels = " ".join(f"a{number}={number}" for number in range(1, 5_002))
    states = "".join(f"\n{number}: @x{number}" for number in range(1, 5_002))
    error = refused(frame(*altered(CHANGE, 7, [f"0: {labels}{states}"])))
    assert isinstance(error, ProtocolLimitError)
    assert error.limit == "states_max"
