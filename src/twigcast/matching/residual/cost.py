"""How much work an expression can make for libxml2, before it is asked.

XPath 1.0 lets a short expression ask for a cubic amount of work (``//*[count(//*[…]) > 0]``), and
libxml2 cannot be stopped once it has begun. So the work is estimated beforehand, from the
expression and the sizes of the document alone: the same pair gets the same verdict on every
machine. The unit is one visit of one node, some 10 nanoseconds; everything else is measured in it.

The estimate follows how libxml2 evaluates. A node-set on its way is three numbers: how many nodes
there are in all evaluations together (``pairs``), at most how often one and the same node is among
them (``again``), and how many of them can be inside each other (``nested``):

    child steps     every node is a child of one parent       visits ≤ again · nodes
    descendants     a node is below ``nested`` of them        visits ≤ again · nested · nodes
    siblings        of which there are at most ``breadth``    visits ≤ pairs · breadth
    other axes      every node may see every node             visits ≤ pairs · nodes

Reading string-values comes to the text below, ``again · nested`` times. Joining the node-sets of
two steps, where one node may be found twice, compares every node with every other, as ``|`` and
``=`` do; what is given to a function is sorted first, by walking along siblings. Estimates are
upper bounds by design and rough by choice.
"""

from __future__ import annotations

from math import inf, isnan
from typing import Final, NamedTuple, assert_never

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
from twigcast.language.condition.value_tests import constant_number
from twigcast.language.translate.translate import step_label
from twigcast.language.xpath.syntax import (
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
    Union,
    direct,
)
from twigcast.matching.residual.document_stats import Sizes
from twigcast.matching.residual.node_set_cost import DOCUMENT, Nodes, NodeSets
from twigcast.matching.residual.searching import COMPARED, looking_for, looking_in

_EVALUATION = 5
"""Evaluating one part of an expression, whatever it is."""
_PREDICATE = 10
_PAIR = 0.3
"""Comparing the values of two nodes."""
_ALIKE, _ALIKE_FREE = 0.05, 32
"""A letter that two such values share, and so many that make no difference."""
_READ, _READ_NUMBER = 0.05, 0.2
"""A character of a string-value, and one that may be a digit."""
_REPLACED = 0.5
"""A character compared with one of those to be replaced."""
_NUMBER_CHARACTERS = 30
"""No number is longer when written."""


class _Value(NamedTuple):
    """What the evaluations of an expression cost, and what they give: nodes or characters."""

    cost: float
    nodes: Nodes | None = None
    characters: float = 0
    """Of all strings together."""


def condition_cost(condition: Condition, sizes: Sizes) -> float:
    """An upper bound of the visits that deciding the condition at the document node takes.

    Infinity for more than a float can hold, as of 150 ``//a`` in a row on 250 nested ``<a>``.
    """
    try:
        cost = _Estimate(sizes).condition(condition, DOCUMENT)
    except OverflowError:
        return inf
    return inf if isnan(cost) else cost


