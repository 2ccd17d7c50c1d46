"""Conditions on nodes: the meaning of expressions, in one canonical form.

``boolean(expression)`` is true if *some* nodes exist, so a subscription is a condition on the
document node, built from a few kinds of conditions on nodes:

    Exists(axis, label, where)   some child (or descendant) with this label satisfies ``where``
    SelfIs(label)                the node itself has this label
    ValueTest(operator, c)       the node's string-value compares with the constant ``c``
    FirstValue(steps, test)      the first node these steps lead to passes the test
    AllOf, AnyOf, Not            the connectives; ``TRUE`` is AllOf(), ``FALSE`` is AnyOf()
    AtDocument(condition)        the condition holds at the document node (absolute paths inside)
    Residual(expression)         any other XPath expression; libxml2 decides it

Attributes and text nodes are treated as children of their element with labels of their own kind, so
two axes are enough:

    //a[@x='1']//@y   =   Exists(DESCENDANT, a,
                             AllOf(Exists(CHILD, @x, = '1'), Exists(DESCENDANT, @y, TRUE)))

The functions :func:`all_of`, :func:`any_of`, :func:`negation`, :func:`exists` and
:func:`at_document` build *canonical* conditions: connectives flattened, their parts in a fixed
order, duplicates and parts implied by a neighbour removed, obvious contradictions found. Use these;
the classes themselves build exactly what is passed to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from twigcast.language.condition.hash_consing import Interned, rebuilt
from twigcast.language.xpath.syntax import Expression, Literal, Number


class Kind(StrEnum):
    """The kinds of nodes that have labels."""

    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text"

    __hash__ = str.__hash__  # Enum's own is a function in Python; labels are hashed all the time.


class Label(NamedTuple):
    """A kind of node and its name: ``None`` for any namespace or any name, ``""`` for none."""

    kind: Kind
    namespace: str | None = None
    local: str | None = None

    def includes(self, other: Label) -> bool:
        """Whether every node with the other label has this one too."""
        return (
            self.kind is other.kind
            and self.namespace in (None, other.namespace)
            and self.local in (None, other.local)
        )

    def meet(self, other: Label) -> Label | None:
        """The label of the nodes that have both, or None where there can be no such node."""
        if self.kind is not other.kind:
            return None
        namespace = self.namespace if other.namespace is None else other.namespace
        local = self.local if other.local is None else other.local
        both = Label(self.kind, namespace, local)
        return both if self.includes(both) and other.includes(both) else None


ANY_ELEMENT: Final = Label(Kind.ELEMENT)
TEXT: Final = Label(Kind.TEXT)


class Reach(StrEnum):
    """How far below the context node: one level, or any number of levels."""

    CHILD = "child"
    DESCENDANT = "descendant"

    __hash__ = str.__hash__


class Operator(StrEnum):
    """The comparisons of values with constants."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"
    STARTS_WITH = "starts-with"

    __hash__ = str.__hash__


Constant: TypeAlias = Literal | Number


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Exists(metaclass=Interned):
    """Some node below, with this label, satisfies ``where``."""

    reach: Reach
    label: Label
    where: Condition

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SelfIs(metaclass=Interned):
    """The context node itself has this label."""

    label: Label

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ValueTest(metaclass=Interned):
    """The string-value of the context node compares with the constant, by XPath 1.0, section 3.4.

    Against a number, and for the four order operators always, both sides are read as numbers.
    """

    operator: Operator
    constant: Constant

    __reduce__ = rebuilt


