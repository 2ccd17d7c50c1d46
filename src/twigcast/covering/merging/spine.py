"""Spines of patterns: the rows of steps that merging generalises.

A pattern is a path with conditions at its steps. Its *spine* is its longest path, the last one in
the canonical text if there are several; all other conditions on a node, branches and values, stay
with its step as they are, and are only compared:

    /news[@lang = 'en']/body//price[. > 10]

    reach       /          /      //
    label       news       body   price
    branches    @lang …           . > 10

A more general label or reach in the spine makes a wider pattern: a document with nodes for the
narrower spine has the same nodes for the wider one.

A pattern that has not this form at the document node (``or``, ``not``, two paths joined by ``and``,
what only libxml2 decides) has no spine and is never merged. For aggregation alone, the longest of
several paths joined by ``and`` can serve as the spine: the other paths become conditions of its
last step, since the document node is the same from everywhere (:func:`joined_spine_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from twigcast.covering.paths.linear import LinearPath, PathStep
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Label,
    Not,
    Reach,
    parts_of,
)
from twigcast.language.condition.normal_form import all_of, exists


class SpineStep(NamedTuple):
    """One step of a spine, with the other conditions on its node."""

    reach: Reach
    label: Label
    branches: tuple[Condition, ...] = ()


Spine: TypeAlias = tuple[SpineStep, ...]


def spine_of(pattern: Pattern) -> Spine | None:
    """The spine of a pattern, or None if it is more than one path from the document node.

    >>> spine = spine_of(Pattern.parse("/a[b]//c[@x]"))
    >>> [(step.label.local, len(step.branches)) for step in spine]
    [('a', 1), ('c', 0), ('x', 0)]
    """
    steps: list[SpineStep] = []
    condition = pattern.condition
    if not isinstance(condition, Exists):
        return None
    while True:
        parts = parts_of(condition.where)
        place = _longest(parts)
        if place is None:
            steps.append(SpineStep(condition.reach, condition.label, parts))
            return tuple(steps)
        others = (*parts[:place], *parts[place + 1 :])
        steps.append(SpineStep(condition.reach, condition.label, others))
        following = parts[place]
        assert isinstance(following, Exists)
        condition = following


def joined_spine_of(pattern: Pattern) -> Spine | None:
    """The longest path, with the paths joined to it as conditions of the last step.

    None if there is no path, or only a choice of several.

    >>> spine = joined_spine_of(Pattern.parse("/a/b and //test"))
    >>> [(step.label.local, len(step.branches)) for step in spine], pattern_of(spine)
    ([('a', 0), ('b', 1)], Pattern('//test and /a/b'))
    """
    parts = parts_of(pattern.condition)
    place = _longest(parts)
    spine = None if place is None else spine_of(Pattern(parts[place]))
    if place is None or spine is None:
        return None
    beside = map(AtDocument, (*parts[:place], *parts[place + 1 :]))
    last = spine[-1]
    return (*spine[:-1], last._replace(branches=(*last.branches, *beside)))


def pattern_of(spine: Sequence[SpineStep]) -> Pattern:
    """The pattern of a spine, which has at least one step."""
    beside = [
        branch.condition
        for step in spine
        for branch in step.branches
        if isinstance(branch, AtDocument)
    ]
    if beside:
        alone = [
            step._replace(branches=tuple(b for b in step.branches if type(b) is not AtDocument))
            for step in spine
        ]
        return Pattern(all_of((*beside, pattern_of(alone).condition)))
    condition: Condition | None = None
    for reach, label, branches in reversed(spine):
        where = all_of(branches if condition is None else (*branches, condition))
        condition = exists(reach, label, where)
    assert condition is not None
    return Pattern(condition)


def plain_steps(spine: Sequence[SpineStep]) -> LinearPath:
    """The spine alone, as a linear pattern: no branches, no values."""
    return tuple(PathStep(step.reach, step.label) for step in spine)


def steps_of(pattern: Pattern) -> int:
    """The number of steps of a pattern, branches included: its space (Piggyback, section 2).

    An expression without any step counts as one.

    >>> steps_of(Pattern.parse("/a[b/c]//d[@x = 1]"))
    5
    """
    return max(1, _steps(pattern.condition))


def spine_steps(spine: Spine) -> int:
    """The same for a spine: its pattern has so many steps, or fewer if some are redundant."""
    return len(spine) + sum(_steps(branch) for step in spine for branch in step.branches)


def _longest(parts: tuple[Condition, ...]) -> int | None:
    """The position of the longest path among a node's parts, the last of several, or None."""
    if len(parts) == 1:
        return 0 if isinstance(parts[0], Exists) else None
    found = [(_length(part), place) for place, part in enumerate(parts) if type(part) is Exists]
    return max(found)[1] if found else None


def _length(condition: Condition) -> int:
    """The length of the longest path of a condition."""
    found = 0
    while isinstance(condition, Exists):
        found += 1
        condition = condition.where
    return (
        found + max(map(_length, condition.parts), default=0) if type(condition) is AllOf else found
    )


def _steps(condition: Condition) -> int:
    found = 0
    while isinstance(condition, Exists):
        found += 1
        condition = condition.where
    match condition:
        case AllOf(parts) | AnyOf(parts):
            return found + sum(map(_steps, parts))
        case Not(part) | AtDocument(part):
            return found + _steps(part)
        case FirstValue(steps):
            return found + sum(1 + _steps(step.where) for step in steps)
        case _:
            return found
