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
    x[../b], x[ancestor::a]        *[b]/x, a//x
    string-length(@a) > 0          @a != ''

References: XPath 1.0, sections 2 to 4.
"""

from __future__ import annotations

from typing import Final, NamedTuple, assert_never

from twigcast.language.condition.model import (
    ANY_ELEMENT,
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
from twigcast.language.translate.positions import always, compared, without_idle, without_trailing
from twigcast.language.translate.rewriting import selects_one, simpler
from twigcast.language.translate.upward import TURNED_SIZE_MAX, Context, Sought, placed, size_of
from twigcast.language.xpath.absolute import from_document, is_rooted
from twigcast.language.xpath.lexer import is_name
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    CONTEXT_NODE,
    XML_NAMESPACE,
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
_ANY_NODE: Final = KindTest("node")
_ANY_CHILD: Final = Step(Axis.CHILD, _ANY_NODE)
_NOT_OF_DOCUMENT: Final = frozenset(
    {
        Axis.PARENT,
        Axis.ANCESTOR,
        Axis.FOLLOWING,
        Axis.FOLLOWING_SIBLING,
        Axis.PRECEDING,
        Axis.PRECEDING_SIBLING,
    }
)
"""Along these the document node has no nodes."""

_ABOUT_CONTEXT: Final = ((), (Path.relative((CONTEXT_NODE,)),))
"""The arguments of a function that mean the context node: none, or a dot."""

_UPWARDS: Final = frozenset({Axis.PARENT, Axis.ANCESTOR})
_UPWARDS_OR_SELF: Final = _UPWARDS | {Axis.SELF, Axis.ANCESTOR_OR_SELF}

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
    return on_document(meaning_at(expression, Context.DOCUMENT))


def predicate_meaning(predicate: Expression, label: Label) -> Condition:
    """The condition of a predicate, not positional, on a node with the label."""
    return meaning_at(predicate, _CONTEXT_OF[label.kind])


def step_label(step: Step) -> Label | None:
    """The label of the nodes a step selects, where its axis and test have one."""
    if isinstance(step.test, NameTest):
        kind = Kind.ATTRIBUTE if step.axis is Axis.ATTRIBUTE else Kind.ELEMENT
        return Label(kind, step.test.namespace, step.test.local)
    if step.axis is Axis.ATTRIBUTE:
        return Label(Kind.ATTRIBUTE) if step.test.kind == "node" else None
    return TEXT if step.test.kind == "text" else None


def meaning_at(expression: Expression, context: Context) -> Condition:
    """The condition of an expression on a node of a kind."""
    while (other := simpler(expression)) is not None:
        expression = other
    match as_path(expression):
        case Binary("or") as chain:
            return any_of(meaning_at(operand, context) for operand in like_operands(chain))
        case Binary("and") as chain:
            return all_of(meaning_at(operand, context) for operand in like_operands(chain))
        case Binary(operator) as comparison if operator in _MIRRORED:
            return _comparison(comparison, context)
        case Call("not", (argument,)):
            return negation(meaning_at(argument, context))
        case Call("boolean" | "count", (argument,)):
            return meaning_at(argument, context)
        case Call("contains" | "starts-with" as name, (subject, Literal() as needle)) as call:
            return _first_value(call, subject, ValueTest(Operator(name), needle), context)
        case Union(parts):
            return any_of(meaning_at(part, context) for part in parts)
        case Path(absolute, steps):
            return _path_condition(steps, TRUE, context, absolute=absolute)
        case Filter(base, predicates) if not without_trailing(predicates):
            return meaning_at(base, context)
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
        case Call("count", (nodes,)) if (known := _of_count(operator, constant)) is not None:
            some, none = known
            here = meaning_at(nodes, context)
            return any_of([all_of([here, some]), all_of([negation(here), none])])
        case Call(function, arguments) if arguments in _ABOUT_CONTEXT:
            named = _name_condition(function, constant, context)
            exact = function != "name" or _is_spelled(constant, context)
            if named is not None and operator == "!=" and exact:
                return negation(named)
            if named is not None and operator == "=":
                spelled = Binary("=", Call(function, ()), constant)
                return named if exact else all_of([named, Residual(spelled)])
    return _residual(Binary(operator, subject, as_expression(constant)))


def _of_count(operator: str, constant: Constant) -> tuple[Condition, Condition] | None:
    """The result of a comparison of count(p) where there are nodes, and where there are none.

    None if it is about their number.
    """
    some, none = always(operator, constant), compared(0, operator, constant)
    if some is None or none is None:
        return None
    return TRUE if some else FALSE, TRUE if none else FALSE


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
    namespace: str | None = None
    if function == "name":
        prefix, _, name = name.rpartition(":")
        if _is_spelled(constant, context):
            namespace = XML_NAMESPACE if prefix else ""
    elif function != "local-name":
        return None
    return SelfIs(Label(kind, namespace, name)) if is_name(name) else None


def _is_spelled(constant: Constant, context: Context) -> bool:
    """Whether it follows from the label of a node that its name() is the constant.

    A name() has the document's own prefix. The prefix ``xml`` is always the same, and an attribute
    without a prefix is in no namespace.
    """
    prefix, colon, _ = (
        constant.value.rpartition(":") if isinstance(constant, Literal) else ("?",) * 3
    )
    return prefix == "xml" or (context is Context.ATTRIBUTE and not colon)


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
    """The same from the context node.

    A step may lead along several axes, to one kind of node or another. What is behind it is
    translated once for each kind, from the last step to the first; paths may be long.
    """
    places = _places(steps, tail)
    needed: list[dict[Context, None]] = [{context: None}]
    for place in places:
        kinds = (_within(axis, place.step, here) for here in needed[-1] for axis in place.axes)
        needed.append(dict.fromkeys(kind for kind in kinds if kind is not None))
    behind = dict.fromkeys(Context, tail)
    for place, kinds_here in zip(reversed(places), reversed(needed[:-1]), strict=True):
        behind = {here: _from_place(place, here, tail, behind) for here in kinds_here}
    return behind[context]


class _PathStep(NamedTuple):
    """A step of a path."""

    step: Step
    rest: tuple[Step, ...]
    """The steps behind it."""
    below: bool
    """Whether ``//`` stands before it."""
    axes: tuple[Axis, ...] = ()
    """The axes along which a condition can look for its nodes; none if it cannot."""


