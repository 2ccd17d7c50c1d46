"""How much work an expression can make for libxml2, before it is asked.

XPath 1.0 lets a short expression ask for a cubic amount of work (``//*[count(//*[…]) > 0]``), and
libxml2 cannot be stopped once it has begun. So the work is estimated beforehand, from the
expression and the sizes of the document alone: the same pair gets the same verdict on every
machine. The unit is one visit of one node; a million take a few milliseconds.

The estimate follows how libxml2 evaluates. For a condition, ``times`` is how often it is evaluated
in all, and ``again`` how often at most at one and the same node:

    child steps     every node is a child of one parent       visits ≤ again · nodes
    descendants     a node has at most ``depth`` ancestors    visits ≤ again · depth · nodes
    siblings        of which there are at most ``breadth``    visits ≤ times · breadth
    other axes      every node may see every node             visits ≤ times · nodes

Joining the node-sets of a path behind ``//`` costs libxml2 a comparison of every node with every
other. Estimates are upper bounds by design and rough by choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

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
    Reach,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.meaning import step_label
from twigcast.language.syntax import (
    Axis,
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
    Type,
    Union,
    type_of,
)

__all__ = ["Sizes", "condition_cost"]

_PREDICATE = 10
"""Evaluating a predicate costs about as much as walking over ten nodes."""

_CHARACTERS = 1 / 64
"""Collecting 64 characters of a string-value costs about as much as one visit."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the estimate knows of a document."""

    nodes: int
    depth: int
    breadth: int
    characters: int
    labels: Mapping[Label, int] | None = None
    """How often each label occurs; without it, every label may be on every node."""

    def count(self, label: Label | None) -> int:
        """At most how many nodes have the label."""
        if self.labels is None or label is None or label.local is None:
            return self.nodes
        return self.labels.get(label, 0)


def condition_cost(condition: Condition, sizes: Sizes) -> float:
    """An upper bound of the visits that deciding the condition at the document node takes."""
    return _Estimate(sizes).condition(condition, 1, 1, Kind.ELEMENT)


class _Estimate:
    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def condition(self, condition: Condition, times: float, again: float, kind: Kind) -> float:
        sizes = self._sizes
        match condition:
            case Exists(reach, label, where):
                if reach is Reach.DESCENDANT:
                    again = min(again * sizes.depth, times)
                found = min(times, again) * sizes.count(label)
                visits = min(times, again) * sizes.nodes
                return visits + found * _PREDICATE + self.condition(where, found, again, label.kind)
            case AllOf(parts) | AnyOf(parts):
                return times + sum(self.condition(part, times, again, kind) for part in parts)
            case Not(part):
                return times + self.condition(part, times, again, kind)
            case AtDocument(inner):
                return times * self.condition(inner, 1, 1, Kind.ELEMENT)
            case SelfIs():
                return times
            case ValueTest():
                nested = 1 if kind is not Kind.ELEMENT else min(times, again * sizes.depth)
                return times + nested * sizes.characters * _CHARACTERS
            case FirstValue(steps, test):
                cost, reached = 0.0, 1.0
                for step in steps:
                    cost += times * min(reached * sizes.nodes, sizes.depth * sizes.nodes)
                    reached = sizes.count(step.label)
                    cost += self.condition(step.where, times * reached, times, step.label.kind)
                    cost += times * reached * reached if step.reach is Reach.DESCENDANT else 0
                return cost + self.condition(test, times, times, Kind.ELEMENT)
            case Residual(expression):
                return self._expression(expression, times)[0]
            case _:
                assert_never(condition)

    def _expression(self, expression: Expression, times: float) -> tuple[float, float]:
        """The cost of so many evaluations, and how many nodes one of them gives."""
        match expression:
            case Path(_, steps):
                return self._steps(steps, 1, times)
            case Chain(base, steps):
                cost, size = self._expression(base, times)
                more, size = self._steps(steps, size, times)
                return cost + more, size
            case Filter(base, predicates):
                cost, size = self._expression(base, times)
                return cost + self._predicates(predicates, times * size), size
            case Union(parts):
                each = [self._expression(part, times) for part in parts]
                size = sum(size for _, size in each)
                return sum(cost for cost, _ in each) + times * size * size, size
            case Binary(_, left, right):
                (cost, size), (more, other) = (
                    self._expression(side, times) for side in (left, right)
                )
                return cost + more + times * max(1, size) * max(1, other), 0
            case Negative(operand):
                return times + self._expression(operand, times)[0], 0
            case Call():
                return self._call(expression, times)
            case Literal() | Number():
                return times, 0
            case _:
                assert_never(expression)

    def _call(self, call: Call, times: float) -> tuple[float, float]:
        each = [self._expression(argument, times) for argument in call.arguments]
        cost = times + sum(cost for cost, _ in each)
        if call.name in _READING and (
            not call.arguments or any(type_of(a) is Type.NODES for a in call.arguments)
        ):
            cost += times * self._sizes.characters * _CHARACTERS
        return cost, float(self._sizes.nodes) if call.name == "id" else 0

    def _steps(self, steps: tuple[Step, ...], size: float, times: float) -> tuple[float, float]:
        """The same for steps that begin at ``size`` nodes."""
        cost = 0.0
        for step in steps:
            visits, found = self._step(step, size)
            kept = min(found, self._sizes.count(step_label(step)))
            if size > 1 and step.axis not in _DISJOINT:
                cost += times * found * kept
            cost += times * visits + self._predicates(step.predicates, times * found)
            size = kept
        return cost, size

    def _step(self, step: Step, size: float) -> tuple[float, float]:
        """How many nodes a step from ``size`` nodes visits, and how many have its label."""
        nodes, depth = self._sizes.nodes, self._sizes.depth
        labelled = self._sizes.count(step_label(step))
        match step.axis:
            case Axis.SELF | Axis.PARENT:
                return size, size
            case Axis.CHILD | Axis.ATTRIBUTE:
                return min(size, 1) * nodes, labelled
            case Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF:
                return min(size, depth) * nodes, min(size, depth) * labelled
            case Axis.ANCESTOR | Axis.ANCESTOR_OR_SELF | Axis.NAMESPACE:
                return size * depth, size * depth
            case Axis.FOLLOWING_SIBLING | Axis.PRECEDING_SIBLING:
                breadth = self._sizes.breadth
                return size * breadth, size * min(breadth, labelled)
            case _:
                return size * nodes, size * labelled

    def _predicates(self, predicates: tuple[Expression, ...], times: float) -> float:
        return sum(times * _PREDICATE + self._expression(p, times)[0] for p in predicates)


_DISJOINT: Final = frozenset({Axis.CHILD, Axis.ATTRIBUTE, Axis.SELF})
"""Axes whose nodes belong to one context node only, so that no node is found twice."""

_READING: Final = frozenset(
    {
        "string", "number", "contains", "starts-with", "substring", "substring-before", "concat",
        "substring-after", "string-length", "normalize-space", "translate", "sum", "id",
    }
)  # fmt: skip
"""Functions that read the string-values of nodes."""
