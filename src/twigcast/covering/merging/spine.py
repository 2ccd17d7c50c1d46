"""Patterns as trunks: the row of steps that is generalised when patterns are merged.

A pattern is a path with conditions at its steps. Its *trunk* is its longest path, the last one in
the canonical text if there are several; what else is asked of a node, branches, values and all,
stays with its step as it is, and is never looked into:

    /news[@lang = 'en']/body//price[. > 10]

    reach       /          /      //
    label       news       body   price
    branches    @lang …           . > 10

Whoever makes a label or a reach of a trunk more general makes a wider pattern: a document with
nodes for the narrower trunk has the same nodes for the wider one.

What is not of this form at the document node (``or``, ``not``, two paths joined by ``and``, what
only libxml2 decides) has no trunk and is never merged. Whoever only aggregates can take the longest
of several paths joined by ``and`` for the trunk: what stands beside it is asked for at its last
step, since the document node is the same from everywhere (:func:`joined_trunk_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from twigcast.covering.paths.counting import LinearPath, PathStep
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

__all__ = [
    "Trunk",
    "TrunkStep",
    "joined_trunk_of",
    "pattern_of",
    "plain_steps",
    "steps_of",
    "trunk_of",
    "trunk_steps",
]


class TrunkStep(NamedTuple):
    """One step of a trunk, with what else is asked of its node."""

    reach: Reach
    label: Label
    branches: tuple[Condition, ...] = ()


Trunk: TypeAlias = tuple[TrunkStep, ...]


def trunk_of(pattern: Pattern) -> Trunk | None:
    """The trunk of a pattern, or None if it is more than one path from the document node.

    >>> trunk = trunk_of(Pattern.parse("/a[b]//c[@x]"))
    >>> [(step.label.local, len(step.branches)) for step in trunk]
    [('a', 1), ('c', 0), ('x', 0)]
    """
    steps: list[TrunkStep] = []
    condition = pattern.condition
    if not isinstance(condition, Exists):
        return None
    while True:
        parts = parts_of(condition.where)
        place = _longest(parts)
        if place is None:
            steps.append(TrunkStep(condition.reach, condition.label, parts))
            return tuple(steps)
        others = (*parts[:place], *parts[place + 1 :])
        steps.append(TrunkStep(condition.reach, condition.label, others))
        following = parts[place]
        assert isinstance(following, Exists)
        condition = following


def joined_trunk_of(pattern: Pattern) -> Trunk | None:
    """The same with all that stands beside its longest path as conditions of the last step.

    None if no path is asked for, or one of several only.

    >>> trunk = joined_trunk_of(Pattern.parse("/a/b and //test"))
    >>> [(step.label.local, len(step.branches)) for step in trunk], pattern_of(trunk)
    ([('a', 0), ('b', 1)], Pattern('//test and /a/b'))
    """
    parts = parts_of(pattern.condition)
    place = _longest(parts)
    trunk = None if place is None else trunk_of(Pattern(parts[place]))
    if place is None or trunk is None:
        return None
    beside = map(AtDocument, (*parts[:place], *parts[place + 1 :]))
    last = trunk[-1]
    return (*trunk[:-1], last._replace(branches=(*last.branches, *beside)))


def pattern_of(trunk: Sequence[TrunkStep]) -> Pattern:
    """The pattern of a trunk, which must have a step."""
    beside = [
        branch.condition
        for step in trunk
        for branch in step.branches
        if isinstance(branch, AtDocument)
    ]
    if beside:
        alone = [
            step._replace(branches=tuple(b for b in step.branches if type(b) is not AtDocument))
            for step in trunk
        ]
        return Pattern(all_of((*beside, pattern_of(alone).condition)))
    condition: Condition | None = None
    for reach, label, branches in reversed(trunk):
        where = all_of(branches if condition is None else (*branches, condition))
        condition = exists(reach, label, where)
    assert condition is not None
    return Pattern(condition)


def plain_steps(trunk: Sequence[TrunkStep]) -> LinearPath:
    """The trunk alone, as a linear pattern: no branches, no values."""
    return tuple(PathStep(step.reach, step.label) for step in trunk)


def steps_of(pattern: Pattern) -> int:
    """How many steps a pattern has, branches included: the space it takes (Piggyback, section 2).

    An expression without any step counts as one.

    >>> steps_of(Pattern.parse("/a[b/c]//d[@x = 1]"))
    5
    """
    return max(1, _steps(pattern.condition))


def trunk_steps(trunk: Trunk) -> int:
    """The same of a trunk: its pattern has so many steps, or fewer if some say nothing new."""
    return len(trunk) + sum(_steps(branch) for step in trunk for branch in step.branches)


def _longest(parts: tuple[Condition, ...]) -> int | None:
    """Where the longest path of a node's parts stands, the last of several; None without any."""
    if len(parts) == 1:
        return 0 if isinstance(parts[0], Exists) else None
    found = [(_length(part), place) for place, part in enumerate(parts) if type(part) is Exists]
    return max(found)[1] if found else None


def _length(condition: Condition) -> int:
    """How long the longest path is that a condition asks for."""
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
