"""The sentences of an explanation, for an expression and a document.

A path is followed step by step until nothing is left, then its predicates one by one; of a
predicate that no node passes, the node that comes closest is looked at. There, each part of a
comparison and each argument of a function is evaluated, and each path within that selects nothing
is followed in turn, whatever its axes.

Every sentence is a fact about the document that libxml2 has found, and can be found again: what
is "there" is so at the place that is named as the closest; elsewhere the sentence has the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from twigcast.language.cautions import existence_caution
from twigcast.language.condition.writer import PrefixWriter
from twigcast.language.translate.translate import as_path
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    CONTEXT_NODE,
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
    is_positional,
    like_operands,
    operands,
    type_of,
)
from twigcast.matching.explain.probe import LocatedNode, Probe

REASONS_MAX = 16
"""Sentences of one explanation; of hundreds of alternatives the first few show what is wrong."""

_CONTEXT_NODE: Final = Path.relative((CONTEXT_NODE,))

_CANDIDATES_MAX = 200
"""Among so many nodes the closest is looked for."""

_VALUES_SHOWN_MAX = 3
_ALTERNATIVES_SHOWN_MAX = 8
_PARTS_SHOWN_MAX = 6
"""Paths within one comparison or call that are explained."""

_STEPS_TRIED_MAX = 8
"""Steps of such a path by which nodes are compared; each is tried on every candidate."""


_ABOUT_NODES: Final = frozenset({"boolean", "count", "local-name", "name", "namespace-uri", "not"})
"""The functions that do not need the values of nodes."""


@dataclass
class Explainer:
    """An explanation in the making. ``context`` is the node an expression is evaluated at."""

    probe: Probe
    namespaces: Mapping[str, str]
    reasons: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    failed: str | None = None
    place: LocatedNode | None = None

    def success(self, expression: Expression, context: LocatedNode | None) -> None:
        """Tell where the expression is satisfied."""
        if type_of(expression) is Type.NODES:
            found = self.probe.nodes(expression, context)
            self.place = self.place or (found[0] if found else None)
            number = self.probe.count(expression, context)
            self._add_reason(f"{_counted(number)} found" if found else "the document itself")
        elif isinstance(expression, Binary) and expression.operator in ("and", "or"):
            for side in like_operands(expression):
                if not self._is_full() and self.probe.holds(side, context):
                    self.success(side, context)
        else:
            self._add_reason(f"{self.written(expression)} holds")

    def failure(self, expression: Expression, context: LocatedNode | None) -> None:
        """Tell what the expression fails on."""
        if self._is_full():
            return
        match expression:
            case Path(absolute, steps):
                self._path(Path(absolute, ()), steps, context)
            case Union(parts):
                for part in parts:
                    self.failure(part, context)
            case Filter() | Chain() if (plain := as_path(expression)) != expression:
                self.failure(plain, context)
            case Filter(base) | Chain(base) if not self.probe.holds(base, context):
                self.failure(base, context)
            case Filter(base, predicates):
                self._filter(base, predicates, context)
            case Chain(base, steps):
                self._path(base, steps, context)
            case _:
                self._condition(expression, context)

    # Paths.

    def _path(self, base: Expression, steps: tuple[Step, ...], context: LocatedNode | None) -> None:
        """Follow the steps from the base until nothing is left."""
        reached = (
            self.probe.nodes(base, context) if not isinstance(base, Path) else _only(base, context)
        )
        for end, step in enumerate(steps):
            if step == ANYWHERE_BELOW:
                continue
            before = _longer(base, steps[:end])
            for kept in range(len(step.predicates) + 1):
                tried = Step(step.axis, step.test, step.predicates[:kept])
                path = _longer(base, _with_step(steps[:end], tried))
                found = self.probe.nodes(path, context)
                # lxml has no object for the document node, so no nodes may still be that one.
                if not found and not self.probe.holds(path, context):
                    if kept:
                        *passed, predicate = tried.predicates
                        last = Step(tried.axis, tried.test, tuple(passed))
                        nodes = _longer(base, _with_step(steps[:end], last))
                        self._no_node(nodes, predicate, reached, context)
                    else:
                        self._no_step(before, tried, reached, context)
                    return
                reached = found
        raise AssertionError("a path that fails has a step that fails")

    def _filter(
        self, base: Expression, predicates: tuple[Expression, ...], context: LocatedNode | None
    ) -> None:
        """Apply the predicates of a parenthesis until nothing is left."""
        for kept in range(1, len(predicates) + 1):
            if not self.probe.holds(Filter(base, predicates[:kept]), context):
                nodes = Filter(base, predicates[: kept - 1]) if kept > 1 else base
                reached = self.probe.nodes(nodes, context)
                self._no_node(nodes, predicates[kept - 1], reached, context, in_parentheses=True)
                return
        raise AssertionError("a filter that fails has a predicate that fails")

    def _no_step(
        self,
        before: Expression,
        step: Step,
        reached: list[LocatedNode],
        context: LocatedNode | None,
    ) -> None:
        """No node is where a step leads to."""
        start, below = _without_descent(before)
        name = self.written(Path.relative((step,)))
        self.failed = self.failed or name
        beginning = isinstance(start, Path) and not start.steps
        if beginning and isinstance(start, Path) and not start.absolute:
            name = self.written(_longer(before, (step,)))
            self._add_reason(f"{name} is not{self._at(context)}")
        elif beginning and below:
            self._add_reason(f"step {name} finds nothing anywhere in the document")
        elif beginning and step.axis is Axis.CHILD:
            self._add_reason(f"step {name} does not fit: the root element is {self.probe.root}")
        elif beginning:
            self._add_reason(f"step {name} leads nowhere from the document node")
        else:
            number = self.probe.count(start, context)
            nodes = _counted(number) if reached else "the document node"
            led = f"//{name}" if below else name
            self._add_reason(
                f"step {led} leads nowhere from {nodes} reached by {self.written(start)}"
                + self._elsewhere(context)
            )
        around = self.probe.around(step, reached, below=below)
        self.place = self.place or around.place
        if around.beside and reached and around.place is not None:
            axis = "" if step.axis in (Axis.CHILD, Axis.ATTRIBUTE) else f"{step.axis}::* is "
            shown = ", ".join(around.beside[:_ALTERNATIVES_SHOWN_MAX])
            more = len(around.beside) - _ALTERNATIVES_SHOWN_MAX
            shown += f" and {more:,} other names" if more > 0 else ""
            where = "there is only " if not axis else f"{axis}only "
            end = self._elsewhere(around.place) if not axis else self._at(around.place)
            self._add_reason(f"{where}{shown}{end}")
        self.hints += around.hints

    def _no_node(
        self,
        nodes: Expression,
        predicate: Expression,
        reached: list[LocatedNode],
        context: LocatedNode | None,
        *,
        in_parentheses: bool = False,
    ) -> None:
        """The nodes are there, but a predicate holds for none of them."""
        written = f"[{self.written(predicate)}]"
        written_nodes = self.written(nodes)
        if in_parentheses and not isinstance(nodes, Filter):
            written_nodes = f"({written_nodes})"  # All of them are counted in one row.
        self.failed = self.failed or written
        number = self.probe.count(nodes, context)
        counted = _counted(number) if reached else "the document node"
        self._add_reason(
            f"predicate {written} holds for none of {counted} "
            f"reached by {written_nodes}{self._elsewhere(context)}"
        )
        if not reached or is_positional(predicate):
            self.place = self.place or (reached[0] if reached else None)
            return
        closest = self._closest(predicate, reached)
        self.place = self.place or closest
        if closest.element is not None:
            self.failure(predicate, closest)
        else:
            self._add_reason(f"of these nodes the values are {_values(reached)}")

    def _closest(self, predicate: Expression, reached: list[LocatedNode]) -> LocatedNode:
        """The first node with which the predicate got furthest, part by part."""
        parts = _conjuncts(predicate)
        candidates = [node for node in reached[:_CANDIDATES_MAX] if node.element is not None]
        return max(candidates, key=lambda node: self._progress(parts, node), default=reached[0])

    def _progress(self, parts: list[Expression], node: LocatedNode) -> tuple[int, float]:
        """How many parts of a conjunction hold of a node, and how far the next one gets."""
        for place, part in enumerate(parts):
            if not self.probe.holds(part, node):
                return place, self._share(part, node)
        return len(parts), 0

    def _share(self, part: Expression, node: LocatedNode) -> float:
        """Which share of the steps in a condition finds nodes."""
        paths = list(_paths_in(part))[:_PARTS_SHOWN_MAX]
        steps = found = 0
        for path in paths:
            if isinstance(path, Path) and not path.absolute:
                tried = len(path.steps[:_STEPS_TRIED_MAX])
                steps += tried
                for end in range(1, tried + 1):
                    if not self.probe.nodes(Path.relative(path.steps[:end]), node):
                        break
                    found += 1
        return found / steps if steps else 0

    # Conditions.

    def _condition(self, expression: Expression, context: LocatedNode | None) -> None:
        """The same of an expression that is not about nodes."""
        match expression:
            case Binary("or"):
                for side in like_operands(expression):
                    self.failure(side, context)
            case Binary("and"):
                sides = like_operands(expression)
                self.failure(
                    next(one for one in sides if not self.probe.holds(one, context)), context
                )
            case Call("not", (argument,)):
                self._unwanted(argument, context)
            case Call("boolean", (argument,)):
                self.failure(argument, context)
            case Binary("=", tested, Call("true", ())) if type_of(tested) is Type.BOOLEAN:
                self.failure(tested, context)
            case Binary("=", tested, Call("false", ())) if type_of(tested) is Type.BOOLEAN:
                self._unwanted(tested, context)
            case Binary(_, left, right):
                self._values(expression, (left, right), context)
            case Call("id", arguments):
                self._add_reason(
                    f"{self.written(expression)} finds nothing{self._at(context)}", expression
                )
                self._values(expression, arguments, context)
            case Call(_, arguments) if type_of(expression) is Type.BOOLEAN:
                self._values(expression, arguments, context)
            case Call():
                self._values(expression, (expression,), context)
            case _:
                self._add_reason(
                    f"{self.written(expression)} is false{self._at(context)}", expression
                )

    def _unwanted(self, argument: Expression, context: LocatedNode | None) -> None:
        whole = Call("not", (argument,))
        match argument:
            case Call("boolean", (inner,)):
                self._unwanted(inner, context)
                return
            case Call("not", (inner,)):
                self.failure(inner, context)
                return
            case Binary("or"):
                sides = like_operands(argument)
                self.failed = self.failed or self.written(whole)
                self._unwanted(
                    next(one for one in sides if self.probe.holds(one, context)), context
                )
                return
            case _ if type_of(argument) is not Type.NODES:
                at = self._elsewhere(context)
                self._add_reason(f"{self.written(argument)} holds, though it must not{at}", whole)
                return
        sentence = f"{self.written(argument)} is there, though it must not be"
        for found in self.probe.nodes(argument, context)[:1]:
            sentence += f": {found.path}" + (f" (line {found.line})" if found.line else "")
        self._add_reason(sentence, whole)

    def _values(
        self, whole: Expression, parts: Iterable[Expression], context: LocatedNode | None
    ) -> None:
        """A comparison or call is false; show the values of its parts."""
        self.failed = self.failed or self.written(whole)
        if isinstance(whole, Binary):
            caution = existence_caution(whole, PrefixWriter(self.namespaces))
            self.hints += [caution] if caution else []
        reasons_before = len(self.reasons)
        for part in parts:
            if isinstance(part, Literal | Number | Negative | Call) and not any(_paths_in(part)):
                if isinstance(part, Literal | Number) or is_positional(part):
                    continue
                if isinstance(part, Call) and part.name in ("true", "false"):
                    continue
            self._value(part, context)
            if type_of(part) is not Type.NODES:
                valued = list(_paths_in(part, _ABOUT_NODES))
                for inner in list(_paths_in(part))[:_PARTS_SHOWN_MAX]:
                    if inner in valued or not self.probe.holds(inner, context):
                        self._value(inner, context)
        if len(self.reasons) == reasons_before and type_of(whole) is not Type.NODES:
            self._add_reason(f"{self.written(whole)} is false{self._at(context)}")

    def _value(self, part: Expression, context: LocatedNode | None) -> None:
        """What a part is; a path that selects nothing is followed."""
        at = self._at(context)
        kind = type_of(part)
        if kind is Type.NODES:
            nodes = self.probe.nodes(part, context)
            if nodes:
                name = "the value" if part == _CONTEXT_NODE else self.written(part)
                predicate = f" is {_values(nodes)}{at}"
                if not (self.reasons and self.reasons[-1].endswith(predicate)):
                    self._add_reason(f"{name}{predicate}")
                return
            if not self.probe.holds(part, context):
                self.failure(part, context)
                return
        value = self.probe.value(part, context)
        shown = repr(value) if kind in (Type.NODES, Type.STRING) else value
        self._add_reason(f"{self.written(part)} is {shown}{at}")

    # Sentences.

    def _add_reason(self, sentence: str, failed: Expression | None = None) -> None:
        if failed is not None:
            self.failed = self.failed or self.written(failed)
        if self._is_full():
            return
        if sentence not in self.reasons:
            self.reasons.append(sentence)
        if self._is_full():
            self.reasons[-1] = "… and more of this kind"

    def _is_full(self) -> bool:
        return len(self.reasons) >= REASONS_MAX

    def _at(self, context: LocatedNode | None) -> str:
        """Where something is so, behind a sentence."""
        if context is None:
            return ""
        return self._elsewhere(context) or " there"

    def _elsewhere(self, context: LocatedNode | None) -> str:
        """Where something is so, if it is not the place that is named anyway."""
        if context is None or self.place is None or context.is_node(self.place):
            return ""
        return f" at {context.path}" + (f" (line {context.line})" if context.line else "")

    def written(self, expression: Expression) -> str:
        """The expression with the subscriber's own prefixes."""
        return PrefixWriter(self.namespaces).expression(expression)[0]