def _places(steps: tuple[Step, ...], tail: Condition) -> list[_PathStep]:
    places: list[_PathStep] = []
    at = 0
    while at < len(steps):
        below = steps[at] == ANYWHERE_BELOW
        at += below
        if at == len(steps):
            if tail is not TRUE:
                places.append(_PathStep(ANYWHERE_BELOW, (), below=False))
            break
        step, rest = steps[at], steps[at + 1 :]
        at += 1
        predicates = step.predicates
        if predicates and (not may_be_declared(step) or step.axis in _UPWARDS_OR_SELF):
            # Where a predicate follows a comment, libxml2 finds others than without one.
            predicates = without_idle(predicates, single=selects_one(step))
            if not rest and tail is TRUE:
                predicates = without_trailing(predicates)
            step = Step(step.axis, step.test, predicates)
            left = tidy((*steps[: at - 1], step, *rest)) if step == CONTEXT_NODE else steps
            if below and len(left) < len(steps):
                # Without its predicates it is empty.
                steps, at = left, at - 2
                continue
        place = _PathStep(step, rest, below)
        positional = any(map(is_positional, predicates))
        places.append(place if positional else place._replace(axes=_axes(place)))
    return places


def _axes(place: _PathStep) -> tuple[Axis, ...]:
    """The axes along which a condition can look for the nodes of a step; none if it cannot.

    From the node and all below it, ``..`` and ``ancestor`` lead to the node itself, to those below
    and to those above that have a child. The next step must require one: comments count as
    children, and an index does not know of them.
    """
    step, rest, below, _ = place
    label = step_label(step)
    named, any_node = isinstance(step.test, NameTest), step.test == _ANY_NODE
    axes: tuple[Axis, ...] = ()
    match step.axis:
        case Axis.CHILD | Axis.DESCENDANT | Axis.ATTRIBUTE if label:
            axes = (step.axis,)
        case Axis.SELF if label or (any_node and not below):
            axes = (Axis.SELF, Axis.DESCENDANT) if below else (Axis.SELF,)
        case Axis.DESCENDANT_OR_SELF if label:
            axes = (Axis.SELF, Axis.DESCENDANT)
        case Axis.ANCESTOR_OR_SELF if named and below:
            axes = (Axis.SELF, Axis.DESCENDANT, Axis.ANCESTOR)
        case Axis.ANCESTOR_OR_SELF if (named or any_node) and not below:
            axes = (Axis.SELF, Axis.ANCESTOR)
        case Axis.PARENT | Axis.ANCESTOR if below and (named or any_node) and _leads_down(rest):
            axes = (Axis.SELF, Axis.DESCENDANT, step.axis)
    return axes


