"""Degrees of mergers: how many documents of a schema a merger adds to those of its parts.

The *degree* D of a merger s is the share of P(s), the paths it matches, that none of its parts
matches (Dissemination, section 1.5.3). A merger is *perfect* if every document of the schema that
matches it matches one of its parts. The label paths of the schema that a pattern accepts
(:mod:`~twigcast.covering.paths.linear`) are counted as exact integers, level by level, down to a
named depth: with recursion there are infinitely many.

    >>> from twigcast import Pattern, Schema
    >>> schema = Schema.parse(b"<!ELEMENT a (b|c|d)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>"
    ...                       b"<!ELEMENT d EMPTY>")
    >>> merge_degree(Pattern.parse("/a/*"), map(Pattern.parse, ("/a/b", "/a/c")), schema=schema)
    Degree(added=1, accepted=3, perfect=False)

*Counting.* A path is followed together with the *remainders* of the patterns: of ``/a//b/c``,
``//b/c`` remains behind ``/a``, and behind ``/a/b`` both ``//b/c`` and ``/c``. All parts together
have one set of remainders, for it does not matter which part accepts. The count depends only on
the state of the schema, the two sets and the levels to go, so it is computed once for all mergers:
mergers with equal ends share most of their counting. If all remainders of the merger are also
remainders of the parts, nothing more can be added.

*Perfect.* A count of 0 does not imply it: paths may be added further down, by white space where
there is no text, or by branches. The same sets are followed without a limit on depth. For patterns
that are more than linear, paths are not enough: their spines are counted, and
:func:`~twigcast.covering.containment.covers.covers` decides whether they are perfect.

For an element in any namespace a merger accepts what it might match, and a part what it must, so
that degrees are never too small for that reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.containment.covers import covers, paths_of
from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.merging.spine import Spine, plain_steps, spine_of
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.covering.paths.linear import LinearPath, linear_path
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import TEXT, Label, Reach
from twigcast.language.condition.normal_form import any_of
from twigcast.slips import each_of, is_number

MERGE_DEPTH: Final = 10
"""Levels of a label path that are counted: the depth of documents in Dissemination (1.6)."""

COUNTING_STEPS_MAX: Final = 5_000_000
"""Labels followed in one count; twenty levels of NITF take some 30,000 for a pattern."""

_REMEMBERED_MAX: Final = 500_000
"""Counts that are cached; some hundred megabytes."""

_LEAF: Final = -1
"""The state of attributes and texts."""

Remainders: TypeAlias = frozenset[int]
"""Remainders of patterns, as numbers; 0 is the empty one: the path is accepted."""

_ACCEPTED: Final[Remainders] = frozenset({0})
_NONE: Final[Remainders] = frozenset()


class Degree(NamedTuple):
    """How much a merger adds."""

    added: int
    """Label paths that the merger accepts and none of its parts."""
    accepted: int
    """Label paths that the merger accepts."""
    perfect: bool
    """Whether nothing is added at any depth, as far as known."""

    @property
    def value(self) -> Fraction:
        """The degree D, from 0 to 1; 1 where nothing was counted and something may be added.

        A merger that is not perfect can have 0, too, where nothing that it adds is counted.
        """
        if self.perfect:
            return Fraction(0)
        return Fraction(self.added, self.accepted) if self.accepted else Fraction(1)

    @door("comparing degrees")
    def within(self, bound: float | Fraction) -> bool:
        """Whether the degree is at most ``bound``; at bound 0 only perfect mergers are."""
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

    Exact for linear patterns: steps of ``/ // *``, names, attributes and texts. For others
    the spines are counted. UsageError if a pattern has no spine, SchemaLimitError if the counting
    takes too long.
    """
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    given = each_of(parts, Pattern, "parts are Patterns")
    return measured_degree(merger, given, paths, PathMeasure(paths.automaton, depth=depth))


def measured_degree(
    merger: Pattern, parts: Iterable[Pattern], paths: SchemaPaths, measure: PathMeasure
) -> Degree:
    """The same, with a measure whose caches serve several calls."""
    found = list(parts)
    steps = [plain_steps(_required_spine(pattern)) for pattern in (merger, *found)]
    degree = measure.degree(steps[0], steps[1:])
    if all(linear_path(pattern.condition) for pattern in (merger, *found)):
        return degree
    union = Pattern(any_of(part.condition for part in found))
    return degree._replace(perfect=covers(wider=union, narrower=merger, schema=paths))


def _required_spine(pattern: Pattern) -> Spine:
    spine = spine_of(pattern)
    if spine is None:
        raise UsageError(f"only patterns that begin with one path are merged, not {pattern.text}")
    return spine


