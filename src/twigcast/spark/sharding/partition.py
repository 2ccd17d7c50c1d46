"""Subscriptions split into shards, and the summary of each, by which documents pass it over.

A document has to be shown to a shard unless it fails *every* pattern there. Patterns that require
the same rare thing fail together. So :func:`split` orders patterns by what they require
(:mod:`~twigcast.spark.sharding.requirements`), similar ones side by side, and cuts the order into
equal pieces::

    place = 'Fen',  keyword = 'storm'   /news[.//place = 'Fen']//keyword[. = 'storm']
    place = 'Fen',  level               /news[.//place = 'Fen']//urgency[@level < 3]
    --------------------------------------------------------------------------------------
    place = 'Moor', keyword = 'storm'   /news[dateline/place = 'Moor']//keyword[. = 'storm']
    keyword = 'flood'                   //keyword[. = 'flood']
    --------------------------------------------------------------------------------------
    venue, fixture                      //fixture/venue
    -                                   //*

Values come first, for a document has few of all the values there are. Of several values it is the
one whose name most patterns test: it makes the largest groups, and so the fewest shards for a
document that has it. Then come names, the rarest among the patterns first. Patterns that require
neither match most documents, and are gathered at the end.

A cut is moved by up to :data:`SLACK` of a shard, to where neighbours have least in common.

:func:`summary` goes down the same order as a tree, from what all patterns of a shard have in common
towards single patterns, the largest group first, as far as the budget lasts. Where the patterns
that no other covers fit the budget as they are, these are taken: nothing is more exact. The
means by which routers aggregate (:mod:`twigcast.covering.merging.aggregation`) give up values first
and keep paths, which is good for annotations, and useless here: of regional interests each summary
would let every document in. They are the last resort, for budgets of a few steps.

The cost: some 50 microseconds a pattern to split, and two to four times as much to summarise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import ceil, floor
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering import CoverIndex, aggregate
from twigcast.covering.merging.spine import steps_of
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    ANY_ELEMENT,
    FALSE,
    TRUE,
    Exists,
    Label,
    Operator,
    Reach,
    ValueTest,
)
from twigcast.language.xpath.syntax import Literal
from twigcast.spark.sharding.requirements import Required, required_by, shared_by

SLACK: Final = 0.15
"""By so much of a shard a cut may move to a better place: none gets larger than 1.3 of the mean."""

SUMMARY_STEPS: Final = 1_000
"""Steps of a shard's summary: some 250 patterns. Sixteen such summaries cost a document less than
parsing it does, and with four times as many steps documents reached no fewer shards."""

_ROOTS_TRIED: Final = 2
"""Patterns that no other covers are looked for until they have so many times the budget's steps:
later ones may yet cover them, but hardly most of them."""

_VALUES: Final = frozenset({Operator.EQUAL, Operator.CONTAINS, Operator.STARTS_WITH})
"""Tests that few values pass."""

_EVERYTHING: Final = Pattern(Exists(Reach.CHILD, ANY_ELEMENT, TRUE))
"""``/*``: every document has a root element."""

_Key: TypeAlias = tuple[str, ...]


def split(patterns: Sequence[Pattern], shards: int) -> list[int]:
    """The shard of each pattern, from 0.

    Shards are equal in the number of different patterns, within :data:`SLACK`; equal patterns are
    together. It depends on the set of patterns alone. UsageError for less than one shard.
    """
    if shards < 1:
        raise UsageError(f"subscriptions cannot be split into {shards} shards; give 1 or more")
    different = list(dict.fromkeys(patterns))
    keys = dict(zip(different, _keys(different, map(required_by, different)), strict=True))
    order = sorted(different, key=keys.__getitem__)
    cuts = _cuts([keys[pattern] for pattern in order], shards)
    shard_of = {
        pattern: shard
        for shard, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(order)], strict=True))
        for pattern in order[start:end]
    }
    return [shard_of[pattern] for pattern in patterns]


def summary(patterns: Iterable[Pattern], budget: int = SUMMARY_STEPS) -> tuple[Pattern, ...]:
    """Exact patterns of at most so many steps together, in the order of texts, that cover these.

    A document that matches none of them matches none of the patterns, and none of those can stay
    undecided for it. Patterns that no document matches are left out. UsageError for less than one
    step.
    """
    if budget < 1:
        raise UsageError(f"a summary takes at least one step, so no budget of {budget} can do")
    exact = {pattern.necessary for pattern in patterns} - {Pattern(FALSE)}
    given = sorted(exact, key=lambda pattern: pattern.text)
    found = _roots(given, _ROOTS_TRIED * budget)
    if sum(map(steps_of, found)) > budget:
        found = _roots(_Tree(given).opened(budget))
    if sum(map(steps_of, found)) > budget:
        found = [one.pattern for one in aggregate(found, steps_max=budget).aggregates]
    return tuple(sorted(found, key=lambda pattern: pattern.text))


# The order.


class _Traits(NamedTuple):
    """What the order goes by: names with the values that are required of them, and names."""

    values: frozenset[tuple[Label, str]]
    names: frozenset[Label]


def _keys(patterns: Iterable[Pattern], required: Iterable[Required]) -> Iterator[_Key]:
    """The key of each pattern: what two have in common from the beginning, both require."""
    traits = list(map(_traits, required))
    value_counts = Counter(name for one in traits for name in {name for name, _ in one.values})
    name_counts = Counter(name for one in traits for name in one.names)
    by_values = _ranks(sorted(value_counts, key=lambda name: (-value_counts[name], _spelt(name))))
    by_rarity = _ranks(sorted(name_counts, key=lambda name: (name_counts[name], _spelt(name))))
    for pattern, (values, names) in zip(patterns, traits, strict=True):
        values_by_rank = sorted((by_values[name], value) for name, value in values)
        rarest = sorted(map(by_rarity.__getitem__, names))
        kind = "values" if values else "without values" if names else "without names"
        # Any sign would do behind the values that comes after the digits of ranks.
        yield (
            _KINDS[kind],
            *(part for one in values_by_rank for part in one),
            "~",
            *rarest,
            pattern.text,
        )


_KINDS: Final = {"values": "0", "without values": "1", "without names": "2"}


def _traits(required: Required) -> _Traits:
    return _Traits(
        frozenset(
            (one.label, _constant(one.test))
            for one in required.ends
            if one.test is not None and one.test.operator in _VALUES
        ),
        frozenset(one.label for one in required.ends),
    )


def _constant(test: ValueTest) -> str:
    constant = test.constant
    return constant.value if isinstance(constant, Literal) else constant.text


def _spelt(label: Label) -> tuple[str, str, str]:
    return label.kind, label.namespace or "", label.local or ""


def _ranks(names: Sequence[Label]) -> dict[Label, str]:
    digits = len(str(len(names)))
    return {name: f"{rank:0{digits}}" for rank, name in enumerate(names)}


# The cuts.


def _cuts(keys: Sequence[_Key], shards: int) -> list[int]:
    """Where each shard but the first begins; ascending."""
    mean = len(keys) / shards
    return [_cut(keys, mean * shard, SLACK * mean) for shard in range(1, shards)]


def _cut(keys: Sequence[_Key], ideal: float, slack: float) -> int:
    """The place within reach where neighbours have least in common, the nearest of several."""
    places = range(max(1, ceil(ideal - slack)), min(len(keys) - 1, floor(ideal + slack)) + 1)
    if not places:
        return round(ideal)
    return min(places, key=lambda at: (_shared(keys[at - 1], keys[at]), abs(at - ideal)))


def _shared(one: _Key, other: _Key) -> int:
    """How many parts two keys have in common from the beginning."""
    length = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        length += 1
    return length


# The summary.


class _Group(NamedTuple):
    """Neighbours in the order, and what covers them; the largest group is the least."""

    size: int
    """Negative."""
    start: int
    end: int
    cover: Pattern

    @property
    def steps(self) -> int:
        return steps_of(self.cover)


class _Tree:
    """Patterns in their order, which is a tree: of groups whose keys begin alike."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        required = list(map(required_by, patterns))
        rows = sorted(zip(_keys(patterns, required), required, patterns, strict=True), key=_first)
        self._keys = [key for key, _, _ in rows]
        self._required = [needed for _, needed, _ in rows]
        self._patterns = [pattern for _, _, pattern in rows]

    def opened(self, budget: int) -> list[Pattern]:
        """Covers of groups, taken apart as far as the budget allows; the first may exceed it."""
        closed: list[Pattern] = []
        groups = [self._group(0, len(self._patterns))]
        steps = groups[0].steps
        while groups:
            group = heappop(groups)
            parts = self._parts(group, budget - steps)
            added = sum(part.steps for part in parts) - group.steps
            if not parts or steps + added > budget:
                closed.append(group.cover)
                continue
            steps += added
            for part in parts:
                heappush(groups, part)
        return list(dict.fromkeys(closed))

    def _parts(self, group: _Group, room: int) -> list[_Group]:
        """The groups one level down; none of a single pattern, nor if there are too many."""
        if group.end - group.start == 1:
            return []
        keys = self._keys
        level = _shared(keys[group.start], keys[group.end - 1])
        inner = range(group.start + 1, group.end)
        cuts = [at for at in inner if keys[at][level] != keys[at - 1][level]]
        if len(cuts) > room:
            return []
        bounds = [group.start, *cuts, group.end]
        return [self._group(start, end) for start, end in pairwise(bounds)]

    def _group(self, start: int, end: int) -> _Group:
        if end - start == 1:
            return _Group(-1, start, end, self._patterns[start])
        shared = shared_by(self._required[start:end])
        cover = _EVERYTHING if shared is TRUE else Pattern(shared)
        return _Group(start - end, start, end, cover)


def _first(row: tuple[_Key, Required, Pattern]) -> _Key:
    return row[0]


def _roots(patterns: Iterable[Pattern], steps_max: int | None = None) -> list[Pattern]:
    """The patterns that no other covers; some of those that have more steps, if it is too many."""
    index = CoverIndex()
    steps = 0
    for number, pattern in enumerate(sorted(patterns, key=lambda one: (steps_of(one), one.text))):
        if not index.covering(pattern):
            index.add(number, pattern)
            steps += steps_of(pattern)
            if steps_max is not None and steps > steps_max:
                break
    return [index.pattern(number) for number in index.roots()]
