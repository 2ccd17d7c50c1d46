"""The engine ``streaming``: all patterns at once, in the order of the document.

YFilter's shared automaton (:mod:`~twigcast.matching.streaming.automaton`), its answers remembered
by label path (:mod:`~twigcast.matching.streaming.lazy_dfa`), and a reader with a stack
(:mod:`~twigcast.matching.streaming.run`). Beyond what every engine does it knows *when* each answer
was certain, and where paths occurred last: :meth:`StreamingEngine.follow`.

What cannot be decided on the way (:mod:`~twigcast.matching.streaming.streamable`) becomes a
candidate there, and is decided at the end: by the kernel, where that is installed, else by libxml2
(:mod:`~twigcast.matching.residual.libxml2`). Where the steps of a document are spent before its
end, so is whatever was not found by then, as far as the document has the names for it. What was
found stands, unless the kernel says that it is undecided, so that all engines agree.

One document is read at a time, and nothing is added or removed meanwhile: Python would not read
two of them faster than one after the other. libxml2's part is outside the lock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.language.condition.model import TRUE, Condition, Exists, Kind
from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.interface.engine import (
    Decision,
    EngineStatistics,
    MakeKernel,
    Verdicts,
)
from twigcast.matching.interface.ids import Id, check_id, in_order
from twigcast.matching.prefilter import required_labels
from twigcast.matching.residual.libxml2 import (
    COMPILED_MAX,
    COST_MAX,
    DOCUMENT_COST_MAX,
    Residuals,
    picked,
)
from twigcast.matching.restorable import RestorableEngine
from twigcast.matching.streaming.automaton import Automaton, Leaf, key_of
from twigcast.matching.streaming.lazy_dfa import LEARNED_MAX, REMEMBERED_MAX, LabelPaths
from twigcast.matching.streaming.links_and_skips import Links, Skips
from twigcast.matching.streaming.positions import PositionedResult
from twigcast.matching.streaming.run import Reading
from twigcast.matching.streaming.streamable import softened

STEP: Final = 25
"""A step of reading, in visits: it is Python's. ``document_cost_max`` is given in visits."""

_SUBSCRIPTIONS: Final = 100_000
"""With every so many distinct patterns there is room for as much work and memory again."""


@dataclass(frozen=True, slots=True)
class StreamingStatistics(EngineStatistics):
    """How the engine fares."""

    states: int
    """States of the automaton; without patterns there is one."""
    remembered: int
    """Cells remembered about label paths, of at most ``remembered_max``."""
    remembered_max: int
    steps: int
    """Steps that reading took, over all documents."""


class _Entry(NamedTuple):
    """A pattern in use: its leaf, and the ids that have it."""

    leaf: Leaf
    settles: bool
    """Whether the leaf decides; else it selects candidates."""
    ids: dict[int, None]


