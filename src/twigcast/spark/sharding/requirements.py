"""Requirements of a pattern: paths and values that every document has that matches it.

A document that lacks one of them does not match, and one requirement may be shared by many
patterns:

    /news[.//place = 'Fen']//keyword[contains(., 'storm')]

    /news        /news//place        /news//place = 'Fen'
                 /news//keyword      /news//keyword contains 'storm'

A *requirement* is such a path from the document node, with a test of the value at its end or
without. Of the pattern's exact part (:mod:`twigcast.language.translate.relaxation`) all are found
that are joined by ``and``; of ``or``, those that every part requires; of ``not`` none. They are
weaker than the pattern, since they forget where paths part. They are meant for *sets* of patterns:
for what these have in common.

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
    """The strongest condition on documents that follows from each of several."""
    paths = frozenset.intersection(*(one.paths for one in several))
    ends = frozenset.intersection(*(one.ends for one in several)) - _ends(paths)
    return all_of(_condition(one) for one in (*_irredundant(paths), *_irredundant(ends)))


def _required(condition: Condition, above: Steps) -> Paths:
    requirements: set[Requirement] = set()
    pending: list[tuple[Condition, Steps]] = [(condition, above)]
    while pending:
        part, steps = pending.pop()
        match part:
            case Exists(reach, label, where):
                longer = (*steps, (reach, label))
                requirements.add(Requirement(longer))
                pending.append((where, longer))
            case AllOf(parts):
                pending.extend((inner, steps) for inner in parts)
            case ValueTest() if steps:
                requirements.add(Requirement(steps, part))
            case AtDocument(inner):
                pending.append((inner, ()))
            case FirstValue(firsts, test):
                # What is true of the first node is true of some node.
                for first in firsts:
                    steps = (*steps, (first.reach, first.label))
                    requirements.add(Requirement(steps))
                    pending.append((first.where, steps))
                if steps:
                    requirements.add(Requirement(steps, test))
            case AnyOf((_, *_) as parts):
                each = [_required(inner, steps) for inner in parts]
                requirements |= frozenset.intersection(*each)
                requirements |= frozenset.intersection(*map(_ends, each))
            case _:
                pass
    return frozenset(requirements)


def _ends(requirements: Iterable[Requirement]) -> Paths:
    """The same with nothing but the last step, wherever it is in the document."""
    return frozenset(
        Requirement(((Reach.DESCENDANT, one.label),), one.test)
        for one in requirements
        if one.label.local is not None
    )


def _irredundant(requirements: Paths) -> list[Requirement]:
    """Those that do not follow from another."""
    longer = {one.steps[:length] for one in requirements for length in range(1, len(one.steps))}
    longer |= {one.steps for one in requirements if one.test is not None}
    return [one for one in requirements if one.test is not None or one.steps not in longer]


def _condition(requirement: Requirement) -> Condition:
    where: Condition = requirement.test or TRUE
    for reach, label in reversed(requirement.steps):
        where = exists(reach, label, where)
    return where
