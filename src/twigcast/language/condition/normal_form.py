"""Constructors of conditions in canonical form.

Each function takes canonical parts and returns a canonical whole, so that two spellings of one
meaning become the same value as often as such simple rules achieve it:

    a[b][c], a[c and b], a[b]/c   →   one value
    a[b][b/c]                     →   a/b/c
    *[self::a], *[a or a]         →   a, */a
    //a[/b]                       →   //a and /b

The order of parts is the order of their canonical texts, so it depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from twigcast.language.condition.model import (
    FALSE,
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
    Reach,
    Residual,
    SelfIs,
    ValueTest,
    parts_of,
    without_redundant,
)
from twigcast.language.condition.writer import ends_in_value, part_text, step_text

_RANK: Final[dict[type, int]] = {
    kind: rank
    for rank, kind in enumerate(
        (SelfIs, ValueTest, FirstValue, Not, AnyOf, AllOf, Residual, AtDocument, Exists)
    )
}
"""Cheap tests first, bare paths last: the last path of a step continues it in the text."""

_AT_LEAF: Final[frozenset[type]] = frozenset({ValueTest, Residual})
_STAYING: Final[dict[Kind, frozenset[type]]] = {
    Kind.ELEMENT: _AT_LEAF | {Exists, FirstValue},
    Kind.ATTRIBUTE: _AT_LEAF,
    Kind.TEXT: _AT_LEAF,
}
"""The parts that a node of the kind can have and that :func:`exists` leaves in place."""
_MAY_STAY: Final[dict[Kind, frozenset[type]]] = {
    kind: staying | ({Not, AnyOf} if kind is Kind.ELEMENT else frozenset())
    for kind, staying in _STAYING.items()
}
"""The same with parts that stay unless they are about the document node alone."""


def all_of(parts: Iterable[Condition]) -> Condition:
    """The conjunction of the parts."""
    flat: list[Condition] = []
    for part in parts:
        if isinstance(part, AllOf):
            flat += part.parts
        else:
            flat.append(part)
    if len(flat) == 1:
        return flat[0]
    kinds = set(map(type, flat))
    kept = without_redundant(_one_name(flat) if SelfIs in kinds else flat, conjunction=True)
    if FALSE in kept or (Not in kinds and _has_complement(kept)):
        return FALSE
    return _joined(AllOf, kept)


def any_of(parts: Iterable[Condition]) -> Condition:
    """The disjunction of the parts."""
    flat = [
        inner for part in parts for inner in (part.parts if isinstance(part, AnyOf) else (part,))
    ]
    if len(flat) == 1:
        return flat[0]
    kept = without_redundant(flat, conjunction=False)
    if TRUE in kept or _has_complement(kept):
        return TRUE
    return _joined(AnyOf, kept)


def negation(part: Condition) -> Condition:
    """The negation of the part."""
    if part is TRUE:
        return FALSE
    if part is FALSE:
        return TRUE
    if isinstance(part, Not):
        return part.part
    if isinstance(part, AtDocument):
        return at_document(negation(part.condition))
    return Not(part)


def exists(reach: Reach, label: Label, where: Condition) -> Condition:
    """A child or descendant with the label that satisfies ``where``.

    Parts of ``where`` about the document node are moved out of it, and parts about the label into
    the label.
    """
    if where is TRUE or (type(where) is Exists and label.kind is Kind.ELEMENT):
        # By far the most common: a path ends, or goes on.
        return Exists(reach, label, where)
    parts = parts_of(where)
    if _STAYING[label.kind].issuperset(map(type, parts)):
        # The next most common: it branches, or a value is compared.
        return Exists(reach, label, where)
    if _MAY_STAY[label.kind].issuperset(map(type, parts)) and not any(map(is_outside, parts)):
        return Exists(reach, label, where)
    if label.kind is not Kind.ELEMENT:
        parts = parts_of(_on_leaf(where, label.kind))
    outside: list[Condition] = []
    inside: list[Condition] = []
    for part in parts:
        if is_outside(part):
            outside.append(part)
        elif isinstance(part, SelfIs):
            met = label.meet(part.label)
            if met is None:
                return FALSE
            label = met
        else:
            inside.append(part)
    rest = all_of(inside)
    if rest is FALSE:
        return FALSE
    return all_of([Exists(reach, label, rest), *outside])


def at_document(condition: Condition) -> Condition:
    """The condition at the document node, for any context node.

    Each part is applied there on its own, as it is written: ``[/a or /b]``.
    """
    condition = on_document(condition)
    if condition is TRUE or condition is FALSE or isinstance(condition, AtDocument):
        return condition
    match condition:
        case AllOf(parts):
            return all_of(map(at_document, parts))
        case AnyOf(parts):
            return any_of(map(at_document, parts))
        case Not(AllOf() | AnyOf() as several):
            return negation(at_document(several))
        case _:
            return AtDocument(condition)


def on_document(condition: Condition) -> Condition:
    """The condition at the document node itself, where AtDocument is redundant."""
    if isinstance(condition, Exists):
        # Attributes and texts are below elements.
        placed = condition.reach is Reach.DESCENDANT or condition.label.kind is Kind.ELEMENT
        return condition if placed else FALSE
    match condition:
        case AtDocument(inner):
            return on_document(inner)
        case AllOf(parts):
            return all_of(map(on_document, parts))
        case AnyOf(parts):
            return any_of(map(on_document, parts))
        case Not(part):
            return negation(on_document(part))
        case SelfIs():
            return FALSE
        case _:
            return condition


def is_outside(condition: Condition) -> bool:
    """Whether it is about the document node alone: ``[/a or not(/b)]``; so is FALSE."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            return all(map(is_outside, parts))
        case Not(part):
            return is_outside(part)
        case _:
            return isinstance(condition, AtDocument)


