"""Translation of syntax trees to conditions.

The expression is read as ``boolean(expression)`` at the document node. Paths unfold from the
right: the meaning of ``a/b[c]`` is "some child a, of which some child b, of which some child c",
nested conditions with ``TRUE`` at the end, or with a value test where the path is compared.

An expression that no exact condition represents (positions, other axes, arithmetic, joins of two
paths …) becomes a :class:`Residual`, as deep inside as possible: of ``/a/b[2]/c`` only ``b[2]/c``
is residual, a condition on the ``a`` elements. Some common spellings are translated exactly:

    *[local-name() = 'x']          *:x
    [string() = 'x']               [. = 'x']
    count(p) > 0, count(p) = 0     p, not(p)
    p[1], p[last()], (p)[1]        p, where only its existence matters
    (p | q)[r], (p | q)/r          p[r] | q[r], p/r | q/r

References: XPath 1.0, sections 2 to 4.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, assert_never

from twigcast.language.condition.model import (
    FALSE,
    TEXT,
    TRUE,
    Condition,
    Constant,
    FirstStep,
    FirstValue,
    Kind,
    Label,
    Operator,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
    is_exact,
)
from twigcast.language.condition.normal_form import (
    all_of,
    any_of,
    at_document,
    exists,
    negation,
    on_document,
)
from twigcast.language.xpath.absolute import from_document, is_rooted
from twigcast.language.xpath.lexer import is_name
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    CONTEXT_NODE,
    Axis,
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    KindTest,
    Literal,
    NameTest,
    Negative,
    Number,
    Path,
    Step,
    Type,
    Union,
    filtered,
    is_positional,
    like_operands,
    may_be_declared,
    operands,
    tidy,
    type_of,
)


class Context(Enum):
    """The kind of node that a condition is about."""

    DOCUMENT = "document"
    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text"


_CONTEXT_OF: Final = {
    Kind.ELEMENT: Context.ELEMENT,
    Kind.ATTRIBUTE: Context.ATTRIBUTE,
    Kind.TEXT: Context.TEXT,
}
_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
REACH_OF: Final = {
    Axis.CHILD: Reach.CHILD,
    Axis.ATTRIBUTE: Reach.CHILD,
    Axis.DESCENDANT: Reach.DESCENDANT,
}
_SOME: Final = {("!=", Number("0")), (">", Number("0")), (">=", Number("1"))}
_NONE: Final = {("=", Number("0")), ("<", Number("1")), ("<=", Number("0"))}
"""The comparisons of count(p) that test whether there is one, or none."""

_ABOUT_CONTEXT: Final = ((), (Path.relative((CONTEXT_NODE,)),))
"""The arguments of a function that mean the context node: none, or a dot."""

_REDUNDANT_POSITIONS: Final = (Number("1"), Call("last", ()))
"""Where only existence matters, "the first one" and "the last one" mean "one"."""

_EXPANDED_SIZE_MAX = 5_000
"""What follows a union is copied to each branch, unless that makes it larger than this: some 550
steps with an operator between any two."""

_SIZE_OF_STEP = 8
"""A step is as large as eight operators or calls, or 64 characters of a literal."""

_DIGITS_PLAIN_MAX = 15
"""Longer numbers, and those with an exponent, may round to zero; libxml2 decides."""


def document_meaning(expression: Expression) -> Condition:
    """The condition of the expression on the document node.

    ``expression`` must be rooted (:func:`twigcast.language.xpath.absolute.rooted`): independent of
    the context node.
    """
    return on_document(_meaning(expression, Context.DOCUMENT))


def predicate_meaning(predicate: Expression, label: Label) -> Condition:
    """The condition of a predicate, not positional, on a node with the label."""
    return _meaning(predicate, _CONTEXT_OF[label.kind])


def step_label(step: Step) -> Label | None:
    """The label of the nodes a step selects, where its axis and test have one."""
    if isinstance(step.test, NameTest):
        kind = Kind.ATTRIBUTE if step.axis is Axis.ATTRIBUTE else Kind.ELEMENT
        return Label(kind, step.test.namespace, step.test.local)
    if step.axis is Axis.ATTRIBUTE:
        return Label(Kind.ATTRIBUTE) if step.test.kind == "node" else None
    return TEXT if step.test.kind == "text" else None


def _meaning(expression: Expression, context: Context) -> Condition:
    match as_path(expression):
        case Binary("or") as chain:
            return any_of(_meaning(operand, context) for operand in like_operands(chain))
        case Binary("and") as chain:
            return all_of(_meaning(operand, context) for operand in like_operands(chain))
        case Binary(operator) as comparison if operator in _MIRRORED:
            return _comparison(comparison, context)
        case Call("not", (argument,)):
            return negation(_meaning(argument, context))
        case Call("boolean", (argument,)):
            return _meaning(argument, context)
        case Call("contains" | "starts-with" as name, (subject, Literal() as needle)) as call:
            return _first_value(call, subject, ValueTest(Operator(name), needle), context)
        case Union(parts):
            return any_of(_meaning(part, context) for part in parts)
        case Path(absolute, steps):
            return _path_condition(steps, TRUE, context, absolute=absolute)
        case Filter(base, predicates) if not _without_redundant_positions(predicates):
            return _meaning(base, context)
        case other:
            known = _constant_meaning(other)
            return _residual(other) if known is None else known


def _constant_meaning(expression: Expression) -> Condition | None:
    """The condition of a constant expression, TRUE or FALSE; None for other expressions."""
    match expression:
        case Call("true" | "false" as name):
            return TRUE if name == "true" else FALSE
        case Literal(value):
            return TRUE if value else FALSE
        case Number(text) if text.replace(".", "").isdigit() and len(text) <= _DIGITS_PLAIN_MAX:
            return TRUE if text.strip("0.") else FALSE
        case _:
            return None


def _residual(expression: Expression) -> Condition:
    """The residual of an expression, at the document node if it does not depend on the context."""
    if type_of(expression) is Type.NUMBER:
        # Between brackets a number would be a position.
        expression = Call("boolean", (expression,))
    residual = Residual(expression)
    return at_document(residual) if is_rooted(expression) else residual


def as_path(expression: Expression) -> Expression:
    """``(p)/q`` and ``(p)[x]`` as one path, where the parentheses make no difference.

    ``(p | q)/r`` and ``(p | q)[x]`` are a union of such paths.
    """
    match expression:
        case Chain(base, steps):
            start = as_path(base)
            if isinstance(start, Path):
                return Path(start.absolute, tidy((*start.steps, *steps)))
            if isinstance(start, Union) and _expanded_size(expression) <= _EXPANDED_SIZE_MAX:
                return Union(tuple(as_path(Chain(part, steps)) for part in start.parts))
        case Filter(base, predicates) if not any(map(is_positional, predicates)):
            start = as_path(base)
            if isinstance(start, Path) and start.steps:
                *before, last = start.steps
                if may_be_declared(last) and not last.predicates:
                    # libxml2 finds other nodes where a predicate directly follows the step.
                    return expression
                last = Step(last.axis, last.test, last.predicates + predicates)
                return Path(start.absolute, (*before, last))
            if isinstance(start, Union) and _expanded_size(expression) <= _EXPANDED_SIZE_MAX:
                return Union(tuple(as_path(filtered(part, predicates)) for part in start.parts))
    return expression


def _expanded_size(expression: Expression) -> int:
    """The size of all there is after expanding every union, in predicates, too."""
    match expression:
        case Path(_, steps):
            return _expanded_in(steps)
        case Chain(base, steps):
            return _expanded_size(base) + _branches(base) * _expanded_in(steps)
        case Filter(base, predicates):
            return _expanded_size(base) + _branches(base) * sum(map(_expanded_size, predicates))
        case Union(parts):
            return sum(map(_expanded_size, parts))
        case Call(_, arguments):
            return 1 + sum(map(_expanded_size, arguments))
        case Binary():
            each = operands(expression)
            return len(each) + sum(map(_expanded_size, each))
        case Negative(operand):
            return 1 + _expanded_size(operand)
        case Literal(value):
            return len(value) // _SIZE_OF_STEP
        case Number():
            return 0
        case _:
            assert_never(expression)


def _expanded_in(steps: tuple[Step, ...]) -> int:
    within = sum(_expanded_size(one) for step in steps for one in step.predicates)
    return _SIZE_OF_STEP * len(steps) + within


def _branches(expression: Expression) -> int:
    """The number of paths of an expression after expanding every union."""
    match expression:
        case Union(parts):
            return sum(map(_branches, parts))
        case Chain(base) | Filter(base):
            return _branches(base)
        case _:
            return 1


# Comparisons.


def _comparison(expression: Binary, context: Context) -> Condition:
    operator, subject, constant = expression.operator, expression.left, _constant(expression.right)
    if constant is None:
        operator, subject = _MIRRORED[operator], expression.right
        constant = _constant(expression.left)
    if constant is None:
        return _residual(expression)
    match as_path(subject):
        case Path(absolute, steps):
            test = ValueTest(Operator(operator), constant)
            return _path_condition(steps, test, context, absolute=absolute)
        case Union(parts):
            each = (Binary(operator, part, as_expression(constant)) for part in parts)
            return any_of(_comparison(part, context) for part in each)
        case Call("count", (nodes,)) if (operator, constant) in _SOME:
            return _meaning(nodes, context)
        case Call("count", (nodes,)) if (operator, constant) in _NONE:
            return negation(_meaning(nodes, context))
        case Call("string", arguments) if arguments in _ABOUT_CONTEXT:
            return _comparison(
                Binary(operator, _ABOUT_CONTEXT[1][0], as_expression(constant)), context
            )
        case Call(function, arguments) if arguments in _ABOUT_CONTEXT:
            named = _name_condition(function, constant, context)
            if named is not None and operator == "!=" and function != "name":
                return negation(named)
            if named is not None and operator == "=":
                # A name() includes the document's own prefix, so more than the label counts.
                spelled = Binary("=", Call(function, ()), constant) if function == "name" else None
                return all_of([named, Residual(spelled)]) if spelled else named
    return _residual(Binary(operator, subject, as_expression(constant)))


def _constant(expression: Expression) -> Constant | None:
    match expression:
        case Literal() | Number():
            return expression
        case Negative(Number(text)):
            return Number(f"-{text}")
        case _:
            return None


def as_expression(constant: Constant) -> Expression:
    """The constant as it is written: a negative number is a sign and a number."""
    if isinstance(constant, Number) and constant.text.startswith("-"):
        return Negative(Number(constant.text[1:]))
    return constant


def _name_condition(function: str, constant: Constant, context: Context) -> Condition | None:
    """The condition on a node's label that the function returns the constant, or None."""
    kinds = {Context.ELEMENT: Kind.ELEMENT, Context.ATTRIBUTE: Kind.ATTRIBUTE}
    if not isinstance(constant, Literal) or context not in kinds:
        return None
    kind, name = kinds[context], constant.value
    if function == "namespace-uri":
        return SelfIs(Label(kind, name, None)) if not {"{", "}"} & set(name) else None
    if function == "name":
        name = name.rpartition(":")[2]
    elif function != "local-name":
        return None
    return SelfIs(Label(kind, None, name)) if is_name(name) else None


