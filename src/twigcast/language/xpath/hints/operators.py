"""Operators of XPath 2.0 to 3.1, and some of other languages, with counterparts in XPath 1.0.

From the loosest to the tightest (XPath 3.1, A.4):

    or < and < comparisons < || < to < + - < * div idiv mod < union | < intersect except
    < instance of < treat as < castable as < cast as < => < !
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from twigcast.language.xpath.hints.comparing import compare
from twigcast.language.xpath.hints.departures import Departure, later, slip
from twigcast.language.xpath.hints.functions import castable, converted
from twigcast.language.xpath.hints.pieces import (
    EQUAL,
    PATH,
    PRIMARY,
    PRODUCT,
    SUM,
    NoRewriteError,
    Piece,
    PieceKind,
    all_true,
    any_true,
    as_boolean,
    as_nodes,
    as_value,
    call,
    closed,
    filtered,
    literal,
    piece,
    union,
)
from twigcast.language.xpath.hints.regular import ends_with, matched
from twigcast.language.xpath.lexer import Token

COMPARISON: Final = 3
"""The precedence of comparisons."""

Between = Callable[[Piece, Piece], Piece]


class Applied(Enum):
    """The kind of the right operand of an operator."""

    TO_OPERAND = auto()
    TO_TYPE = auto()
    TO_CALL = auto()
    TO_EACH = auto()


@dataclass(frozen=True, slots=True)
class OperatorRule:
    """An operator: its spelling, its precedence, and its rewrite in XPath 1.0."""

    spelled: str
    precedence: int
    between: Between | None = None
    version: str = "1.0"
    advice: str | None = None
    token_count: int = 1
    applied: Applied = Applied.TO_OPERAND
    with_type: Callable[[Piece, str], Piece] | None = None
    meant: str | None = None
    """The XPath operator that a spelling of another language means; None for one of XPath."""

    @property
    def is_comparison(self) -> bool:
        """Whether it is a comparison, which no other may follow without parentheses."""
        return self.precedence == COMPARISON

    def departure(self, column: int) -> Departure | None:
        """The departure; None for an operator of XPath 1.0."""
        if self.meant is not None:
            return slip(column, self.meant, f"'{self.spelled}'", self.advice)
        if self.version == "1.0":
            return None
        return later(column, f"'{self.spelled}' is an operator", self.version, self.advice)


def operator_at(token: Token, following: Token, *, bars_mean_or: bool) -> OperatorRule | None:
    """The operator that begins with a token, where one is expected; None if there is none."""
    if token.kind == "symbol":
        if token.text == "||" and bars_mean_or:
            return _SYMBOLS_ELSEWHERE["||"]
        return _SYMBOLS.get(token.text) or _SYMBOLS_ELSEWHERE.get(token.text)
    if token.kind != "name":
        return None
    rule = _NAMED.get(token.text) or _NAMED_ELSEWHERE.get(token.text.lower())
    if rule is None and token.text != token.text.lower():
        meant = _NAMED.get(token.text.lower())
        if meant is not None and meant.token_count == 1:
            return replace(meant, spelled=token.text, meant=f"'{meant.spelled}'")
    if rule is not None and rule.meant is not None:
        rule = replace(rule, spelled=token.text)
    if rule is not None and rule.token_count > 1 and following.text != rule.spelled.split()[1]:
        return None
    return rule


def _compared(operator: str, *, by_text: bool = False) -> Between:
    return lambda left, right: compare(operator, left, right, by_text=by_text)


def _arithmetic(operator: str, level: int) -> Between:
    def made(left: Piece, right: Piece) -> Piece:
        if PieceKind.TIME in {left.kind, right.kind}:
            raise NoRewriteError
        left, right = as_value(left), as_value(right)
        text = f"{closed(left, level)} {operator} {closed(right, level + 1)}"
        return piece(text, PieceKind.NUMBER, level, fixed=left.fixed and right.fixed)

    return made


def _whole_division(left: Piece, right: Piece) -> Piece:
    """Subtracts the remainder before the division: floor() would round -3.5 to -4, not to -3."""
    whole = _arithmetic("-", SUM)(left, _arithmetic("mod", PRODUCT)(left, right))
    return _arithmetic("div", PRODUCT)(whole, right)


def _or(left: Piece, right: Piece) -> Piece:
    return any_true(as_boolean(left), as_boolean(right))


def _and(left: Piece, right: Piece) -> Piece:
    return all_true(as_boolean(left), as_boolean(right))


def _union(left: Piece, right: Piece) -> Piece:
    return union((as_nodes(left), as_nodes(right)))


def _joined(left: Piece, right: Piece) -> Piece:
    made = call("concat", as_value(left), as_value(right))
    return Piece(made.text, PieceKind.JOINED, PRIMARY, made.fixed)


def _to(left: Piece, right: Piece) -> Piece:
    left, right = as_value(left), as_value(right)
    return Piece("", PieceKind.RANGE, PRIMARY, left.fixed and right.fixed, (left, right))


def _is(left: Piece, right: Piece) -> Piece:
    left, right = as_nodes(left), as_nodes(right)
    both = union((left, right))
    one = piece(f"count({both.text}) = 1", PieceKind.BOOLEAN, EQUAL, fixed=both.fixed)
    there = [side for side in (left, right) if side.text != "."]
    return all_true(*there, one)


def _intersect(left: Piece, right: Piece) -> Piece:
    return _by_counting(as_nodes(left), as_nodes(right), "=")


def _except(left: Piece, right: Piece) -> Piece:
    left, right = as_nodes(left), as_nodes(right)
    names = [branch.text for branch in right.parts or (right,)]
    if left.text == "*" and all(_is_name(name) for name in names):
        test = " or ".join(f"self::{name}" for name in names)
        return piece(f"*[not({test})]", PieceKind.NODES, PATH, fixed=False)
    if left.text == "@*" and all(name[:1] == "@" and name[1:].isalnum() for name in names):
        test = " and ".join(f"name() != '{name[1:]}'" for name in names)
        return piece(f"@*[{test}]", PieceKind.NODES, PATH, fixed=False)
    return _by_counting(left, right, "!=")


def _is_name(text: str) -> bool:
    return text.replace("-", "").replace("_", "").replace(".", "").isalnum()


def _by_counting(left: Piece, right: Piece, operator: str) -> Piece:
    """Whether a node is among others, by counting their union."""
    if not right.fixed:
        raise NoRewriteError
    test = f"count(. | {right.text}) {operator} count({right.text})"
    return filtered(left, piece(test, PieceKind.BOOLEAN, EQUAL, fixed=False))


def _like(left: Piece, right: Piece) -> Piece:
    """A pattern of SQL, with '%' at its ends."""
    if right.value is None:
        raise NoRewriteError
    wanted = right.value.removeprefix("%").removesuffix("%")
    if "%" in wanted or "_" in wanted or not wanted:
        raise NoRewriteError
    left = as_value(left)
    match right.value.startswith("%"), right.value.endswith("%"):
        case True, True:
            return call("contains", left, literal(wanted), kind=PieceKind.BOOLEAN)
        case False, True:
            return call("starts-with", left, literal(wanted), kind=PieceKind.BOOLEAN)
        case True, False:
            return ends_with(left, literal(wanted))
        case _:
            return compare("=", left, right)


def _infix(name: str) -> Between:
    def made(left: Piece, right: Piece) -> Piece:
        left, right = as_value(left), as_value(right)
        if name == "ends-with":
            return ends_with(left, right)
        if name == "matches":
            return matched(left, right.value or "(")
        return call(name, left, right, kind=PieceKind.BOOLEAN)

    return made


def _no_order(left: Piece, right: Piece) -> Piece:  # noqa: ARG001
    raise NoRewriteError


def _no_types(left: Piece, kind: str) -> Piece:  # noqa: ARG001
    raise NoRewriteError


def _treated(left: Piece, kind: str) -> Piece:  # noqa: ARG001
    return left


def _cast(left: Piece, kind: str) -> Piece:
    return converted(kind, left)


def _castable(left: Piece, kind: str) -> Piece:
    return castable(kind, left)


def _by_spelling(*operators: OperatorRule) -> dict[str, OperatorRule]:
    return {operator.spelled.split()[0]: operator for operator in operators}


_VALUE_COMPARISONS: Final = {
    "eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_NO_TYPES: Final = "XPath 1.0 has no types"

_NAMED: Final = _by_spelling(
    OperatorRule("or", 1, _or),
    OperatorRule("and", 2, _and),
    *(
        OperatorRule(
            name,
            COMPARISON,
            _compared(symbol, by_text=True),
            "2.0",
            f"write {symbol}" + (", which compares numbers" if symbol[0] in "<>" else ""),
        )
        for name, symbol in _VALUE_COMPARISONS.items()
    ),
    OperatorRule("is", COMPARISON, _is, "2.0", "write a and b and count(a | b) = 1"),
    OperatorRule("to", 5, _to, "2.0", "write x >= 1 and x <= 5"),
    OperatorRule("div", 7, _arithmetic("div", PRODUCT)),
    OperatorRule("mod", 7, _arithmetic("mod", PRODUCT)),
    OperatorRule("idiv", 7, _whole_division, "2.0", "write (a - a mod b) div b"),
    OperatorRule("union", 8, _union, "2.0", "write |"),
    OperatorRule(
        "intersect", 9, _intersect, "2.0", "write a[count(. | b) = count(b)] with b in full"
    ),
    OperatorRule("except", 9, _except, "2.0", "write a[count(. | b) != count(b)] with b in full"),
    OperatorRule(
        "instance of", 10, None, "2.0", _NO_TYPES, 2, Applied.TO_TYPE, with_type=_no_types
    ),
    OperatorRule(
        "treat as", 11, None, "2.0", "leave it out", 2, Applied.TO_TYPE, with_type=_treated
    ),
    OperatorRule(
        "castable as", 12, None, "2.0", _NO_TYPES, 2, Applied.TO_TYPE, with_type=_castable
    ),
    OperatorRule("cast as", 13, None, "2.0", _NO_TYPES, 2, Applied.TO_TYPE, with_type=_cast),
)
_SYMBOLS: Final = _by_spelling(
    *(OperatorRule(symbol, COMPARISON, _compared(symbol)) for symbol in ("=", "!=", "<", "<=")),
    *(OperatorRule(symbol, COMPARISON, _compared(symbol)) for symbol in (">", ">=")),
    OperatorRule("+", 6, _arithmetic("+", SUM)),
    OperatorRule("-", 6, _arithmetic("-", SUM)),
    OperatorRule("*", 7, _arithmetic("*", PRODUCT)),
    OperatorRule("|", 8, _union),
    OperatorRule("||", 4, _joined, "3.0", "write concat(a, b)"),
    OperatorRule(
        "<<", COMPARISON, _no_order, "2.0", "XPath 1.0 has the axes preceding:: and following::"
    ),
    OperatorRule(
        ">>", COMPARISON, _no_order, "2.0", "XPath 1.0 has the axes preceding:: and following::"
    ),
    OperatorRule("=>", 14, None, "3.1", "write the call: f(x)", applied=Applied.TO_CALL),
    OperatorRule("!", 16, None, "3.0", "write p/q, or p[q]", applied=Applied.TO_EACH),
)
_SYMBOLS_ELSEWHERE: Final = _by_spelling(
    OperatorRule("==", COMPARISON, _compared("="), meant="'='"),
    OperatorRule("===", COMPARISON, _compared("="), meant="'='"),
    OperatorRule("!==", COMPARISON, _compared("!="), meant="'!='"),
    OperatorRule("<>", COMPARISON, _compared("!="), meant="'!='"),
    OperatorRule("&&", 2, _and, meant="'and'"),
    OperatorRule("&", 2, _and, meant="'and'"),
    OperatorRule("||", 1, _or, meant="'or'"),
)
_NAMED_ELSEWHERE: Final = _by_spelling(
    OperatorRule("in", COMPARISON, _compared("="), meant="'=' for each value"),
    OperatorRule("like", COMPARISON, _like, meant="contains() or starts-with()"),
    OperatorRule("equals", COMPARISON, _compared("="), meant="'='"),
    *(
        OperatorRule(name, COMPARISON, _infix(name), meant=f"{name}(a, b)")
        for name in ("contains", "starts-with")
    ),
    OperatorRule("ends-with", COMPARISON, _infix("ends-with"), meant="a comparison of substring()"),
    OperatorRule("matches", COMPARISON, _infix("matches"), meant="contains() or starts-with()"),
)
