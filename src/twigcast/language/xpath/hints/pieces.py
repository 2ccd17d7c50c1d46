"""Pieces of a rewritten expression: XPath 1.0 text, with precedence and kind of value.

The precedence of a piece is needed to set parentheses only where they are needed. Some kinds have
no text of their own in XPath 1.0 (a sequence of strings, a range, the tokens of a text); they are
eliminated where they are compared
(:mod:`~twigcast.language.xpath.hints.comparing`), or there is no rewrite.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from twigcast.language.xpath.hints.departures import Departure

OR, AND, EQUAL, RELATION, SUM, PRODUCT, SIGN, UNION, PATH, PRIMARY = range(1, 11)
"""The precedences of XPath 1.0. To a primary a predicate may be added."""

_REWRITTEN_MAX: Final = 1000
"""Characters of a rewrite; a longer one is of no help."""


_ITEMS_MAX: Final = 64
"""Values of a sequence that are written out; more are of no help."""


class PieceKind(Enum):
    """The four types of XPath 1.0, and kinds of values that only later versions have."""

    NODES = auto()
    STRING = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    SEQUENCE = auto()
    """``('a', 'b')``; the parts are its items."""
    RANGE = auto()
    """``1 to 5``; the parts are its ends."""
    MAPPED = auto()
    """``p/lower-case(.)``; the parts are the path and the value of each of its nodes."""
    TIME = auto()
    """A date or time; the text is a number that can be compared, the part is its source."""
    TOKENS = auto()
    """``tokenize(x, ',')``; the part is the text, the value is the separator."""
    LEAST = auto()
    GREATEST = auto()
    """``min(p)`` and ``max(p)``; the part is the path."""
    CHOICE = auto()
    """``if (a) then b else c``; the parts are the three."""
    TRUTH = auto()
    """A value of which only the boolean value is known: that of the part."""
    JOINED = auto()
    """``a || b``, which may have been meant as ``a or b``."""


_PLAIN: Final = frozenset({PieceKind.NODES, PieceKind.STRING, PieceKind.NUMBER, PieceKind.BOOLEAN})


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the rewritten expression."""

    text: str
    kind: PieceKind
    level: int
    fixed: bool
    """Whether it has the same value whatever the context node."""
    parts: tuple[Piece, ...] = ()
    value: str | None = None
    """The value of a string in quotes."""


CONTEXT_NODE: Final = Piece(".", PieceKind.NODES, PRIMARY, fixed=False)


class NoRewriteError(Exception):
    """An expression has no counterpart in XPath 1.0, or none that is known here.

    ``because`` is the construct that prevents the rewrite, where that is known.
    """

    def __init__(self, because: Departure | None = None) -> None:
        self.because = because
        super().__init__()


def piece(
    text: str,
    kind: PieceKind,
    level: int,
    *,
    fixed: bool,
    parts: tuple[Piece, ...] = (),
) -> Piece:
    """A new piece; raises :class:`NoRewriteError` if it is too long."""
    if len(text) > _REWRITTEN_MAX:
        raise NoRewriteError
    return Piece(text, kind, level, fixed, parts)


def closed(part: Piece, level: int) -> str:
    """The text of a piece, in parentheses where the precedence requires them."""
    return part.text if part.level >= level else f"({part.text})"


def literal(value: str) -> Piece:
    """A string; one with both kinds of quotes becomes a concat()."""
    if "'" not in value:
        text = f"'{value}'"
    elif '"' not in value:
        text = f'"{value}"'
    else:
        text = "concat('" + "', \"'\", '".join(value.split("'")) + "')"
    return Piece(text, PieceKind.STRING, PRIMARY, fixed=True, value=value)


def number(text: str) -> Piece:
    """A number as it was written."""
    return Piece(text, PieceKind.NUMBER, PRIMARY, fixed=True)


def call(name: str, *arguments: Piece, kind: PieceKind = PieceKind.STRING) -> Piece:
    """The call of a function of XPath 1.0."""
    text = f"{name}({', '.join(argument.text for argument in arguments)})"
    return piece(text, kind, PRIMARY, fixed=all(argument.fixed for argument in arguments))


def any_true(*parts: Piece) -> Piece:
    """The disjunction of the booleans."""
    text = " or ".join(closed(part, OR) for part in parts)
    level = OR if len(parts) > 1 else parts[0].level
    return piece(text, PieceKind.BOOLEAN, level, fixed=all(part.fixed for part in parts))


def all_true(*parts: Piece) -> Piece:
    """The conjunction of the booleans."""
    text = " and ".join(closed(part, AND) for part in parts)
    level = AND if len(parts) > 1 else parts[0].level
    return piece(text, PieceKind.BOOLEAN, level, fixed=all(part.fixed for part in parts))


def negated(part: Piece) -> Piece:
    """The negation of the boolean."""
    return call("not", part, kind=PieceKind.BOOLEAN)


def union(parts: tuple[Piece, ...]) -> Piece:
    """The union of the nodes."""
    if not parts or any(part.kind is not PieceKind.NODES for part in parts):
        raise NoRewriteError
    branches = tuple(branch for part in parts for branch in part.parts or (part,))
    text = " | ".join(closed(branch, UNION) for branch in branches)
    fixed = all(part.fixed for part in parts)
    return piece(text, PieceKind.NODES, UNION, fixed=fixed, parts=branches)