class _Estimate:
    """Estimates for one document. ``here`` are the nodes at which something is evaluated."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._sets = NodeSets(sizes)

    # Conditions.

    def condition(self, condition: Condition, here: Nodes) -> float:
        """The cost of deciding the condition at each of the nodes."""
        match condition:
            case Exists(reach, label, where):
                cost, found = self._sets.step(_axis(reach, label), label, here.alone())
                return here.pairs * _EVALUATION + cost + self._asked(where, found)
            case AllOf(parts) | AnyOf(parts):
                return sum(self.condition(part, here) for part in parts)
            case Not(part):
                return here.pairs * _EVALUATION + self.condition(part, here)
            case AtDocument(inner):
                return here.pairs * self.condition(inner, DOCUMENT)
            case SelfIs():
                return here.pairs * _EVALUATION
            case ValueTest():
                return here.pairs * _EVALUATION + self._tested(condition, here)
            case FirstValue(steps, test):
                cost, nodes = here.pairs * _EVALUATION, here.alone()
                for reach, label, where in steps:
                    more, found = self._sets.step(_axis(reach, label), label, nodes)
                    cost += more + self._asked(where, found)
                    cost += self._sets.merged(_axis(reach, label), nodes, found)
                    nodes = found.without_doubles(here.pairs)
                return (
                    cost
                    + self._sets.sorted(nodes)
                    + self._tested(test, nodes.first_of_each(here.pairs))
                )
            case Residual(expression):
                return self._expression(expression, here).cost
            case _:
                assert_never(condition)

    def _asked(self, where: Condition, nodes: Nodes) -> float:
        """The cost of a condition as a predicate."""
        return nodes.pairs * _PREDICATE + self.condition(where, nodes) if where is not TRUE else 0

    def _tested(self, test: ValueTest, nodes: Nodes) -> float:
        cost = self._sets.read(nodes, _READ)
        if test.operator is Operator.CONTAINS and isinstance(test.constant, Literal):
            return cost + self._sets.characters(nodes) * looking_for(test.constant.value)
        by_text = isinstance(test.constant, Literal) and test.operator in _BY_TEXT
        return cost if by_text else cost + self._sets.characters(nodes) * _READ_NUMBER

    # Steps.

    def _steps(
        self, steps: tuple[Step, ...], nodes: Nodes, evaluations: float
    ) -> tuple[float, Nodes]:
        total = 0.0
        for step in direct(steps):
            label = step_label(step)
            cost, found = self._sets.step(step.axis, label, nodes)
            if step.predicates[:1] == (_FIRST,) and (label is None or label.local is None):
                cost, found = self._sets.nearest(step.axis, cost, found, nodes)
            more, kept = self._predicates(step.predicates, found, nodes)
            total += cost + more + self._sets.merged(step.axis, nodes, kept)
            nodes = kept.without_doubles(evaluations)
        return total, nodes

    def _predicates(
        self, predicates: tuple[Expression, ...], found: Nodes, before: Nodes
    ) -> tuple[float, Nodes]:
        """The cost of predicates on the nodes found from those before, and the nodes left."""
        cost = 0.0
        for predicate in predicates:
            if isinstance(predicate, Number):
                cost += found.pairs
            else:
                cost += found.pairs * _PREDICATE + self._expression(predicate, found).cost
            if isinstance(predicate, Number) or predicate == _LAST:
                # From each node before, at most one is left; the fifth, of five at least.
                place = _place(predicate) if isinstance(predicate, Number) else 1
                pairs = min(found.pairs / place, before.pairs)
                size = min(found.size, before.size)
                found = found._replace(pairs=pairs, size=size)
        return cost, found

    # Expressions.

    def _expression(self, expression: Expression, here: Nodes) -> _Value:
        """One evaluation at each of the nodes."""
        match expression:
            case Path(absolute, steps):
                start = here.alone()
                if absolute:
                    start = DOCUMENT._replace(pairs=here.pairs, again=here.pairs)
                cost, nodes = self._steps(steps, start, here.pairs)
                return _Value(here.pairs * _EVALUATION + cost, nodes)
            case Chain(base, steps):
                value = self._expression(base, here)
                more, kept = self._steps(steps, value.nodes or here, here.pairs)
                return _Value(value.cost + more, kept)
            case Filter(base, predicates):
                value = self._expression(base, here)
                found = value.nodes or here
                more, kept = self._predicates(predicates, found, here.alone())
                return _Value(value.cost + self._sets.sorted(found) + more, kept)
            case Union(parts):
                values = [self._expression(part, here) for part in parts]
                merged, joined = self._sets.union([one.nodes for one in values if one.nodes])
                return _Value(sum(one.cost for one in values) + merged, joined)
            case Binary():
                return self._binary(expression, here)
            case Negative(operand):
                return self._number(self._expression(operand, here), here)
            case Call():
                return self._call(expression, here)
            case Literal(value):
                cost = here.pairs * _EVALUATION
                return _Value(cost, characters=here.pairs * len(value.encode()))
            case Number():
                return _Value(here.pairs * _EVALUATION, characters=here.pairs * _NUMBER_CHARACTERS)
            case _:
                assert_never(expression)

    def _binary(self, binary: Binary, here: Nodes) -> _Value:
        operator = binary.operator
        sides = self._expression(binary.left, here), self._expression(binary.right, here)
        if operator in ("+", "-", "*", "div", "mod"):
            sides = self._number(sides[0], here), self._number(sides[1], here)
        cost = here.pairs * _EVALUATION + sides[0].cost + sides[1].cost
        if operator in _MIRRORED:
            sets = [side.nodes for side in sides if side.nodes]
            weight = _READ if operator in ("=", "!=") else _READ_NUMBER
            cost += sum(self._sets.read(nodes, weight) for nodes in sets)
            if len(sets) > 1:
                each = min(sets[0].pairs * sets[1].size, sets[0].size * sets[1].pairs)
                cost += each * _PAIR
                if operator in ("=", "!="):
                    cost += self._alike(each, (sets[0], sets[1]), binary)
        return _Value(cost, characters=here.pairs * _NUMBER_CHARACTERS)

    def _alike(self, pairs: float, sides: tuple[Nodes, Nodes], binary: Binary) -> float:
        """Comparing so many pairs of values letter by letter, as far as they are alike."""
        one, other = sides
        characters = self._sets.characters
        letters = min(characters(one) * other.size, characters(other) * one.size)
        if letters > pairs * _ALIKE_FREE:
            # Telling how long the values are takes a walk through the document.
            shorter = min(self._longest(binary.left), self._longest(binary.right))
            letters = min(letters, pairs * max(0, shorter - _ALIKE_FREE))
        return letters * _ALIKE

    # Functions.

    def _call(self, call: Call, here: Nodes) -> _Value:
        arguments = [self._expression(argument, here) for argument in call.arguments]
        cost = here.pairs * _EVALUATION + sum(argument.cost for argument in arguments)
        if call.name != "count":
            cost += sum(
                self._sets.sorted(argument.nodes) for argument in arguments if argument.nodes
            )
        if not arguments and call.name in _ABOUT_CONTEXT:
            arguments = [_Value(0, here.alone())]
        if call.name in _ON_STRINGS:
            return self._on_strings(call, cost, arguments, here)
        if call.name in _ON_NUMBERS:
            return self._number(arguments[0]._replace(cost=cost), here)
        if call.name == "sum" and arguments[0].nodes:
            cost += self._sets.read(arguments[0].nodes, _READ_NUMBER)
        if call.name == "id":
            nodes = arguments[0].nodes
            length = self._sets.characters(nodes) if nodes else arguments[0].characters
            more, found = self._sets.words(length, here.pairs)
            return _Value(cost + more + (self._sets.read(nodes, _READ) if nodes else 0), found)
        if call.name in _NAMES:
            nodes = arguments[0].nodes or here if arguments else here
            return self._named(call, cost, nodes.first_of_each(here.pairs))
        if call.name == "lang":
            cost += here.pairs * self._sets.above()
        return _Value(cost, characters=here.pairs * _NUMBER_CHARACTERS)

    def _named(self, call: Call, cost: float, nodes: Nodes) -> _Value:
        """Functions that give a part of a node's name."""
        # However long names are, they are part of the text, each at its own place.
        names = nodes._replace(kind=Kind.TEXT)
        length = self._sets.characters(names)
        if call.name == "namespace-uri":
            # Namespaces are not: many elements share one.
            length = nodes.pairs * self._sizes.namespace_length
        return _Value(cost + self._sets.read(names, _READ) + 2 * length * _READ, characters=length)

    def _on_strings(self, call: Call, cost: float, arguments: list[_Value], here: Nodes) -> _Value:
        """Functions that read strings: work by the character."""
        lengths = []
        for argument in arguments:
            if argument.nodes:
                first = argument.nodes.first_of_each(here.pairs)
                cost += self._sets.read(first, _READ)
                lengths.append(self._sets.characters(first))
            else:
                lengths.append(argument.characters)
        cost += sum(lengths) * _READ * 2
        if call.name == "concat":
            # Each piece is put behind all that came before.
            cost += sum(lengths) * len(lengths) * _READ
            return _Value(cost, characters=sum(lengths))
        if call.name == "translate":
            cost += lengths[0] * _REPLACED * self._longest(call.arguments[1])
        elif call.name in _SEARCHING:
            match call.arguments:
                case _, Literal(needle):
                    cost += lengths[0] * looking_for(needle)
                case Literal(text), _:
                    cost += here.pairs * looking_in(text)
                case _, needle:
                    cost += lengths[0] * self._longest(needle) * COMPARED
        return _Value(cost, characters=lengths[0])

    def _longest(self, expression: Expression) -> int:
        """How long one value of an argument can be."""
        if isinstance(expression, Literal):
            return len(expression.value.encode())
        if isinstance(expression, Path) and expression.steps:
            return self._sizes.longest(step_label(expression.steps[-1]))
        return self._sizes.characters

    # Values.

    def _number(self, value: _Value, here: Nodes) -> _Value:
        """The value made a number."""
        cost = value.cost + value.characters * _READ_NUMBER
        if value.nodes:
            cost += self._sets.sorted(value.nodes) + self._sets.read(
                value.nodes.first_of_each(here.pairs), _READ_NUMBER
            )
        return _Value(cost, characters=here.pairs * _NUMBER_CHARACTERS)


def _place(number: Number) -> float:
    """The position that a number in a predicate asks for; 1 if there is no such position."""
    return max(1.0, float(int(constant_number(number)))) if constant_number(number) < inf else 1.0


def _axis(reach: Reach, label: Label) -> Axis:
    if reach is Reach.DESCENDANT:
        return Axis.DESCENDANT
    return Axis.ATTRIBUTE if label.kind is Kind.ATTRIBUTE else Axis.CHILD


_FIRST: Final = Number("1")
_LAST: Final = Call("last", ())
_MIRRORED: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
_BY_TEXT: Final = frozenset({Operator.EQUAL, Operator.UNEQUAL, Operator.STARTS_WITH})
_SEARCHING: Final = frozenset({"contains", "substring-before", "substring-after"})
_NAMES: Final = frozenset({"name", "local-name", "namespace-uri"})
_ON_NUMBERS: Final = frozenset({"number", "floor", "ceiling", "round"})
_ON_STRINGS: Final = _SEARCHING | {
    "string", "starts-with", "substring", "concat", "string-length", "normalize-space", "translate",
}  # fmt: skip
_ABOUT_CONTEXT: Final = frozenset({"string", "number", "string-length", "normalize-space"})