def _first_value(call: Call, subject: Expression, test: ValueTest, context: Context) -> Condition:
    """``contains(subject, …)`` and ``starts-with(subject, …)`` for a subject that is a path."""
    if test.constant == Literal(""):
        return TRUE
    path = as_path(subject)
    steps = _first_steps(path.steps) if isinstance(path, Path) else None
    if steps is None:
        return _residual(call)
    if not steps:
        found: Condition = test
    elif len(steps) == 1 and _at_most_one(steps[0]):
        found = exists(steps[0].reach, steps[0].label, all_of((steps[0].where, test)))
    else:
        found = FirstValue(steps, test)
    absolute = isinstance(path, Path) and path.absolute and context is not Context.DOCUMENT
    return at_document(found) if absolute else found


def _at_most_one(step: FirstStep) -> bool:
    """Whether an element has at most one such node: an attribute whose name is known."""
    attribute = step.reach is Reach.CHILD and step.label.kind is Kind.ATTRIBUTE
    return attribute and None not in step.label


def _first_steps(steps: tuple[Step, ...]) -> tuple[FirstStep, ...] | None:
    """The steps as conditions, or None where one of them has no exact meaning."""
    if steps == (CONTEXT_NODE,):
        return ()
    found: list[FirstStep] = []
    below = False
    for step in steps:
        if step == ANYWHERE_BELOW:
            below = True
            continue
        label = step_label(step)
        if label is None or step.axis not in REACH_OF or any(map(is_positional, step.predicates)):
            return None
        where = all_of(predicate_meaning(predicate, label) for predicate in step.predicates)
        if not is_exact(where):
            return None
        found.append(FirstStep(Reach.DESCENDANT if below else REACH_OF[step.axis], label, where))
        below = False
    return None if below else tuple(found)


