"""Estimates of the work that an expression can make for libxml2.

In XPath 1.0 a short expression can take a cubic amount of work (``//*[count(//*[…]) > 0]``), and
libxml2 cannot be stopped once it has begun. The kernel counts its steps as it evaluates; where it
is not installed, or not sure, the work is estimated beforehand, from the expression and the sizes
of the document alone, so that the same pair gets the same verdict on every machine. The unit is
one visit of one node, some 10 nanoseconds. Estimates are upper bounds, and rough by choice.

A node-set on its way is three numbers: how many nodes there are in all evaluations together
(``pairs``), at most how often one and the same node is among them (``repeats``), and how many nodes
one evaluation has (``size``):

    child steps     every node is a child of one parent       visits ≤ repeats · nodes
    descendants     a node is below ``depth`` of them         visits ≤ repeats · depth · nodes
    siblings        of which there are at most ``breadth``    visits ≤ pairs · breadth
    other axes      every node may see every node             visits ≤ pairs · nodes

Where only the existence of a node counts, libxml2 stops at the first: nothing is joined, and
with ``*`` or ``node()`` the first is near. Joining the node-sets of two steps, where one node may
be found twice, compares every node with every other, as ``|`` and ``=`` do; what is given to a
function is sorted first, by walking along siblings.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, assert_never

from twigcast.language.condition.model import Kind, Label
from twigcast.language.pattern import CANONICAL_LIMITS, Pattern
from twigcast.language.translate.translate import step_label
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import (
    Axis,
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    KindTest,
    Literal,
    Negative,
    Number,
    Path,
    Step,
    Union,
    direct,
)
from twigcast.matching.residual.document_stats import Sizes

_EVALUATION: Final = 5
"""Evaluating one part of an expression, whatever it is."""
_PREDICATE: Final = 10
_PAIR: Final = 0.3
"""Comparing the values of two nodes."""
_MERGED: Final = 0.1
"""Finding that two nodes are not the same."""
_LETTER: Final = 0.05
"""A character that is read, or compared with another."""
_DIGIT: Final = 0.2
"""A character that may be a digit."""
_REPLACED: Final = 0.5
"""A character compared with one of those to be replaced."""
_NAMESPACES, _NAMESPACE, _NAMESPACE_PAIR = 20, 40, 0.5
"""Gathering the namespaces of an element, a copy of each, and comparing each with each."""
_NAMED: Final = 20
"""Asking a node for its name, as ``*:a`` does."""
_NAME_LENGTH: Final = 1_000
"""No name or namespace is longer, by the limits of documents."""
_NUMBER_CHARACTERS: Final = 30
"""No number is longer when written."""


class _Nodes(NamedTuple):
    """Node-sets, one for each evaluation of an expression."""

    pairs: float
    repeats: float
    size: float
    leaves: bool = False
    """Whether there is nothing below the nodes."""
    ordered: bool = True
    """Whether libxml2 finds them in document order."""

    def alone(self) -> _Nodes:
        """The nodes as the starting points of paths: sets of one."""
        return self._replace(size=1, ordered=True)

    def of(self, evaluations: float) -> _Nodes:
        """The sets of so many evaluations, in each of which a node is but once."""
        pairs, repeats = min(self.pairs, evaluations * self.size), min(self.repeats, evaluations)
        return self._replace(pairs=pairs, repeats=repeats)

    def first_of_each(self, evaluations: float) -> _Nodes:
        """The first node of each of the sets."""
        return self._replace(pairs=min(self.pairs, evaluations), size=1)


class _Value(NamedTuple):
    """The cost of evaluating an expression, and the size of the result: nodes or characters."""

    cost: float
    nodes: _Nodes | None = None
    characters: float = _NUMBER_CHARACTERS
    """Of one string."""
    total: float | None = None
    """Of all strings together, if that is less than so many of one each."""


_DOCUMENT: Final = _Nodes(1, 1, 1)


def expression_of(pattern: Pattern) -> Expression:
    """The expression that libxml2 evaluates for a pattern; paths are predicates in each other."""
    text, namespaces = pattern.for_libxml2()
    return parse_expression(text, namespaces, CANONICAL_LIMITS)


def expression_cost(expression: Expression, sizes: Sizes) -> float:
    """An upper bound of the visits that deciding a rooted expression at the document node takes.

    Infinity for more than a float can hold.
    """
    try:
        cost = _Estimate(sizes).value(expression, _DOCUMENT, exists=True).cost
    except OverflowError:
        return math.inf
    return math.inf if math.isnan(cost) else cost


class _Estimate:
    """Estimates for one document. ``context`` are the nodes at which something is evaluated."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def value(self, expression: Expression, context: _Nodes, *, exists: bool = False) -> _Value:
        """One evaluation at each of the nodes; of all the cost is that of all together."""
        each = context.pairs * _EVALUATION
        match expression:
            case Path(absolute, steps):
                start = _DOCUMENT._replace(pairs=context.pairs, repeats=context.pairs)
                cost, nodes = self._steps(
                    steps, start if absolute else context.alone(), context, exists=exists
                )
                return _Value(each + cost, nodes)
            case Chain(base, steps):
                value = self.value(base, context)
                cost, nodes = self._steps(steps, value.nodes or context, context, exists=exists)
                return _Value(value.cost + cost, nodes)
            case Filter(base, predicates):
                value = self.value(base, context)
                found = value.nodes or context
                cost, nodes = self._filtered(predicates, found, context)
                return _Value(value.cost + self._sorted(found) + cost, nodes)
            case Union(parts):
                return self._union([self.value(part, context) for part in parts])
            case Binary():
                return self._binary(expression, context)
            case Negative(operand):
                return _Value(each + self._number(self.value(operand, context), context))
            case Call():
                return self._call(expression, context)
            case Literal(text):
                return _Value(each, characters=len(text.encode()))
            case Number():
                return _Value(each)
            case _:
                assert_never(expression)

    # Node-sets.

    def _steps(
        self, steps: tuple[Step, ...], nodes: _Nodes, context: _Nodes, *, exists: bool
    ) -> tuple[float, _Nodes]:
        total = 0.0
        straight = direct(steps)
        for number, step in enumerate(straight):
            last = exists and number == len(straight) - 1
            cost, found = self._step(step, nodes)
            if _is_any(step) and ((last and not step.predicates) or step.predicates[:1] == _FIRST):
                # The nearest element will do.
                cost = min(cost, nodes.pairs * (self._sizes.depth + self._sizes.between + 1))
                found = found._replace(pairs=min(found.pairs, nodes.pairs))
            more, kept = self._filtered(step.predicates, found, nodes)
            total += cost + more
            if nodes.size > 1 and step.axis not in _DISJOINT and not last:
                total += kept.pairs * kept.size * _MERGED
            nodes = kept.of(context.pairs)
        return total, nodes

    def _filtered(
        self, predicates: tuple[Expression, ...], found: _Nodes, before: _Nodes
    ) -> tuple[float, _Nodes]:
        """The cost of predicates on the nodes found from those before, and the nodes left."""
        cost = 0.0
        for predicate in predicates:
            if isinstance(predicate, Number):
                cost += found.pairs
            else:
                cost += found.pairs * _PREDICATE + self.value(predicate, found, exists=True).cost
            if isinstance(predicate, Number) or predicate == _LAST:
                # From each node before, at most one is left.
                pairs, size = min(found.pairs, before.pairs), min(found.size, before.size)
                found = found._replace(pairs=pairs, size=size)
        return cost, found

    def _step(self, step: Step, nodes: _Nodes) -> tuple[float, _Nodes]:
        """The visits of a step from each of the nodes, and the nodes that have its label."""
        axis, label, sizes = step.axis, step_label(step), self._sizes
        pairs = nodes.pairs
        if axis is Axis.NAMESPACE:
            spaces = sizes.namespaces
            each = _NAMESPACES + spaces * (_NAMESPACE + spaces * _NAMESPACE_PAIR)
            found = _Nodes(pairs * spaces, pairs, nodes.size * spaces, leaves=True, ordered=False)
            return pairs * (sizes.depth + each), found
        visits, seen = self._reached(axis, nodes)
        labelled = sizes.count(label)
        found = _Nodes(
            pairs=min(visits, seen * labelled),
            repeats=seen,
            size=min(labelled, nodes.size * sizes.nodes),
            leaves=label is not None and label.kind is not Kind.ELEMENT,
            ordered=axis in _FORWARD
            and (nodes.size <= 1 or (axis in (Axis.SELF, Axis.ATTRIBUTE) and nodes.ordered)),
        )
        return pairs + visits + _naming(label, visits, found.pairs), found

    def _reached(self, axis: Axis, nodes: _Nodes) -> tuple[float, float]:
        """The nodes visited from all of the nodes, and how often one may be visited."""
        sizes, pairs, repeats = self._sizes, nodes.pairs, nodes.repeats
        everything = sizes.nodes + sizes.depth
        match axis:
            case Axis.SELF:
                return pairs, repeats
            case Axis.PARENT:
                return pairs, min(pairs, repeats * sizes.breadth)
            case Axis.CHILD | Axis.ATTRIBUTE:
                return min(repeats * sizes.nodes, pairs * sizes.breadth), repeats
            case Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF:
                seen = min(repeats * sizes.depth, pairs)
                return pairs + seen * sizes.nodes, seen
            case Axis.FOLLOWING_SIBLING | Axis.PRECEDING_SIBLING:
                return pairs * sizes.breadth, min(pairs, repeats * sizes.breadth)
            case Axis.ANCESTOR | Axis.ANCESTOR_OR_SELF:
                return pairs * (sizes.depth + 1), pairs
            case _:
                return pairs * everything, pairs

    def _union(self, values: list[_Value]) -> _Value:
        sets = [value.nodes for value in values if value.nodes]
        joined = _Nodes(
            pairs=sum(nodes.pairs for nodes in sets),
            repeats=sum(nodes.repeats for nodes in sets),
            size=sum(nodes.size for nodes in sets),
            leaves=all(nodes.leaves for nodes in sets),
            ordered=False,
        )
        merged = joined.pairs * joined.size * _MERGED
        return _Value(sum(value.cost for value in values) + merged, joined)

    def _sorted(self, nodes: _Nodes) -> float:
        """Bringing node-sets into document order.

        Two nodes are compared by going up to a common parent, and from one to the other along
        its children; what is no element, by the element before it.
        """
        if nodes.size <= 1:
            return 0
        sizes = self._sizes
        around = sizes.depth + sizes.between
        along = min(nodes.repeats * sizes.nodes, nodes.pairs * sizes.breadth)
        in_order = nodes.pairs * (_EVALUATION + around) + along
        if nodes.ordered:
            return in_order
        return max(in_order, nodes.pairs * math.log2(nodes.size) * (around + sizes.breadth))

    def _read(self, nodes: _Nodes, weight: float) -> float:
        """Reading the string-value of every node."""
        times = self._times(nodes)
        below = 0 if nodes.leaves else times * self._sizes.nodes
        return nodes.pairs + below + times * self._sizes.characters * weight

    def _times(self, nodes: _Nodes) -> float:
        """How often one text is part of a string-value."""
        return min(nodes.pairs, nodes.repeats * (1 if nodes.leaves else self._sizes.depth))

    # Operators and functions.

    def _binary(self, binary: Binary, context: _Nodes) -> _Value:
        sides = self.value(binary.left, context), self.value(binary.right, context)
        cost = context.pairs * _EVALUATION
        if binary.operator in _ARITHMETIC:
            return _Value(cost + sum(self._number(side, context) for side in sides))
        cost += sides[0].cost + sides[1].cost
        if binary.operator in ("and", "or"):
            return _Value(cost)
        sets = [side.nodes for side in sides if side.nodes]
        weight = _LETTER if binary.operator in ("=", "!=") else _DIGIT
        cost += sum(self._read(nodes, weight) for nodes in sets)
        if len(sets) > 1:
            one, other = sets
            cost += min(one.pairs * other.size, one.size * other.pairs) * _PAIR
            if weight is _LETTER:
                times = min(self._times(one) * other.size, self._times(other) * one.size)
                cost += times * self._sizes.characters * _LETTER
        return _Value(cost)

    def _call(self, call: Call, context: _Nodes) -> _Value:
        arguments = [self.value(argument, context) for argument in call.arguments]
        cost = context.pairs * _EVALUATION + sum(argument.cost for argument in arguments)
        sets = [argument.nodes for argument in arguments if argument.nodes]
        if call.name != "count":
            cost += sum(map(self._sorted, sets))
        if not arguments and call.name in _ABOUT_CONTEXT:
            arguments, sets = [_Value(0, context.alone())], [context.alone()]
        characters = float(self._sizes.characters)
        match call.name:
            case "count" | "last" | "position" | "true" | "false" | "not" | "boolean":
                return _Value(cost)
            case "number" | "floor" | "ceiling" | "round":
                return _Value(cost + self._number(arguments[0]._replace(cost=0), context))
            case "sum":
                return _Value(cost + sum(self._read(nodes, _DIGIT) for nodes in sets))
            case "name" | "local-name" | "namespace-uri":
                # Many elements share a namespace; names are part of the text, each at its place.
                length = min(_NAME_LENGTH, characters)
                own = (
                    context.repeats if call.name != "namespace-uri" and not sets else context.pairs
                )
                letters = min(context.pairs * length, own * characters)
                return _Value(cost + 2 * letters * _LETTER, characters=length)
            case "lang":
                cost += self._text_cost(arguments, context)
                # Going up to the root, and through all attributes on the way.
                levels = self._sizes.depth + 1
                above = levels + min(self._sizes.nodes, levels * self._sizes.attributes_each)
                return _Value(cost + context.pairs * above)
            case "id":
                return self._identified(cost, arguments[0], context)
            case _:
                return self._text_function(call, cost, arguments, context)

    def _identified(self, cost: float, names: _Value, context: _Nodes) -> _Value:
        """Every name is looked up, and its node compared with those found before."""
        sizes = self._sizes
        size = min(sizes.nodes, sizes.characters if names.nodes else names.characters)
        read = self._read(names.nodes, _LETTER) if names.nodes else 0
        looked_up = context.pairs * (names.characters if not names.nodes else sizes.characters)
        found = _Nodes(context.pairs * size, context.pairs, size, ordered=False)
        return _Value(cost + read + looked_up + found.pairs * size * _MERGED, found)

    def _text_function(
        self, call: Call, cost: float, arguments: list[_Value], context: _Nodes
    ) -> _Value:
        """Functions that read strings: work by the character."""
        cost += self._text_cost(arguments, context)
        lengths = [self._length(argument) for argument in arguments]
        totals = [self._all_of(argument, context) for argument in arguments]
        if call.name == "concat":
            # Each piece is put behind all that came before.
            pieces = sum(totals) * len(lengths) * _LETTER
            return _Value(cost + pieces, characters=sum(lengths), total=sum(totals))
        if call.name == "translate":
            cost += totals[0] * lengths[1] * _REPLACED
        elif call.name in _SEARCHING:
            # Text like the needle's beginning is read again at every place.
            cost += totals[0] * min(lengths) * _LETTER
        return _Value(cost, characters=lengths[0], total=totals[0])

    def _text_cost(self, arguments: list[_Value], context: _Nodes) -> float:
        """Making strings of arguments, and copying them."""
        firsts = [one.nodes.first_of_each(context.pairs) for one in arguments if one.nodes]
        read = sum(self._read(nodes, _LETTER) for nodes in firsts)
        return read + sum(self._all_of(one, context) for one in arguments) * 2 * _LETTER

    def _length(self, value: _Value) -> float:
        """How long one string can be."""
        return self._sizes.characters if value.nodes else value.characters

    def _all_of(self, value: _Value, context: _Nodes) -> float:
        """How long all strings together can be."""
        if value.nodes:
            return self._times(value.nodes.first_of_each(context.pairs)) * self._sizes.characters
        return context.pairs * value.characters if value.total is None else value.total

    def _number(self, value: _Value, context: _Nodes) -> float:
        """The cost of the value as a number."""
        if value.nodes is None:
            return value.cost + self._all_of(value, context) * _DIGIT
        first = value.nodes.first_of_each(context.pairs)
        return value.cost + self._sorted(value.nodes) + self._read(first, _DIGIT)


