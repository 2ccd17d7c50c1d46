"""Annotations, which travel with a document: what one broker has found out, for the next.

A broker that has read a document knows which of the patterns received over a link it matches, and
how; where rows of names occurred last, and which do not occur. Of that it sends along what the far
broker's :class:`~twigcast.routing.annotations.hints.Hints` request (Piggyback, sections 3.1 and 4):

    PS   matched     (place, bindings)      the pattern sent at this place is matched like this
    PD   last        (row, end tag)         the row's last occurrence ended there
    NS   unmatched   bits                   the pattern sent does not match
    ND   absent      bits                   the row does not occur

A bit that is set means "no". One that is not set means nothing, unless the annotations are
*complete*: then every pattern sent whose bit is not set does match. So where nothing was
aggregated away, the far broker need not read the document at all.

**Bits** are numbered from the lowest of the first byte. Those of NS follow the order of
:attr:`Hints.order <twigcast.routing.annotations.hints.Hints.order>`, those of ND that of the rows;
in both the best come first, so a string that is too long is cut at its end, and the rest is
left out.

**What is chosen.** All of it takes at most ``bytes_max`` bytes. Bits come first: for a bit, a far
broker skips all patterns behind it, and no other annotation costs so little. NS takes at most half
of the room, ND at most half of what is left then, so that there is some for the others. PS comes
next, since it can spare the far broker the reading itself; those with most patterns per byte of
bindings first (4.1), so before all others those that need none: they are sure to be of use. PD
comes last, patterns per position (4.2), because with it a part of the document is always read. What
does not fit is left out, and smaller ones behind it are tried. Equal benefits go by place, so that
equal findings make equal annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeAlias, TypeVar

from msgspec import msgpack

from twigcast.covering import Bound
from twigcast.routing.annotations.bit_sets import bits_of
from twigcast.routing.annotations.hints import Hints, SimpleHint
from twigcast.routing.annotations.kinds import Kinds
from twigcast.slips import check_fields

__all__ = [
    "ANNOTATION_BYTES_MAX",
    "ANNOTATION_LIMITS",
    "AnnotationLimits",
    "Annotations",
    "Kinds",
    "LinkFindings",
    "annotate",
]


@dataclass(frozen=True, slots=True)
class AnnotationLimits:
    """How much may travel with a document."""

    bytes_max: int = 1_024
    """Twice the 464 bytes that the paper's annotations take."""
    bindings_max: int = 64
    """Patterns of which it is asked how they match, those for most patterns first: finding out
    takes a walk through the document for each."""

    def __post_init__(self) -> None:
        check_fields(self)


ANNOTATION_LIMITS: Final = AnnotationLimits()

_Matched: TypeAlias = tuple[int, tuple[Bound, ...]]
_Last: TypeAlias = tuple[int, int]
_T = TypeVar("_T")

ANNOTATION_BYTES_MAX: Final = 65_536
"""Bytes of the annotations of one document: 64 times what brokers send by default."""

_COUNT_BYTES_MAX: Final = 2
"""Bytes by which the count of a long list or string is longer than that of a short one."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a broker knows about a document; made for what the far broker had sent by then."""

    session: int
    """Of the far broker's last change that was known."""
    number: int
    matched: tuple[_Matched, ...] = ()
    """Sent patterns that match, with the requested bindings; places and wildcards ascending."""
    last: tuple[_Last, ...] = ()
    """Rows, ascending, with the end tag behind which no occurrence is open any more."""
    unmatched: bytes | None = None
    absent: bytes | None = None
    is_complete: bool = False
    """Whether all patterns sent that are not ``unmatched`` match."""

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return len(
            msgpack.encode(
                (
                    self.session,
                    self.number,
                    self.matched,
                    self.last,
                    self.unmatched,
                    self.absent,
                    self.is_complete,
                )
            )
        )


@dataclass(frozen=True, slots=True)
class LinkFindings:
    """What a broker found out about a document that goes over one link."""

    matched: frozenset[int] = frozenset()
    """Places of patterns sent over the link that match."""
    is_complete: bool = False
    """Whether all the others do not."""
    unmatched: frozenset[int] = frozenset()
    """Places of some that do not, where it is not complete."""
    bindings: Callable[[int], Collection[tuple[int, tuple[str, ...]]] | None] = lambda _: None
    """How the pattern at a place matches; None if that is not known."""
    last: Mapping[int, int] = field(default_factory=dict)
    """Rows, with the end tag behind which no occurrence is open any more."""
    absent: frozenset[int] | None = None
    """Rows that do not occur; None if that is not known."""
    ends: int | None = None
    """How many end tags there are; None if that is not known."""


