"""Relaxation of residual conditions to exact necessary ones.

An index cannot decide ``//a[b][position() = 2]/c``, but without ``//a[b]/c`` there is no match.
:func:`weakened` returns an exact condition that a condition entails, so an index selects candidates
by it and libxml2 decides on candidates only. Under a negation the direction is reversed: there a
residual part is replaced by something *stronger*, namely ``FALSE``.

    //a[b = c]                        //a[b][c]          a join needs both sides
    //a[count(b) > 2]                 //a/b              two or more are at least one
    //a[not(b) and not(c = d)]        //a[not(b)]
    //a[following-sibling::b]         //*[a]/b           siblings have one parent
    //a[b + c > 2]                    //a[b][c]          what is not there is no number
    //a[normalize-space(@x) = 'y z']  //a[contains(@x, 'y')]
    //a[substring-after(b, 'y')]      //a[contains(b, 'y')]
    //k/ancestor::l/t                 //k and //l/t      other axes stay inside the document
    //k/preceding::text()[. = 'x']    //k and //text()   except for texts of declared entities

Sound, not tight: a candidate too many costs time, one too few would lose a document.
"""

from __future__ import annotations

from typing import Final, assert_never

from twigcast.language.condition.model import (
    ANY_ELEMENT,
    FALSE,
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
from twigcast.language.translate.translate import (
    REACH_OF,
    meaning_at,
    predicate_meaning,
    step_label,
)
from twigcast.language.translate.upward import Context, Sought, placed
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
    Negative,
    Number,
    Path,
    Step,
    Type,
    Union,
    is_positional,
    like_operands,
    type_of,
)

_COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "div", "mod"})
_EMPTY_FROM_EMPTY: Final = frozenset(
    {
        "string", "normalize-space", "substring", "substring-before", "substring-after",
        "translate", "local-name", "name", "namespace-uri",
    }
)  # fmt: skip
"""The functions that make an empty string of an empty one, or of no nodes."""
_PARENT: Final = Step(Axis.PARENT, KindTest("node"))
_SIBLINGS: Final = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_ABOVE: Final = frozenset({Axis.PARENT, Axis.ANCESTOR})
_HERE: Final = Path.relative((CONTEXT_NODE,))
_LANG: Final = Label(Kind.ATTRIBUTE, XML_NAMESPACE, "lang")


def necessary(condition: Condition) -> Condition:
    """An exact condition on the document node that holds wherever this one does."""
    return on_document(weakened(_raised(condition, Context.DOCUMENT)))


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


def _raised(condition: Condition, context: Context) -> Condition:
    """A condition that holds wherever this one does, in which what looks up is turned around.

    A node with a sibling has a parent with both, and of an ancestor ``[1]`` at least an ancestor
    is left: what cannot be turned around exactly may be so without its positions.
    """
    match condition:
        case Residual(expression):
            above = _seen_from_above(expression)
            return condition if above is None else Residual(above)
        case Exists(reach, label, where):
            if is_exact(where):
                return condition
            within = Context(label.kind.value)
            sought = Sought(reach, label, context, meaning_at)
            return placed(_raised(where, within), sought, whatever_is_left=True)
        case AllOf(parts):
            return all_of(_raised(part, context) for part in parts)
        case AnyOf(parts):
            return any_of(_raised(part, context) for part in parts)
        case AtDocument(inner):
            return at_document(_raised(inner, Context.DOCUMENT))
        case _:
            return condition


def _seen_from_above(expression: Expression) -> Expression | None:
    """An expression's tests of nodes above, but for those that depend on positions; None if none.

    It is a weaker condition.
    """
    match expression:
        case Path(False, (first, *rest)):
            steps = tuple(map(_without_positions, (first, *rest)))
            if first.axis in _SIBLINGS:
                beside = Step(Axis.CHILD, steps[0].test, steps[0].predicates)
                return Path.relative((_PARENT, beside, *steps[1:]))
            return Path.relative(steps) if first.axis in _ABOVE else None
        case Binary(operator, left, Literal() | Number() | Negative(Number()) as constant):
            above = _seen_from_above(left) if operator in _COMPARISONS else None
            return None if above is None else Binary(operator, above, constant)
        case _:
            return None


def _without_positions(step: Step) -> Step:
    kept = tuple(each for each in step.predicates if not is_positional(each))
    return Step(step.axis, step.test, kept)


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


def _necessary(expression: Expression) -> Condition:
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
        case _:
            return _necessary_for_call(expression)


