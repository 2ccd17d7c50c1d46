"""Values of every kind that crosses a link, and frames of whatever one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st

from twigcast.covering import Advertisement, Bound
from twigcast.errors import ProtocolError
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import Hints, SimpleHint
from twigcast.routing.events import (
    Accuse,
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
from twigcast.routing.wire.frames import VERSION, decode, decode_effect, decode_event

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
BROKERS = NAMES.map(BrokerId)
INTEGERS = st.integers(-(2**63), 2**64 - 1)
SUBSCRIPTIONS = INTEGERS.map(SubscriptionId)
NUMBERS = st.lists(INTEGERS, max_size=3).map(tuple)


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


ROWS = st.sampled_from([Pattern.parse(text) for text in ("//a", "//a/b", "//{urn:p}é/c")])
HINTS = st.builds(
    Hints, NUMBERS, some(st.builds(SimpleHint, INTEGERS, INTEGERS, NUMBERS)),
    some(st.tuples(ROWS, INTEGERS)), NUMBERS,
)  # fmt: skip
"""Of any shape that hints may have; hardly any of them makes sense."""
BOUNDS = st.builds(Bound, INTEGERS, some(NAMES))
ANNOTATIONS = st.builds(
    Annotations, INTEGERS, INTEGERS, some(st.tuples(INTEGERS, some(BOUNDS))),
    some(st.tuples(INTEGERS, INTEGERS)), st.none() | st.binary(max_size=5),
    st.none() | st.binary(max_size=5), st.booleans(),
)  # fmt: skip
CHANGES = st.builds(
    Change, INTEGERS, INTEGERS, some(PATTERNS), some(PATTERNS), some(ADVERTISEMENTS),
    some(ADVERTISEMENTS), st.none() | HINTS,
)  # fmt: skip
ARRIVALS = st.builds(
    Arrive, PUBLICATIONS, st.booleans(), st.none() | NUMBERS, st.none() | ANNOTATIONS
)
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
        st.booleans(), st.booleans(), some(NUMBERS), some(st.none() | ANNOTATIONS), INTEGERS,
        INTEGERS, st.booleans(), st.none() | NAMES, st.none() | NAMES,
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
        st.none() | NUMBERS, st.none() | ANNOTATIONS,
    ),
    Refuse: st.builds(Refuse, EVENTS, NAMES, st.none() | BROKERS),
    DeadLetter: st.builds(DeadLetter, PUBLICATIONS, st.none() | SUBSCRIPTIONS, NAMES),
    Accuse: st.builds(Accuse, BROKERS, NAMES, NAMES),
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


NOTHING: list[object] = []
CHANGE = ["change", 1, 1, 1, True, [], [], [], [], None]
ARRIVE = ["arrive", ["p", "b", "c", b"<a/>"], False, None, None]


def altered(items: list[Any], place: int, item: object) -> list[Any]:
    """The items of a frame, one of them replaced."""
    return [*items[:place], item, *items[place + 1 :]]


def many(count: int) -> Change:
    return Change(5, 1, routes=tuple(Pattern.parse(f"/r/a{number}") for number in range(count)))