def annotate(
    kinds: Kinds,
    hints: Hints,
    findings: LinkFindings,
    *,
    session: int,
    number: int,
    limits: AnnotationLimits = ANNOTATION_LIMITS,
) -> Annotations | None:
    """The annotations of these kinds that are worth most; None if there are none."""
    room = limits.bytes_max - Annotations(session, number).size - 4 * _COUNT_BYTES_MAX
    unmatched, is_complete = None, False
    if kinds.ns and any(hints.covered):
        unmatched, is_complete = _unmatched(hints, findings, room // 2)
    room -= len(unmatched or b"")
    absent = bits_of(findings.absent, len(hints.rows)) if kinds.nd and findings.absent else b""
    absent = absent[: max(0, room // 2)].rstrip(b"\0")
    room -= len(absent)
    matched: list[_Matched] = []
    if kinds.ps:
        matched, room = _within(room, _matched(hints, findings, is_sent=is_complete, limits=limits))
    last: list[_Last] = []
    if kinds.pd:
        last, room = _within(room, _last(hints, findings))
    if not (matched or last or unmatched or absent):
        return None
    return Annotations(
        session=session,
        number=number,
        matched=tuple(sorted(matched)),
        last=tuple(sorted(last)),
        unmatched=unmatched,
        absent=absent or None,
        is_complete=is_complete,
    )


def _unmatched(hints: Hints, findings: LinkFindings, room: int) -> tuple[bytes | None, bool]:
    """The bits of NS as far as there is room, and whether they are complete."""
    bits = bits_of(
        (
            bit
            for bit, place in enumerate(hints.order)
            if place in findings.unmatched
            or (findings.is_complete and place not in findings.matched)
        ),
        len(hints.order),
    )
    if findings.is_complete and 0 < len(bits) <= room:
        return bits, True
    return bits[: max(0, room)].rstrip(b"\0") or None, False


def _matched(
    hints: Hints, findings: LinkFindings, *, is_sent: bool, limits: AnnotationLimits
) -> Sequence[_Matched]:
    """What is known of matched patterns, best first; not what the bits show anyway."""
    requested = [
        hints.by_place[place] for place in sorted(findings.matched) if place in hints.by_place
    ]
    bound = sorted((hint for hint in requested if hint.wildcards), key=lambda hint: -hint.parts)
    plain = [hint for hint in requested if not hint.wildcards]
    benefits: dict[_Matched, float] = {}
    for hint in (*bound[: limits.bindings_max], *plain):
        bounds = _requested(hint, findings)
        if bounds or not is_sent:
            matched = (hint.place, bounds)
            benefits[matched] = hint.parts / len(msgpack.encode(bounds)) if bounds else inf
    return sorted(benefits, key=lambda matched: (-benefits[matched], matched))


def _requested(hint: SimpleHint, findings: LinkFindings) -> tuple[Bound, ...]:
    """The bindings that a hint requests, as far as they are known."""
    if not hint.wildcards:
        return ()
    known = findings.bindings(hint.place) or ()
    return tuple(
        Bound(wildcard, tuple(path))
        for wildcard, path in sorted(known)
        if wildcard in hint.wildcards
    )


def _last(hints: Hints, findings: LinkFindings) -> Sequence[_Last]:
    """The positions that are of use, best first; not those at the end of the document."""
    useful = [
        (row, ends)
        for row, ends in sorted(findings.last.items())
        if row < len(hints.placed) and hints.placed[row] and ends != findings.ends
    ]
    return sorted(useful, key=lambda one: -hints.placed[one[0]] / one[1])


def _within(room: int, best_first: Iterable[_T]) -> tuple[list[_T], int]:
    """The things that fit, each tried in turn, and the room that is left."""
    kept: list[_T] = []
    for one in best_first:
        size = len(msgpack.encode(one))
        if size <= room:
            kept.append(one)
            room -= size
    return kept, room
