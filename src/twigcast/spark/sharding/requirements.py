"""What a pattern requires: paths and values that no document can do without if it is to match.

A document fails a pattern as soon as it lacks one of them, and what many patterns require, all of
them can be told by:

    /news[.//place = 'Fen']//keyword[contains(., 'storm')]

    /news        /news//place        /news//place = 'Fen'
                 /news//keyword      /news//keyword contains 'storm'

A *requirement* is such a path from the document node, with a test of the value at its end or
without. Of the pattern's exact part (:mod:`twigcast.language.translate.relaxation`) all are found
that are joined by ``and``; of ``or``, those that every part requires; of ``not`` none. They say
less than the pattern, since where paths part is forgotten: so they are asked of *sets* of patterns,
what they have in common among them.

    >>> one, other = map(Pattern.parse, ("/a[b = 1]/c", "//d/c and //a[b = 1]"))
    >>> Pattern(shared_by([required_by(one), required_by(other)])).text
    '//b[. = 1] and //a and //c'

The path may differ as long as the last label is the same: ``//c`` is what is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from twigcast.language import Pattern
from twigcast.language.condition.model import (
    TRUE,
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Label,
    Reach,
    ValueTest,
)
from twigcast.language.condition.normal_form import all_of, exists

Steps: TypeAlias = tuple[tuple[Reach, Label], ...]


class Requirement(NamedTuple):
    """Some node at the end of these steps, from the document node, that passes the test if any."""

    steps: Steps
    test: ValueTest | None = None

    @property
    def label(self) -> Label:
        """The label of the last step."""
        return self.steps[-1][1]


Paths: TypeAlias = frozenset[Requirement]


class Required(NamedTuple):
    """All that a pattern requires, in full, and of each path the last step alone."""

    paths: Paths
    ends: Paths


def required_by(pattern: Pattern) -> Required:
    """All that a pattern requires."""
    paths = _required(pattern.necessary.condition, ())
    return Required(paths, _ends(paths))


def shared_by(several: Sequence[Required]) -> Condition:
    """A condition on documents that follows from each of several, and says as much as it can."""
    paths = frozenset.intersection(*(one.paths for one in several))
    ends = frozenset.intersection(*(one.ends for one in several)) - _ends(paths)
    return all_of(_condition(one) for one in (*_telling(paths), *_telling(ends)))


def _required(condition: Condition, above: Steps) -> Paths:
    found: set[Requirement] = set()
    left: list[tuple[Condition, Steps]] = [(condition, above)]
    while left:
        part, steps = left.pop()
        match part:
            case Exists(reach, label, where):
                longer = (*steps, (reach, label))
                found.add(Requirement(longer))
                left.append((where, longer))
            case AllOf(parts):
                left.extend((inner, steps) for inner in parts)
            case ValueTest() if steps:
                found.add(Requirement(steps, part))
            case AtDocument(inner):
                left.append((inner, ()))
            case FirstValue(firsts, test):
                # What is true of the first node is true of some node.
                for first in firsts:
                    steps = (*steps, (first.reach, first.label))
                    found.add(Requirement(steps))
                    left.append((first.where, steps))
                if steps:
                    found.add(Requirement(steps, test))
            case AnyOf((_, *_) as parts):
                each = [_required(inner, steps) for inner in parts]
                found |= frozenset.intersection(*each)
                found |= frozenset.intersection(*map(_ends, each))
            case _:
                pass
    return frozenset(found)


def _ends(requirements: Iterable[Requirement]) -> Paths:
    """The same with nothing but the last step, wherever it is in the document."""
    return frozenset(
        Requirement(((Reach.DESCENDANT, one.label),), one.test)
        for one in requirements
        if one.label.local is not None
    )


def _telling(requirements: Paths) -> list[Requirement]:
    """Those that do not follow from another."""
    longer = {one.steps[:length] for one in requirements for length in range(1, len(one.steps))}
    longer |= {one.steps for one in requirements if one.test is not None}
    return [one for one in requirements if one.test is not None or one.steps not in longer]


def _condition(requirement: Requirement) -> Condition:
    where: Condition = requirement.test or TRUE
    for reach, label in reversed(requirement.steps):
        where = exists(reach, label, where)
    return where