class FirstStep(NamedTuple):
    """A step towards the nodes of which :class:`FirstValue` takes the first."""

    reach: Reach
    label: Label
    where: Condition


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FirstValue(metaclass=Interned):
    """``contains(a/b, 'x')``: of all nodes reached, the first in document order passes the test.

    XPath converts a node-set to a string by its first node alone (4.2), so this is not "some b
    contains x".
    """

    steps: tuple[FirstStep, ...]
    test: ValueTest

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class AllOf(metaclass=Interned):
    """Every part holds; with no parts, always true."""

    parts: tuple[Condition, ...]

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class AnyOf(metaclass=Interned):
    """Some part holds; with no parts, never true."""

    parts: tuple[Condition, ...]

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Not(metaclass=Interned):
    """The part does not hold."""

    part: Condition

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class AtDocument(metaclass=Interned):
    """The condition holds at the document node, whatever the context node is."""

    condition: Condition

    __reduce__ = rebuilt


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Residual(metaclass=Interned):
    """``boolean(expression)`` at the context node, beyond what an index decides."""

    expression: Expression

    __reduce__ = rebuilt


Condition: TypeAlias = (
    Exists | SelfIs | ValueTest | FirstValue | AllOf | AnyOf | Not | AtDocument | Residual
)

_FEW_PARTS: Final = 8
"""Comparing all pairs of so many parts takes less time than sorting them into families."""

TRUE: Final = AllOf(())
FALSE: Final = AnyOf(())


def parts_of(condition: Condition) -> tuple[Condition, ...]:
    """The conjuncts: the parts of an AllOf, or the condition alone."""
    return condition.parts if isinstance(condition, AllOf) else (condition,)


def is_exact(condition: Condition) -> bool:
    """Whether no part is residual."""
    while isinstance(condition, Exists):
        condition = condition.where
    match condition:
        case AllOf(()):
            return True
        case Residual():
            return False
        case Not(part) | AtDocument(part):
            return is_exact(part)
        case AllOf(parts) | AnyOf(parts):
            return all(map(is_exact, parts))
        case FirstValue(steps):
            return all(is_exact(step.where) for step in steps)
        case SelfIs() | ValueTest():
            return True


def implies(stronger: Condition, weaker: Condition) -> bool:
    """Whether the one obviously entails the other (sound, far from complete).

    This only keeps canonical forms free of redundant parts, as in ``a[b][b/c]``; the room
    ``covering`` decides containment of patterns.
    """
    if stronger is weaker or weaker is TRUE or stronger is FALSE:
        return True
    if isinstance(stronger, Exists) and isinstance(weaker, Exists):
        return (
            (stronger.reach is weaker.reach or weaker.reach is Reach.DESCENDANT)
            and weaker.label.includes(stronger.label)
            and implies(stronger.where, weaker.where)
        )
    match stronger, weaker:
        case AnyOf(parts), _:
            return all(implies(part, weaker) for part in parts)
        case _, AllOf(parts):
            return all(implies(stronger, part) for part in parts)
        case AllOf(parts), _:
            return any(implies(part, weaker) for part in parts)
        case _, AnyOf(parts):
            return any(implies(stronger, part) for part in parts)
        case SelfIs(label), SelfIs(wider):
            return wider.includes(label)
        case Not(part), Not(other):
            return implies(other, part)
        case AtDocument(part), AtDocument(other):
            return implies(part, other)
        case _:
            return False


def without_redundant(parts: Iterable[Condition], *, conjunction: bool) -> list[Condition]:
    """The parts that no other part makes redundant, in their order."""
    different = dict.fromkeys(parts)
    if len(different) > _FEW_PARTS:
        return _without_redundant_of_many(different, conjunction)
    kept: list[Condition] = []
    for part in different:
        if kept:
            if _is_redundant_beside(part, kept, conjunction):
                continue
            kept = [other for other in kept if not _is_redundant(other, part, conjunction)]
        kept.append(part)
    return kept


def _without_redundant_of_many(parts: Iterable[Condition], conjunction: bool) -> list[Condition]:  # noqa: FBT001
    """The same, where comparing all pairs would take long."""
    kept = _KeptParts()
    for part in parts:
        near = kept.near(part)
        if not _is_redundant_beside(part, near, conjunction):
            for other in near:
                if _is_redundant(other, part, conjunction):
                    kept.remove(other)
            kept.add(part)
    return list(kept.parts)


_Family: TypeAlias = tuple[type, object]


