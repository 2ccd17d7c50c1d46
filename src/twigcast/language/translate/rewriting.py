"""Calls and comparisons that mean something simpler.

Rules are often written with functions that change nothing, or with a long form of what is a path, a
comparison or ``contains``. Where both are true of the same nodes, the simpler one
is taken, which an index may decide:

    string-length(@a) > 0              @a != ''           for what there is at most one of
    string(@a) != 'x'                  not(@a = 'x')
    local-name(..) = 'x'               ..[local-name() = 'x']
    contains(string(p), 'x')           contains(p, 'x')
    contains(normalize-space(p), 'x')  contains(p, 'x')   for a word, which spaces do not change
    substring(p, 1, 2) = 'xy'          starts-with(p, 'xy')
    p = true(), p != false()           boolean(p)
    concat('x', p)                     true()
"""

from __future__ import annotations

from typing import Final

from twigcast.language.translate.positions import always, compared
from twigcast.language.xpath.syntax import (
    CONTEXT_NODE,
    Axis,
    Binary,
    Call,
    Expression,
    KindTest,
    Literal,
    NameTest,
    Negative,
    Number,
    Path,
    Step,
    Type,
    type_of,
)

__all__ = ["SPACES", "selects_one", "simpler", "subject_of"]

SPACES: Final = " \t\r\n"
"""What XML and ``normalize-space()`` take for spaces."""

_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_HERE: Final = Path.relative((CONTEXT_NODE,))
_TRUE: Final = Call("true", ())
_FALSE: Final = Call("false", ())
_NAMES: Final = frozenset({"local-name", "name", "namespace-uri"})


def simpler(expression: Expression) -> Expression | None:
    """An expression that is true of the same nodes and simpler; None if there is none."""
    match expression:
        case Binary(operator, left, right) if operator in _MIRRORED:
            return _of_comparison(operator, left, right) or _of_comparison(
                _MIRRORED[operator], right, left
            )
        case Call("contains" | "starts-with" as name, (subject, Literal(needle))) if needle:
            plain = subject_of(subject)
            if plain is None and name == "contains" and not set(needle) & set(SPACES):
                plain = subject_of(subject, spaces=True)
            same = plain is None or plain == subject
            return None if same or plain is None else Call(name, (plain, Literal(needle)))
        case Call("string" | "string-length" | "concat", arguments):
            return _of_string(arguments)
        case _:
            return None


def selects_one(step: Step) -> bool:
    """Whether a node has at most one such node."""
    if step.axis is Axis.ATTRIBUTE:
        return isinstance(step.test, NameTest) and None not in step.test
    return step.axis in (Axis.SELF, Axis.PARENT)


def subject_of(expression: Expression, *, spaces: bool = False) -> Path | None:
    """The path of which a string is the string-value; None if it is none.

    With ``spaces`` the string-value may have other spaces than the string.
    """
    match expression:
        case Path():
            return expression
        case Call("string", ()):
            return _HERE
        case Call("string", (argument,)):
            return subject_of(argument, spaces=spaces)
        case Call("normalize-space", ()) if spaces:
            return _HERE
        case Call("normalize-space", (argument,)) if spaces:
            return subject_of(argument, spaces=spaces)
        case _:
            return None


def _single(expression: Expression) -> Path | None:
    """The path, if it leads to one node at most, of which a string is the string-value."""
    path = subject_of(expression)
    return path if path is not None and all(map(selects_one, path.steps)) else None


def _of_string(arguments: tuple[Expression, ...]) -> Expression | None:
    """Whether a string made of the arguments, one behind the other, is not empty."""
    parts: list[Expression] = []
    for argument in arguments or (_HERE,):
        if isinstance(argument, Literal):
            parts.append(_TRUE if argument.value else _FALSE)
            continue
        path = _single(argument)
        if type_of(argument) in (Type.NUMBER, Type.BOOLEAN):
            parts.append(_TRUE)
        elif path is not None:
            parts.append(Binary("!=", path, Literal("")))
        elif len(arguments) > 1:
            parts.append(Call("boolean", (Call("string", (argument,)),)))
        else:
            return None
    whole = parts[0]
    for part in parts[1:]:
        whole = Binary("or", whole, part)
    return _TRUE if _TRUE in parts else whole


def _of_comparison(operator: str, left: Expression, right: Expression) -> Expression | None:
    match left, right:
        case _, Call("true" | "false" as name, ()) if operator in ("=", "!="):
            wanted = (name == "true") == (operator == "=")
            return Call("boolean" if wanted else "not", (left,))
        case Call("string" | "number" as name, arguments), Literal() | Number() | Negative():
            path = _single((arguments or (_HERE,))[0])
            return None if path is None else _of_value(name, path, operator, right)
        case Call("string-length", arguments), Number() as constant:
            path = _single((arguments or (_HERE,))[0])
            some, none = always(operator, constant), compared(0, operator, constant)
            if path is None or some is None or none is None:
                return None
            filled = Binary("!=", path, Literal(""))
            if some == none:
                return _TRUE if some else _FALSE
            return filled if some else Call("not", (filled,))
        case Call(name, (Path(True, ()),)), Literal(value) if name in _NAMES:
            if operator in ("=", "!="):  # The document has no name.
                return _FALSE if (operator == "=") == bool(value) else _TRUE
        case Call(name, (argument,)), Literal(value) if name in _NAMES and value:
            return _of_name(name, argument, operator, right)
        case Call("substring", (subject, Number("1"), Number(length))), Literal(value):
            if operator == "=" and value and length == str(len(value)):
                return Call("starts-with", (subject, right))
    return None


def _of_value(name: str, path: Path, operator: str, constant: Expression) -> Expression | None:
    """A comparison of the value of one node at most; of none, it is the empty string, or NaN."""
    if isinstance(constant, Literal) and name == "number":
        return None
    if isinstance(constant, Literal) and operator in ("=", "!="):
        if path == Path.rooted(()):
            # Of a document with entities, libxml2 compares the node otherwise than its string.
            return None
        filled = Binary("!=", path, Literal(""))
        if not constant.value:
            return filled if operator == "!=" else Call("not", (filled,))
    if operator == "!=":
        return Call("not", (Binary("=", path, constant),))
    return Binary(operator, path, constant)


def _of_name(
    name: str, argument: Expression, operator: str, constant: Expression
) -> Expression | None:
    """A comparison of the name of one node at most; without one it is the empty string."""
    if not isinstance(argument, Path) or argument.steps[-1:] in ((), (CONTEXT_NODE,)):
        return None
    *before, last = argument.steps
    if not all(map(selects_one, argument.steps)) or operator not in ("=", "!="):
        return None
    if isinstance(last.test, KindTest) and last.test.kind != "node":
        return None
    named = Step(last.axis, last.test, (*last.predicates, Binary("=", Call(name, ()), constant)))
    path = Path(argument.absolute, (*before, named))
    return path if operator == "=" else Call("not", (path,))