def _naming(label: Label | None, visits: float, found: float) -> float:
    """Comparing names with that of a label, where it takes more than a glance."""
    if label is None or label.kind is Kind.TEXT or label.namespace is label.local is None:
        return 0
    if label.namespace is None:
        return visits * _NAMED
    return found * len(label.namespace.encode()) * _LETTER


def _is_any(step: Step) -> bool:
    """Whether every element passes the step's test."""
    if isinstance(step.test, KindTest):
        return step.test.kind == "node"
    return step.test.namespace is step.test.local is None


_FIRST: Final = (Number("1"),)
_LAST: Final = Call("last", ())
_ARITHMETIC: Final = frozenset({"+", "-", "*", "div", "mod"})
_SEARCHING: Final = frozenset({"contains", "substring-before", "substring-after"})
_ABOUT_CONTEXT: Final = frozenset({"string", "number", "string-length", "normalize-space"})
_DISJOINT: Final = frozenset({Axis.CHILD, Axis.ATTRIBUTE, Axis.SELF, Axis.NAMESPACE})
"""Axes whose nodes belong to one context node only, so that no node is found twice."""
_FORWARD: Final = frozenset(Axis) - {
    Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF, Axis.PRECEDING, Axis.PRECEDING_SIBLING, Axis.NAMESPACE,
}  # fmt: skip
