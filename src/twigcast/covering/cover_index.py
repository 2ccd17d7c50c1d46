"""A changing set of patterns that knows which of them cover another, and which are covered.

A broker asks both for every subscription that comes: is it covered by what was passed on before,
and what that was passed on does it cover?

    >>> index = CoverIndex()
    >>> for id, text in enumerate(["//a", "/a/b", "/a//b", "//d"]):
    ...     index.add(id, text)
    >>> index.covering("/a/b[c]"), index.covered("/a//b"), index.roots()
    ([0, 1, 2], [1, 2], [0, 3])

The answers are those of :func:`~twigcast.covering.covers.covers` for each pair. An engine
(:mod:`~twigcast.covering.candidates`) leaves few pairs to ask about. Equal patterns are kept once,
with all their ids.

*Roots* are what has to be passed on: together they cover the set. Patterns that cover each other,
directly or round a circle, are one class, of which the first that came is the root if nothing
outside the class covers it; so they cannot eliminate each other. Since a "no" may stand for
"nobody knows", coverings need not be transitive as they are found, yet they are by their meaning:
what is below something that is below a root is as good as below the root.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from twigcast.covering.alternatives import narrower_twigs, wider_twigs
from twigcast.covering.candidates import Candidates
from twigcast.covering.climb import Climb
from twigcast.covering.covers import COVER_BUDGET, Ready, Tally, decide_ready, ready
from twigcast.covering.feature_index import FeatureIndex
from twigcast.covering.homomorphism import ground_of
from twigcast.errors import UsageError
from twigcast.language import Pattern

__all__ = ["CoverEngine", "CoverIndex", "CoverIndexStatistics"]

CoverEngine: TypeAlias = Literal["auto", "native", "python"]


class CoverIndexStatistics(NamedTuple):
    """What a cover index holds, and what its searches have come to."""

    engine: str
    ids: int
    patterns: int
    """Different ones."""
    searches: int
    sure: int
    """Coverings that the engine itself was sure of."""
    decided: int
    """Pairs that were left to be decided."""
    covering: int
    """Those of them that turned out to be coverings."""
    undecided: int
    """Those of them for which the budget did not suffice: they count as no covering."""


@dataclass(slots=True)
class _Kept:
    """One pattern of the set."""

    pattern: Pattern
    ready: Ready
    arrival: int
    ids: dict[int, None] = field(default_factory=dict)
    """In the order in which they came."""


class CoverIndex:
    """A changing set of patterns, each under an id or several."""

    def __init__(self, engine: CoverEngine = "auto", *, budget: int = COVER_BUDGET) -> None:
        self.engine, self._candidates = _made(engine)
        self._budget = budget
        self._tally = Tally()
        self._searches = self._sure = 0
        self._arrivals = 0
        self._numbers: dict[Pattern, int] = {}
        self._by_id: dict[int, int] = {}
        self._kept: dict[int, _Kept] = {}
        self._unused: list[int] = []
        self._roots: list[int] | None = []

    def add(self, id: int, pattern: Pattern | str) -> None:
        """Put in a pattern, or its text, under an id.

        Raises UsageError if the id is in use, PatternError for a text that is no pattern.
        """
        if id in self._by_id:
            raise UsageError(f"id {id} is taken by {self.pattern(id).text}; remove it first")
        parsed = _parsed(pattern)
        number = self._numbers.get(parsed)
        if number is None:
            number = self._unused.pop() if self._unused else len(self._kept)
            made = ready(parsed.condition)
            self._candidates.add(number, made)
            self._kept[number] = _Kept(parsed, made, self._arrivals)
            self._numbers[parsed] = number
            self._arrivals += 1
            self._roots = None
        self._by_id[id] = number
        self._kept[number].ids[id] = None

    def remove(self, id: int) -> None:
        """Take out an id, and its pattern if it was the last; UsageError if it is not there."""
        number = self._by_id.pop(id, None)
        if number is None:
            raise UsageError(f"no pattern with id {id}, so nothing to remove")
        kept = self._kept[number]
        del kept.ids[id]
        self._roots = None
        if not kept.ids:
            self._candidates.remove(number)
            del self._kept[number], self._numbers[kept.pattern]
            self._unused.append(number)
            if not self._kept:
                self._unused.clear()

    def covering(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that cover this one, sorted; its own are among them."""
        return self._ids(self._covering(_parsed(pattern)))

    def covered(self, pattern: Pattern | str) -> list[int]:
        """The ids of the patterns that this one covers, sorted; its own are among them."""
        return self._ids(self._covered(_parsed(pattern)))

    def roots(self) -> list[int]:
        """An id of each class of patterns that nothing outside the class covers, sorted.

        It is the first id of the pattern of the class that came first. The answer is kept until
        the set changes.
        """
        if self._roots is None:
            firsts = (next(iter(self._kept[number].ids)) for number in self._root_numbers())
            self._roots = sorted(firsts)
        return list(self._roots)

    def pattern(self, id: int) -> Pattern:
        """The pattern with an id; UsageError if it is not there."""
        if id not in self._by_id:
            raise UsageError(f"no pattern with id {id}")
        return self._kept[self._by_id[id]].pattern

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def statistics(self) -> CoverIndexStatistics:
        """How much it holds, and how often it was asked."""
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

    def _covering(self, pattern: Pattern) -> set[int]:
        narrower = self._ready(pattern) or _as_narrower(pattern)
        sure, maybe = self._candidates.covering(narrower)
        found = self._with_itself(pattern, sure)
        for number in maybe:
            if number not in found and self._decided(self._kept[number].ready, narrower):
                found.add(number)
        return found

    def _covered(self, pattern: Pattern) -> set[int]:
        wider = self._ready(pattern) or _as_wider(pattern)
        sure, maybe = self._candidates.covered(wider)
        found = self._with_itself(pattern, sure)
        for number in maybe:
            if number not in found and self._decided(wider, self._kept[number].ready):
                found.add(number)
        return found

    def _ready(self, pattern: Pattern) -> Ready | None:
        number = self._numbers.get(pattern)
        return None if number is None else self._kept[number].ready

    def _with_itself(self, pattern: Pattern, sure: Iterable[int]) -> set[int]:
        found = set(sure)
        self._searches += 1
        self._sure += len(found)
        if pattern in self._numbers:
            found.add(self._numbers[pattern])
        return found

    def _decided(self, wider: Ready, narrower: Ready) -> bool:
        verdict = decide_ready(wider=wider, narrower=narrower, budget=self._budget)
        self._tally.count(verdict)
        return verdict.covers

    def _ids(self, numbers: Iterable[int]) -> list[int]:
        kept = self._kept
        return sorted(id for number in numbers for id in kept[number].ids)  # noqa: A001

    # Roots.

    def _root_numbers(self) -> list[int]:
        """The first pattern of each class that nothing outside it covers.

        Where a climb comes to what an earlier one has settled, all of it is below a root.
        """
        roots = []
        settled: set[int] = set()
        for number in self._kept:
            if number in settled:
                continue
            climb = Climb()
            top = climb.top(number, self._above, settled)
            settled.update(climb.heights)
            if top:
                first = min(top, key=lambda each: self._kept[each].arrival)
                roots.append(first)
                settled.update(self._covered(self._kept[first].pattern))
        return roots

    def _above(self, number: int) -> set[int]:
        return self._covering(self._kept[number].pattern) - {number}


def _parsed(pattern: Pattern | str) -> Pattern:
    return Pattern.parse(pattern) if isinstance(pattern, str) else pattern


def _as_narrower(pattern: Pattern) -> Ready:
    """Ready for one side only: that is half of the time of a search."""
    twigs = narrower_twigs(pattern.condition)
    return Ready(pattern.condition, (), tuple(map(ground_of, twigs)))


def _as_wider(pattern: Pattern) -> Ready:
    return Ready(pattern.condition, wider_twigs(pattern.condition), ())


def _made(engine: CoverEngine) -> tuple[str, Candidates]:
    """The engine of that name, and its name in full."""
    if engine in ("auto", "python"):
        return "python", FeatureIndex()
    raise UsageError(f"a cover index has the engines auto, native and python, not {engine!r}")
