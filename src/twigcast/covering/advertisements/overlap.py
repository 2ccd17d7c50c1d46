"""Overlap of advertisements with patterns: whether a document of these label paths can match.

The automaton of paths is read as a tree automaton: an element in a given state has any of the
children, attributes and texts that the state allows, in any combination. A condition is decided
bottom up. For each part of it we find the set of all positions in the automaton (pairs of a label
and the state it leads to) where an element could satisfy the part:

    //section[title]/para        para    every position with that label
                                 title   likewise
                                 section those that have a child in both sets
                                 //      is one of them below the document node?

Sets are the bits of one integer, so a step of a pattern costs a few operations on integers, and
steps to parents and ancestors are cached, within a limit.

*Exact* for every pattern that is a single path of labels: a path through the automaton is one that
some document has. *Sound* for all others: a no is certain; a yes may be wrong where a content model
forbids two children beside each other, where ``not`` is involved (it may always hold, except of
the element's own label), and where libxml2 would have to decide, of which only the necessary
condition is checked. Values are compared with what an attribute may have, or with white space where
there is no other text; any other value may be.

The papers compare each path expression of an advertisement with each subscription (Dissemination,
Figures 1.4 to 1.10); the answers for paths are the same, as far as those figures are right.
"""

from __future__ import annotations

from typing import Final, assert_never

from twigcast.covering.bits import neighbours_of, reached_from
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

REMEMBERED_SETS_MAX: Final = 4096
"""Sets of parents and ancestors that are cached; the cache is cleared when it is full."""

_DOCUMENT: Final = 1
"""The bit of the document node; the bits of positions follow."""

_BLANKS: Final = " \t\r\n"


class PathOverlap:
    """An automaton of paths, compiled for overlap with patterns."""

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
        for (label, values), positions in holders.items():
            for local in (label.local, None):
                self._attributes.setdefault(local, []).append((label, values, positions))
        self._labelled: dict[Label, int] = {}
        self._parents_of: dict[int, int] = {}
        self._ancestors_of: dict[int, int] = {}
        self._with_text = self._with_ancestors(self._texts[TextKind.ANY])
        self._with_any_text = self._with_ancestors(self._texts[TextKind.BLANK]) | self._with_text

    @property
    def remembered(self) -> int:
        """The number of cached sets."""
        return len(self._parents_of) + len(self._ancestors_of) + len(self._labelled)

    def possible(self, condition: Condition) -> bool:
        """False only if no document of these paths satisfies the condition at its document node."""
        by_condition: dict[Condition, int] = {}
        waiting = [condition]
        while waiting:
            part = waiting[-1]
            missing = [below for below in _subconditions(part) if below not in by_condition]
            if missing:
                waiting.extend(missing)
            else:
                waiting.pop()
                by_condition[part] = self._possible_positions(part, by_condition)
        return by_condition[condition] & _DOCUMENT != 0

    def _possible_positions(self, condition: Condition, by_condition: dict[Condition, int]) -> int:  # noqa: C901
        """The positions where the condition may hold, once those of its parts are known."""
        match condition:
            case Exists(reach, label, where):
                if label.kind is Kind.ELEMENT:
                    positions = self._positions(label) & by_condition[where]
                    return self._above_of(reach, positions)
                return self._with_leaf(reach, label, where)
            case AllOf(parts):
                positions = self._all
                for part in parts:
                    positions &= by_condition[part]
                return positions
            case AnyOf(parts):
                positions = 0
                for part in parts:
                    positions |= by_condition[part]
                return positions
            case SelfIs(label):
                return self._positions(label)
            case Not(part):
                return self._all & ~self._certain_positions(part)
            case AtDocument(inner):
                return self._all if by_condition[inner] & _DOCUMENT else 0
            case ValueTest():
                return self._with_value(condition)
            case FirstValue():
                return by_condition[_any_value(condition)]
            case Residual():
                return by_condition[weakened(condition)]
            case _:
                assert_never(condition)

    def _certain_positions(self, condition: Condition) -> int:
        """The positions where the condition holds in every document; only labels are certain."""
        match condition:
            case SelfIs(label):
                return sum(bit for other, bit in self._named if label.includes(other))
            case AllOf(parts):
                positions = self._all
                for part in parts:
                    positions &= self._certain_positions(part)
                return positions
            case AnyOf(parts):
                positions = 0
                for part in parts:
                    positions |= self._certain_positions(part)
                return positions
            case _:
                return 0

    def _positions(self, label: Label) -> int:
        """The elements that may have the label."""
        positions = self._labelled.get(label)
        if positions is None:
            if label.kind is Kind.ELEMENT:
                positions = sum(bit for other, bit in self._named if _may_meet(label, other))
            else:
                positions = 0
            self._make_room()
            self._labelled[label] = positions
        return positions

    def _above_of(self, reach: Reach, positions: int) -> int:
        return self._parents(positions) if reach is Reach.CHILD else self._ancestors(positions)

    def _parents(self, positions: int) -> int:
        """The elements that may have a child at these positions."""
        above = self._parents_of.get(positions)
        if above is None:
            above = neighbours_of(positions, self._above)
            self._make_room()
            self._parents_of[positions] = above
        return above

    def _ancestors(self, positions: int) -> int:
        """The elements that may have a descendant at these positions."""
        above = self._ancestors_of.get(positions)
        if above is None:
            above = reached_from(positions, self._above)
            self._make_room()
            self._ancestors_of[positions] = above
        return above

    def _with_ancestors(self, positions: int) -> int:
        return positions | self._ancestors(positions)

    def _make_room(self) -> None:
        if self.remembered >= REMEMBERED_SETS_MAX:
            self._labelled.clear()
            self._parents_of.clear()
            self._ancestors_of.clear()

    def _with_leaf(self, reach: Reach, label: Label, where: Condition) -> int:
        """The elements that may have such an attribute or text, or have it further below."""
        positions = 0
        if label.kind is Kind.ATTRIBUTE:
            for other, values, holders in self._attributes.get(label.local, ()):
                if _may_meet(label, other) and _may_be(where, values):
                    positions |= holders
        else:
            positions = self._texts[TextKind.ANY]
            if _may_be_blank(where):
                positions |= self._texts[TextKind.BLANK]
        return positions if reach is Reach.CHILD else self._with_ancestors(positions)

    def _with_value(self, test: ValueTest) -> int:
        """The elements whose text, with all below, may pass a test."""
        if passes(test, ""):
            return self._all
        return self._with_any_text if _passes_blank(test) else self._with_text


def _subconditions(condition: Condition) -> tuple[Condition, ...]:
    """The conditions on elements that decide this one."""
    match condition:
        case Exists(_, label, where):
            return (where,) if label.kind is Kind.ELEMENT else ()
        case AllOf(parts) | AnyOf(parts):
            return parts
        case AtDocument(inner):
            return (inner,)
        case FirstValue():
            return (_any_value(condition),)
        case Residual():
            return (weakened(condition),)
        case _:
            return ()


def _any_value(first: FirstValue) -> Condition:
    """The necessary condition that any of the nodes, not only the first, passes the test."""
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
    """Whether some white space, or the empty text, passes the test."""
    if test.operator is Operator.UNEQUAL:
        return True
    text_test = test.operator in {Operator.EQUAL, Operator.CONTAINS, Operator.STARTS_WITH}
    # White space is NaN, and every comparison with NaN is false.
    constant = test.constant
    return text_test and isinstance(constant, Literal) and not constant.value.strip(_BLANKS)