def filtered(base: Piece, condition: Piece) -> Piece:
    """The nodes for which a condition holds, which must not depend on positions."""
    plain = base.level == PATH and base.text[-1:] not in {"/", "."}
    text = base.text if plain else closed(base, PRIMARY)
    if base == CONTEXT_NODE:
        text = "self::node()"
    if condition.kind is PieceKind.NUMBER:
        condition = call("boolean", condition, kind=PieceKind.BOOLEAN)
    return piece(f"{text}[{condition.text}]", PieceKind.NODES, PATH, fixed=base.fixed)


def sequence(items: list[Piece]) -> Piece:
    """Several items, or none; nested sequences are flattened."""
    parts = tuple(
        inner
        for item in items
        for inner in (item.parts if item.kind is PieceKind.SEQUENCE else (item,))
    )
    if len(parts) > _ITEMS_MAX:
        raise NoRewriteError
    return Piece("", PieceKind.SEQUENCE, PRIMARY, all(part.fixed for part in parts), parts)


def mapped(base: Piece, inner: Piece) -> Piece:
    """The value of an expression for each node of a path."""
    base = as_nodes(base)
    if inner.kind is PieceKind.NODES:
        if inner.text == ".":
            return base
        return each_below(closed(base, PATH) + "/", inner, fixed=base.fixed)
    return Piece("", PieceKind.MAPPED, PRIMARY, base.fixed, (base, inner))


def each_below(start: str, nodes: Piece, *, fixed: bool) -> Piece:
    """Relative paths, each appended to a path that ends in a slash."""
    branches = nodes.parts or (nodes,)
    if any(branch.fixed or branch.level != PATH for branch in branches):
        raise NoRewriteError
    parts = tuple(
        piece(start + branch.text, PieceKind.NODES, PATH, fixed=fixed) for branch in branches
    )
    if len(parts) == 1:
        return parts[0]
    text = " | ".join(part.text for part in parts)
    return piece(text, PieceKind.NODES, UNION, fixed=fixed, parts=parts)


def as_boolean(part: Piece) -> Piece:
    """The piece where only its boolean value matters."""
    match part.kind:
        case PieceKind.CHOICE:
            return _choice(*part.parts)
        case PieceKind.TRUTH | PieceKind.BOOLEAN if part.parts:
            # Of boolean(p) the part is p, which is equivalent here.
            return part.parts[0]
        case PieceKind.SEQUENCE if part.parts:
            return union(part.parts)
        case PieceKind.MAPPED:
            base, inner = part.parts
            if inner.kind is PieceKind.NUMBER:
                raise NoRewriteError
            return filtered(base, as_boolean(inner))
        case kind if kind in _PLAIN:
            return part
        case _:
            raise NoRewriteError


def as_value(part: Piece) -> Piece:
    """The piece as an operand or argument."""
    match part.kind:
        case PieceKind.SEQUENCE if part.parts:
            return union(part.parts)
        case PieceKind.TIME:
            return part.parts[0]
        case PieceKind.JOINED:
            return Piece(part.text, PieceKind.STRING, part.level, part.fixed)
        case kind if kind in _PLAIN:
            return part
        case _:
            raise NoRewriteError


def as_nodes(part: Piece) -> Piece:
    """The piece where nodes are needed; for a sum, the nodes whose numbers are summed."""
    if part.kind is PieceKind.MAPPED:
        base, inner = part.parts
        if inner.kind is PieceKind.NUMBER and inner.parts:
            return as_nodes(mapped(base, inner.parts[0]))
    part = as_value(part)
    if part.kind is not PieceKind.NODES:
        raise NoRewriteError
    return part


def as_nodes_in_order(part: Piece) -> Piece:
    """Nodes of which some are taken by their positions.

    Those of ``(p, q)`` come in that order, those of ``p | q`` in the order of the document.
    """
    if part.kind is PieceKind.SEQUENCE and len(part.parts) > 1:
        raise NoRewriteError
    return as_nodes(part)


def _choice(condition: Piece, then: Piece, otherwise: Piece) -> Piece:
    """An ``if`` where only its boolean value matters."""
    if PieceKind.NUMBER in {then.kind, otherwise.kind}:
        # In a predicate it would be a position.
        raise NoRewriteError
    empty = otherwise.kind is PieceKind.SEQUENCE and not otherwise.parts
    then = as_boolean(then)
    if empty or otherwise.text == "false()":
        return all_true(condition, then)
    otherwise = as_boolean(otherwise)
    if then.text == "true()":
        return any_true(condition, otherwise)
    if then.text == "false()":
        return all_true(negated(condition), otherwise)
    if otherwise.text == "true()":
        return any_true(negated(condition), then)
    # The parentheses are redundant, but easier to read.
    first, second = all_true(condition, then), all_true(negated(condition), otherwise)
    text = f"({first.text}) or ({second.text})"
    return piece(text, PieceKind.BOOLEAN, OR, fixed=first.fixed and second.fixed)