# Paths.


def _path_condition(
    steps: tuple[Step, ...], tail: Condition, context: Context, *, absolute: bool
) -> Condition:
    """The condition that some node of the path satisfies ``tail``, TRUE or a comparison."""
    if not absolute:
        return _steps(steps, tail, context)
    condition = _steps(steps, tail, Context.DOCUMENT)
    return condition if context is Context.DOCUMENT else at_document(condition)


def _steps(steps: tuple[Step, ...], tail: Condition, context: Context) -> Condition:
    """The same from the context node, step by step."""
    if not steps or (steps == (ANYWHERE_BELOW,) and tail is TRUE):
        return tail
    below = steps[0] == ANYWHERE_BELOW
    here, rest = steps[below : below + 1], steps[below + 1 :]
    if not here or (below and here[0].axis is Axis.SELF and context is not Context.DOCUMENT):
        return _residual_steps(steps, tail, context)
    step = here[0]
    predicates = step.predicates
    if not rest and tail is TRUE:
        predicates = _without_redundant_positions(predicates)
    label = step_label(step)
    reach = REACH_OF.get(step.axis)
    if below and (reach or step.axis is Axis.SELF):
        reach = Reach.DESCENDANT
    within = _CONTEXT_OF[label.kind] if label else context
    is_self = step.axis is Axis.SELF and (label is not None or step.test == KindTest("node"))
    placed = label is not None if reach else is_self
    if not placed or any(map(is_positional, predicates)):
        return _residual_steps(steps, tail, context)
    where = _steps(rest, tail, within)
    if within is Context.DOCUMENT:
        predicates = tuple(map(from_document, predicates))
    if predicates:
        where = all_of([*(_meaning(p, within) for p in predicates), where])
    if reach is not None and label is not None:
        return exists(reach, label, where)
    if label is None:
        return where
    if within is not context:
        return FALSE
    return all_of([SelfIs(label), where]) if label.kind is Kind.ELEMENT else where


def _residual_steps(steps: tuple[Step, ...], tail: Condition, context: Context) -> Condition:
    path = Path(context is Context.DOCUMENT, steps)
    if isinstance(tail, ValueTest):
        return _residual(Binary(tail.operator.value, path, as_expression(tail.constant)))
    assert tail is TRUE
    return _residual(path)


def _without_redundant_positions(predicates: tuple[Expression, ...]) -> tuple[Expression, ...]:
    while predicates and predicates[-1] in _REDUNDANT_POSITIONS:
        predicates = predicates[:-1]
    return predicates
