"""The depth of conditions, which bounds the recursion of functions over them.

Functions that write, weaken, compare, compile and decide conditions recurse into the parts. Each
level takes some frames of the interpreter's stack, of which there are a thousand. So patterns from
untrusted sources are checked for their depth first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Not,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.xpath.syntax import (
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    Literal,
    Negative,
    Number,
    Path,
    Step,
    Union,
)

_Node: TypeAlias = Condition | Expression


def depth_of(condition: Condition) -> int:
    """The greatest number of parts nested inside each other.

    Each step of a path counts as nested inside the one before. What libxml2 is given takes more
    frames to read where there are steps to descendants, which are predicates there, and where a
    path is negated, which is a call around a predicate: these count twice and five times.

    >>> from twigcast.language import Pattern
    >>> [depth_of(Pattern(text).condition) for text in ("/a", "/a/b//c", "/a[b][c]", "1 + 1 + 1")]
    [2, 5, 4, 5]
    """
    deepest = 0
    waiting: list[tuple[_Node, int]] = [(condition, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(part, depth + below) for part, below in _parts(node)]
    return deepest


def _parts(node: _Node) -> Iterator[tuple[_Node, int]]:  # noqa: C901 (one case for each kind)
    """The parts of a condition or an expression, with their levels below it."""
    match node:
        case Exists(reach, _, where):
            yield where, 2 if reach is Reach.DESCENDANT else 1
        case AllOf(parts) | AnyOf(parts):
            yield from ((part, 1) for part in parts)
        case Not(Exists() | Residual() as part):
            yield part, 5
        case Not(part) | AtDocument(part):
            yield part, 1
        case FirstValue(steps, test):
            yield from ((step.where, place) for place, step in enumerate(steps, start=1))
            yield test, len(steps) + 1
        case Residual(expression):
            yield expression, 1
        case Path(_, steps):
            yield from _in_steps(steps)
        case Chain(base, steps):
            yield base, 1
            yield from _in_steps(steps)
        case Filter(base, predicates):
            yield base, 1
            yield from ((predicate, 1) for predicate in predicates)
        case Call(_, parts) | Union(parts):
            yield from ((part, 1) for part in parts)
        case Binary(_, left, right):
            yield left, 1
            yield right, 1
        case Negative(operand):
            yield operand, 1
        case SelfIs() | ValueTest() | Literal() | Number():
            pass
        case _:
            assert_never(node)


def _in_steps(steps: tuple[Step, ...]) -> Iterator[tuple[_Node, int]]:
    for place, step in enumerate(steps, start=1):
        yield from ((predicate, place + 1) for predicate in step.predicates)
    yield Number("1"), len(steps)
