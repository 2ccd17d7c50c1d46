"""Conditions that look up, turned around: tests of nodes above become tests from further above.

An index looks down: it knows which nodes are below a node. A condition that looks up, ``../b`` or
``ancestor::c``, is turned around where its node is looked for, from a node that is above both:

    //a[../b]              /a and /b (no: one root), or //*[b]/a
    //a[ancestor::c]       //c//a
    //a/../@x              //*[@x]/a
    /c/a[not(../b)]        /c[not(b)]/a

A node has one parent, so a test of the parent can be moved whole, with its negations: it is
*shifted*, and ``../b`` becomes ``b`` one level up. A node has many ancestors, so ``ancestor::c``
can be moved from a child to its parent, where it is ``ancestor-or-self::c``; from any node below
it can be moved only where it is not negated, since then some node in between, or the one above,
is the ancestor that is wanted.

Conditions that look up are residual ones, so what cannot be moved is residual as before.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple, TypeAlias, assert_never

from twigcast.language.condition.model import (
    ANY_ELEMENT,
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    Kind,
    Label,
    Not,
    Reach,
    Residual,
    parts_of,
)
from twigcast.language.condition.normal_form import (
    all_of,
    any_of,
    exists,
    is_outside,
    negation,
)
from twigcast.language.xpath.absolute import from_document
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
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
    is_positional,
    may_be_declared,
    operands,
    tidy,
    type_of,
)

__all__ = ["TURNED_SIZE_MAX", "Context", "Meaning", "Sought", "looks_up", "placed", "size_of"]


class Context(Enum):
    """The kind of node that a condition is about."""

    DOCUMENT = "document"
    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text"


Meaning: TypeAlias = Callable[[Expression, Context], Condition]
"""The translation of an expression at a node."""

TURNED_SIZE_MAX: Final = 256
"""The parts of a condition that was turned around; a larger one stays residual."""

_ALTERNATIVES_MAX: Final = 12
"""The alternatives of a condition, some of which look up, that are turned around one by one."""

_LEVELS_MAX: Final = 8
"""The steps upwards in an expression that is turned around."""

_ANCESTORS_MAX: Final = 4
"""The steps upwards in several conditions on ancestors: each may stand above any other."""

_SIZES_CACHED_MAX: Final = 4096
"""Sizes of conditions kept for the next one that has them as parts."""

_CACHED_MAX: Final = 1024
"""Conditions turned around, kept while an expression is translated: their parts come up again, and
without this the work would double with each level."""

_COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
_UPWARDS: Final = frozenset({Axis.PARENT, Axis.ANCESTOR})
_UPWARDS_OR_SELF: Final = _UPWARDS | {Axis.ANCESTOR_OR_SELF}
_PLAIN_NODE: Final = KindTest("node")


class Sought(NamedTuple):
    """A node that is sought: how far below which kind of node, and its label."""

    reach: Reach
    label: Label
    context: Context
    meaning: Meaning


def placed(where: Condition, sought: Sought, *, whatever_is_left: bool = False) -> Condition:
    """That there is the node that is sought, and that it satisfies ``where``.

    Tests of nodes above are moved to these nodes if that leaves no more residual parts than there
    were, or in any case with ``whatever_is_left``.
    """
    plain = exists(sought.reach, sought.label, where)
    if where is TRUE or not looks_up(where):
        return plain
    there = [part for part in parts_of(plain) if not is_outside(part)]
    match there:
        case [Exists(_, label, inside)] if plain is not there[0] or inside is not where:
            # The canonical text has it so: what stands outside, or no node of the kind can have,
            # must not count to what the rest would become.
            found = placed(inside, sought._replace(label=label), whatever_is_left=whatever_is_left)
            return all_of([found, *filter(is_outside, parts_of(plain))])
        case [Exists()]:
            return _placed(where, sought, whatever_is_left)
        case _:
            return plain


@lru_cache(maxsize=_CACHED_MAX)
def _placed(where: Condition, sought: Sought, whatever_is_left: bool) -> Condition:  # noqa: FBT001
    plain = exists(sought.reach, sought.label, where)
    alternatives = _alternatives(where)
    if alternatives is None or sought.context not in (Context.DOCUMENT, Context.ELEMENT):
        return plain
    whole = any_of(_downward(each, sought) for each in alternatives)
    if size_of(whole) > TURNED_SIZE_MAX:
        return plain
    left = len(residuals_of(whole))
    return whole if whatever_is_left or left <= len(residuals_of(plain)) else plain


def looks_up(condition: Condition) -> bool:
    """Whether some part of a condition on its own node, not on those below, looks up."""
    match condition:
        case Residual(expression):
            return _levels_up(expression) is not None
        case AllOf(parts) | AnyOf(parts):
            return any(map(looks_up, parts))
        case Not(part):
            return looks_up(part)
        case _:
            return False


@lru_cache(maxsize=_SIZES_CACHED_MAX)
def size_of(condition: Condition) -> int:
    """The number of parts of a condition, each counted as often as it is written."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            return 1 + sum(map(size_of, parts))
        case Not(part) | AtDocument(part) | Exists(_, _, part):
            return 1 + size_of(part)
        case _:
            return 1


