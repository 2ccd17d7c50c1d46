"""A changing set of patterns, with mergers that represent them.

A router forwards mergers instead of their parts. When a part is removed, its merger may have become
too wide; when a pattern is added, a merger may already cover it. A :class:`MergedSet` records which
merger represents which parts and returns, for each change, what to forward and what to withdraw:

    >>> from twigcast import Schema
    >>> schema = Schema.parse(b"<!ELEMENT a (b|c)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>")
    >>> kept = MergedSet(schema)
    >>> kept.add("/a/b"), kept.add("/a/c")
    (Difference(added=(Pattern('/a/b'),), removed=()),
     Difference(added=(Pattern('/a/c'),), removed=()))
    >>> kept.merge()
    Difference(added=(Pattern('/a/*'),), removed=(Pattern('/a/b'), Pattern('/a/c')))
    >>> kept.remove("/a/b")
    Difference(added=(Pattern('/a/c'),), removed=(Pattern('/a/*'),))

A caller that applies a change adds first and removes then, so that no part is uncovered in between.

Merging is periodic, as in Dissemination (1.5.3): :meth:`MergedSet.merge` begins with the unmerged
patterns each time, so the result depends on the patterns alone and not on their history. In
between, a new pattern joins a merger that one of the rules would make of it, which can only lower
the merger's degree. A merger that loses a part is counted again, and dissolved into the remaining
parts if it adds too much. So is one that adds too much under a new schema
(:meth:`MergedSet.under`).

A merger may cover patterns that are not its parts. A set that is kept ``minimal`` forwards only
what nothing else covers after merging; a pattern that is held back becomes a part of the one that
covers it, and is forwarded again when that is dissolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from twigcast.copies import Copied, attributes, blank
from twigcast.covering.containment.covers import paths_of
from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.delta import Difference, in_text_order
from twigcast.covering.index.cover_index import CoverIndex
from twigcast.covering.merging.candidates import LONGER_PART_MAX
from twigcast.covering.merging.degree import MERGE_DEPTH, PathMeasure, measured_degree
from twigcast.covering.merging.greedy import MERGE_STEPS_MAX, merge
from twigcast.covering.merging.rules import opened, shortened
from twigcast.covering.merging.spine import pattern_of, spine_of
from twigcast.covering.paths.linear import linear_path
from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import Kind


class MergedSet(Copied):
    """Patterns, each with its representative: itself or a merger.

    Without a schema nothing is merged. With ``minimal``, no pattern that :meth:`merge` leaves
    covers another.
    """

    least: ClassVar[int] = 2
    """With fewer patterns there is nothing to merge."""

    @door("making a set of patterns")
    def __init__(
        self,
        schema: Schema | SchemaPaths | None,
        *,
        degree: float = 0,
        depth: int = MERGE_DEPTH,
        steps_max: int = MERGE_STEPS_MAX,
        minimal: bool = False,
    ) -> None:
        if not 0 <= degree <= 1:
            raise UsageError(f"a degree lies in 0 … 1, not at {shown(degree)}")
        self._degree = degree
        self._depth = depth
        self._steps_max = steps_max
        self._minimal = minimal
        self._paths: SchemaPaths | None = None
        self._measure: PathMeasure | None = None
        self._representatives: dict[Pattern, Pattern] = {}
        self._parts: dict[Pattern, set[Pattern]] = {}
        self.within_budget = True
        """Whether the last :meth:`merge` could count every degree that it needed."""
        self.under(schema)

    @door("copying a set of patterns")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: a set of its own, with the same patterns."""
        state = attributes(self)
        state["_representatives"] = dict(self._representatives)
        state["_parts"] = {merger: set(parts) for merger, parts in self._parts.items()}
        return blank, (type(self),), state

    def __len__(self) -> int:
        """The number of patterns, merged or not."""
        return len(self._representatives)

    def __contains__(self, pattern: Pattern | str) -> bool:
        """Whether a pattern is in the set, merged or not."""
        return _parsed(pattern) in self._representatives

    @property
    def merged(self) -> int:
        """The number of patterns less the number of their representatives."""
        return len(self._representatives) - len(self._parts)

    @door("listing patterns")
    def patterns(self) -> tuple[Pattern, ...]:
        """The representatives, which are forwarded, in the order of texts."""
        return in_text_order(self._parts)

    @door("looking up a merger")
    def merger_of(self, pattern: Pattern | str) -> Pattern:
        """The representative of a pattern of the set; UsageError if it is not there."""
        parsed = _parsed(pattern)
        if parsed not in self._representatives:
            raise UsageError(f"{parsed.text} is not in the set")
        return self._representatives[parsed]

    @door("looking up a merger")
    def parts_of(self, merger: Pattern | str) -> tuple[Pattern, ...]:
        """The patterns that a representative represents, in the order of texts; () for others."""
        return in_text_order(self._parts.get(_parsed(merger), ()))

    @door("adding a pattern")
    def add(self, pattern: Pattern | str) -> Difference:
        """Add a pattern; nothing changes if it is there, or if a merger represents it."""
        parsed = _parsed(pattern)
        if parsed in self._representatives:
            return Difference()
        for merger in self._mergers_for(parsed):
            self._assign(parsed, merger)
            return Difference()
        self._assign(parsed, parsed)
        return Difference(added=(parsed,))

    @door("removing a pattern")
    def remove(self, *patterns: Pattern | str) -> Difference:
        """Remove patterns, and dissolve the mergers that add too much without them.

        Remove several patterns in one call: then each merger is measured once. UsageError if one is
        not there, and then none is removed.
        """
        mergers = {pattern: self.merger_of(pattern) for pattern in map(_parsed, patterns)}
        for pattern, merger in mergers.items():
            del self._representatives[pattern]
            self._parts[merger].discard(pattern)
        return self._dissolve_too_wide(mergers.values())

    @door("merging patterns")
    def merge(self) -> Difference:
        """Merge all patterns anew."""
        before = set(self._parts)
        mergers = self._merge_all()
        owners = _covering_roots(mergers) if self._minimal else {whole: whole for whole in mergers}
        self._parts = {}
        for whole, parts in mergers.items():
            for part in parts:
                self._assign(part, owners[whole])
        return self._difference_from(before)

    @door("measuring by another schema")
    def under(self, schema: Schema | SchemaPaths | None) -> Difference:
        """Measure by another schema from now on, and dissolve what adds too much under it.

        That takes about as long as merging, and no more steps of counting; mergers not counted
        within these are dissolved.
        """
        self._paths = paths_of(schema) if isinstance(schema, Schema) else schema
        self._measure = None
        if self._paths is not None:
            self._measure = PathMeasure(self._paths.automaton, depth=self._depth)
        return self._dissolve_too_wide(self._parts) if self.merged else Difference()

    def _merge_all(self) -> dict[Pattern, tuple[Pattern, ...]]:
        """Mergers of all patterns, each with its parts."""
        self.within_budget = True
        if self._paths is None:
            return {each: (each,) for each in self._representatives}
        merged = merge(
            self._representatives,
            schema=self._paths,
            degree=self._degree,
            depth=self._depth,
            steps_max=self._steps_max,
        )
        self.within_budget = merged.within_budget
        # Counts for earlier parts are hardly needed any more.
        self._measure = PathMeasure(self._paths.automaton, depth=self._depth)
        return {merger.pattern: merger.parts for merger in merged.mergers}

    def _assign(self, part: Pattern, merger: Pattern) -> None:
        self._representatives[part] = merger
        self._parts.setdefault(merger, set()).add(part)

    def _difference_from(self, before: set[Pattern]) -> Difference:
        after = set(self._parts)
        return Difference(in_text_order(after - before), in_text_order(before - after))

    def _dissolve_too_wide(self, mergers: Iterable[Pattern]) -> Difference:
        """Dissolve the mergers that add too much, or are not counted within the steps."""
        checked = in_text_order(set(mergers))
        was_forwarded = dict.fromkeys(checked, True)
        steps_max = self._steps_max + (self._measure.steps if self._measure else 0)
        for merger in checked:
            remaining = self._parts[merger]
            if merger in remaining or (remaining and self._may_stay(merger, steps_max)):
                continue
            del self._parts[merger]
            for part in remaining:
                was_forwarded.setdefault(part, part in self._parts)
                self._assign(part, part)
        return Difference(
            in_text_order(
                one for one, was in was_forwarded.items() if not was and one in self._parts
            ),
            in_text_order(
                one for one, was in was_forwarded.items() if was and one not in self._parts
            ),
        )

    def _may_stay(self, merger: Pattern, steps_max: int) -> bool:
        """Whether a merger adds no more to its parts than allowed, as far as can be counted."""
        remaining = in_text_order(self._parts[merger])
        if len(remaining) == 1 or spine_of(merger) is None:
            return False
        # What is held back need not have a spine. With fewer parts, the degree is only larger; and
        # of single paths alone it is known exactly.
        paths = [part for part in remaining if linear_path(part.condition)]
        known = [part for part in remaining if spine_of(part) is not None]
        choices = [paths, known] if len(paths) < len(known) else [known]
        return any(self._is_within_degree(merger, parts, steps_max) for parts in choices if parts)

    def _is_within_degree(self, merger: Pattern, parts: list[Pattern], steps_max: int) -> bool:
        if self._paths is None or self._measure is None or self._measure.steps > steps_max:
            return False
        try:
            degree = measured_degree(merger, parts, self._paths, self._measure)
        except SchemaLimitError:
            return False
        return degree.within(self._degree)

    def _mergers_for(self, pattern: Pattern) -> Iterator[Pattern]:
        """The current mergers that one application of a rule would make of the pattern."""
        if pattern in self._parts:
            yield pattern
        spine = spine_of(pattern) if self.merged else None
        if spine is None:
            return
        length = len(spine)
        wider = [
            opened(spine, place)
            for place, step in enumerate(spine)
            if step.label.kind is not Kind.TEXT
        ]
        wider += [
            shortened(spine, kept_before=before, kept_behind=length - end)
            for before in range(length)
            for end in range(before, min(before + LONGER_PART_MAX + 1, length))
        ]
        for found in map(pattern_of, wider):
            if found in self._parts:
                yield found


def _parsed(pattern: Pattern | str) -> Pattern:
    return Pattern.parse(pattern) if isinstance(pattern, str) else pattern


def _covering_roots(mergers: Iterable[Pattern]) -> dict[Pattern, Pattern]:
    """For each pattern the first root that covers it, directly or through other patterns."""
    patterns = in_text_order(mergers)
    index = CoverIndex()
    for number, pattern in enumerate(patterns):
        index.add(number, pattern)
    # Of patterns that cover each other the first is the root: that of least text.
    roots = [patterns[number] for number in index.roots()]
    found = {root: root for root in roots}
    for root in roots if len(roots) < len(patterns) else ():
        below = [root]
        for pattern in below:
            new = [patterns[number] for number in index.covered(pattern)]
            new = [each for each in new if each not in found]
            found.update(dict.fromkeys(new, root))
            below += new
    return found
