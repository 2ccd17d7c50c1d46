"""Whether a document of these label paths can match a pattern.

The automaton of paths is seen as a tree automaton: an element in a given state has any of the
children, attributes and texts that the state allows, in any combination. A condition is decided
bottom up. For each part of it we find the set of all places in the automaton (pairs of a label and
the state it leads to) where an element could satisfy the part:

    //section[title]/para        para    every place with that label
                                 title   likewise
                                 section those that have a child in both sets
                                 //      is one of them below the document node?

Sets are the bits of one integer, so a step of a pattern costs a few operations on integers,
and steps to parents and ancestors are remembered, in a store of limited size.

*Exact* for every pattern that is a single path of labels: a path through the automaton is one that
some document has. *Sound* for all others: a no is certain; a yes may be wrong where a content model
forbids two children beside each other, where ``not`` is involved (it may always hold, except of
the element's own label), and where libxml2 would have to decide, of which only the necessary
condition is looked at. Values are compared with what an attribute may have, or with white space
where there is no other text; any other value may be.

The papers compare each path expression of an advertisement with each subscription (Dissemination,
Figures 1.4 to 1.10); the answers for paths are the same, as far as those figures are right.
"""

from __future__ import annotations

from typing import Final, assert_never

from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind, Values
from twigcast.language.condition.model import (
    TRUE,
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Label,
    Not,
    Operator,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.condition.value_tests import passes
from twigcast.language.translate.relaxation import weakened
from twigcast.language.xpath.syntax import Literal

__all__ = ["REMEMBERED_SETS_MAX", "PathOverlap"]

REMEMBERED_SETS_MAX: Final = 4096
"""Sets of parents and ancestors that are kept; over it all are forgotten, and found anew."""

_DOCUMENT: Final = 1
"""The bit of the document node; places follow."""

_BLANKS: Final = " \t\r\n"


class PathOverlap:
    """An automaton of paths, ready to be asked about patterns."""

    def __init__(self, paths: PathAutomaton) -> None:
        arrivals = dict.fromkeys((label, target) for _, label, target in paths.edges())
        bits = {arrival: 2 << number for number, arrival in enumerate(arrivals)}
        at_state = [0] * len(paths.states)
        at_state[DOCUMENT_NODE] = _DOCUMENT
        for (_, target), bit in bits.items():
            at_state[target] |= bit
        self._all = (2 << len(arrivals)) - 1
        self._named = [(label, bits[label, target]) for label, target in arrivals]
        self._above = [0] * (len(arrivals) + 1)
        for origin, label, target in paths.edges():
            self._above[bits[label, target].bit_length() - 1] |= at_state[origin]
        holders: dict[tuple[Label, Values], int] = {}
        self._texts = dict.fromkeys(TextKind, 0)
        for number, state in enumerate(paths.states):
            self._texts[state.text] |= at_state[number]
            for attribute in state.attributes:
                holders[attribute] = holders.get(attribute, 0) | at_state[number]
        self._attributes: dict[str | None, list[tuple[Label, Values, int]]] = {None: []}
        for (label, values), places in holders.items():
            for local in (label.local, None):
                self._attributes.setdefault(local, []).append((label, values, places))
        self._labelled: dict[Label, int] = {}
        self._parents_of: dict[int, int] = {}
        self._ancestors_of: dict[int, int] = {}
        self._spoken = self._with_ancestors(self._texts[TextKind.ANY])
        self._spaced = self._with_ancestors(self._texts[TextKind.BLANK]) | self._spoken

    @property
    def remembered(self) -> int:
        """How many sets are kept."""
        return len(self._parents_of) + len(self._ancestors_of) + len(self._labelled)

    def possible(self, condition: Condition) -> bool:
        """False only if no document of these paths satisfies the condition at its document node."""
        found: dict[Condition, int] = {}
        waiting = [condition]
        while waiting:
            part = waiting[-1]
            missing = [below for below in _inside(part) if below not in found]
            if missing:
                waiting.extend(missing)
            else:
                waiting.pop()
                found[part] = self._where(part, found)
        return found[condition] & _DOCUMENT != 0

    def _where(self, condition: Condition, found: dict[Condition, int]) -> int:  # noqa: C901
        """The places where the condition may hold, once those of its parts are known."""
        match condition:
            case Exists(reach, label, where):
                if label.kind is Kind.ELEMENT:
                    places = self._places(label) & found[where]
                    return self._above_of(reach, places)
                return self._with_leaf(reach, label, where)
            case AllOf(parts):
                places = self._all
                for part in parts:
                    places &= found[part]
                return places
            case AnyOf(parts):
                places = 0
                for part in parts:
                    places |= found[part]
                return places
            case SelfIs(label):
                return self._places(label)
            case Not(part):
                return self._all & ~self._surely(part)
            case AtDocument(inner):
                return self._all if found[inner] & _DOCUMENT else 0
            case ValueTest():
                return self._with_value(condition)
            case FirstValue():
                return found[_nested(condition)]
            case Residual():
                return found[weakened(condition)]
            case _:
                assert_never(condition)

    def _surely(self, condition: Condition) -> int:
        """Places where the condition holds whatever the document; only labels are as sure."""
        match condition:
            case SelfIs(label):
                return sum(bit for other, bit in self._named if label.includes(other))
            case AllOf(parts):
                places = self._all
                for part in parts:
                    places &= self._surely(part)
                return places
            case AnyOf(parts):
                places = 0
                for part in parts:
                    places |= self._surely(part)
                return places
            case _:
                return 0

    def _places(self, label: Label) -> int:
        """The elements that may have the label."""
        places = self._labelled.get(label)
        if places is None:
            if label.kind is Kind.ELEMENT:
                places = sum(bit for other, bit in self._named if _may_meet(label, other))
            else:
                places = 0
            self._make_room()
            self._labelled[label] = places
        return places

    def _above_of(self, reach: Reach, places: int) -> int:
        return self._parents(places) if reach is Reach.CHILD else self._ancestors(places)

    def _parents(self, places: int) -> int:
        """The elements that may have a child in these places."""
        above = self._parents_of.get(places)
        if above is None:
            above = self._one_up(places)
            self._make_room()
            self._parents_of[places] = above
        return above

    def _ancestors(self, places: int) -> int:
        """The elements that may have a descendant in these places."""
        above = self._ancestors_of.get(places)
        if above is None:
            above = new = self._one_up(places)
            while new:
                new = self._one_up(new) & ~above
                above |= new
            self._make_room()
            self._ancestors_of[places] = above
        return above

    def _one_up(self, places: int) -> int:
        above, rest, table = 0, places & ~_DOCUMENT, self._above
        while rest:
            lowest = rest & -rest
            above |= table[lowest.bit_length() - 1]
            rest ^= lowest
        return above

    def _with_ancestors(self, places: int) -> int:
        return places | self._ancestors(places)

    def _make_room(self) -> None:
        if self.remembered >= REMEMBERED_SETS_MAX:
            self._labelled.clear()
            self._parents_of.clear()
            self._ancestors_of.clear()

    def _with_leaf(self, reach: Reach, label: Label, where: Condition) -> int:
        """The elements that may have such an attribute or text, or have it further below."""
        places = 0
        if label.kind is Kind.ATTRIBUTE:
            for other, values, holders in self._attributes.get(label.local, ()):
                if _may_meet(label, other) and _may_be(where, values):
                    places |= holders
        else:
            places = self._texts[TextKind.ANY]
            if _may_be_blank(where):
                places |= self._texts[TextKind.BLANK]
        return places if reach is Reach.CHILD else self._with_ancestors(places)

    def _with_value(self, test: ValueTest) -> int:
        """The elements whose text, with all below, may pass a test."""
        if passes(test, ""):
            return self._all
        return self._spaced if _passes_blank(test) else self._spoken


def _inside(condition: Condition) -> tuple[Condition, ...]:
    """The conditions on elements that this one is decided by."""
    match condition:
        case Exists(_, label, where):
            return (where,) if label.kind is Kind.ELEMENT else ()
        case AllOf(parts) | AnyOf(parts):
            return parts
        case AtDocument(inner):
            return (inner,)
        case FirstValue():
            return (_nested(condition),)
        case Residual():
            return (weakened(condition),)
        case _:
            return ()


def _nested(first: FirstValue) -> Condition:
    """What the first of some nodes passes, some node must pass."""
    inner: Condition = first.test
    for step in reversed(first.steps):
        where = inner if step.where is TRUE else AllOf((step.where, inner))
        inner = Exists(step.reach, step.label, where)
    return inner


def _may_meet(label: Label, other: Label) -> bool:
    return (
        label.kind is other.kind
        and (label.local == other.local or None in (label.local, other.local))
        and (label.namespace == other.namespace or None in (label.namespace, other.namespace))
    )


def _may_be(where: Condition, values: Values) -> bool:
    """Whether an attribute with one of the values may satisfy the condition."""
    return values is None or any(_value_may_be(where, value) for value in values)


def _value_may_be(where: Condition, value: str) -> bool:
    match where:
        case ValueTest():
            return _passes_padded(where, value)
        case AllOf(parts):
            return all(_value_may_be(part, value) for part in parts)
        case AnyOf(parts):
            return any(_value_may_be(part, value) for part in parts)
        case _:
            return True


def _passes_padded(test: ValueTest, value: str) -> bool:
    """Whether the value may pass with spaces around it; numbers are taken to be anything."""
    if not isinstance(test.constant, Literal):
        return True
    wanted = test.constant.value
    match test.operator:
        case Operator.EQUAL:
            return wanted.strip(" ") == value
        case Operator.CONTAINS:
            room = " " * len(wanted)
            return wanted in f"{room}{value}{room}"
        case Operator.STARTS_WITH:
            room = " " * (len(wanted) - len(wanted.lstrip(" ")))
            return f"{room}{value}{' ' * len(wanted)}".startswith(wanted)
        case _:
            return True


def _may_be_blank(where: Condition) -> bool:
    """Whether a text of white space may satisfy the condition."""
    match where:
        case ValueTest():
            return _passes_blank(where)
        case AllOf(parts):
            return all(map(_may_be_blank, parts))
        case AnyOf(parts):
            return any(map(_may_be_blank, parts))
        case _:
            return True


def _passes_blank(test: ValueTest) -> bool:
    """Whether some white space, or none at all, passes the test."""
    if test.operator is Operator.UNEQUAL:
        return True
    text_test = test.operator in {Operator.EQUAL, Operator.CONTAINS, Operator.STARTS_WITH}
    # White space is no number, and what is no number compares with none.
    constant = test.constant
    return text_test and isinstance(constant, Literal) and not constant.value.strip(_BLANKS)
