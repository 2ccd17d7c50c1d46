"""The cover index: a changing set of patterns, searched for coverings in both directions.

For every subscription that arrives, a broker needs both: which forwarded patterns cover it, and
which forwarded patterns does it cover?

    >>> index = CoverIndex()
    >>> for id, text in enumerate(["//a", "/a/b", "/a//b", "//d"]):
    ...     index.add(id, text)
    >>> index.covering("/a/b[c]"), index.covered("/a//b"), index.roots()
    ([0, 1, 2], [1, 2], [0, 3])

The answers are those of :func:`~twigcast.covering.containment.covers.covers` for each pair. An
engine (:mod:`~twigcast.covering.index.engine`) leaves few pairs to decide. Equal patterns are
kept once, with all their ids.

*Roots* are the patterns to forward: together they cover the set. Patterns that cover each other,
directly or in a cycle, are one class. If nothing outside the class covers it, its least text is a
root; so patterns of a class cannot eliminate each other, and what is forwarded does not depend on
the order of arrival. Since a "no" may mean "unknown", coverings need not be transitive as they are
found, yet they are by their meaning: whatever is below a pattern that is below a root counts as
below the root.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from twigcast.copies import Copied, as_kind, attributes
from twigcast.covering.containment.covers import (
    COVER_BUDGET,
    CompiledPattern,
    Tally,
    compiled_form,
    decide_compiled,
)
from twigcast.covering.containment.disjuncts import narrower_twigs, wider_twigs
from twigcast.covering.containment.homomorphism import TargetTwig, target_twig
from twigcast.covering.containment.twig import Twig
from twigcast.covering.index import native
from twigcast.covering.index.engine import Candidates
from twigcast.covering.index.maximal_classes import MaximalClasses
from twigcast.covering.index.python_engine import FeatureIndex
from twigcast.display import counted, shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.slips import caller_result, check_whole

CoverEngine: TypeAlias = Literal["auto", "native", "python"]


_ID_BOUND: Final = 1 << 63


class CoverIndexStatistics(NamedTuple):
    """The contents of a cover index, and counters of its searches."""

    engine: str
    ids: int
    patterns: int
    """Distinct patterns."""
    searches: int
    sure: int
    """Coverings that the engine itself was sure of."""
    decided: int
    """Pairs that the engine left open."""
    covering: int
    """Those of them that turned out to be coverings."""
    undecided: int
    """Those of them for which the budget did not suffice: they count as no covering."""


class _IndexedPattern(NamedTuple):
    """One pattern of the set."""

    pattern: Pattern
    compiled: CompiledPattern


class CoverIndex(Copied):
    """A changing set of patterns, each under an id or several.

    >>> from twigcast import CoverIndex
    >>> index = CoverIndex()
    >>> index.add(1, "//a")
    >>> index.add(2, "/a/b")
    >>> index.covering("/a/b[c]"), index.covered("/a"), index.roots()
    ([1, 2], [2], [1])
    """

    @door("making an index")
    def __init__(
        self,
        engine: CoverEngine = "auto",
        *,
        budget: int = COVER_BUDGET,
        compiled_of: Callable[[Pattern], CompiledPattern] | None = None,
    ) -> None:
        self.engine, self._candidates = _candidates_of(engine, budget)
        self._budget = budget
        self._compiled_of = compiled_of
        """Returns compiled patterns, where a caller caches them for several indexes."""
        self._tally = Tally()
        self._searches = self._sure = 0
        self._numbers: dict[Pattern, int] = {}
        self._by_id: dict[int, int] = {}
        self._kept: dict[int, _IndexedPattern] = {}
        self._first_ids = array("q")
        """The first id of each number, in an array, since many are read at once."""
        self._more_ids: dict[int, dict[int, None]] = {}
        """The further ids of the few patterns that have several, in order of arrival."""
        self._unused: list[int] = []
        self._roots: list[int] | None = []

    @door("adding a pattern")
    def add(self, id: int, pattern: Pattern | str) -> None:
        """Add a pattern, or its text, under an id.

        Raises UsageError if the id is in use or beyond 64 bits, PatternError for a text that
        is not a pattern.
        """
        if not -_ID_BOUND <= id < _ID_BOUND:
            raise UsageError(f"the id {shown(id)} does not fit into 64 bits")
        if id in self._by_id:
            raise UsageError(f"id {shown(id)} is taken by {self.pattern(id).text}; remove it first")
        parsed = _parsed(pattern)
        number = self._numbers.get(parsed)
        if number is None:
            self._by_id[id] = self._insert(parsed, id)
        else:
            self._by_id[id] = number
            self._more_ids.setdefault(number, {})[id] = None

    def _insert(self, pattern: Pattern, first_id: int) -> int:
        compiled = (
            caller_result(self._compiled_of, pattern)
            if self._compiled_of
            else compiled_form(pattern.condition)
        )
        if not self._unused:
            self._unused.append(len(self._first_ids))
            self._first_ids.append(first_id)
        number = self._unused.pop()
        self._candidates.add(number, compiled)
        self._first_ids[number] = first_id
        self._kept[number] = _IndexedPattern(pattern, compiled)
        self._numbers[pattern] = number
        self._roots = None
        return number

    @door("removing a pattern")
    def remove(self, id: int) -> None:
        """Remove an id, and its pattern if that was its last; UsageError if it is not there."""
        number = self._by_id.pop(id, None)
        if number is None:
            raise UsageError(f"no pattern with id {shown(id)}, so nothing to remove")
        self._roots = None
        more = self._more_ids.get(number)
        if not more:
            self._delete(number)
            return
        if self._first_ids[number] == id:
            self._first_ids[number] = next(iter(more))
        more.pop(id, None)
        more.pop(self._first_ids[number], None)
        if not more:
            del self._more_ids[number]

    def _delete(self, number: int) -> None:
        self._candidates.remove(number)
        kept = self._kept.pop(number)
        del self._numbers[kept.pattern]
        self._unused.append(number)
        if not self._kept:
            self._unused.clear()
            self._first_ids = array("q")

    @door("looking for covering patterns")
    def covering(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that cover this one, sorted, including its own."""
        return self._ids(self._covering(_parsed(pattern)))

    @door("looking for covered patterns")
    def covered(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that this one covers, sorted, including its own."""
        return self._ids(self._covered(_parsed(pattern)))

    @door("looking for patterns nothing covers")
    def roots(self) -> list[int]:
        """One id for each class of patterns that nothing outside the class covers, sorted.

        It is the first id of the pattern with the least text in the class. The result is cached
        until the set changes.
        """
        if self._roots is None:
            self._roots = sorted(self._first_ids[number] for number in self._root_numbers())
        return list(self._roots)

    @door("looking for a pattern")
    def pattern(self, id: int) -> Pattern:
        """The pattern with an id; UsageError if it is not there."""
        if id not in self._by_id:
            raise UsageError(f"no pattern with id {shown(id)}")
        return self._kept[self._by_id[id]].pattern

    @door("copying an index")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: an index of its own, with the same patterns.

        It counts from zero, and compiles patterns by itself.
        """
        held = []
        for number, kept in self._kept.items():
            more = self._more_ids.get(number, ())
            held += [(one, kept.pattern) for one in (self._first_ids[number], *more)]
        others = attributes(self, but=vars(CoverIndex("python")))
        return _restored, (type(self), self.engine, self._budget, held), others

    def __repr__(self) -> str:
        ids, patterns = counted(len(self), "id"), counted(len(self._numbers), "pattern")
        return f"<CoverIndex: {ids}, {patterns}, engine {self.engine}>"

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    @door("counting")
    def statistics(self) -> CoverIndexStatistics:
        """Sizes, and counters of searches."""
        return CoverIndexStatistics(
            engine=self.engine,
            ids=len(self._by_id),
            patterns=len(self._kept),
            searches=self._searches,
            sure=self._sure,
            decided=self._tally.asked,
            covering=self._tally.covering,
            undecided=self._tally.undecided,
        )

    # Searches, by the numbers of patterns.

    def _covering(self, pattern: Pattern) -> list[int]:
        own = self._numbers.get(pattern)
        if own is None and self._compiled_of:
            narrower = caller_result(self._compiled_of, pattern)
        elif own is None:
            targets = tuple(map(_without_masks, narrower_twigs(pattern.condition)))
            narrower = CompiledPattern(pattern.condition, (), targets)
        else:
            narrower = self._kept[own].compiled
        sure, maybe = self._candidates.covering(narrower)
        found = self._with_itself(own, sure)
        if maybe and own is None and not self._compiled_of:
            targets = tuple(target_twig(target.twig) for target in narrower.targets)
            narrower = CompiledPattern(pattern.condition, (), targets)
        for number in maybe:
            if number != own and self._decided(self._kept[number].compiled, narrower):
                found.append(number)
        return found

    def _covered(self, pattern: Pattern) -> list[int]:
        own = self._numbers.get(pattern)
        if own is None and self._compiled_of:
            wider = caller_result(self._compiled_of, pattern)
        elif own is None:
            wider = CompiledPattern(pattern.condition, wider_twigs(pattern.condition), ())
        else:
            wider = self._kept[own].compiled
        sure, maybe = self._candidates.covered(wider)
        found = self._with_itself(own, sure)
        for number in maybe:
            if number != own and self._decided(wider, self._kept[number].compiled):
                found.append(number)
        return found

    def _with_itself(self, own: int | None, sure: list[int]) -> list[int]:
        self._searches += 1
        self._sure += len(sure)
        if own is not None and own not in sure:
            sure.append(own)
        return sure

    def _decided(self, wider: CompiledPattern, narrower: CompiledPattern) -> bool:
        verdict = decide_compiled(wider=wider, narrower=narrower, budget=self._budget)
        self._tally.count(verdict)
        return verdict.covers

    def _ids(self, numbers: list[int]) -> list[int]:
        """The ids of patterns, sorted; there may be many thousands."""
        ids = list(map(self._first_ids.__getitem__, numbers))
        if self._more_ids:
            for more in filter(None, map(self._more_ids.get, numbers)):
                ids += more
        ids.sort()
        return ids

    # Roots.

    def _root_numbers(self) -> list[int]:
        """The pattern with the least text of each class that nothing outside it covers.

        Where a search upwards reaches a settled pattern, all its patterns are below a root.
        """
        roots = []
        settled: set[int] = set()
        for number in self._kept:
            if number in settled:
                continue
            search = MaximalClasses()
            top = search.top(number, self._above, settled)
            settled.update(search.heights)
            if top:
                least = min(top, key=lambda each: self._kept[each].pattern.text)
                roots.append(least)
                settled.update(self._covered(self._kept[least].pattern))
        return roots

    def _above(self, number: int) -> set[int]:
        return set(self._covering(self._kept[number].pattern)) - {number}


def _restored(
    kind: type[CoverIndex], engine: CoverEngine, budget: int, held: list[tuple[int, Pattern]]
) -> CoverIndex:
    """A copy of an index, but for what a subclass keeps beside the patterns."""
    made = CoverIndex(engine, budget=budget)
    for one, pattern in held:
        made.add(one, pattern)
    return as_kind(kind, made)


def _parsed(pattern: Pattern | str) -> Pattern:
    return Pattern.parse(pattern) if isinstance(pattern, str) else pattern


def _without_masks(twig: Twig) -> TargetTwig:
    """A target twig for engines, without the masks that only a decision needs."""
    return TargetTwig(twig, 0, {}, 0, (), (), (), (), 0)


def _candidates_of(engine: CoverEngine, budget: int) -> tuple[str, Candidates]:
    """The full name of an engine, and the engine."""
    check_whole(budget, "budget")
    if engine == "python" or (engine == "auto" and not native.AVAILABLE):
        return "python", FeatureIndex()
    if engine not in ("auto", "native"):
        raise UsageError(
            f"a cover index has the engines auto, native and python, not {shown(engine)}"
        )
    if not native.AVAILABLE:
        raise UsageError(
            "the engine native needs the package twigcast-kernel with a cover index, which is not "
            "installed; build it from kernel/ (make setup does, where there is Rust)"
        )
    return "native", native.NativeCandidates(budget=budget)
