"""Inference from annotations, before the document is touched (Piggyback, section 5).

The annotations are about patterns that were *sent* and about rows of names; from the tables of
:mod:`~twigcast.routing.annotations.hints` follows what holds for the broker's own patterns:

    PS   bindings of what is matched      T_sagg    own patterns that match
    NS   what does not match              T_agg     own patterns that cannot match
    ND   rows that do not occur           T_pat     own patterns that cannot match
    PD   where rows occurred last         T_pat     own patterns that cannot match behind it
    complete: whatever is not in NS       as it is  own patterns that match, if they were sent

True annotations make true lessons, so what is delivered does not change. Whatever cannot be true is
refused: places and bits that do not exist, bindings that were not requested, a pattern that both
matches and does not.

A document may have to go on before it was read: because a pattern is known to match, or because
all are decided. What the next broker can be sent is then derived from the same lessons
(:func:`derive`, Piggyback 5.3): which of the patterns received over its link match and which
cannot, complete if that is all of them; and a row that contains one that does not occur does not
occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from twigcast.covering import Bound
from twigcast.errors import ProtocolError
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import (
    ANNOTATION_LIMITS,
    AnnotationLimits,
    Annotations,
    LinkFindings,
    annotate,
)
from twigcast.routing.annotations.bit_sets import members
from twigcast.routing.annotations.hints import Hints, HintTable, SimpleParts, is_ascending
from twigcast.routing.annotations.kinds import Kinds
from twigcast.routing.annotations.name_chains import row_of, rows_within


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is known about a broker's own patterns."""

    matched: frozenset[Pattern] = frozenset()
    hopeless: frozenset[Pattern] = frozenset()
    """Those that do not match."""
    hopeless_from: Mapping[int, frozenset[Pattern]] = field(default_factory=dict)
    """Those of which no match becomes certain behind an end tag, by that end tag, ascending."""


def learn(annotations: Annotations, table: HintTable) -> Lessons:
    """The lessons of annotations. They must have been made for this table.

    Raises ProtocolError for such that nobody can mean.
    """
    _check(annotations, table)
    hints = table.hints
    matched = {
        part
        for place, bounds in annotations.matched
        for part in _parts(table.simple[place], bounds)
    }
    unmatched = {hints.order[bit] for bit in members(annotations.unmatched or b"")}
    if annotations.is_complete:
        matched |= {table.sent[place] for place in table.unchanged - unmatched}
    absent = members(annotations.absent or b"")
    not_bits = 0
    for bits in (
        *map(table.covered.__getitem__, unmatched),
        *map(table.needing.__getitem__, absent),
    ):
        not_bits |= bits
    hopeless = table.those(not_bits)
    if matched & hopeless or unmatched & {place for place, _ in annotations.matched}:
        raise ProtocolError("something both matches and does not", place="matched")
    if not {row for row, _ in annotations.last}.isdisjoint(absent):
        raise ProtocolError("a row that does not occur has no position", place="last")
    return Lessons(frozenset(matched), hopeless, _hopeless_from(annotations, table, not_bits))


def derive(  # noqa: PLR0913 - what came, what is known, and what the far broker asks for
    annotations: Annotations,
    table: HintTable,
    *,
    kinds: Kinds,
    routes: Sequence[Pattern],
    hints: Hints,
    session: int,
    number: int,
    limits: AnnotationLimits = ANNOTATION_LIMITS,
    lessons: Lessons | None = None,
) -> Annotations | None:
    """Annotations for a link from annotations that came, without a look at the document.

    ``routes`` are the patterns sent over that link, in the order of their places, and ``hints``
    what was asked for beside them. ``lessons`` are what was learnt already. None if nothing can be
    derived; ProtocolError as for :func:`learn`.
    """
    known = lessons or learn(annotations, table)
    matched = frozenset(place for place, one in enumerate(routes) if one in known.matched)
    unmatched = frozenset(place for place, one in enumerate(routes) if one in known.hopeless)
    # What came about a pattern is passed on, if it is wanted under the same text.
    bindings = {table.sent[place]: bounds for place, bounds in annotations.matched}
    last = {table.hints.rows[row][0]: ends for row, ends in annotations.last}
    findings = LinkFindings(
        matched=matched,
        is_complete=len(matched) + len(unmatched) == len(routes),
        unmatched=unmatched,
        bindings=lambda place: bindings.get(routes[place]),
        last={row: last[one] for row, (one, _) in enumerate(hints.rows) if one in last},
        absent=_absent(annotations, table, hints),
    )
    return annotate(kinds, hints, findings, session=session, number=number, limits=limits)


def _parts(parts: SimpleParts, bounds: tuple[Bound, ...]) -> Iterator[Pattern]:
    """The parts that match where a pattern does with these bindings."""
    for wildcards, part_of in parts.items():
        part = part_of.get(tuple(bound for bound in bounds if bound.wildcard in wildcards))
        if part is not None:
            yield part


def _absent(annotations: Annotations, table: HintTable, hints: Hints) -> frozenset[int]:
    """The rows requested over another link that contain one which does not occur."""
    absent = {row_of(table.hints.rows[row][0]) for row in members(annotations.absent or b"")}
    if not absent:
        return frozenset()
    rows = [row_of(pattern) or () for pattern, _ in hints.rows]
    return frozenset(
        place for place, row in enumerate(rows) if not absent.isdisjoint(rows_within(row))
    )


def _hopeless_from(
    annotations: Annotations, table: HintTable, known: int
) -> dict[int, frozenset[Pattern]]:
    """The patterns of PD by end tag, each once, at its first; not those that are known."""
    found: dict[int, int] = {}
    for row, ends in sorted(annotations.last, key=lambda one: one[1]):
        fresh = table.placed[row] & ~known
        if fresh:
            found[ends] = found.get(ends, 0) | fresh
            known |= fresh
    return {ends: table.those(bits) for ends, bits in found.items()}


def _check(annotations: Annotations, table: HintTable) -> None:
    """Whether places, bits and bindings are such as were requested."""
    hints, sent, rows = table.hints, len(table.sent), len(table.hints.rows)
    if not is_ascending([place for place, _ in annotations.matched], sent):
        raise ProtocolError("places are out of order or out of range", place="matched")
    for place, bounds in annotations.matched:
        hint = hints.by_place.get(place)
        wildcards = [bound.wildcard for bound in bounds]
        if hint is None or not is_ascending(wildcards) or not {*wildcards} <= {*hint.wildcards}:
            raise ProtocolError("these bindings were not asked for", place="matched")
    if not is_ascending([row for row, _ in annotations.last], rows):
        raise ProtocolError("rows are out of order or out of range", place="last")
    if any(ends < 1 for _, ends in annotations.last):
        raise ProtocolError("end tags are counted from 1", place="last")
    _check_bits(annotations.unmatched, sent, place="unmatched", whole=annotations.is_complete)
    _check_bits(annotations.absent, rows, place="absent", whole=False)


def _check_bits(bits: bytes | None, count: int, *, place: str, whole: bool) -> None:
    """Whether there are no more bits than they can be about, and no fewer if all must be there."""
    length = (count + 7) // 8
    if whole and (bits is None or len(bits) != length):
        raise ProtocolError(f"{length} bytes of bits are expected", place=place)
    if bits is None:
        return
    if not 0 < len(bits) <= length:
        raise ProtocolError(f"1 to {length} bytes of bits are expected", place=place)
    if count % 8 and len(bits) == length and bits[-1] >> count % 8:
        raise ProtocolError("a bit is about nothing", place=place)
