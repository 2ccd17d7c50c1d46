"""The wire: what is written is read as the same value, and nothing else is read at all."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from tests.strategies import NAMESPACES, THOROUGH, subscriptions
from twigcast.covering import Advertisement
from twigcast.errors import (
    LimitError,
    PatternLimitError,
    ProtocolError,
    ProtocolLimitError,
    UsageError,
)
from twigcast.language import Pattern
from twigcast.language.parse import PatternLimits
from twigcast.routing import events, wire_forms
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    Change,
    DeadLetter,
    Decide,
    Decided,
    Deliver,
    Effect,
    Event,
    Garbled,
    LinkDown,
    LinkUp,
    Message,
    Publication,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
    Woken,
)
from twigcast.routing.router import Router
from twigcast.routing.wire import (
    VERSION,
    WIRE_LIMITS,
    Assembler,
    WireLimits,
    decode,
    decode_effect,
    decode_event,
    encode,
    frames,
    received,
    refusal,
)

# Values of every kind.

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
BROKERS = NAMES.map(BrokerId)
INTEGERS = st.integers(-(2**63), 2**64 - 1)
SUBSCRIPTIONS = INTEGERS.map(SubscriptionId)
NUMBERS = st.lists(INTEGERS, max_size=3).map(tuple)


@st.composite
def whole_language(draw: st.DrawFn) -> Pattern:
    """Any pattern that keeps to the usual limits."""
    try:
        return Pattern.parse(draw(subscriptions()).text, NAMESPACES)
    except PatternLimitError:
        reject()


_TEXTS = ["//a", "/a/b[@x = '1']", "//a[b = c]/d[2]", "//{urn:p}é", "/a and not(//b)", "//a | //c"]
PATTERNS = st.sampled_from([Pattern.parse(text) for text in _TEXTS])
_PATHS = ["/a", "/a/b", "/a(b)+/@x", "/a/*", "/*", "/{urn:p}a/text()", "/*:é", "/c(a/b)+/@{u}y"]
_DTD_LIKE = Advertisement.parse(
    '0: list=1\n1: space() item=2\n2: text() @kind("cup"|"\\"é") list=1'
)
ADVERTISEMENTS = st.one_of(
    st.lists(st.sampled_from(_PATHS), min_size=1, max_size=4).map(Advertisement.of_expressions),
    st.just(_DTD_LIKE),
)
PUBLICATIONS = st.builds(Publication, NAMES, BROKERS, NAMES, st.binary(max_size=20))


def some(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


CHANGES = st.builds(
    Change, INTEGERS, INTEGERS, some(PATTERNS), some(PATTERNS), some(ADVERTISEMENTS),
    some(ADVERTISEMENTS),
)  # fmt: skip
ARRIVALS = st.builds(Arrive, PUBLICATIONS, st.booleans(), st.none() | NUMBERS)
MESSAGES = st.one_of(CHANGES, ARRIVALS)
EVENTS_BY_KIND: dict[type, st.SearchStrategy[Event]] = {
    LinkUp: st.builds(LinkUp, BROKERS),
    LinkDown: st.builds(LinkDown, BROKERS),
    Subscribe: st.builds(Subscribe, SUBSCRIPTIONS, NAMES, PATTERNS),
    Unsubscribe: st.builds(Unsubscribe, SUBSCRIPTIONS),
    Advertise: st.builds(Advertise, INTEGERS.map(AdvertisementId), NAMES, ADVERTISEMENTS),
    Unadvertise: st.builds(Unadvertise, INTEGERS.map(AdvertisementId)),
    Publish: st.builds(Publish, PUBLICATIONS),
    Received: st.builds(Received, BROKERS, MESSAGES),
    Decided: st.builds(
        Decided, INTEGERS, some(BROKERS), some(SUBSCRIPTIONS), some(SUBSCRIPTIONS),
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=2000), INTEGERS,
        st.booleans(), st.booleans(), some(NUMBERS),
    ),
    Garbled: st.builds(Garbled, BROKERS, NAMES),
    Woken: st.just(Woken()),
}  # fmt: skip
EVENTS = st.one_of(*EVENTS_BY_KIND.values())
EFFECTS_BY_KIND: dict[type, st.SearchStrategy[Effect]] = {
    Send: st.builds(Send, BROKERS, MESSAGES),
    Deliver: st.builds(Deliver, NAMES, SUBSCRIPTIONS, PUBLICATIONS),
    Decide: st.builds(
        Decide, INTEGERS, PUBLICATIONS, st.none() | BROKERS, INTEGERS, st.booleans(),
        st.none() | NUMBERS,
    ),
    Refuse: st.builds(Refuse, EVENTS, NAMES, st.none() | BROKERS),
    DeadLetter: st.builds(DeadLetter, PUBLICATIONS, st.none() | SUBSCRIPTIONS, NAMES),
}  # fmt: skip
EFFECTS = st.one_of(*EFFECTS_BY_KIND.values())

DECODERS: list[Callable[[bytes], object]] = [decode, decode_event, decode_effect]


def refused(content: bytes, reader: Callable[[bytes], object] = decode) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        reader(content)
    return caught.value


def frame(*items: object) -> bytes:
    """A frame of whatever one likes."""
    return bytes((ord("T"), VERSION)) + msgspec.msgpack.encode(items)


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


@given(EVENTS)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    assert decode_event(encode(event)) == event
    assert refusal(event) is None


@given(EFFECTS)
def test_an_effect_is_read_as_it_was_written(effect: Effect) -> None:
    assert decode_effect(encode(effect)) == effect


def test_every_event_and_every_effect_is_tried_here() -> None:
    assert EVENTS_BY_KIND.keys() == set(get_args(Event))
    assert EFFECTS_BY_KIND.keys() == set(get_args(Effect))
    assert set(get_args(Message)) == {Change, Arrive}


def test_the_fields_of_a_form_are_those_of_its_kind() -> None:
    for kind, form in wire_forms._FORM_OF.items():
        assert form.__struct_fields__ == tuple(field.name for field in dataclasses.fields(kind))
    told = set(wire_forms.ChangeForm.__struct_fields__) - {"part", "last"}
    assert told == {field.name for field in dataclasses.fields(events.Change)}


@given(MESSAGES)
def test_what_a_broker_says_is_no_event_and_no_effect(message: Message) -> None:
    content = encode(message)
    assert "Invalid value" in refused(content, decode_event).reason
    assert "Invalid value" in refused(content, decode_effect).reason


@given(EVENTS)
def test_what_a_client_says_a_broker_may_not_say(event: Event) -> None:
    assert "Invalid value" in refused(encode(event)).reason


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


_NOTHING: list[object] = []
_CHANGE = ["change", 1, 1, 1, True, [], [], [], []]
_ARRIVE = ["arrive", ["p", "b", "c", b"<a/>"], False, None]


def altered(items: list[Any], place: int, item: object) -> list[Any]:
    return [*items[:place], item, *items[place + 1 :]]


@pytest.mark.parametrize(
    ("items", "place", "reason"),
    [
        (altered(_CHANGE, 0, "chance"), "$[0]", "Invalid value 'chance'"),
        (altered(_CHANGE, 0, 1), "$[0]", "Expected `str`, got `int`"),
        (altered(_CHANGE, 1, "1"), "$[1]", "Expected `int`, got `str`"),
        (altered(_CHANGE, 1, 1.0), "$[1]", "Expected `int`, got `float`"),
        (altered(_CHANGE, 1, float("nan")), "$[1]", "Expected `int`, got `float`"),
        (altered(_CHANGE, 1, item=True), "$[1]", "Expected `int`, got `bool`"),
        (altered(_CHANGE, 4, 1), "$[4]", "Expected `bool`, got `int`"),
        (altered(_CHANGE, 5, None), "$[5]", "Expected `array`, got `None`"),
        (altered(_CHANGE, 5, {"a": 1}), "$[5]", "Expected `array`, got `object`"),
        (altered(_CHANGE, 5, ["//a", 1]), "$[5][1]", "Expected `str`, got `int`"),
        (altered(_CHANGE, 5, [b"//a"]), "$[5][0]", "Expected `str`, got `bytes`"),
        ([*_CHANGE, 1], None, "at most length 8, got 9"),
        (_CHANGE[:-1], None, "at least length 9, got 8"),
        (_NOTHING, None, "at least length 1, got 0"),
        (altered(_ARRIVE, 1, ["p", "b", "c"]), "$[1]", "at least length 4, got 3"),
        (altered(_ARRIVE, 1, ["p", "b", "c", "<a/>"]), "$[1][3]", "`bytes`"),
        (altered(_ARRIVE, 1, ["p" * 1025, "b", "c", b""]), "$[1][0]", "length <= 1024"),
        (altered(_CHANGE, 5, ["//a[c][b]"]), "routes[0]", "canonical"),
        (altered(_CHANGE, 6, ["//a", "//a["]), "withdrawn[1]", "column 5: expected"),
        (altered(_CHANGE, 6, ["//a\x00"]), "withdrawn[0]", "no character"),
        (altered(_CHANGE, 6, ["//p:a"]), "withdrawn[0]", "expected"),
        (altered(_CHANGE, 7, ["0: a=1"]), "advertisements[0]", "leads to no state"),
        (altered(_CHANGE, 8, ["0: b=1 a=1\n1:"]), "unadvertised[0]", "canonical"),
        (altered(_CHANGE, 8, ['0: a=1\n1: @x("\\ud800")']), "unadvertised[0]", "canonical"),
        (altered(_CHANGE, 8, [""]), "unadvertised[0]", ""),
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
    "routes of four billion": b"\x99\xa6change\x01\x01\x01\xc3\xdd\xff\xff\xff\xff",
    "routes that do not come": b"\x99\xa6change\x01\x01\x01\xc3\xdd\x00\x10\x00\x00\xa1a",
    "a text of four billion": b"\x99\xa6change\x01\x01\x01\xc3\x91\xdb\xff\xff\xff\xff",
    "bytes of four billion": b"\x94\xa6arrive\x94\xa0\xa0\xa0\xc6\xff\xff\xff\xff",
    "a map of four billion": b"\xdf\xff\xff\xff\xff",
    "arrays a million deep": b"\x91" * 1_000_000,
    "routes a million deep": b"\x99\xa6change\x01\x01\x01\xc3" + b"\x91" * 1_000_000,
    "a content a million deep": b"\x94\xa6arrive\x94\xa0\xa0\xa0" + b"\x91" * 1_000_000,
    "paths a million deep": b"\x94\xa6arrive\x94\xa0\xa0\xa0\xc4\x00\xc2" + b"\x91" * 1_000_000,
    "maps a million deep": b"\x81\xa0" * 1_000_000,
    "a text that is not UTF-8": b"\x99\xa6change\x01\x01\x01\xc3\x91\xa1\xff\x90\x90\x90",
    "half a character": b"\x94\xa6arrive\x94\xa3\xed\xa0\x80\xa0\xa0\xc4\x00\xc2\xc0",
    "a tag that is not UTF-8": b"\x99\xa6\xffhange",
    "an extension": b"\x99\xa6change\xd6\xff\x00\x00\x00\x00",
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
        ("/" + "/".join(["a"] * 257), "steps_max"),
        ("//a" + "[b" * 33 + "]" * 33, "predicate_depth_max"),
        ("//a" + "['']" * 257, "predicates_max"),
        ("not(" * 100_000, "nesting_max"),
        ("(" * 100_000, "nesting_max"),
        ("-" * 100_000 + "1", "nesting_max"),
        ("+".join(["1"] * 100_000), "operators_max"),
        ("//" + "a" * 600_000, "characters_max"),
    ],
)
def test_a_pattern_over_a_limit_is_refused_by_its_name(text: str, limit: str) -> None:
    error = refused(frame(*altered(_CHANGE, 5, ["//a", text])))
    assert isinstance(error, ProtocolLimitError)
    assert (error.limit, error.place) == (limit, "routes[1]")
    assert error.given > error.allowed


def test_a_pattern_too_deep_for_the_stack_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_forms, "WIRE_PATTERN_LIMITS", PatternLimits(*[1 << 30] * 6))
    error = refused(frame(*altered(_CHANGE, 5, ["(" * 9_999 + "a" + ")" * 9_999])))
    assert "nested too deeply" in error.reason


def test_an_advertisement_over_a_limit_is_refused_by_its_name() -> None:
    labels = " ".join(f"a{number}={number}" for number in range(1, 5_002))
    states = "".join(f"\n{number}: @x{number}" for number in range(1, 5_002))
    error = refused(frame(*altered(_CHANGE, 7, [f"0: {labels}{states}"])))
    assert isinstance(error, ProtocolLimitError)
    assert error.limit == "states_max"


# Versions and sizes.


@pytest.mark.parametrize(("version", "who"), [(0, "the far end"), (2, "this end"), (255, "this")])
def test_another_version_is_refused_and_told_who_should_update(version: int, who: str) -> None:
    content = bytearray(encode(Change(1, 1)))
    content[1] = version
    reason = refused(bytes(content)).reason
    assert f"of version {version}, and version {VERSION}" in reason
    assert f"update {who}" in reason


@pytest.mark.parametrize("content", [b"", b"T", b"GET / HTTP/1.1", b"\x16\x03\x01", b"t\x01"])
def test_another_protocol_is_told_from_ours(content: bytes) -> None:
    assert "no frame of Twigcast" in refused(content).reason


def many(count: int) -> Change:
    return Change(5, 1, routes=tuple(Pattern.parse(f"/r/a{number}") for number in range(count)))


def test_a_frame_may_reach_its_limits_and_not_overstep_them() -> None:
    change = many(10)
    content = encode(change)
    for limits, over in [
        (WireLimits(frame_bytes_max=len(content)), WireLimits(frame_bytes_max=len(content) - 1)),
        (WireLimits(frame_routes_max=10), WireLimits(frame_routes_max=9)),
    ]:
        assert decode(encode(change, limits), limits) == change
        with pytest.raises(UsageError, match="goes in parts"):
            encode(change, over)
        with pytest.raises(UsageError, match="at most"):
            encode(Received(BrokerId("b"), change), over)
        with pytest.raises(ProtocolLimitError) as caught:
            decode(content, over)
        assert isinstance(caught.value, LimitError)


def test_routes_are_counted_wherever_a_change_is() -> None:
    change = many(10)
    limits = WireLimits(frame_routes_max=9)
    refuse = Refuse(Received(BrokerId("b"), change), "no", BrokerId("b"))
    with pytest.raises(ProtocolLimitError, match="frame_routes_max"):
        decode_effect(encode(refuse), limits)
    with pytest.raises(ProtocolLimitError, match="frame_routes_max"):
        decode_event(encode(refuse.event), limits)


@pytest.mark.parametrize(
    "event",
    [
        LinkUp(BrokerId("b" * 1025)),
        LinkUp(BrokerId("\ud800")),
        Unsubscribe(SubscriptionId(2**64)),
        Unsubscribe(SubscriptionId(-(2**63) - 1)),
        Decided(1, links=(BrokerId("b" * 1025),)),
        Decided(1, subscriptions=(SubscriptionId(1),) * (wire_forms.ARRAY_ITEMS_MAX + 1)),
        Publish(Publication("p", BrokerId("b"), "c", bytes(WIRE_LIMITS.frame_bytes_max))),
    ],
    ids=["long", "half", "large", "small", "long in a list", "long list", "large document"],
)
def test_what_cannot_cross_is_refused_to_its_author(event: Event) -> None:
    with pytest.raises(UsageError) as caught:
        encode(event)
    assert refusal(event) == str(caught.value)


def test_a_subscription_that_others_could_not_read_is_told_beforehand() -> None:
    limits = PatternLimits(steps_max=300)
    pattern = Pattern.parse("/" + "/".join(["a"] * 300), limits=limits)
    told = refusal(Subscribe(SubscriptionId(1), "ann", pattern))
    assert told is not None
    assert "steps_max" in told


@pytest.mark.parametrize(
    ("text", "namespaces"),
    [
        ("/" + "/".join(["p:a"] * 64), {"p": "u" * 4_096}),
        ("(" + "|".join(f"a{n}[b]" for n in range(30)) + ") = 'x'", {}),
        ("(" + "|".join(f"a{n}" for n in range(64)) + f") = '{'x' * 3_600}'", {}),
        ("//a[" + " or ".join(f"contains(@b, '{n}')" for n in range(60)) + "]", {}),
        ("//a[" + " and ".join(f"local-name() != 'b{n}'" for n in range(63)) + "]", {}),
        ("//a[" + " or ".join(f"string() = '{n}'" for n in range(63)) + "]", {}),
        ("+".join(["1"] * 129), {}),
        ("not(" * 31 + "a" + ")" * 31, {}),
        ("//a" + "[b or c" * 8 + "]" * 8, {}),
        ("-" * 31 + "1", {}),
    ],
)
def test_what_keeps_to_the_limits_of_expressions_keeps_to_those_of_the_wire(
    text: str, namespaces: dict[str, str]
) -> None:
    pattern = Pattern.parse(text, namespaces)
    assert refusal(Subscribe(SubscriptionId(1), "ann", pattern)) is None


# Changes in parts.

SMALL = WireLimits(part_routes_max=3, part_bytes_max=200)


def assembled(contents: Iterator[bytes], assembler: Assembler) -> Message:
    *parts, last = contents
    for part in parts:
        assert assembler.take(part) is None
    whole = assembler.take(last)
    assert whole is not None
    return whole


@given(MESSAGES, st.integers(1, 4), st.integers(1, 300))
def test_a_change_in_parts_is_put_together_again(
    message: Message, routes_max: int, bytes_max: int
) -> None:
    limits = WireLimits(part_routes_max=routes_max, part_bytes_max=bytes_max)
    assembler = Assembler()
    for _ in range(2):
        assert assembled(frames(message, limits), assembler) == message
        assert (assembler.held_bytes, assembler.held_routes) == (0, 0)


def test_parts_are_as_small_as_asked_and_as_few_as_that_allows() -> None:
    contents = list(frames(many(100), WireLimits(part_routes_max=10)))
    assert len(contents) == 10
    contents = list(frames(many(100), WireLimits(part_bytes_max=100)))
    assert max(map(len, contents)) <= 100
    assert sum(map(len, contents)) / len(contents) > 50


def test_a_change_that_no_frame_can_hold_comes_in_parts() -> None:
    change = many(7_000)
    limits = WireLimits(frame_routes_max=5_000)
    with pytest.raises(UsageError, match="frame_routes_max"):
        encode(change, limits)
    contents = list(frames(change, limits))
    assert len(contents) == 4
    assert max(map(len, contents)) <= limits.part_bytes_max
    assert assembled(iter(contents), Assembler(limits)) == change


def test_a_small_change_is_one_frame_as_encode_writes_it() -> None:
    assert list(frames(many(2))) == [encode(many(2))]
    assert list(frames(Change(1, 2))) == [encode(Change(1, 2))]


def test_a_part_is_no_message_by_itself() -> None:
    first, *_, last = frames(many(9), SMALL)
    assert "part 1 of a change" in refused(first).reason
    assert "part 3 of a change" in refused(last).reason


def test_documents_pass_between_the_parts_of_a_change() -> None:
    arrive = Arrive(Publication("p", BrokerId("b"), "c", b"<a/>"))
    assembler = Assembler()
    *parts, last = frames(many(9), SMALL)
    for part in parts:
        assert assembler.take(part) is None
        assert assembler.take(encode(arrive)) == arrive
    assert assembler.take(last) == many(9)


@pytest.mark.parametrize(
    "order",
    [(1,), (0, 0), (0, 2), (0, 1, 1), (0, 1, 0)],
    ids=["second first", "first twice", "one left out", "second twice", "begun again"],
)
def test_parts_out_of_order_are_refused_and_all_is_forgotten(order: tuple[int, ...]) -> None:
    contents = list(frames(many(9), SMALL))
    assembler = Assembler()
    *before, wrong = order
    for place in before:
        assembler.take(contents[place])
    with pytest.raises(ProtocolError, match="should come here"):
        assembler.take(contents[wrong])
    assert (assembler.held_bytes, assembler.held_routes) == (0, 0)
    assert assembled(iter(contents), assembler) == many(9)


def test_parts_of_different_changes_do_not_mix() -> None:
    for other in (dataclasses.replace(many(9), number=2), dataclasses.replace(many(9), session=6)):
        assembler = Assembler()
        assembler.take(next(frames(many(9), SMALL)))
        with pytest.raises(ProtocolError, match="not come to its end"):
            assembler.take(list(frames(other, SMALL))[1])


def test_an_empty_part_is_refused_so_that_parts_are_bounded_by_routes() -> None:
    with pytest.raises(ProtocolError, match="empty"):
        Assembler().take(frame(*altered(_CHANGE, 4, item=False)))


@pytest.mark.parametrize(
    "limits", [WireLimits(change_routes_max=8), WireLimits(change_bytes_max=100)]
)
def test_what_an_assembler_holds_is_bounded(limits: WireLimits) -> None:
    assembler = Assembler(limits)
    first, second, third = frames(many(9), SMALL)
    assert assembler.take(first) is None
    assert assembler.take(second) is None
    assert (assembler.held_bytes, assembler.held_routes) == (len(first) + len(second), 6)
    with pytest.raises(ProtocolLimitError, match="change_"):
        assembler.take(third)
    assert (assembler.held_bytes, assembler.held_routes) == (0, 0)


def test_a_change_over_the_limit_is_not_begun() -> None:
    with pytest.raises(UsageError, match="change_routes_max"):
        next(frames(many(9), WireLimits(change_routes_max=8)))


def test_an_advertisement_larger_than_a_frame_is_refused_to_its_author() -> None:
    change = Change(1, 1, advertisements=(Advertisement.of_expressions(["/" + "a" * 500]),))
    with pytest.raises(UsageError, match="frame_bytes_max"):
        list(frames(change, WireLimits(frame_bytes_max=400)))


def test_a_frame_of_a_later_version_comes_back_as_a_refusal() -> None:
    router = Router("here")
    router.handle(LinkUp(BrokerId("there")), now=0.0)
    before = router.tables()
    frame = bytearray(encode(Change(1, 1)))
    frame[1] = VERSION + 1
    (refused,) = router.handle(received(BrokerId("there"), bytes(frame)), now=0.0)
    assert isinstance(refused, Refuse)
    assert (refused.link, router.tables()) == ("there", before)
    assert "update this end" in refused.reason
    whole = received(BrokerId("there"), encode(Change(1, 1)))
    assert router.handle(whole, now=0.0) == ()