class StreamingEngine(RestorableEngine):
    """A shared automaton that documents are read through.

    ``remembered_max`` bounds the memory of label paths; the others are those of
    :class:`~twigcast.matching.residual.libxml2.Residuals`. As many visits as ``document_cost_max``
    says are for reading a document, too, at :data:`STEP` of them a step.
    """

    name = "streaming"

    def __init__(
        self,
        *,
        cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        compiled_max: int = COMPILED_MAX,
        remembered_max: int = REMEMBERED_MAX,
        kernel: MakeKernel | None = None,
    ) -> None:
        self._residuals = Residuals(
            cost_max=cost_max, document_cost_max=document_cost_max, compiled_max=compiled_max
        )
        self._steps_max = document_cost_max / STEP
        self._steps = self._costly = 0
        self._remembered_max = remembered_max
        self._paths_of: dict[Id, Exists] = {}
        """Watched paths, from which the tables are made anew as well."""
        self._reading = False
        super().__init__(kernel)

    def _begin(self) -> None:
        super()._begin()
        self._automaton = Automaton()
        self._paths = LabelPaths(self._automaton, self._remembered_max)
        self._entries: dict[Pattern, _Entry] = {}
        self._watched: dict[Id, Leaf] = {}
        self._residual = self._unfiltered = 0
        for watcher, path in self._paths_of.items():
            self._hold(watcher, path)

    def _take_in(self, id: int, pattern: Pattern) -> None:
        entry = self._entries.get(pattern) or self._enter(pattern)
        entry.ids[id] = None
        if entry.settles:
            entry.leaf.ids[id] = None
        else:
            entry.leaf.candidates[id] = pattern

    def _take_out(self, id: int, pattern: Pattern) -> None:
        entry = self._entries[pattern]
        del entry.ids[id]
        if entry.settles:
            del entry.leaf.ids[id]
        else:
            del entry.leaf.candidates[id]
        if not entry.ids:
            self._leave(pattern)

    def decide(self, document: Document, skip: Collection[int]) -> Decision:
        """Which ids match; those in ``skip`` are not looked at."""
        matches: list[int] = []
        candidates: list[tuple[int, Pattern]] = []
        with self._lock:
            reading = self._read(document)
            for leaf in reading.positions:
                matches += leaf.ids
                candidates += leaf.candidates.items()
            candidates += self._open(reading)
        if skip:
            matches = [one for one in matches if one not in skip]
            candidates = [(one, pattern) for one, pattern in candidates if one not in skip]
        verdicts = self._kernel.verdicts(document, skip) if self._kernel else None
        if verdicts is not None:
            # Libxml2 decides them whichever the engine is, so that the same are undecided.
            unsure = picked(self._pattern_of, verdicts.unsure)
            matches = [one for one in matches if one not in unsure]
            candidates += unsure.items()
        decided = self._decided(dict(candidates), verdicts, document)
        undecided = {*decided.undecided, *(verdicts.undecided if verdicts else ())}
        found = (one for one in matches if one not in undecided)
        return Decision(tuple(sorted((*found, *decided.matches))), tuple(sorted(undecided)))

    def _decided(
        self, candidates: Mapping[int, Pattern], verdicts: Verdicts | None, document: Document
    ) -> Decision:
        """The candidates as the kernel has them; libxml2 decides what that is not sure of."""
        if verdicts is None:
            return self._residuals.decide(candidates.items(), document)
        return self._residuals.completed(
            candidates.keys() & {*verdicts.matches},
            picked(candidates, verdicts.unsure),
            document,
            undecided=candidates.keys() & {*verdicts.undecided},
        )

    def decide_links(
        self, document: Document, groups: Sequence[Collection[int]], skip: Collection[int]
    ) -> tuple[list[bool], tuple[int, ...]]:
        """Whether each group has a match, and the undecided ids of the groups that have none."""
        links = Links(groups, Skips({0: skip}), eager=True)
        with self._lock:
            reading = self._read(document, links)
            candidates = {
                one: pattern
                for leaf in reading.positions
                for one, pattern in leaf.candidates.items()
            }
            candidates.update(self._open(reading))
        candidates = {one: candidates[one] for one in candidates if one not in skip}
        found = [position is not None for position in links.positions]
        if self._kernel is None:
            return self._residuals.completed_links(
                groups, found, candidates, document, undecided=()
            )
        verdicts = self._kernel.verdicts(document, skip)
        sure = candidates.keys() & {*verdicts.matches}
        found = [
            answer or not sure.isdisjoint(group)
            for answer, group in zip(found, groups, strict=True)
        ]
        unsure = picked(self._pattern_of, verdicts.unsure)
        return self._residuals.completed_links(
            groups, found, unsure, document, undecided=verdicts.undecided
        )

    def follow(
        self,
        document: Document,
        groups: Sequence[Collection[int]] = (),
        skip_from: Mapping[int, Collection[int]] | None = None,
        *,
        eager: bool = False,
    ) -> PositionedResult:
        """The matches with their positions, each group's first, and where paths were seen last.

        ``skip_from`` has the ids that need no answer behind so many end tags. An ``eager`` reading
        ends as soon as every group has its match (Piggyback 3.2.1, "ES"); one that is not reads
        all of the document (3.2.2, "L").

        Where the steps are spent, the positions known by then stand. Whatever may have matched
        later is undecided, since its position is not known; watched paths have no results.
        """
        skips = Skips(skip_from or {})
        links = Links(groups, skips, eager=eager)
        with self._lock:
            reading = self._read(document, links)
            if reading.spent:
                reading.read_on()
            end = reading.position
            decided = {
                one: position
                for leaf, position in reading.positions.items()
                for one in leaf.ids
                if not skips.cover(one, position, reading.ends)
            }
            candidates = [
                (one, pattern)
                for leaf in reading.positions
                for one, pattern in leaf.candidates.items()
                if links.wants(one) and not skips.cover(one, end, reading.ends)
            ]
            late = {
                one: pattern
                for one, pattern in self._open(reading)
                if links.wants(one) and not skips.cover_all(one)
            }
            seen = {} if reading.spent else reading.last
            last = {one: place for leaf, place in seen.items() for one in leaf.watchers}
            never = () if reading.spent else in_order(self._watched.keys() - last.keys())
        open_ids = {**dict(candidates), **late}
        verdicts = None
        if open_ids and self._kernel is not None:
            verdicts = self._kernel.verdicts(document, (skip_from or {}).get(0, ()))
        residual = self._decided(open_ids, verdicts, document)
        undecided = {*residual.undecided, *late.keys() & {*residual.matches}}
        for one in residual.matches:
            if one in late:
                continue
            decided[one] = end
            links.matched(one, end)
        return PositionedResult(
            decided=dict(sorted(decided.items())),
            undecided=tuple(sorted(undecided)),
            links=tuple(links.positions),
            last={one: last[one] for one in in_order(last)},
            never=tuple(never),
            end=end,
        )

    @property
    def watches(self) -> bool:
        """Whether there are paths that it watches."""
        return bool(self._paths_of)

    def watch(self, id: Id, path: Pattern) -> None:
        """Have :meth:`follow` report where a path of elements was seen last.

        Raises :class:`UsageError` if the pattern is more than that, or the id is taken; the ids
        of paths are apart from those of subscriptions.
        """
        check_id(id)
        if not _is_path(path.condition):
            raise UsageError(f"only a path of elements can be watched, not {path.text}")
        if id in self._paths_of:
            raise UsageError(f"id {shown(id)} is taken by another path; unwatch it first")
        first = path.condition
        assert isinstance(first, Exists)
        with self._lock:
            self._mend()
            self._whole = False
            self._paths_of[id] = first
            self._hold(id, first)
            self._whole = True

    def _hold(self, id: Id, path: Exists) -> None:
        self._watched[id] = leaf = self._automaton.hold_from_first(path)
        leaf.watchers[id] = None
        self._paths.forget()

    def unwatch(self, id: Id) -> None:
        """No longer watch the path. Raises :class:`UsageError` if there is none with that id."""
        if id not in self._paths_of:
            raise UsageError(f"no path with id {shown(id)}, so nothing to unwatch")
        with self._lock:
            self._mend()
            self._whole = False
            del self._paths_of[id]
            leaf = self._watched.pop(id)
            del leaf.watchers[id]
            self._automaton.release(leaf)
            self._paths.forget()
            self._whole = True

    def statistics(self) -> StreamingStatistics:
        """The counters as they are now."""
        return StreamingStatistics(
            patterns=len(self._entries),
            residual=self._residual,
            unfiltered=self._unfiltered,
            candidates=self._residuals.decided,
            by_libxml2=self._residuals.by_libxml2,
            walked=self._residuals.walked,
            compiled=len(self._residuals),
            compiled_max=self._residuals.compiled_max,
            costly_documents=self._costly
            + self._residuals.costly_documents
            + (self._kernel.costly_documents if self._kernel else 0),
            states=self._automaton.states,
            remembered=self._paths.remembered,
            remembered_max=self._paths.remembered_max,
            steps=self._steps,
        )

    def _read(self, document: Document, links: Links | None = None) -> Reading:
        self._mend()
        if self._reading:  # still: an interrupt may have left paths half learned
            self._paths.forget()
        times = max(1, -(-len(self._entries) // _SUBSCRIPTIONS))
        reading = Reading(
            self._paths,
            links.found if links else None,
            steps_max=self._steps_max * times,
            learned_max=LEARNED_MAX * times,
        )
        self._reading = True
        try:
            reading.read(document)
        except Exception:
            self._reading = False
            raise
        finally:
            self._paths.trim()
        self._reading = False
        self._steps += reading.steps
        self._costly += reading.spent
        return reading

    def _open(self, reading: Reading) -> Iterator[tuple[int, Pattern]]:
        """What a reading whose steps were spent left open, unless a name is missing for it."""
        if not reading.spent:
            return
        for pattern, entry in self._entries.items():
            if entry.leaf not in reading.positions:
                required = required_labels(pattern.necessary.condition)
                if reading.has(frozenset(map(key_of, required))):
                    for one in entry.ids:
                        yield one, pattern

    def _enter(self, pattern: Pattern) -> _Entry:
        exact = pattern.exact
        necessary = pattern.necessary.condition
        condition = softened(necessary)
        leaf = self._automaton.hold(condition)
        entry = _Entry(leaf, settles=exact and condition is necessary, ids={})
        self._entries[pattern] = entry
        self._residual += not exact
        self._unfiltered += condition is TRUE
        self._paths.forget()
        return entry

    def _leave(self, pattern: Pattern) -> None:
        entry = self._entries.pop(pattern)
        self._residual -= not pattern.exact
        self._unfiltered -= entry.leaf.where is TRUE and entry.leaf.state is self._automaton.root
        self._automaton.release(entry.leaf)
        self._residuals.forget(pattern)
        self._paths.forget()


def _is_path(condition: Condition) -> bool:
    """Whether the condition is nothing but elements, one below the other."""
    if not isinstance(condition, Exists):
        return False
    where: Condition = condition
    while isinstance(where, Exists) and where.label.kind is Kind.ELEMENT:
        where = where.where
    return where is TRUE
