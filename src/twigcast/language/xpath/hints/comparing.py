"""Comparisons of values that only later versions of XPath have, rewritten in XPath 1.0.

x = ('a', 'b')             x = 'a' or x = 'b'
x = 1 to 3                 x = 1 or x = 2 or x = 3
p/lower-case(.) = 'x'      p[translate(., 'ABC…', 'abc…') = 'x']
tokenize(@c, ' ') = 'x'    contains(concat(' ', @c, ' '), ' x ')
max(p) > 5                 p > 5
max(p) < 5                 p and not(p >= 5)
xs:date(d) > xs:date('2024-01-31')     translate(d, '-', '') > 20240131
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from twigcast.language.xpath.hints.pieces import (
    CONTEXT_NODE,
    EQUAL,
    OR,
    PRIMARY,
    RELATION,
    NoRewriteError,
    Piece,
    PieceKind,
    all_true,
    any_true,
    as_boolean,
    as_value,
    call,
    closed,
    filtered,
    literal,
    negated,
    number,
    piece,
)
from twigcast.language.xpath.hints.regular import plain_text

_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_SPELT_OUT_MAX = 8
"""Ranges of up to so many numbers are written as alternatives."""

_WHOLE: Final = re.compile(r"(?:position|last|count|string-length|floor|ceiling|round)\(.*\)")
"""Calls whose result is always a whole number."""

_TIMES: Final = {
    "date": ("-", r"\d{4}-\d\d-\d\d"),
    "dateTime": ("-:TZ", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?"),
    "time": (":Z", r"\d\d:\d\d:\d\dZ?"),
}
"""By type of time, the characters to remove to get a number, and the form of its values."""


def compare(operator: str, left: Piece, right: Piece, *, by_text: bool = False) -> Piece:
    """The rewritten comparison; with ``by_text``, strings were to be compared by their order."""
    special = _SPECIAL.get(left.kind)
    if special is not None:
        return special(operator, left, right)
    special = _SPECIAL.get(right.kind)
    if special is not None:
        return special(_MIRRORED[operator], right, left)
    if by_text and operator in _OPPOSITE:
        left, right = _ordered(left, right)
    return _plain(operator, left, right)


def time_number(kind: str, source: Piece) -> Piece:
    """A date or time as a number in the same order."""
    dropped, shape = _TIMES[kind]
    if source.value is not None:
        if not _looks(source, shape):
            raise NoRewriteError
        digits = source.value.translate(dict.fromkeys(map(ord, dropped)))
        text = digits.lstrip("0") or "0"
    else:
        source = as_value(source)
        text = call("translate", source, literal(dropped), literal("")).text
    return piece(text, PieceKind.TIME, PRIMARY, fixed=source.fixed, parts=(source,))


def has_token(text: Piece, separator: str, token: Piece) -> Piece:
    """The condition that the text, split at a separator, has the token among its parts."""
    if token.value is None:
        raise NoRewriteError
    if separator in {r"\s+", r"\s"}:
        separator, text = " ", call("normalize-space", text)
    else:
        separator = _separator(separator)
    if not token.value or separator in token.value:
        raise NoRewriteError
    edge = literal(separator)
    around = call("concat", edge, text, edge)
    wanted = literal(f"{separator}{token.value}{separator}")
    return call("contains", around, wanted, kind=PieceKind.BOOLEAN)


def _separator(pattern: str) -> str:
    """The text that a pattern splits at; a single letter may be repeated."""
    repeated = pattern.removesuffix("+")
    text = plain_text(repeated)
    if repeated != pattern and len(text) > 1:
        raise NoRewriteError
    if any(text.startswith(text[start:]) for start in range(1, len(text))):
        # Of two separators that overlap, only the first would split.
        raise NoRewriteError
    return text


def _plain(operator: str, left: Piece, right: Piece) -> Piece:
    left, right = as_value(left), as_value(right)
    level = EQUAL if operator in {"=", "!="} else RELATION
    text = f"{closed(left, level + 1)} {operator} {closed(right, level + 1)}"
    return piece(text, PieceKind.BOOLEAN, level, fixed=left.fixed and right.fixed)


def _ordered(left: Piece, right: Piece) -> tuple[Piece, Piece]:
    """Two texts to compare by order: XPath 1.0 only orders numbers, so dates are converted."""
    sides = (left, right)
    if not any(side.value is not None or side.kind is PieceKind.STRING for side in sides):
        return sides
    for kind, (_, shape) in _TIMES.items():
        if any(_looks(side, shape) for side in sides):
            made = [time_number(kind, side) for side in sides]
            return _as_number(made[0]), _as_number(made[1])
    raise NoRewriteError


def _as_number(part: Piece) -> Piece:
    return Piece(part.text, PieceKind.NUMBER, part.level, part.fixed)


def _sequence(operator: str, sequence: Piece, other: Piece) -> Piece:
    if not sequence.parts:
        raise NoRewriteError
    operator = _MIRRORED[operator]
    return any_true(*(compare(operator, other, item) for item in sequence.parts))


def _range(operator: str, span: Piece, other: Piece) -> Piece:
    if operator != "=":
        raise NoRewriteError
    low, high = span.parts
    if low.text.isdigit() and high.text.isdigit() and len(low.text + high.text) < _SPELT_OUT_MAX:
        first, last = int(low.text), int(high.text)
        if first <= last < first + _SPELT_OUT_MAX:
            numbers = (number(str(one)) for one in range(first, last + 1))
            return any_true(*(compare("=", other, one) for one in numbers))
    other = as_value(other)
    if other.kind is PieceKind.NODES and other.text != ".":
        if not low.fixed or not high.fixed:
            raise NoRewriteError
        return filtered(other, _range("=", span, CONTEXT_NODE))
    bounds = [compare(">=", other, low), compare("<=", other, high)]
    if other.level != PRIMARY or not _WHOLE.fullmatch(other.text):
        bounds.append(compare("=", other, call("floor", other, kind=PieceKind.NUMBER)))
    return all_true(*bounds)


def _mapped(operator: str, mapped: Piece, other: Piece) -> Piece:
    base, inner = mapped.parts
    if inner == CONTEXT_NODE:
        return compare(operator, base, other)
    if not other.fixed:
        raise NoRewriteError
    return filtered(base, compare(operator, inner, other))


def _compare_times(operator: str, one: Piece, other: Piece) -> Piece:
    if other.kind is not PieceKind.TIME:
        kinds = [kind for kind, (_, shape) in _TIMES.items() if _looks(other, shape)]
        if not kinds:
            raise NoRewriteError
        other = time_number(kinds[0], other)
    return _plain(operator, _as_number(one), _as_number(other))


def _looks(part: Piece, shape: str) -> bool:
    return part.value is not None and re.fullmatch(shape, part.value, re.ASCII) is not None


def _tokens(operator: str, tokens: Piece, other: Piece) -> Piece:
    if operator != "=" or tokens.value is None:
        raise NoRewriteError
    if other.kind is PieceKind.SEQUENCE:
        return _sequence("=", other, tokens)
    return has_token(tokens.parts[0], tokens.value, other)


def _least(operator: str, least: Piece, other: Piece) -> Piece:
    return _extreme("<", operator, least.parts[0], other)


def _greatest(operator: str, greatest: Piece, other: Piece) -> Piece:
    return _extreme(">", operator, greatest.parts[0], other)


def _extreme(outwards: str, operator: str, nodes: Piece, other: Piece) -> Piece:
    """A comparison with the least or greatest of some nodes: some node is beyond, or none is."""
    other = as_value(other)
    if operator == "!=":
        raise NoRewriteError
    if operator == "=":
        return all_true(compare("=", nodes, other), negated(compare(outwards, nodes, other)))
    if operator.startswith(outwards):
        return compare(operator, nodes, other)
    return all_true(nodes, negated(compare(_OPPOSITE[operator], nodes, other)))


def _choice(operator: str, choice: Piece, other: Piece) -> Piece:
    condition, then, otherwise = choice.parts
    yes = as_boolean(compare(operator, then, other))
    no = as_boolean(compare(operator, otherwise, other))
    first, second = all_true(condition, yes), all_true(negated(condition), no)
    text = f"({first.text}) or ({second.text})"
    return piece(text, PieceKind.BOOLEAN, OR, fixed=first.fixed and second.fixed)


_SPECIAL: Final[dict[PieceKind, Callable[[str, Piece, Piece], Piece]]] = {
    PieceKind.TOKENS: _tokens,
    PieceKind.SEQUENCE: _sequence,
    PieceKind.RANGE: _range,
    PieceKind.MAPPED: _mapped,
    PieceKind.TIME: _compare_times,
    PieceKind.LEAST: _least,
    PieceKind.GREATEST: _greatest,
    PieceKind.CHOICE: _choice,
}