def _on_leaf(condition: Condition, kind: Kind) -> Condition:
    """The condition at an attribute or a text, which has no nodes below it."""
    match condition:
        case AllOf(parts):
            return all_of(_on_leaf(part, kind) for part in parts)
        case AnyOf(parts):
            return any_of(_on_leaf(part, kind) for part in parts)
        case Not(part):
            return negation(_on_leaf(part, kind))
        case Exists() | FirstValue():
            return FALSE
        case SelfIs(label):
            return condition if label.kind is kind else FALSE
        case _:
            return condition


def _has_complement(parts: list[Condition]) -> bool:
    """Whether the parts include a part and its negation."""
    negated = [part.part for part in parts if isinstance(part, Not)]
    return bool(negated) and not set(negated).isdisjoint(parts)


def _one_name(parts: list[Condition]) -> list[Condition]:
    """The parts, with those about the node's own label joined into one."""
    labels = [part.label for part in parts if isinstance(part, SelfIs)]
    if len(labels) < 2:  # noqa: PLR2004
        return parts
    met: Label | None = labels[0]
    for label in labels[1:]:
        met = met.meet(label) if met else None
    others = [part for part in parts if not isinstance(part, SelfIs)]
    return [SelfIs(met) if met else FALSE, *others]


def _joined(kind: type[AllOf | AnyOf], parts: list[Condition]) -> Condition:
    if len(parts) == 1:
        return parts[0]
    return kind(tuple(_in_order(parts)))


def _in_order(parts: list[Condition]) -> list[Condition]:
    """The parts in their fixed order; the beginnings of their texts are usually enough."""
    beginnings = [_beginning(part) for part in parts]
    if len(parts) == 2 and beginnings[0][:2] != beginnings[1][:2]:  # noqa: PLR2004
        # A test and a path, most of the time.
        return parts if beginnings[0] < beginnings[1] else parts[::-1]
    known = sorted(zip(beginnings, range(len(parts)), strict=True))
    for (before, _), (after, _) in pairwise(known):
        if before[:2] == after[:2] and after[2].startswith(before[2]):
            return sorted(parts, key=lambda part: (*_beginning(part)[:2], part_text(part)))
    return [parts[place] for _, place in known]


def _beginning(part: Condition) -> tuple[int, bool, str]:
    """The part's rank, whether it is a bare path, and the beginning of its text, which is cheap."""
    if isinstance(part, Exists) and not ends_in_value(part):
        return _RANK[Exists], True, step_text(part.reach, part.label)
    return _RANK[type(part)], False, ""
