"""Frames: messages as the bytes that cross a link, several for a large one.

A frame is the letter ``T``, the version of the wire, and a value in MessagePack
(:mod:`~twigcast.routing.wire.messages`):

    54 01 94 a9 subscribe 07 a3 ann a7 //trade          Subscribe(7, "ann", //trade)

Brokers send each other messages, :func:`encode` and :func:`decode`. Clients and logs need the other
events and the effects too, which are written by the same function and read by
:func:`decode_event` and :func:`decode_effect`: a broker must not be able to send what only a client
may.

The first change of a session is a whole table, and may have a million routes. It is cut into parts
(:func:`frames`), small enough for documents to pass between them, and put together at the far end
(:class:`Assembler`), where nothing of it is seen until the last part has come. Its hints are about
the table as it is afterwards, and come whole with that part.

Whatever comes may come from somebody with bad intentions. All that is wrong with it is a
:class:`~twigcast.errors.ProtocolError`, found in memory and time that are bounded by the limits;
whatever is read is written as the same value again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, cast

import msgspec

from twigcast.door import door
from twigcast.errors import ProtocolError, ProtocolLimitError, TwigcastError, UsageError
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import (
    Arrive,
    Change,
    Effect,
    Event,
    Garbled,
    LinkId,
    Message,
    Received,
)
from twigcast.routing.wire.annotations import fault_of, hints_form
from twigcast.routing.wire.messages import (
    ArriveForm,
    ChangeForm,
    EffectForm,
    EventForm,
    Form,
    MessageForm,
    form_of,
    value_of,
)
from twigcast.slips import check_fields

__all__ = [
    "VERSION",
    "WIRE_LIMITS",
    "Assembler",
    "WireLimits",
    "decode",
    "decode_effect",
    "decode_event",
    "encode",
    "frames",
    "received",
    "refusal",
]

VERSION: Final = 1
"""Of the wire. Brokers of different versions refuse each other's frames."""

_LETTER: Final = ord("T")
_HEAD: Final = bytes((_LETTER, VERSION))


@dataclass(frozen=True, slots=True)
class WireLimits:
    """How large what crosses a link may be; each is a number that is still allowed."""

    frame_bytes_max: int = 16_777_216
    """A document as large as documents may be (10,000,000), and what travels with it."""
    frame_routes_max: int = 65_536
    """Patterns and advertisements of one frame."""
    frame_weight_max: int = 1_048_576
    """How much work reading a frame may be if it has more than one route, in characters of plain
    paths: a second or two. A condition with n parts weighs n² besides, since they are compared."""
    part_bytes_max: int = 262_144
    """Of a part that we send, if it has more than one route: a document waits behind it for some
    20 milliseconds at 100 Mbit/s."""
    part_routes_max: int = 2_000
    """Of a part that we send: they are read in some 150 milliseconds."""
    change_routes_max: int = 2_000_000
    """Patterns and advertisements of one change: twice the largest table we know."""
    change_bytes_max: int = 268_435_456
    """All frames of one change: a million routes take some 50 MB."""
    change_weight_max: int = 536_870_912
    """How much work reading all frames of one change may be, in the same measure: the largest
    change of plain paths weighs half of it. Documents pass between the frames, so it is minutes of
    work that nobody waits for; without it, short conditions could make it hours."""

    def __post_init__(self) -> None:
        check_fields(self)


WIRE_LIMITS: Final = WireLimits()

_F = TypeVar("_F", bound=Form)

_ENCODER: Final = msgspec.msgpack.Encoder()
_MESSAGES: Final[msgspec.msgpack.Decoder[MessageForm]] = msgspec.msgpack.Decoder(
    ChangeForm | ArriveForm
)
_EVENTS: Final[msgspec.msgpack.Decoder[EventForm]] = msgspec.msgpack.Decoder(EventForm)
_EFFECTS: Final[msgspec.msgpack.Decoder[EffectForm]] = msgspec.msgpack.Decoder(EffectForm)


# Writing.


@door("writing a frame")
def encode(value: Message | Event | Effect, limits: WireLimits = WIRE_LIMITS) -> bytes:
    r"""The one frame of a message, an event or an effect.

    UsageError if it does not fit: a change that is too large goes by :func:`frames`.

    >>> from twigcast.routing.events import BrokerId, LinkUp
    >>> encode(LinkUp(BrokerId("north")))
    b'T\x01\x92\xa7link up\xa5north'
    """
    form = form_of(value)
    for change in _changes_in(form):
        if change.size > limits.frame_routes_max:
            raise UsageError(
                f"a frame has at most {limits.frame_routes_max:,} routes (frame_routes_max), not "
                f"{change.size:,}; a large change goes in parts"
            )
        if _is_too_heavy(change, limits):
            raise UsageError(
                f"the routes of a frame weigh at most {limits.frame_weight_max:,} together "
                f"(frame_weight_max), not {change.weight:,}; a large change goes in parts"
            )
    content = _frame(form)
    if len(content) > limits.frame_bytes_max:
        raise UsageError(
            f"a frame has at most {limits.frame_bytes_max:,} bytes (frame_bytes_max), not "
            f"{len(content):,}; a large change goes in parts, and a document must be smaller"
        )
    return content


