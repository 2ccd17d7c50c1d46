"""Absolute expressions: rewriting that removes the dependence on the context node.

A subscription is evaluated at the document node. Writing that into the expression itself gives it
the same meaning at every node where an engine may evaluate it:

    a/b, @x           →   //a/b, //@x       a path at top level may begin anywhere in the document
    a | b             →   //a | //b         so may each branch of a union
    (a | b)[c]/d      →   (//a | //b)[c]/d  and a parenthesis before '[' or '/'
    count(a) > 1      →   count(/a) > 1     other relative paths begin at the document node
    (a) = 'x'         →   (/a) = 'x'        in parentheses, too
    string()          →   string(/)
    position()        →   1
"""

from __future__ import annotations

from typing import Final, assert_never

from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    Literal,
    Negative,
    Number,
    Path,
    Union,
    operands,
    tidy,
)

_DOCUMENT: Final = Path.rooted(())
_ABOUT_CONTEXT: Final = frozenset(
    {"string", "number", "name", "local-name", "namespace-uri", "string-length", "normalize-space"}
)
"""The functions that apply to the context node if they have no argument."""


def rooted(expression: Expression) -> Expression:
    """The meaning of the expression as a subscription, independent of any context node."""
    match expression:
        case Path(False, steps):
            return Path.rooted(tidy((ANYWHERE_BELOW, *steps)))
        case Union(parts):
            return Union(tuple(map(rooted, parts)))
        case Filter(base, predicates):
            return Filter(rooted(base), predicates)
        case Chain(base, steps):
            return Chain(rooted(base), steps)
        case _:
            return from_document(expression)


def is_rooted(expression: Expression) -> bool:
    """Whether the expression has the same value at every context node of a document."""
    match expression:
        case Path(absolute):
            return absolute
        case Call("position" | "last" | "lang"):
            return False
        case Call(name, ()) if name in _ABOUT_CONTEXT:
            return False
        case Call(_, parts) | Union(parts):
            return all(map(is_rooted, parts))
        case Filter(base) | Chain(base) | Negative(base):
            return is_rooted(base)
        case Binary():
            return all(map(is_rooted, operands(expression)))
        case Literal() | Number():
            return True
        case _:
            assert_never(expression)


def from_document(expression: Expression) -> Expression:  # noqa: PLR0911
    """The meaning of the expression at the document node, independent of any context node.

    This also applies to predicates on the document node: ``/self::node()[name()]`` has ``name(/)``.
    """
    match expression:
        case Path(False, steps):
            return Path.rooted(tidy(steps))
        case Call("position" | "last"):
            return Number("1")
        case Call("lang"):
            # The language comes from an attribute of an enclosing element; the document has none.
            return Call("false", ())
        case Call(name, ()) if name in _ABOUT_CONTEXT:
            return Call(name, (_DOCUMENT,))
        case Call(name, arguments):
            return Call(name, tuple(map(from_document, arguments)))
        case Union(parts):
            return Union(tuple(map(from_document, parts)))
        case Filter(base, predicates):
            return Filter(from_document(base), predicates)
        case Chain(base, steps):
            return Chain(from_document(base), steps)
        case Negative(operand):
            return Negative(from_document(operand))
        case Binary():
            return _chain_from_document(expression)
        case Path() | Literal() | Number():
            return expression
        case _:
            assert_never(expression)


def _chain_from_document(chain: Binary) -> Expression:
    """The same for a chain of operators, which may be long: ``a or b or c``."""
    behind: list[Binary] = []
    first: Expression = chain
    while isinstance(first, Binary):
        behind.append(first)
        first = first.left
    whole = from_document(first)
    for each in reversed(behind):
        whole = Binary(each.operator, whole, from_document(each.right))
    return whole
