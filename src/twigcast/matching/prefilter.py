"""Which patterns a document can match at all: the label prefilter.

A document without an element ``trade`` cannot match ``/feed/trade[@id]``. Each pattern is filed
under one of the labels it requires, the one that the fewest others are filed under; a document
then opens only the drawers of its own labels, and of what lies in them keeps the patterns all of
whose labels it has.

    required(//a[b or c/@d]/e)  =  {a, e}         both sides of the `or` share nothing
    required(//a[not(b)])       =  {a}            a negation asks for nothing

Cost: per document, one look-up per label and one subset test per pattern in an open drawer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import assert_never

from twigcast.language.condition import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Label,
    Not,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.pattern import Pattern

__all__ = ["LabelIndex", "required_labels"]

_Labels = frozenset[Label]


def required_labels(condition: Condition) -> _Labels:
    """The labels that every document satisfying the condition has. Wildcards require nothing."""
    match condition:
        case Exists(_, label, where):
            return _alone(label) | required_labels(where)
        case FirstValue(steps):
            each = (_alone(step.label) | required_labels(step.where) for step in steps)
            return _Labels().union(*each)
        case SelfIs(label):
            return _alone(label)
        case AllOf(parts):
            return _Labels().union(*map(required_labels, parts))
        case AnyOf(parts):
            each_part = list(map(required_labels, parts))
            return reduce(_Labels.intersection, each_part) if each_part else _Labels()
        case AtDocument(inner):
            return required_labels(inner)
        case Not() | ValueTest() | Residual():
            return _Labels()
        case _:
            assert_never(condition)


def _alone(label: Label) -> _Labels:
    # A label without a local name is a wildcard; text nodes are not counted.
    named = label.kind is not Kind.TEXT and label.local is not None
    return _Labels((label,)) if named else _Labels()


class LabelIndex:
    """A changing set of patterns, each filed under its least crowded required label."""

    def __init__(self) -> None:
        self._drawers: dict[Label | None, dict[Pattern, _Labels]] = {}
        self._drawer_of: dict[Pattern, Label | None] = {}

    def add(self, pattern: Pattern) -> None:
        """File a pattern; one that is filed already stays where it is."""
        if pattern in self._drawer_of:
            return
        required = required_labels(pattern.necessary.condition)
        # The label itself breaks ties, so that the order does not depend on hashes.
        drawer = min(required, key=self._crowding, default=None)
        self._drawers.setdefault(drawer, {})[pattern] = required
        self._drawer_of[pattern] = drawer

    def remove(self, pattern: Pattern) -> None:
        """Take a pattern out; an emptied drawer goes too."""
        drawer = self._drawer_of.pop(pattern)
        filed = self._drawers[drawer]
        del filed[pattern]
        if not filed:
            del self._drawers[drawer]

    def candidates(self, labels: Mapping[Label, int]) -> Iterator[Pattern]:
        """The patterns whose required labels a document with these labels has."""
        present = labels.keys()
        yield from self._drawers.get(None, ())
        for label in labels:
            for pattern, required in self._drawers.get(label, _NOTHING).items():
                if required <= present:
                    yield pattern

    def __len__(self) -> int:
        return len(self._drawer_of)

    @property
    def unfiltered(self) -> int:
        """How many patterns require no label, so that every document has them as candidates."""
        return len(self._drawers.get(None, ()))

    def _crowding(self, label: Label) -> tuple[int, str, str, str]:
        filed = len(self._drawers.get(label, ()))
        return filed, label.kind, label.namespace or "", label.local or ""


_NOTHING: dict[Pattern, _Labels] = {}
