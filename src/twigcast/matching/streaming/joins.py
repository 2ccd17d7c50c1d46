"""Joins: whether a leaf's condition holds at a node, as far as the document has been read.

While an element is open, a branch that has not been found may still come, so a condition is true,
false or *not known yet*. A negation is known as soon as its part is: that is at once where the
part is found, and otherwise only with the end tag. The same goes for the string-value.

    a[b or not(c)]     <a><b>    true        <a><d/>    not known        <a><d/></a>    true
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import assert_never

from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Not,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.condition.value_tests import passes
from twigcast.matching.streaming.automaton import Leaf, key_of, keys_of


def holds_at(
    leaf: Leaf,
    kind: Kind,
    tag: str,
    *,
    found: Collection[Leaf] = (),
    value: Callable[[], str] | None = None,
) -> bool | None:
    """Whether the leaf holds at a node of its state; None while that cannot be known.

    ``found`` are the branches found below the node so far. Its string-value is given, as a
    function, once the node has been read to its end.
    """

    def truth(where: Condition) -> bool | None:
        match where:
            case Exists():
                return True if leaf.branches[where] in found else (None if value is None else False)
            case AllOf(parts) | AnyOf(parts):
                decisive = isinstance(where, AnyOf)
                doubt = False
                for part in parts:
                    answer = truth(part)
                    if answer is decisive:
                        return decisive
                    doubt |= answer is None
                return None if doubt else not decisive
            case Not(part):
                answer = truth(part)
                return None if answer is None else not answer
            case SelfIs(label):
                return key_of(label) in keys_of(kind, tag)
            case ValueTest():
                return None if value is None else passes(where, value())
            case FirstValue() | AtDocument() | Residual():
                raise AssertionError("an automaton holds no such condition")
            case _:
                assert_never(where)

    return truth(leaf.where)
