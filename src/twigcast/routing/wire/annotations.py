"""Hints and annotations in the shape in which they cross a link.

Hints go with a change, as arrays inside its own. They are bounded like all that a broker may ask
(:class:`~twigcast.routing.annotations.hints.HintLimits`); whether they fit the patterns sent the
router checks, which alone knows these.

Annotations go with a document, as bytes that are a value in MessagePack by itself:

    c4 0a  97 07 02 90 90 c4 01 05 c0 c2     10 bytes: for change 2 of session 7, NS bits 0 and 2

So their length is known before anything of them is read, and one number bounds all of it: there
cannot be more items, nor longer names, than there are bytes.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from twigcast.covering import Bound
from twigcast.errors import ProtocolError, UsageError
from twigcast.routing.annotations.annotations import ANNOTATION_BYTES_MAX, Annotations
from twigcast.routing.annotations.hints import HINT_LIMITS, Hints, SimpleHint
from twigcast.routing.wire.texts import read_pattern

HINT_WILDCARDS_MAX: Final = 1_024
"""Wildcards requested of one pattern: twice as many as 256 steps can have."""

SENT_PATTERNS_MAX: Final = 1_048_576
"""Patterns sent over one link that hints can be about. Who sends more gets no annotations."""


class _Shape(Struct, array_like=True, forbid_unknown_fields=True):
    """An array with neither more nor fewer items than it has fields."""


# Hints.


class _SimpleHint(_Shape):
    place: int
    parts: int
    wildcards: Annotated[tuple[int, ...], Meta(max_length=HINT_WILDCARDS_MAX)]


class HintsForm(_Shape):
    """What a broker would like to know; rows are the canonical texts of patterns."""

    covered: Annotated[tuple[int, ...], Meta(max_length=SENT_PATTERNS_MAX)]
    simple: Annotated[tuple[_SimpleHint, ...], Meta(max_length=HINT_LIMITS.simple_max)]
    rows: Annotated[tuple[tuple[str, int], ...], Meta(max_length=HINT_LIMITS.rows_max)]
    placed: Annotated[tuple[int, ...], Meta(max_length=HINT_LIMITS.rows_max)]


def hints_form(hints: Hints) -> HintsForm:
    """The form of hints; UsageError if they are more than may cross a link."""
    _check("covered", len(hints.covered), SENT_PATTERNS_MAX)
    _check("simple", len(hints.simple), HINT_LIMITS.simple_max)
    _check("rows", len(hints.rows), HINT_LIMITS.rows_max)
    _check("placed", len(hints.placed), HINT_LIMITS.rows_max)
    for hint in hints.simple:
        _check("wildcards", len(hint.wildcards), HINT_WILDCARDS_MAX)
    return HintsForm(
        covered=hints.covered,
        simple=tuple(_SimpleHint(*hint) for hint in hints.simple),
        rows=tuple((row.text, needing) for row, needing in hints.rows),
        placed=hints.placed,
    )


def read_hints(form: HintsForm) -> Hints:
    """The value of a form; ProtocolError, with its place, for a row that is no pattern."""
    return Hints(
        covered=form.covered,
        simple=tuple(SimpleHint(hint.place, hint.parts, hint.wildcards) for hint in form.simple),
        rows=tuple(
            (read_pattern(f"hints.rows[{place}]", text), needing)
            for place, (text, needing) in enumerate(form.rows)
        ),
        placed=form.placed,
    )


def _check(what: str, given: int, allowed: int) -> None:
    if given > allowed:
        raise UsageError(
            f"hints, {what}: at most {allowed:,} items cross a link at once, not {given:,}"
        )


# Annotations.

_Bounded = Meta(max_length=ANNOTATION_BYTES_MAX)
AnnotationBytes: TypeAlias = Annotated[bytes, _Bounded]
"""Annotations as they stand in a frame."""


class _Bound(_Shape):
    wildcard: int
    path: Annotated[tuple[str, ...], _Bounded]


class _Matched(_Shape):
    place: int
    bounds: Annotated[tuple[_Bound, ...], _Bounded]


class _AnnotationsForm(_Shape):
    """What :attr:`~twigcast.routing.annotations.annotations.Annotations.size` counts."""

    session: int
    number: int
    matched: Annotated[tuple[_Matched, ...], _Bounded]
    last: Annotated[tuple[tuple[int, int], ...], _Bounded]
    unmatched: bytes | None
    absent: bytes | None
    is_complete: bool


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(_AnnotationsForm)


def annotation_bytes(annotations: Annotations) -> bytes:
    """Annotations as bytes; UsageError if they are too many or cannot be written."""
    form = _AnnotationsForm(
        annotations.session,
        annotations.number,
        tuple(
            _Matched(place, tuple(_Bound(*bound) for bound in bounds))
            for place, bounds in annotations.matched
        ),
        annotations.last,
        annotations.unmatched,
        annotations.absent,
        annotations.is_complete,
    )
    try:
        content = _ENCODER.encode(form)
    except (UnicodeEncodeError, OverflowError) as error:
        raise UsageError(f"these annotations cannot be sent: {error}") from None
    if len(content) > ANNOTATION_BYTES_MAX:
        raise UsageError(
            f"annotations of a document take at most {ANNOTATION_BYTES_MAX:,} bytes to cross a "
            f"link (ANNOTATION_BYTES_MAX), not {len(content):,}"
        )
    return content


def read_annotations(place: str, content: bytes) -> Annotations:
    """The value of the bytes; ProtocolError, with the place in them, if they have none."""
    try:
        form = _DECODER.decode(content)
    except msgspec.DecodeError as error:
        reason, inside = fault_of(error)
        raise ProtocolError(reason, place=f"{place}{(inside or '$')[1:]}") from error
    except UnicodeDecodeError as error:
        raise ProtocolError("a text is not in UTF-8", place=place) from error
    return Annotations(
        form.session,
        form.number,
        tuple(
            (matched.place, tuple(Bound(bound.wildcard, bound.path) for bound in matched.bounds))
            for matched in form.matched
        ),
        form.last,
        form.unmatched,
        form.absent,
        form.is_complete,
    )


def fault_of(error: msgspec.DecodeError) -> tuple[str, str | None]:
    """The text of msgspec's error, and the place: items of an array are counted from 0."""
    text = str(error)
    found = re.fullmatch(r"(.*) - at `(.*)`", text, re.DOTALL)
    return (found[1], found[2]) if found else (text, None)