@door("writing a frame")
def frames(message: Message, limits: WireLimits = WIRE_LIMITS) -> Iterator[bytes]:
    """The frames of a message in the order in which they are sent; UsageError as :func:`encode`.

    Documents may be sent between the parts of a change, other changes may not. Hints and
    annotations that would not fit are left out: they spare work, and nothing depends on them.
    """
    if isinstance(message, Change):
        yield from _parts(message, limits)
    else:
        yield _arrival(message, limits)


def _parts(message: Change, limits: WireLimits) -> Iterator[bytes]:
    whole = _size(message)
    if whole > limits.change_routes_max:
        raise UsageError(
            f"a change has at most {limits.change_routes_max:,} routes (change_routes_max), not "
            f"{whole:,}; say less at a time"
        )
    begin, number, size, weight = 0, 1, limits.part_routes_max, 0
    while True:
        end = min(begin + size, whole)
        part = cast("ChangeForm", form_of(_section(message, begin, end)))
        part = msgspec.structs.replace(part, part=number, last=end == whole)
        content = _frame(part)
        is_too_large = len(content) > limits.part_bytes_max and end - begin > 1
        if is_too_large or _is_too_heavy(part, limits):
            size = (end - begin) // 2
            continue
        if len(content) > limits.frame_bytes_max:
            raise UsageError(
                f"an advertisement takes {len(content):,} bytes, and a frame has at most "
                f"{limits.frame_bytes_max:,} (frame_bytes_max)"
            )
        weight += part.weight
        if weight > limits.change_weight_max:
            raise UsageError(
                f"the routes of a change weigh at most {limits.change_weight_max:,} together "
                "(change_weight_max); say less at a time"
            )
        if end == whole:
            yield _with_hints(part, content, message.hints, limits)
            return
        yield content
        begin, number, size = end, number + 1, min(2 * size, limits.part_routes_max)


def _arrival(message: Arrive, limits: WireLimits) -> bytes:
    """The frame of a document, with its annotations if they can be sent."""
    try:
        return encode(message, limits)
    except UsageError:
        return encode(replace(message, annotations=None), limits)


def _with_hints(part: ChangeForm, content: bytes, hints: Hints | None, limits: WireLimits) -> bytes:
    """The frame of a last part, with the hints if they can be sent."""
    if hints is None:
        return content
    try:
        whole = _frame(msgspec.structs.replace(part, hints=hints_form(hints)))
    except UsageError:
        return content
    return whole if len(whole) <= limits.frame_bytes_max else content


@door("writing a frame")
def refusal(event: Event) -> str | None:
    """Why other brokers would refuse the content of an event, in a sentence; None if not.

    For a router to ask before it takes in what clients say: a name may be too long, or the
    canonical text of a pattern.
    """
    try:
        decode_event(encode(event))
    except TwigcastError as error:
        return str(error)
    return None


def _frame(form: Form) -> bytes:
    try:
        return _HEAD + _ENCODER.encode(form)
    except UnicodeEncodeError as error:
        raise UsageError(f"half a character cannot be sent: {error.object!r}") from None
    except OverflowError:
        raise UsageError(f"a number takes more than 64 bits and cannot be sent: {form}") from None


def _size(change: Change) -> int:
    return sum(map(len, _lists(change)))


def _lists(change: Change) -> tuple[tuple[object, ...], ...]:
    return change.routes, change.withdrawn, change.advertisements, change.unadvertised


def _section(change: Change, begin: int, end: int) -> Change:
    """The change with some of its routes alone, counted through all its lists; without hints."""
    sections: list[slice] = []
    for items in _lists(change):
        sections.append(slice(max(0, begin), max(0, end)))
        begin, end = begin - len(items), end - len(items)
    return replace(
        change,
        routes=change.routes[sections[0]],
        withdrawn=change.withdrawn[sections[1]],
        advertisements=change.advertisements[sections[2]],
        unadvertised=change.unadvertised[sections[3]],
        hints=None,
    )


# Reading.


@door("reading a frame")
def decode(content: bytes, limits: WireLimits = WIRE_LIMITS) -> Message:
    """The message of a frame; ProtocolError if it is none, or a part of one."""
    return cast("Message", value_of(_whole(_form(content, _MESSAGES, limits))))


@door("reading a frame")
def received(link: LinkId, content: bytes, limits: WireLimits = WIRE_LIMITS) -> Event:
    """The event that a frame is for the broker it came to: a message, or something garbled.

    InternalError if something fails that nobody foresaw; the frame is lost then.
    """
    try:
        return Received(link, decode(content, limits))
    except ProtocolError as error:
        return Garbled(link, str(error))


@door("reading a frame")
def decode_event(content: bytes, limits: WireLimits = WIRE_LIMITS) -> Event:
    """The event of a frame; ProtocolError if it is none."""
    return cast("Event", value_of(_whole(_form(content, _EVENTS, limits))))


@door("reading a frame")
def decode_effect(content: bytes, limits: WireLimits = WIRE_LIMITS) -> Effect:
    """The effect of a frame; ProtocolError if it is none."""
    return cast("Effect", value_of(_whole(_form(content, _EFFECTS, limits))))