def _necessary_for_call(expression: Expression) -> Condition:
    """The same for what is not a set of nodes, nor a comparison."""
    match expression:
        case Call("boolean", (argument,)):
            return _necessary(argument)
        case Call("contains" | "starts-with", (subject, Literal(needle))) if needle:
            return _containing(subject, needle)
        case Call("lang"):
            return at_document(exists(Reach.DESCENDANT, _LANG, TRUE))
        case Call("count", (nodes,)):
            return _necessary(nodes)
        case Call("string-length", arguments):
            return _filled(arguments[0]) if arguments else TRUE
        case Call("sum", (nodes,)):
            return _necessary(nodes)
        case _ if type_of(expression) is Type.STRING:
            return _filled(expression)
        case _ if type_of(expression) is Type.NUMBER:
            return _numeric(expression)
        case _:
            return TRUE


def _necessary_for_comparison(operator: str, left: Expression, right: Expression) -> Condition:
    if Type.BOOLEAN in (type_of(left), type_of(right)):
        return TRUE
    sides = [_necessary(side) for side in (left, right) if type_of(side) is Type.NODES]
    is_of_numbers = operator not in ("=", "!=") or Type.NUMBER in (type_of(left), type_of(right))
    if is_of_numbers and operator != "!=":
        # Nothing compares with what is no number, but for being unequal.
        sides += map(_numeric, (left, right))
    for value, constant, swapped in ((left, right, False), (right, left, True)):
        match value, constant:
            case _, Literal(text) if operator == "=" and text and type_of(value) is Type.STRING:
                sides.append(_containing(value, text))
            case _, Literal("") if operator == "!=":
                sides.append(_filled(value))
            case Call("count" | "string-length" | "sum", (subject,)), Number(text):
                if not _zero_compares(operator, text, swapped=swapped):
                    nodes = type_of(subject) is Type.NODES
                    sides.append(_necessary(subject) if nodes else _filled(subject))
    return all_of(sides)


def _filled(expression: Expression) -> Condition:
    """A necessary condition for the string that the expression is converted to not to be empty."""
    match expression:
        case Literal(value):
            return TRUE if value else FALSE
        case Call("concat", parts):
            return any_of(map(_filled, parts))
        case Call("substring-before" | "substring-after", (subject, Literal(mark))) if mark:
            return _containing(subject, mark)
        case Call(name, (subject, *_)) if name in _EMPTY_FROM_EMPTY:
            return _filled(subject)
        case _ if type_of(expression) is Type.NODES:
            return _necessary(expression)
        case _:
            return TRUE


def _containing(expression: Expression, needle: str) -> Condition:
    """A necessary condition for the string of the expression to contain the needle.

    Of the needle only the longest word counts, since there may be other spaces around it.
    """
    longest_word = max(needle.split(), key=len, default="")
    if not longest_word:
        return _filled(expression)
    match expression:
        case Literal(value):
            return TRUE if longest_word in value else FALSE
        case Call("string" | "normalize-space", arguments):
            return _containing(arguments[0] if arguments else _HERE, longest_word)
        case Call("substring-before" | "substring-after", (subject, _)):
            return all_of([_filled(expression), _containing(subject, longest_word)])
        case Call("substring", (subject, *_)):
            return _containing(subject, longest_word)
        case Call("concat", parts):
            return _containing_parts(parts, longest_word)
        case _ if type_of(expression) is Type.NODES:
            # Of several nodes, the first is the string.
            found = predicate_meaning(
                Call("contains", (expression, Literal(longest_word))), ANY_ELEMENT
            )
            return found if is_exact(found) else _necessary(expression)
        case _:
            return _filled(expression)


def _containing_parts(parts: tuple[Expression, ...], word: str) -> Condition:
    """The same for parts behind one another, if only one of them is more than spaces."""
    others = [part for part in parts if not (isinstance(part, Literal) and part.value.isspace())]
    if len(others) == 1 and len(others) < len(parts):
        return _containing(others[0], word)
    return any_of(map(_filled, parts))


def _numeric(expression: Expression) -> Condition:
    """A necessary condition for the expression to be a number: an empty string is none."""
    match expression:
        case Negative(operand) | Call("floor" | "ceiling" | "round" | "number", (operand,)):
            return _numeric(operand)
        case Binary(operator, left, right) if operator in _ARITHMETIC:
            return all_of([_numeric(left), _numeric(right)])
        case Literal() | Number():
            return TRUE
        case _ if type_of(expression) in (Type.STRING, Type.NODES):
            return _filled(expression)
        case _:
            return TRUE


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
