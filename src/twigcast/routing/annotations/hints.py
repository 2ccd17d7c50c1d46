"""Hints: a broker's requests for annotations that are of use to it.

A broker sends a neighbour few patterns that stand for many (what it *sent*). Beside them it sends,
each time they change, its *hints*: the annotations that would be of use to it (the derived
information of Piggyback's offline steps, 4.1 to 4.4). By the *hint table*, which it keeps, it makes
sense of the annotations::

    its patterns          sent            hints                      kept in the table
    //a/b/c, //a/x/c      //a/*/c         2 covered                  T_agg: both
                                          bind wildcard 2 of it      T_sagg: b → //a/b/c,
                                                                             x → //a/x/c
    //d/e/f, //d/e/g      //d/e           2 covered                  T_agg: both
                                          row //d/e, 2 need it       T_pat: both

Both ends of a link count the patterns sent by their place in the order of canonical texts, from 0,
and rows of names (:mod:`~twigcast.routing.annotations.name_chains`) by their place in the hints.

**T_agg**: whatever a pattern covers cannot match if it does not. **T_sagg**: a pattern sent turns
into a narrower one when some of its wildcards are replaced by names
(:mod:`~twigcast.covering.merging.substitution`). All else in the two is equal; so where the pattern
sent is matched with just these names, the very same nodes of the document match the narrower one:
the names fill the places of the wildcards, and whatever hangs at any node is tested at the same
node as before. Wildcards that stay wildcards are free on both sides, and need not be sent. A
pattern that is sent as it is needs no binding at all. **T_pat**: who needs a row cannot match
without it.

Coverings must hold for every document, so those that are right only under a schema have no place
here. All of this is a cost of changes and not of documents: it is linear in the number of coverings
and in the steps of all patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering import Bound, simple_bindings
from twigcast.covering.bits import mask_of
from twigcast.errors import ProtocolError
from twigcast.language import Pattern
from twigcast.routing.annotations.bit_sets import members
from twigcast.routing.annotations.kinds import Kinds
from twigcast.routing.annotations.name_chains import (
    ROW_NAMES_MAX,
    best_rows,
    row_of,
    row_pattern,
    rows_with_positions,
)
from twigcast.slips import check_fields


@dataclass(frozen=True, slots=True)
class HintLimits:
    """How many annotations a broker requests."""

    rows_max: int = 1_024
    """Rows of names: as bits they take 128 bytes of an annotation."""
    row_patterns_min: int = 2
    """Patterns that a row must be needed by; a single one is as well sent itself."""
    simple_max: int = 4_096
    """Patterns sent whose bindings are requested, those for most patterns first."""

    def __post_init__(self) -> None:
        check_fields(self)


HINT_LIMITS: Final = HintLimits()


class SimpleHint(NamedTuple):
    """Requested bindings: ``(s, |S'|, l)`` of Piggyback 4.1."""

    place: int
    """Of the pattern sent."""
    parts: int
    """How many patterns it is a simple aggregate of."""
    wildcards: tuple[int, ...]
    """Those that must be bound to match some of these, ascending; none if matching is enough."""


@dataclass(frozen=True)
class Hints:
    """A broker's requests for annotations, as the far broker sees them."""

    covered: tuple[int, ...] = ()
    """Of each pattern sent, how many patterns it stands for; 0 where nobody wants to know."""
    simple: tuple[SimpleHint, ...] = ()
    """Places ascending."""
    rows: tuple[tuple[Pattern, int], ...] = ()
    """Rows of names with the number of patterns that need each, best first."""
    placed: tuple[int, ...] = ()
    """Of each row, for how many patterns its last position suffices; empty if for none."""

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The places of the patterns sent, those first that stand for most.

        This is the order of the bits in an NS annotation. If it has to be cut, the best is left.
        """
        return tuple(sorted(range(len(self.covered)), key=lambda place: -self.covered[place]))

    @cached_property
    def by_place(self) -> dict[int, SimpleHint]:
        """The requested bindings, by the place of their pattern."""
        return {hint.place: hint for hint in self.simple}


SimpleParts: TypeAlias = Mapping[tuple[int, ...], Mapping[tuple[Bound, ...], Pattern]]
"""Simple parts of a pattern, by the wildcards that are bound in them, and by their bindings.

What bindings make of a pattern is one pattern, so there is one part for each.
"""


@dataclass(frozen=True, slots=True)
class HintTable:
    """What a broker knows about the patterns it sent over one link, by place.

    Sets of its own patterns are numbers, a bit for each pattern, the lowest for the first. To unite
    hundreds of them for each document then costs next to nothing (A_not of Piggyback, section 5, is
    such a number).
    """

    sent: tuple[Pattern, ...]
    """In the order of canonical texts."""
    patterns: tuple[Pattern, ...]
    """The broker's own, in the same order."""
    hints: Hints
    unchanged: frozenset[int]
    """The places of patterns that were sent as they are."""
    covered: tuple[int, ...]
    """T_agg: the patterns that each covers; none without NS annotations."""
    simple: tuple[SimpleParts, ...]
    """T_sagg: the patterns that each is a simple aggregate of; none without PS annotations."""
    needing: tuple[int, ...]
    """T_pat: the patterns that need each row."""
    placed: tuple[int, ...]
    """Those among them for which the last position of the row suffices (PD)."""

    def those(self, bits: int) -> frozenset[Pattern]:
        """The patterns that a number stands for."""
        return frozenset(map(self.patterns.__getitem__, members(bits)))


def hint_table(
    sent: Iterable[Pattern],
    patterns: Collection[Pattern],
    covered: Callable[[Pattern], Iterable[Pattern]],
    kinds: Kinds,
    *,
    limits: HintLimits = HINT_LIMITS,
) -> HintTable:
    """The table of one link, with the hints to be sent over it.

    ``patterns`` are those the broker wants documents for, but for the link's own; ``covered`` tells
    which of them a pattern covers, in every document. Only what these ``kinds`` of annotations need
    is worked out.

    >>> p = Pattern.parse
    >>> mine = [p("//a/b/c"), p("//a/x/c"), p("//d/e")]
    >>> covered = {p("//a/*/c"): mine[:2], p("//d/e"): mine[2:]}
    >>> table = hint_table(covered, mine, covered.__getitem__, Kinds.parse("+s-s"))
    >>> table.hints.covered, table.hints.simple[0]
    ((2, 1), SimpleHint(place=0, parts=2, wildcards=(2,)))
    """
    places, own = _in_order(sent), _in_order(patterns)
    bit_of = {pattern: bit for bit, pattern in enumerate(own)}
    found = [
        _covered(pattern, bit_of, covered) if kinds.ps or kinds.ns else [] for pattern in places
    ]
    simple = tuple(
        _simple(pattern, [own[bit] for bit in bits]) if kinds.ps else {}
        for pattern, bits in zip(places, found, strict=True)
    )
    rows = best_rows(
        own if kinds.has_rows else (),
        rows_max=limits.rows_max,
        patterns_min=limits.row_patterns_min,
    )
    placed = [
        [one for one in needing if kinds.pd and row in rows_with_positions(one)]
        for row, needing in rows
    ]
    hints = Hints(
        covered=tuple(len(bits) if kinds.ns else 0 for bits in found),
        simple=_simple_hints(simple, limits.simple_max),
        rows=tuple((row_pattern(row), len(needing)) for row, needing in rows),
        placed=tuple(map(len, placed)) if any(placed) else (),
    )
    return HintTable(
        sent=places,
        patterns=own,
        hints=hints,
        unchanged=frozenset(place for place, pattern in enumerate(places) if pattern in bit_of),
        covered=tuple(mask_of(bits if kinds.ns else ()) for bits in found),
        simple=simple,
        needing=tuple(mask_of(bit_of[one] for one in needing) for _, needing in rows),
        placed=tuple(mask_of(bit_of[one] for one in some) for some in placed),
    )


def check_hints(hints: Hints, *, sent: int, limits: HintLimits = HINT_LIMITS) -> None:
    """Raise ProtocolError for hints that no broker that sent so many patterns can mean."""
    if len(hints.covered) != sent or any(number < 0 for number in hints.covered):
        raise ProtocolError("a number for each pattern is expected", place="covered")
    if not is_ascending([hint.place for hint in hints.simple], sent):
        raise ProtocolError("places are out of order or out of range", place="simple")
    for _, parts, wildcards in hints.simple:
        if parts < 1 or not is_ascending(wildcards) or 0 in wildcards:
            raise ProtocolError("parts and wildcards are counted from 1", place="simple")
    if len(hints.simple) > limits.simple_max or len(hints.rows) > limits.rows_max:
        raise ProtocolError("more is asked for than a broker may ask", place="hints")
    rows = [row_of(pattern) for pattern, _ in hints.rows]
    if None in rows or len(set(rows)) != len(rows):
        raise ProtocolError("only rows of names are watched, each once", place="rows")
    if any(row and len(row) > ROW_NAMES_MAX for row in rows):
        raise ProtocolError(f"a row has at most {ROW_NAMES_MAX} names", place="rows")
    if len(hints.placed) not in {0, len(rows)}:
        raise ProtocolError("a number for each row is expected", place="placed")
    if min((*hints.placed, *(number for _, number in hints.rows)), default=0) < 0:
        raise ProtocolError("patterns are counted from 0", place="rows")


def is_ascending(numbers: Sequence[int], below: int | None = None) -> bool:
    """Whether the numbers rise from 0 on, each of them below a bound."""
    before = -1
    for number in numbers:
        if number <= before:
            return False
        before = number
    return below is None or before < below


def _in_order(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    return tuple(sorted(set(patterns), key=lambda pattern: pattern.text))


def _covered(
    pattern: Pattern, bit_of: dict[Pattern, int], covered: Callable[[Pattern], Iterable[Pattern]]
) -> list[int]:
    """The bits of what a pattern covers of a broker's own, itself included if it is among them."""
    return sorted({bit_of[one] for one in (pattern, *covered(pattern)) if one in bit_of})


def _simple(pattern: Pattern, covered: Iterable[Pattern]) -> SimpleParts:
    """The patterns that one is a simple aggregate of.

    How a pattern matches nobody knows if only libxml2 can say whether it does; then a match tells
    no more than itself.
    """
    found: dict[tuple[int, ...], dict[tuple[Bound, ...], Pattern]] = {}
    for part in covered:
        bounds = simple_bindings(aggregate=pattern, part=part)
        if bounds is not None and (pattern.exact or not bounds):
            wildcards = tuple(bound.wildcard for bound in bounds)
            found.setdefault(wildcards, {})[bounds] = part
    return found


def _simple_hints(simple: Sequence[SimpleParts], simple_max: int) -> tuple[SimpleHint, ...]:
    """What to ask for, at most so much of it."""
    hints = [
        SimpleHint(place, sum(map(len, parts.values())), tuple(sorted({*chain(*parts)})))
        for place, parts in enumerate(simple)
        if parts
    ]
    hints.sort(key=lambda hint: (-hint.parts, hint.place))
    return tuple(sorted(hints[:simple_max]))