class _Families:
    """Conditions by the families of some of their parts; those without a family are near to all."""

    def __init__(self) -> None:
        self.anywhere: dict[Condition, None] = {}
        self._by_family: dict[_Family, dict[Condition, None]] = {}
        self._by_type: dict[type, dict[Condition, None]] = {}

    def add(self, condition: Condition, family: _Family | None) -> None:
        for group in self._groups(family):
            group[condition] = None

    def remove(self, condition: Condition, family: _Family | None) -> None:
        for group in self._groups(family):
            group.pop(condition, None)

    def _groups(self, family: _Family | None) -> tuple[dict[Condition, None], ...]:
        if family is None:
            return (self.anywhere,)
        by_type = self._by_type.setdefault(family[0], {})
        return by_type, self._by_family.setdefault(family, {})

    def near(self, family: _Family) -> list[Condition]:
        """The conditions with a part that may imply one of the family, or be implied by one."""
        kind, name = family
        if name is None:
            return [*self._by_type.get(kind, ())]
        return [*self._by_family.get((kind, None), ()), *self._by_family.get(family, ())]

    def size(self, family: _Family) -> int:
        """The number of conditions that :meth:`near` returns."""
        kind, name = family
        if name is None:
            return len(self._by_type.get(kind, ()))
        return sum(len(self._by_family.get(each, ())) for each in ((kind, None), family))


class _KeptParts:
    """The conditions kept so far, found by what they could imply or be implied by.

    A conjunction implies another if each part of that one is implied by a part of its own. So
    whatever implies it has a part near to its rarest one, which is looked up.
    """

    def __init__(self) -> None:
        self.parts: dict[Condition, _Family | None] = {}
        """The kept conditions, each with the family of its rarest part."""
        self._by_any_part = _Families()
        self._by_rarest_part = _Families()

    def add(self, part: Condition) -> None:
        rarest = self._rarest(part)
        self.parts[part] = rarest
        self._by_rarest_part.add(part, rarest)
        for family in map(_family, parts_of(part)):
            self._by_any_part.add(part, family)

    def remove(self, part: Condition) -> None:
        self._by_rarest_part.remove(part, self.parts.pop(part))
        for family in map(_family, parts_of(part)):
            self._by_any_part.remove(part, family)

    def near(self, part: Condition) -> list[Condition]:
        """The kept conditions that may imply one, or be implied by it."""
        rarest = self._rarest(part)
        families = set(map(_family, parts_of(part)))
        if rarest is None or None in families:
            return list(self.parts)
        found = dict.fromkeys((*self._by_any_part.anywhere, *self._by_rarest_part.anywhere))
        found.update(dict.fromkeys(self._by_any_part.near(rarest)))
        for family in families:
            if family is not None:
                found.update(dict.fromkeys(self._by_rarest_part.near(family)))
        return list(found)

    def _rarest(self, condition: Condition) -> _Family | None:
        families = (family for family in map(_family, parts_of(condition)) if family is not None)
        return min(families, key=self._by_any_part.size, default=None)


def _family(part: Condition) -> _Family | None:
    """The family of a part: different families do not imply each other; None if all may.

    A family is a type and a name: that of a label, or the part itself where it implies no other of
    its type. A part without a name is near to all of its type.
    """
    match part:
        case AllOf() | AnyOf():
            return None
        case Exists(_, label) | SelfIs(label):
            return type(part), label.local
        case Not(inner) | AtDocument(inner):
            family = _family(inner)
            return type(part), None if family is None or family[1] is None else family
        case ValueTest() | FirstValue() | Residual():
            return type(part), part


def _is_redundant_beside(part: Condition, kept: list[Condition], conjunction: bool) -> bool:  # noqa: FBT001
    for other in kept:  # noqa: SIM110  # A generator would take longer to make than most lists to read.
        if _is_redundant(part, other, conjunction):
            return True
    return False


def _is_redundant(part: Condition, beside: Condition, conjunction: bool) -> bool:  # noqa: FBT001
    return implies(beside, part) if conjunction else implies(part, beside)