def _only(base: Path, context: LocatedNode | None) -> list[LocatedNode]:
    return [] if base.absolute or context is None else [context]


def _longer(base: Expression, steps: tuple[Step, ...]) -> Expression:
    """The base followed by steps."""
    if isinstance(base, Path):
        return Path(base.absolute, (*base.steps, *steps))
    return Chain(base, steps) if steps else base


def _without_descent(before: Expression) -> tuple[Expression, bool]:
    """What stands before a step, and whether ``//`` stands between them."""
    if not isinstance(before, Path | Chain) or before.steps[-1:] != (ANYWHERE_BELOW,):
        return before, False
    if isinstance(before, Path):
        return Path(before.absolute, before.steps[:-1]), True
    return _longer(before.base, before.steps[:-1]), True


def _conjuncts(expression: Expression) -> list[Expression]:
    if isinstance(expression, Binary) and expression.operator == "and":
        return like_operands(expression)
    return [expression]


def _paths_in(
    expression: Expression, but_under: frozenset[str] = frozenset()
) -> Iterable[Expression]:
    """The outermost node-sets of an expression, from left to right, but for some functions."""
    match expression:
        case Path() | Filter() | Chain() | Union():
            yield expression
        case Call("id", _):
            yield expression
        case Call(name, arguments):
            for argument in () if name in but_under else arguments:
                yield from _paths_in(argument, but_under)
        case Binary():
            for operand in operands(expression):
                yield from _paths_in(operand, but_under)
        case Negative(operand):
            yield from _paths_in(operand, but_under)


def _with_step(steps: tuple[Step, ...], last: Step) -> tuple[Step, ...]:
    """The steps and one more; ``//`` behind ``//`` adds nothing, and cannot be written."""
    idle = last == ANYWHERE_BELOW and steps[-1:] == (ANYWHERE_BELOW,)
    return steps if idle else (*steps, last)


def _counted(number: int) -> str:
    return f"{number:,} node" + "s" * (number != 1)


def _values(found: list[LocatedNode]) -> str:
    shown = list(dict.fromkeys(repr(node.value) for node in found))
    more = len(shown) - _VALUES_SHOWN_MAX
    return ", ".join(shown[:_VALUES_SHOWN_MAX]) + (f" and {more:,} others" if more > 0 else "")
