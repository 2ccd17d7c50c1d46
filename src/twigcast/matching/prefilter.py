"""The label prefilter: the patterns whose labels a document has.

A document without an element ``trade`` cannot match ``/feed/trade[@id]``. Each pattern is filed
under one of the labels it requires, the one that the fewest others are filed under; a document
then opens only the drawers of its own labels, and of what lies in them keeps the patterns all of
whose labels it has.

    required(//a[b or c/@d]/e)  =  {a, e}         both sides of the `or` share nothing
    required(//a[not(b)])       =  {a}            a negation asks for nothing

Cost: per document, one look-up per label and one subset test per pattern in an open drawer.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from functools import reduce
from typing import Generic, TypeVar, assert_never

from twigcast.language.condition.model import (
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

_Labels = frozenset[Label]
_T = TypeVar("_T", bound=Hashable)


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


class LabelIndex(Generic[_T]):
    """A changing set of things, each filed under its least crowded required label.

    Labels are numbered, since sets of small numbers compare much faster than sets of labels.
    """

    def __init__(self) -> None:
        self._numbers: dict[Label, int] = {}
        self._drawers: dict[int | None, dict[_T, frozenset[int]]] = {}
        self._drawer_of: dict[_T, int | None] = {}

    def add(self, filed: _T, required: _Labels) -> None:
        """File a thing that is not filed yet under the labels it requires."""
        numbered = {self._numbers.setdefault(one, len(self._numbers)): one for one in required}
        # The label itself breaks ties, so that the order does not depend on hashes.
        drawer = min(
            numbered,
            key=lambda number: (len(self._drawers.get(number, ())), *_order(numbered[number])),
            default=None,
        )
        self._drawers.setdefault(drawer, {})[filed] = frozenset(numbered)
        self._drawer_of[filed] = drawer

    def remove(self, filed: _T) -> None:
        """Take a thing out; an emptied drawer goes too."""
        drawer = self._drawer_of.pop(filed)
        contents = self._drawers[drawer]
        del contents[filed]
        if not contents:
            del self._drawers[drawer]
        if not self._drawer_of:
            self._numbers.clear()

    def candidates(self, labels: Collection[Label]) -> list[_T]:
        """The things whose required labels are all among these."""
        found = list(self._drawers.get(None, ()))
        numbers = self._numbers
        if len(labels) <= len(numbers):
            present = {numbers[label] for label in labels if label in numbers}
        else:
            present = {number for label, number in numbers.items() if label in labels}
        for number in sorted(present):
            drawer = self._drawers.get(number)
            if drawer:
                found += [filed for filed, required in drawer.items() if required <= present]
        return found

    def __len__(self) -> int:
        return len(self._drawer_of)

    @property
    def unfiltered(self) -> int:
        """How many things require no label, so that they are candidates everywhere."""
        return len(self._drawers.get(None, ()))


def _order(label: Label) -> tuple[str, str, str]:
    return label.kind, label.namespace or "", label.local or ""
