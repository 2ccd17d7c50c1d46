"""How many documents of a schema a merger adds to those of its parts.

The *degree* D of a merger s is the share of P(s), what it matches, that none of its parts matches
(Dissemination, section 1.5.3). A merger is *perfect* if every document of the schema that
matches it matches one of its parts. What is counted are the label paths of the schema that a
pattern accepts (:mod:`~twigcast.covering.paths.counting`), as exact integers, level by level, down
to a named depth: with recursion there is no end of them.

    >>> from twigcast import Pattern, Schema
    >>> schema = Schema.parse(b"<!ELEMENT a (b|c|d)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>"
    ...                       b"<!ELEMENT d EMPTY>")
    >>> merge_degree(Pattern.parse("/a/*"), map(Pattern.parse, ("/a/b", "/a/c")), schema=schema)
    Degree(added=1, accepted=3, perfect=False)

*Counting.* A path is followed with what is *left* of the patterns: of ``/a//b/c`` there is left
``//b/c`` behind ``/a``, and behind ``/a/b`` both ``//b/c`` and ``/c``. Of all parts together it is
one set of such remainders, for it does not matter which part accepts. What follows depends only on
the state of the schema, the two sets and the levels to go, so it is counted once, whatever merger
it is counted for: mergers that end alike share most of their counting. If all that is left of the
merger is also left of the parts, nothing can be added any more.

*Perfect.* A count of 0 is not enough for that: something may be added further down, by white space
where there is no text, or by branches. The same sets are followed without a limit on depth. For
patterns that are more than
linear, paths say too little: what is counted are their trunks, and perfect is what
:func:`~twigcast.covering.containment.covers.covers` says so of.

Of an element in an open namespace a merger accepts what it might, and a part what it must, so that
no degree is too small for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.containment.covers import covers, paths_of
from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.merging.spine import Trunk, plain_steps, trunk_of
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.covering.paths.counting import COUNTING_STEPS_MAX, LinearPath, linear_path
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import TEXT, Label, Reach
from twigcast.language.condition.normal_form import any_of
from twigcast.slips import each_of, is_number

__all__ = ["MERGE_DEPTH", "Degree", "PathMeasure", "measured_degree", "merge_degree"]

MERGE_DEPTH: Final = 10
"""Levels of a label path that are counted: as many as documents have in Dissemination (1.6)."""

_REMEMBERED_MAX: Final = 500_000
"""Counts kept for the next question; some hundred megabytes."""

_LEAF: Final = -1
"""The state of attributes and texts."""

Left: TypeAlias = frozenset[int]
"""What is left of patterns, each remainder a number; 0 is nothing: the path is accepted."""

_DONE: Final[Left] = frozenset({0})
_NONE: Final[Left] = frozenset()


class Degree(NamedTuple):
    """How much a merger adds."""

    added: int
    """Label paths that the merger accepts and none of its parts."""
    accepted: int
    """Label paths that the merger accepts."""
    perfect: bool
    """Whether nothing is added at any depth, as far as is known."""

    @property
    def value(self) -> Fraction:
        """The degree D, from 0 to 1; 1 where nothing was counted and something may be added.

        A merger that is not perfect can have 0, too, where all that it adds goes uncounted.
        """
        if self.perfect:
            return Fraction(0)
        return Fraction(self.added, self.accepted) if self.accepted else Fraction(1)

    @door("comparing degrees")
    def within(self, bound: float | Fraction) -> bool:
        """Whether the degree is at most so much; at most 0 are perfect ones only."""
        if isinstance(bound, int | float) and not is_number(bound):
            raise UsageError(f"the bound of a degree is a number, not {shown(bound)}")
        # A bound of 0.6 is meant as six tenths, which no float is.
        return self.perfect or (bound > 0 and self.value <= Fraction(str(bound)))


@door("measuring a merger")
def merge_degree(
    merger: Pattern,
    parts: Iterable[Pattern],
    *,
    schema: Schema | SchemaPaths,
    depth: int = MERGE_DEPTH,
) -> Degree:
    """The degree of a merger of these parts, among documents of the schema.

    Exact for linear patterns: steps of ``/ // *``, names, attributes and texts. Of others the
    trunks are counted. UsageError if a pattern has no trunk, SchemaLimitError if the counting
    takes too long.
    """
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    given = each_of(parts, Pattern, "parts are Patterns")
    return measured_degree(merger, given, paths, PathMeasure(paths.automaton, depth=depth))


def measured_degree(
    merger: Pattern, parts: Iterable[Pattern], paths: SchemaPaths, measure: PathMeasure
) -> Degree:
    """The same, by a measure that is kept for the next question."""
    found = list(parts)
    steps = [plain_steps(_known_trunk(pattern)) for pattern in (merger, *found)]
    degree = measure.degree(steps[0], steps[1:])
    if all(linear_path(pattern.condition) for pattern in (merger, *found)):
        return degree
    union = Pattern(any_of(part.condition for part in found))
    return degree._replace(perfect=covers(wider=union, narrower=merger, schema=paths))


def _known_trunk(pattern: Pattern) -> Trunk:
    trunk = trunk_of(pattern)
    if trunk is None:
        raise UsageError(f"only patterns that begin with one path are merged, not {pattern.text}")
    return trunk


class PathMeasure:
    """Counts what linear patterns accept of a schema, and remembers it for the next ones."""

    def __init__(self, paths: PathAutomaton, *, depth: int = MERGE_DEPTH) -> None:
        if depth < 1:
            raise UsageError(f"paths are counted down to a depth of at least 1, not {shown(depth)}")
        self.depth = depth
        self.steps = 0
        """Labels followed so far."""
        self._limit = COUNTING_STEPS_MAX
        self._labels = [
            [
                *state.edges,
                *((label, _LEAF) for label, _ in state.attributes),
                *([(TEXT, _LEAF)] if state.text is TextKind.ANY else []),
            ]
            for state in paths.states
        ]
        self._has_space = [state.text is TextKind.BLANK for state in paths.states]
        self._remainders = _Remainders()
        self._counts: dict[tuple[int, Left, Left, int], int] = {}
        self._accepted: dict[LinearPath, int] = {}

    def degree(self, merger: LinearPath, parts: Sequence[LinearPath]) -> Degree:
        """How much the merger adds to its parts; SchemaLimitError if that takes too long."""
        whole = self._remainders.of([merger])
        known = self._remainders.of(parts)
        self._limit = self.steps + COUNTING_STEPS_MAX
        self._forget_some()
        added = self._count(DOCUMENT_NODE, whole, known, self.depth)
        accepted = self.accepted(merger)
        perfect = not added and not self._adds(whole, known)
        return Degree(added, accepted, perfect)

    def least(self, merger: LinearPath, parts: Iterable[LinearPath]) -> Fraction:
        """What the degree is at least: parts accept at most the sum of what each accepts.

        That is quickly told, since each part is counted once. SchemaLimitError as before.
        """
        accepted = self.accepted(merger)
        missing = accepted
        for part in parts:
            if missing <= 0:
                break
            missing -= self.accepted(part)
        return Fraction(max(missing, 0), accepted) if accepted else Fraction(0)

    def accepted(self, pattern: LinearPath) -> int:
        """Label paths that a pattern accepts; SchemaLimitError if counting takes too long."""
        found = self._accepted.get(pattern)
        if found is None:
            self._limit = self.steps + COUNTING_STEPS_MAX
            self._forget_some()
            left = self._remainders.of([pattern])
            found = self._accepted[pattern] = self._count(DOCUMENT_NODE, left, _NONE, self.depth)
        return found

    def _forget_some(self) -> None:
        """Begin anew where too much is remembered."""
        for remembered in (self._counts, self._accepted):
            if len(remembered) > _REMEMBERED_MAX:
                remembered.clear()

    def adds(self, merger: LinearPath, parts: Sequence[LinearPath]) -> bool:
        """Whether the merger is not perfect: it accepts, at any depth, what none of its parts does.

        SchemaLimitError if it takes too long to find out.
        """
        self._limit = self.steps + COUNTING_STEPS_MAX
        return self._adds(self._remainders.of([merger]), self._remainders.of(parts))

    def _count(self, state: int, whole: Left, known: Left, depth: int) -> int:
        """Paths of up to so many more labels that the whole accepts, and nothing that is known."""
        if whole <= known or not depth:
            return 0
        key = (state, whole, known, depth)
        found = self._counts.get(key)
        if found is not None:
            return found
        labels = self._labels[state]
        self._take(len(labels))
        after = self._remainders.after
        found = 0
        for label, target in labels:
            ahead = after(whole, label)
            if not ahead:
                continue
            done = after(known, label, surely=True)
            if done is _DONE:
                continue
            found += ahead is _DONE
            if target != _LEAF:
                found += self._count(target, ahead, done, depth - 1)
        self._counts[key] = found
        return found

    def _adds(self, whole: Left, known: Left) -> bool:
        """Whether at any depth some path is accepted that is not known."""
        seen = {(DOCUMENT_NODE, whole, known)}
        waiting = list(seen)
        after = self._remainders.after
        for state, here, there in waiting:
            labels = self._labels[state]
            if self._has_space[state]:
                # White space is text, though it is not counted.
                labels = [*labels, (TEXT, _LEAF)]
            self._take(len(labels))
            for label, target in labels:
                ahead, done = after(here, label), after(there, label, surely=True)
                if not ahead or done is _DONE or ahead <= done:
                    continue
                if ahead is _DONE:
                    return True
                if target != _LEAF and (target, ahead, done) not in seen:
                    seen.add((target, ahead, done))
                    waiting.append((target, ahead, done))
        return False

    def _take(self, number: int) -> None:
        self.steps += number
        if self.steps > self._limit:
            raise SchemaLimitError(
                "too many combinations of paths and patterns",
                limit="COUNTING_STEPS_MAX",
                given=self.steps - self._limit + COUNTING_STEPS_MAX,
                allowed=COUNTING_STEPS_MAX,
            )


class _Remainders:
    """What can be left of patterns, numbered, and what a label leaves of it."""

    def __init__(self) -> None:
        self._numbers: dict[LinearPath, int] = {(): 0}
        self._paths: list[LinearPath] = [()]
        self._known: dict[tuple[Left, Label, bool], Left] = {}

    def of(self, patterns: Iterable[LinearPath]) -> Left:
        return self._without_narrower(set(map(self._number, patterns))) or _NONE

    def after(self, left: Left, label: Label, *, surely: bool = False) -> Left:
        """What is left behind a label; with ``surely``, behind any that an open one stands for."""
        if left is _DONE or left is _NONE:
            return left
        key = (left, label, surely)
        found = self._known.get(key)
        if found is None:
            found = self._after(left, label, surely=surely)
            self._known[key] = found
        return found

    def _after(self, left: Left, label: Label, *, surely: bool) -> Left:
        found: set[int] = set()
        for number in left:
            reach, wanted = self._paths[number][0]
            if reach is Reach.DESCENDANT:
                found.add(number)
            if wanted.includes(label) if surely else wanted.meet(label) is not None:
                found.add(self._number(self._paths[number][1:]))
        if 0 in found:
            return _DONE
        return self._without_narrower(found) if found else _NONE

    def _without_narrower(self, found: set[int]) -> Left:
        """The remainders without those that end in another of them that begins with ``//``.

        Of ``//b/c//d`` and ``//d`` the latter accepts all that the former does. So once a ``//`` is
        reached, what stands before it is forgotten, and patterns that end alike share their counts.
        """
        if len(found) == 1:
            return frozenset(found)
        paths = {self._paths[number] for number in found}
        return frozenset(
            number
            for number in found
            if not any(
                path[start][0] is Reach.DESCENDANT and path[start:] in paths
                for path in (self._paths[number],)
                for start in range(1, len(path))
            )
        )

    def _number(self, path: LinearPath) -> int:
        number = self._numbers.get(path)
        if number is None:
            number = self._numbers[path] = len(self._paths)
            self._paths.append(path)
        return number