class PathMeasure:
    """Counts of the paths of a schema that linear patterns accept, with caches."""

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
        self._remainders = _RemainderNumbers()
        self._counts: dict[tuple[int, Remainders, Remainders, int], int] = {}
        self._accepted: dict[LinearPath, int] = {}

    def degree(self, merger: LinearPath, parts: Sequence[LinearPath]) -> Degree:
        """The degree of a merger of these parts; SchemaLimitError if that takes too long."""
        whole = self._remainders.of([merger])
        known = self._remainders.of(parts)
        self._limit = self.steps + COUNTING_STEPS_MAX
        self._limit_caches()
        added = self._count(DOCUMENT_NODE, whole, known, self.depth)
        accepted = self.accepted(merger)
        perfect = not added and not self._adds(whole, known)
        return Degree(added, accepted, perfect)

    def least(self, merger: LinearPath, parts: Iterable[LinearPath]) -> Fraction:
        """A lower bound of the degree: parts accept at most the sum of what each accepts.

        It is quick, since each part is counted once. SchemaLimitError as before.
        """
        accepted = self.accepted(merger)
        missing = accepted
        for part in parts:
            if missing <= 0:
                break
            missing -= self.accepted(part)
        return Fraction(max(missing, 0), accepted) if accepted else Fraction(0)

    def accepted(self, pattern: LinearPath) -> int:
        """The number of label paths that a pattern accepts; SchemaLimitError as before."""
        found = self._accepted.get(pattern)
        if found is None:
            self._limit = self.steps + COUNTING_STEPS_MAX
            self._limit_caches()
            remainders = self._remainders.of([pattern])
            found = self._accepted[pattern] = self._count(
                DOCUMENT_NODE, remainders, _NONE, self.depth
            )
        return found

    def _limit_caches(self) -> None:
        """Clear the caches that are full."""
        for remembered in (self._counts, self._accepted):
            if len(remembered) > _REMEMBERED_MAX:
                remembered.clear()

    def adds(self, merger: LinearPath, parts: Sequence[LinearPath]) -> bool:
        """Whether the merger accepts, at any depth, a path that none of its parts accepts.

        SchemaLimitError if it takes too long to find out.
        """
        self._limit = self.steps + COUNTING_STEPS_MAX
        return self._adds(self._remainders.of([merger]), self._remainders.of(parts))

    def _count(self, state: int, whole: Remainders, known: Remainders, depth: int) -> int:
        """Paths of up to ``depth`` more labels that ``whole`` accepts and ``known`` does not."""
        if whole <= known or not depth:
            return 0
        key = (state, whole, known, depth)
        count = self._counts.get(key)
        if count is not None:
            return count
        labels = self._labels[state]
        self._count_steps(len(labels))
        after = self._remainders.after
        count = 0
        for label, target in labels:
            remaining = after(whole, label)
            if not remaining:
                continue
            done = after(known, label, surely=True)
            if done is _ACCEPTED:
                continue
            count += remaining is _ACCEPTED
            if target != _LEAF:
                count += self._count(target, remaining, done, depth - 1)
        self._counts[key] = count
        return count

    def _adds(self, whole: Remainders, known: Remainders) -> bool:
        """Whether ``whole`` accepts a path, at any depth, that ``known`` does not."""
        seen = {(DOCUMENT_NODE, whole, known)}
        waiting = list(seen)
        after = self._remainders.after
        for state, here, there in waiting:
            labels = self._labels[state]
            if self._has_space[state]:
                # White space is text, though it is not counted.
                labels = [*labels, (TEXT, _LEAF)]
            self._count_steps(len(labels))
            for label, target in labels:
                remaining, done = after(here, label), after(there, label, surely=True)
                if not remaining or done is _ACCEPTED or remaining <= done:
                    continue
                if remaining is _ACCEPTED:
                    return True
                if target != _LEAF and (target, remaining, done) not in seen:
                    seen.add((target, remaining, done))
                    waiting.append((target, remaining, done))
        return False

    def _count_steps(self, number: int) -> None:
        self.steps += number
        if self.steps > self._limit:
            raise SchemaLimitError(
                "too many combinations of paths and patterns",
                limit="COUNTING_STEPS_MAX",
                given=self.steps - self._limit + COUNTING_STEPS_MAX,
                allowed=COUNTING_STEPS_MAX,
            )


class _RemainderNumbers:
    """Remainders of patterns by number, and their derivatives by labels."""

    def __init__(self) -> None:
        self._numbers: dict[LinearPath, int] = {(): 0}
        self._paths: list[LinearPath] = [()]
        self._known: dict[tuple[Remainders, Label, bool], Remainders] = {}

    def of(self, patterns: Iterable[LinearPath]) -> Remainders:
        return self._without_narrower(set(map(self._number, patterns))) or _NONE

    def after(self, remainders: Remainders, label: Label, *, surely: bool = False) -> Remainders:
        """The remainders behind a label; with ``surely``, behind every name that it stands for."""
        if remainders is _ACCEPTED or remainders is _NONE:
            return remainders
        key = (remainders, label, surely)
        found = self._known.get(key)
        if found is None:
            found = self._after(remainders, label, surely=surely)
            self._known[key] = found
        return found

    def _after(self, remainders: Remainders, label: Label, *, surely: bool) -> Remainders:
        found: set[int] = set()
        for number in remainders:
            reach, wanted = self._paths[number][0]
            if reach is Reach.DESCENDANT:
                found.add(number)
            if wanted.includes(label) if surely else wanted.meet(label) is not None:
                found.add(self._number(self._paths[number][1:]))
        if 0 in found:
            return _ACCEPTED
        return self._without_narrower(found) if found else _NONE

    def _without_narrower(self, found: set[int]) -> Remainders:
        """The remainders without those that end in another of them that begins with ``//``.

        Of ``//b/c//d`` and ``//d`` the latter accepts all that the former does. So once a ``//`` is
        reached, the steps before it are dropped, and patterns with equal ends share counts.
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