@lru_cache(maxsize=_SIZES_CACHED_MAX)
def residuals_of(condition: Condition) -> frozenset[Condition]:
    """The residual parts of a condition, each once: it is decided once for each node."""
    match condition:
        case Residual():
            return frozenset((condition,))
        case AllOf(parts) | AnyOf(parts):
            return frozenset().union(*map(residuals_of, parts))
        case Not(part) | AtDocument(part) | Exists(_, _, part):
            return residuals_of(part)
        case _:
            return frozenset()


# Which conditions look up.


def _levels_up(expression: Expression) -> int | None:
    """The steps to a parent with which every relative path of the expression begins, at least.

    0 if some of them lead to ancestors instead, and None if one does not lead up.
    """
    levels: list[int] = []
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case Path(False, steps):
                up = _levels_of_path(steps)
                if up is None:
                    return None
                levels.append(up)
            case Filter(base) | Chain(base) | Negative(base):
                waiting.append(base)
            case Union(parts):
                waiting += parts
            case Binary(_, left, right):
                waiting += (left, right)
            case Call(name, arguments):
                if name == "lang" or not (arguments or name in ("true", "false")):
                    return None
                waiting += arguments
    if not levels or _steps_up(expression) > _LEVELS_MAX:
        return None
    return min(levels)


def _levels_of_path(steps: tuple[Step, ...]) -> int | None:
    if not steps or steps[0].axis not in _UPWARDS:
        return None
    for step in steps:
        # What an internal subset can contain, libxml2 finds in one spelling and not in another.
        if may_be_declared(step) and not (
            step == ANYWHERE_BELOW or (step.axis in _UPWARDS and step.test == _PLAIN_NODE)
        ):
            return None
    if steps[0].test != _PLAIN_NODE and not isinstance(steps[0].test, NameTest):
        return None
    levels = 0
    for step in steps:
        if step.axis is not Axis.PARENT:
            break
        levels += 1
    return levels


def _is_of_ancestor(expression: Expression) -> bool:
    """Whether it tests one ancestor, and none of its positions matters."""
    match expression:
        case Path(False, (Step(Axis.ANCESTOR, _, predicates), *_)):
            return not any(map(is_positional, predicates))
        case Binary(operator, Path() as path, Literal() | Number() | Negative(Number())):
            return operator in _COMPARISONS and _is_of_ancestor(path)
        case _:
            return False


def _steps_up(expression: Expression) -> int:
    """The number of steps upwards in an expression, those in predicates included."""
    match expression:
        case Path(_, steps):
            return _steps_up_along(steps)
        case Chain(base, steps):
            return _steps_up(base) + _steps_up_along(steps)
        case Filter(base, predicates):
            return _steps_up(base) + sum(map(_steps_up, predicates))
        case Union(parts) | Call(_, parts):
            return sum(map(_steps_up, parts))
        case Binary():
            return sum(map(_steps_up, operands(expression)))
        case Negative(operand):
            return _steps_up(operand)
        case Literal() | Number():
            return 0
        case _:
            assert_never(expression)


def _steps_up_along(steps: tuple[Step, ...]) -> int:
    inside = sum(_steps_up(one) for step in steps for one in step.predicates)
    return inside + sum(step.axis in _UPWARDS_OR_SELF for step in steps)


def _shifted(expression: Expression, *, to_self: bool = False) -> Expression:
    """The expression as it is at the parent of its node.

    ``to_self`` of an expression about an ancestor: as it is at that ancestor.
    """
    match expression:
        case Path(False, (first, *rest)):
            axis = Axis.SELF if to_self or first.axis is Axis.PARENT else Axis.ANCESTOR_OR_SELF
            steps = tidy((Step(axis, first.test, first.predicates), *rest))
            return Path.relative(steps or (Step(Axis.SELF, _PLAIN_NODE),))
        case Filter(base, predicates):
            return Filter(_shifted(base), predicates)
        case Chain(base, steps):
            return Chain(_shifted(base), steps)
        case Negative(operand):
            return Negative(_shifted(operand))
        case Union(parts):
            return Union(tuple(map(_shifted, parts)))
        case Binary(operator, left, right):
            return Binary(operator, _shifted(left, to_self=to_self), _shifted(right))
        case Call(name, arguments):
            return Call(name, tuple(map(_shifted, arguments)))
        case _:
            return expression


# Turning around.


class _Alternative(NamedTuple):
    """A conjunction: tests of the node itself, and of those above it."""

    own: tuple[Condition, ...] = ()
    above: tuple[Expression, ...] = ()