def _within(axis: Axis, step: Step, context: Context) -> Context | None:
    """The kind of node to which the step leads along an axis; None if there is none below."""
    if axis in _UPWARDS:
        return None
    label = step_label(step)
    if axis is not Axis.SELF:
        return _CONTEXT_OF[label.kind] if label else Context.ELEMENT
    return None if label and _CONTEXT_OF[label.kind] is not context else context


def _from_place(
    place: _PathStep, context: Context, tail: Condition, behind: dict[Context, Condition]
) -> Condition:
    """The condition from one step on, given that of the steps behind it."""
    step, below = place.step, place.below
    if context is Context.DOCUMENT and not below and step.axis in _NOT_OF_DOCUMENT:
        return FALSE
    if context is Context.DOCUMENT and step == _ANY_CHILD and not place.rest and tail is TRUE:
        return TRUE  # There is a root element.
    where = {
        within: _where(place, within, behind[within])
        for within in dict.fromkeys(_within(axis, step, context) for axis in place.axes)
        if within is not None
    }
    parts = [_along(axis, place, context, where) for axis in place.axes]
    upwards = place.axes[-1:]
    if upwards and upwards[0] in _UPWARDS and context is not Context.DOCUMENT:
        steps = (Step(upwards[0], step.test, step.predicates), *place.rest)
        parts.append(_residual_steps(steps, tail, context))
    whole = any_of(parts)
    if not place.axes or (len(place.axes) > 1 and size_of(whole) > TURNED_SIZE_MAX):
        steps = (*(ANYWHERE_BELOW,) * below, step, *place.rest)
        return _residual_steps(steps, tail, context)
    return whole


def _where(place: _PathStep, within: Context, behind: Condition) -> Condition:
    """What a node of a step must satisfy, besides its label, if it is of this kind."""
    predicates = place.step.predicates
    if not predicates:
        return behind
    if within is Context.DOCUMENT:
        predicates = tuple(map(from_document, predicates))
    return all_of([*(meaning_at(p, within) for p in predicates), behind])


def _along(
    axis: Axis, place: _PathStep, context: Context, where: dict[Context, Condition]
) -> Condition:
    """The condition from one step on along one axis, but for those that lead upwards."""
    step = place.step
    within = _within(axis, step, context)
    if within is None:
        return FALSE
    label = step_label(step)
    if axis is Axis.SELF:
        is_element = label is not None and label.kind is Kind.ELEMENT
        return all_of([SelfIs(label), where[within]]) if label and is_element else where[within]
    reach = Reach.DESCENDANT if place.below else REACH_OF[axis]
    return placed(where[within], Sought(reach, label or ANY_ELEMENT, context, meaning_at))


def _leads_down(steps: tuple[Step, ...]) -> bool:
    """Whether only a node that has a child element or text has nodes along the steps."""
    step = next((step for step in steps if step != ANYWHERE_BELOW), None)
    downwards = step is not None and step.axis in (Axis.CHILD, Axis.DESCENDANT)
    return downwards and step is not None and step_label(step) is not None


def _residual_steps(steps: tuple[Step, ...], tail: Condition, context: Context) -> Condition:
    path = Path(context is Context.DOCUMENT, steps)
    if isinstance(tail, ValueTest):
        return _residual(Binary(tail.operator.value, path, as_expression(tail.constant)))
    assert tail is TRUE
    return _residual(path)
