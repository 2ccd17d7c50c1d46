"""Relaxation of residual conditions to exact necessary ones.

An index cannot decide ``//a[b][position() = 2]/c``, but without ``//a[b]/c`` there is no match.
:func:`weakened` returns an exact condition that a condition entails, so an index selects candidates
by it and libxml2 decides on candidates only. Under a negation the direction is reversed: there a
residual part is replaced by something *stronger*, namely ``FALSE``.

    //a[b = c]                        //a[b][c]          a join needs both sides
    //a[count(b) > 2]                 //a/b              two or more are at least one
    //a[not(b) and not(c = d)]        //a[not(b)]
    //k/ancestor::l/t                 //k and //l/t      other axes stay inside the document
    //k/preceding::text()[. = 'x']    //k and //text()   except for texts of declared entities

Sound, not tight: a candidate too many costs time, one too few would lose a document.
"""

from __future__ import annotations

from typing import Final, assert_never

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
    Not,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.condition.normal_form import all_of, any_of, at_document, exists, negation
from twigcast.language.translate.translate import REACH_OF, predicate_meaning, step_label
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
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
    like_operands,
    type_of,
)

_COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
_EMPTY_STRING: Final = frozenset(
    {"string", "normalize-space", "local-name", "name", "namespace-uri"}
)
_EMPTY_ZERO: Final = frozenset({"count", "string-length", "sum"})


def weakened(condition: Condition) -> Condition:
    """An exact condition that holds wherever this one does; itself if it is exact."""
    match condition:
        case Residual(expression):
            return _necessary(expression)
        case Exists(reach, label, where):
            return exists(reach, label, weakened(where))
        case AllOf(parts):
            return all_of(map(weakened, parts))
        case AnyOf(parts):
            return any_of(map(weakened, parts))
        case Not(part):
            return negation(_strengthened(part))
        case AtDocument(inner):
            return at_document(weakened(inner))
        case SelfIs() | ValueTest() | FirstValue():
            return condition
        case _:
            assert_never(condition)


def _strengthened(condition: Condition) -> Condition:
    """An exact condition that holds nowhere this one does not."""
    match condition:
        case Residual():
            return FALSE
        case Exists(reach, label, where):
            return exists(reach, label, _strengthened(where))
        case AllOf(parts):
            return all_of(map(_strengthened, parts))
        case AnyOf(parts):
            return any_of(map(_strengthened, parts))
        case Not(part):
            return negation(weakened(part))
        case AtDocument(inner):
            return at_document(_strengthened(inner))
        case SelfIs() | ValueTest() | FirstValue():
            return condition
        case _:
            assert_never(condition)


def _necessary(expression: Expression) -> Condition:  # noqa: PLR0911
    """A necessary condition on the context node for ``boolean(expression)`` to be true there."""
    match expression:
        case Path(absolute, steps):
            condition = _necessary_for_steps(steps)
            return at_document(condition) if absolute else condition
        case Union(parts):
            return any_of(map(_necessary, parts))
        case Filter(base, predicates):
            inside = [_necessary(p) for p in predicates if type_of(p) is not Type.NUMBER]
            return all_of([_necessary(base), at_document(_below(all_of(inside)))])
        case Chain(base, steps):
            return all_of([_necessary(base), at_document(_below(_necessary_for_steps(steps)))])
        case Binary("and") as chain:
            return all_of(map(_necessary, like_operands(chain)))
        case Binary("or") as chain:
            return any_of(map(_necessary, like_operands(chain)))
        case Binary(operator, left, right) if operator in _COMPARISONS:
            return _necessary_for_comparison(operator, left, right)
        case Call("boolean", (argument,)):
            return _necessary(argument)
        case Call("contains" | "starts-with", (subject, Literal(needle))) if needle:
            return _necessary_for_value(subject)
        case Call(name, (subject,)) if name in _EMPTY_STRING | _EMPTY_ZERO:
            return _necessary_for_value(subject)
        case Binary() | Call() | Negative() | Literal() | Number():
            return TRUE
        case _:
            assert_never(expression)


def _necessary_for_value(subject: Expression) -> Condition:
    """A necessary condition for the subject to have a value other than that of no nodes."""
    return _necessary(subject) if type_of(subject) is Type.NODES else TRUE


def _necessary_for_comparison(operator: str, left: Expression, right: Expression) -> Condition:
    if Type.BOOLEAN in (type_of(left), type_of(right)):
        return TRUE
    sides = [_necessary(side) for side in (left, right) if type_of(side) is Type.NODES]
    for call, constant, swapped in ((left, right, False), (right, left, True)):
        match call, constant:
            case Call(name, (subject,)), Literal(value) if name in _EMPTY_STRING and (
                (operator == "=" and value) or (operator == "!=" and not value)
            ):
                sides.append(_necessary_for_value(subject))
            case Call(name, (subject,)), Number(text) if name in _EMPTY_ZERO:
                if not _zero_compares(operator, text, swapped=swapped):
                    sides.append(_necessary_for_value(subject))
    return all_of(sides)


def _zero_compares(operator: str, text: str, *, swapped: bool) -> bool:
    """Whether ``0 operator text`` holds, or ``text operator 0`` if swapped.

    The empty node-set has the count, the length and the sum 0: does it pass?
    """
    left, right = (float(text), 0.0) if swapped else (0.0, float(text))
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[operator]


def _necessary_for_steps(steps: tuple[Step, ...]) -> Condition:
    """A necessary condition for the steps to select a node."""
    condition: Condition = TRUE
    for step in reversed(steps):
        condition = (
            _below(condition) if step == ANYWHERE_BELOW else _necessary_for_step(step, condition)
        )
    return condition


def _necessary_for_step(step: Step, tail: Condition) -> Condition:
    predicates = [p for p in step.predicates if type_of(p) is not Type.NUMBER]
    label = step_label(step)
    if step.axis is Axis.NAMESPACE:
        return TRUE
    if label is None:
        where = all_of([*map(_necessary, predicates), tail])
        return where if step.axis is Axis.SELF else at_document(_below(where))
    where = all_of([*(weakened(predicate_meaning(p, label)) for p in predicates), tail])
    if step.axis in REACH_OF:
        return exists(REACH_OF[step.axis], label, where)
    if step.axis is Axis.SELF and label.kind is Kind.ELEMENT:
        return all_of([SelfIs(label), where])
    # Whatever the axis, the node is somewhere in the document, or in the declaration of an entity
    # that the document uses: libxml2's axes also lead there. An element is the same in both places,
    # with all its content. A text is merged with its neighbours in the document, so nothing known
    # of its value holds there.
    if label.kind is Kind.TEXT:
        where = _below(where)
    return at_document(exists(Reach.DESCENDANT, label, where))


def _below(condition: Condition) -> Condition:
    """A necessary condition on a node for the condition to hold there or anywhere below it."""
    match condition:
        case Exists(_, label, where):
            return exists(Reach.DESCENDANT, label, where)
        case SelfIs(label):
            return at_document(exists(Reach.DESCENDANT, label, TRUE))
        case AllOf(parts):
            return all_of(map(_below, parts))
        case AnyOf(parts):
            return any_of(map(_below, parts))
        case AtDocument():
            return condition
        case ValueTest() | FirstValue() | Not() | Residual():
            return TRUE
        case _:
            assert_never(condition)