def _form(content: bytes, decoder: msgspec.msgpack.Decoder[_F], limits: WireLimits) -> _F:
    _check_size("frame_bytes_max", len(content), limits.frame_bytes_max)
    if content[:1] != _HEAD[:1] or len(content) < len(_HEAD):
        raise ProtocolError("this is no frame of Twigcast; something else speaks at the far end")
    if content[1] != VERSION:
        older = "the far end" if content[1] < VERSION else "this end"
        raise ProtocolError(
            f"it is of version {content[1]}, and version {VERSION} is spoken here; update {older}"
        )
    try:
        form = decoder.decode(memoryview(content)[len(_HEAD) :])
    except msgspec.DecodeError as error:
        reason, place = fault_of(error)
        raise ProtocolError(reason, place=place) from error
    except UnicodeDecodeError as error:
        raise ProtocolError("a text is not in UTF-8") from error
    for change in _changes_in(form):
        _check_size("frame_routes_max", change.size, limits.frame_routes_max)
        if _is_too_heavy(change, limits):
            _check_size("frame_weight_max", change.weight, limits.frame_weight_max)
    return form


def _is_too_heavy(change: ChangeForm, limits: WireLimits) -> bool:
    """Whether a frame has several routes that are too much work together.

    One alone never is: it has limits of its own, and whatever keeps to them can be sent.
    """
    return change.size > 1 and change.weight > limits.frame_weight_max


def _changes_in(form: Form) -> Iterator[ChangeForm]:
    """The change that a form is, or holds."""
    if isinstance(form, ChangeForm):
        yield form
    for name in ("message", "event"):
        inner = getattr(form, name, None)
        if inner is not None:
            yield from _changes_in(inner)


def _whole(form: _F) -> _F:
    for change in _changes_in(form):
        if change.part != 1 or not change.last:
            raise ProtocolError(
                f"this is part {change.part:,} of a change, and a whole one is expected here",
                place="part",
            )
    return form


def _check_size(limit: str, given: int, allowed: int) -> None:
    if given > allowed:
        raise ProtocolLimitError("this is too large", limit=limit, given=given, allowed=allowed)


class Assembler:
    """Puts the messages of one link together from their frames, in the order they come.

    One session of a link has one; with the session goes whatever it holds. A frame that cannot be
    read forgets what is held: what follows it on the link cannot be trusted.
    """

    def __init__(self, limits: WireLimits = WIRE_LIMITS) -> None:
        self._limits = limits
        self._held: Change | None = None
        self._lists: list[list[Any]] = []
        self._parts = 0
        self._weight = 0
        self.held_bytes = 0
        """Of the frames of a change that is not whole yet; at most ``change_bytes_max``."""
        self.held_routes = 0
        """Of that change; at most ``change_routes_max``."""

    @door("reading a frame")
    def take(self, content: bytes) -> Message | None:
        """The message that is whole with this frame, or None; ProtocolError if it is no frame."""
        is_read = False
        try:
            form = _form(content, _MESSAGES, self._limits)
            message = (
                self._join(form, len(content))
                if isinstance(form, ChangeForm)
                else cast("Message", value_of(form))
            )
            is_read = True
        finally:
            if not is_read:
                self.clear()
        return message

    def clear(self) -> None:
        """Forget what is held."""
        self._held, self._lists, self._parts, self._weight = None, [], 0, 0
        self.held_bytes = self.held_routes = 0

    def _join(self, form: ChangeForm, size: int) -> Change | None:
        self._check_order(form)
        self.held_bytes += size
        self.held_routes += form.size
        _check_size("change_bytes_max", self.held_bytes, self._limits.change_bytes_max)
        _check_size("change_routes_max", self.held_routes, self._limits.change_routes_max)
        self._weight += form.weight
        _check_size("change_weight_max", self._weight, self._limits.change_weight_max)
        part = cast("Change", value_of(form))
        if self._held is None:
            self._lists = [[], [], [], []]
        for held, new in zip(self._lists, _lists(part), strict=True):
            held.extend(new)
        self._held, self._parts = part, form.part
        if not form.last:
            return None
        routes, withdrawn, advertisements, unadvertised = map(tuple, self._lists)
        whole = replace(
            part,
            routes=routes,
            withdrawn=withdrawn,
            advertisements=advertisements,
            unadvertised=unadvertised,
        )
        self.clear()
        return whole

    def _check_order(self, form: ChangeForm) -> None:
        """A change comes part by part, none is left out, and none but the only one is empty."""
        if form.part != self._parts + 1:
            raise ProtocolError(
                f"part {self._parts + 1:,} should come here, not {form.part:,}", place="part"
            )
        held = self._held
        if held is not None and (held.session, held.number) != (form.session, form.number):
            raise ProtocolError("the change before it has not come to its end", place="number")
        if not form.size and not (form.part == 1 and form.last):
            raise ProtocolError("a part of a change is empty", place="part")
        if form.hints is not None and not form.last:
            raise ProtocolError("hints come with the last part alone", place="hints")
