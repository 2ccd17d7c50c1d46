"""The wire: versions, sizes, and changes that are too large for one frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.wire_values import CHANGE, MESSAGES, altered, frame, many, refused
from twigcast.covering import Advertisement
from twigcast.errors import LimitError, ProtocolError, ProtocolLimitError, UsageError
from twigcast.language import Pattern
from twigcast.language.xpath.parser import PatternLimits
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    Decided,
    Event,
    LinkUp,
    Message,
    Publication,
    Publish,
    Received,
    Refuse,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from twigcast.routing.wire import messages as wire_forms
from twigcast.routing.wire.frames import (
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
from twigcast.routing.wire.texts import WIRE_PATTERN_LIMITS

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


HEAVY = tuple(
    Pattern.parse(
        "//a[" + " or ".join(f"b{n} and c{n}{k}" for n in range(100)) + "]",
        limits=WIRE_PATTERN_LIMITS,
    )
    for k in range(40)
)
"""Each is some 2,000 characters long, and takes as long to read as 40,000 of plain paths."""


def test_a_frame_of_many_costly_routes_is_refused_before_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change = Change(1, 1, HEAVY)
    content = encode(change, WireLimits(frame_weight_max=10**9))

    def read(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(wire_forms, "read_pattern", read)
    with pytest.raises(ProtocolLimitError, match="frame_weight_max"):
        decode(content)
    with pytest.raises(ProtocolLimitError, match="frame_weight_max"):
        Assembler().take(content)
    with pytest.raises(UsageError, match="frame_weight_max"):
        encode(change)


def test_costly_routes_are_spread_over_frames_that_the_far_end_takes() -> None:
    change = Change(1, 1, HEAVY[:20], HEAVY[20:])
    contents = list(frames(change))
    assert len(contents) > 1
    assert assembled(iter(contents), Assembler()) == change


def test_many_short_routes_weigh_more_than_their_characters() -> None:
    change = many(20_000)
    content = encode(change, WireLimits(frame_weight_max=10**9))
    assert len(content) < WIRE_LIMITS.frame_weight_max
    with pytest.raises(ProtocolLimitError, match="frame_weight_max"):
        decode(content)
    assert len(list(frames(change))) == 10


def test_one_route_is_never_too_heavy_for_a_frame() -> None:
    change = Change(1, 1, HEAVY[:3])
    limits = WireLimits(frame_weight_max=1)
    contents = list(frames(change, limits))
    assert len(contents) == 3
    assert assembled(iter(contents), Assembler(limits)) == change
    assert decode(encode(Change(1, 1, HEAVY[:1]), limits), limits) == Change(1, 1, HEAVY[:1])


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
    limits = PatternLimits(steps_max=300, steps_in_row_max=300)
    pattern = Pattern.parse("/" + "/".join(["a"] * 300), limits=limits)
    told = refusal(Subscribe(SubscriptionId(1), "ann", pattern))
    assert told is not None
    assert "WIRE_DEPTH_MAX" in told


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
        (" | ".join(f"//a{n}" for n in range(256)), {}),
        ("//a" * 64 + " = 'x'", {}),
        ("(" + " | ".join(f"a{n}" for n in range(8)) + f")[contains('{'x' * 16_000}', .)]", {}),
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
        Assembler().take(frame(*altered(CHANGE, 4, item=False)))


@pytest.mark.parametrize(
    "limits",
    [
        WireLimits(change_routes_max=8),
        WireLimits(change_bytes_max=100),
        WireLimits(change_weight_max=800),
    ],
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


def test_a_change_that_is_too_heavy_is_not_sent_to_its_end() -> None:
    with pytest.raises(UsageError, match="change_weight_max"):
        list(frames(many(9), replace(SMALL, change_weight_max=800)))


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
