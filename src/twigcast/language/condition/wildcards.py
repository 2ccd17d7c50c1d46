"""Wildcards of conditions, which brokers number alike: in the order of the canonical text, from 1.

A wildcard is a ``*`` or a ``//``; that of ``//`` comes before the one of the same step.

>>> from twigcast.language import Pattern
>>> wildcards_in(Pattern("//a[.//b]/*").condition)
3
"""

from __future__ import annotations

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
    Reach,
    SelfIs,
)


def wildcards_in(condition: Condition) -> int:
    """How many wildcards there are in a condition."""
    match condition:
        case Exists(reach, label, where):
            return _in_step(reach, label) + wildcards_in(where)
        case FirstValue(steps):
            return sum(
                _in_step(each.reach, each.label) + wildcards_in(each.where) for each in steps
            )
        case AllOf(parts) | AnyOf(parts):
            return sum(map(wildcards_in, parts))
        case Not(part) | AtDocument(part):
            return wildcards_in(part)
        case SelfIs(label):
            return int(is_own_wildcard(label))
        case _:
            return 0


def is_wildcard(label: Label) -> bool:
    """Whether the label of a step is written with ``*``."""
    return label.local is None and label.kind is not Kind.TEXT


def is_own_wildcard(label: Label) -> bool:
    """Whether a node's own label is written as ``self::p:*``; an attribute's never is."""
    return label.local is None and label.kind is Kind.ELEMENT


def _in_step(reach: Reach, label: Label) -> int:
    return (reach is Reach.DESCENDANT) + is_wildcard(label)