def _alternatives(condition: Condition) -> list[_Alternative] | None:
    """The condition as a disjunction, taken apart where it looks up; None if there are too many."""
    match condition:
        case _ if not looks_up(condition):
            return [_Alternative((condition,))]
        case Residual(expression):
            return [_Alternative((), (expression,))]
        case Not(Residual(expression)):
            return [_Alternative((), (Call("not", (expression,)),))]
        case Not(AllOf(parts)):
            return _alternatives(any_of(map(negation, parts)))
        case Not(AnyOf(parts)):
            return _alternatives(all_of(map(negation, parts)))
        case AnyOf(parts):
            found = [_alternatives(part) for part in parts]
            if None in found or sum(len(each or ()) for each in found) > _ALTERNATIVES_MAX:
                return None
            return [one for each in found for one in each or ()]
        case AllOf(parts):
            return _product([_alternatives(part) for part in parts])
        case _:
            return [_Alternative((condition,))]


def _product(factors: list[list[_Alternative] | None]) -> list[_Alternative] | None:
    number = 1
    for factor in factors:
        number *= len(factor or ())
        if factor is None or number > _ALTERNATIVES_MAX:
            return None
    return [
        _Alternative(
            tuple(part for one in each for part in one.own),
            tuple(part for one in each for part in one.above),
        )
        for each in product(*(factor or () for factor in factors))
    ]


def _downward(alternative: _Alternative, sought: Sought) -> Condition:
    """The alternative turned around, as far as it is done."""
    if sought.reach is Reach.CHILD:
        return _of_child(alternative, sought, sought.context)
    ancestors = [each for each in alternative.above if _is_of_ancestor(each)]
    parents = [each for each in alternative.above if _levels_up(each)]
    left = [each for each in alternative.above if each not in ancestors and each not in parents]
    if parents and not left:
        # Were anything left, it could look up to the parent again, one level higher, without end.
        below = _of_child(alternative, sought, Context.ELEMENT)
        return any_of((_of_child(alternative, sought, sought.context), _somewhere(below, sought)))
    together = len(ancestors) > 1 and sum(map(_steps_up, ancestors)) > _ANCESTORS_MAX
    if parents or together:
        left, ancestors = [*alternative.above], []
    where = all_of([*alternative.own, *map(_residual, left)])
    found = exists(sought.reach, sought.label, where)
    return _of_descendant(found, ancestors, sought) if ancestors else found


def _residual(expression: Expression) -> Condition:
    """An expression that was taken out of a condition, as it was there."""
    match expression:
        case Call("not", (argument,)):
            return negation(Residual(argument))
        case _:
            return Residual(expression)


def _of_child(alternative: _Alternative, sought: Sought, context: Context) -> Condition:
    """A child, of a node of the context, for which the alternative holds."""
    above = all_of(
        _meaning_of(_shifted(each), context, sought.meaning) for each in alternative.above
    )
    if context is Context.DOCUMENT:
        above = _with_root(above, sought.label)
    return all_of([exists(Reach.CHILD, sought.label, all_of(alternative.own)), above])


def _of_descendant(found: Condition, ancestors: list[Expression], sought: Sought) -> Condition:
    """A descendant that is found, with all these ancestors, of which any may be the lowest."""
    above = (_meaning_of(_shifted(each), sought.context, sought.meaning) for each in ancestors)
    cases = [all_of([found, *above])]
    for place, lowest in enumerate(ancestors):
        others = ancestors[:place] + ancestors[place + 1 :]
        shifted = [_shifted(lowest, to_self=True), *map(_shifted, others)]
        where = [_meaning_of(each, Context.ELEMENT, sought.meaning) for each in shifted]
        cases.append(_somewhere(all_of([found, *where]), sought))
    return any_of(cases)


def _somewhere(where: Condition, sought: Sought) -> Condition:
    """An element in between for which the condition holds."""
    between = sought._replace(label=ANY_ELEMENT)
    return placed(where, between, whatever_is_left=True)


@lru_cache(maxsize=_CACHED_MAX)
def _meaning_of(expression: Expression, context: Context, meaning: Meaning) -> Condition:
    rooted = from_document(expression) if context is Context.DOCUMENT else expression
    return meaning(rooted, context)


def _with_root(condition: Condition, label: Label) -> Condition:
    """The condition on the document node, which has one child, an element with this label."""
    match condition:
        case Exists(Reach.CHILD, other) if label.meet(other) is None:
            return FALSE
        case AtDocument(Residual(expression)):
            return FALSE if _needs_other_root(expression, label) else condition
        case AllOf(parts):
            return all_of(_with_root(part, label) for part in parts)
        case AnyOf(parts):
            return any_of(_with_root(part, label) for part in parts)
        case Not(part):
            return negation(_with_root(part, label))
        case _:
            return condition


def _needs_other_root(expression: Expression, label: Label) -> bool:
    """Whether a rooted expression is false where the root element has this label."""
    match expression:
        case Path(True, (Step(Axis.CHILD, NameTest(namespace, local)), *_)):
            return label.meet(Label(Kind.ELEMENT, namespace, local)) is None
        case Binary(operator, left, right) if operator in _COMPARISONS:
            if Type.BOOLEAN in (type_of(left), type_of(right)):
                return False
            return _needs_other_root(left, label) or _needs_other_root(right, label)
        case _:
            return False
