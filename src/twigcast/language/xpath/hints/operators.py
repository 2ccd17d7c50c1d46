"""The operators of XPath 2.0 to 3.1, and some of other languages, with what 1.0 has instead.

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
    Kind,
    NoRewriteError,
    Piece,
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

__all__ = ["COMPARISON", "Applied", "Operator", "operator_at"]

COMPARISON: Final = 3
"""How tightly comparisons bind."""

Between = Callable[[Piece, Piece], Piece]


class Applied(Enum):
    """What stands behind an operator."""

    TO_OPERAND = auto()
    TO_TYPE = auto()
    TO_CALL = auto()
    TO_EACH = auto()


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: how it is spelt, how tightly it binds, and what 1.0 has instead."""

    spelled: str
    precedence: int
    between: Between | None = None
    version: str = "1.0"
    advice: str | None = None
    words: int = 1
    applied: Applied = Applied.TO_OPERAND
    with_type: Callable[[Piece, str], Piece] | None = None
    meant: str | None = None
    """The operator that is written so elsewhere; None for a spelling that XPath has."""

    @property
    def is_comparison(self) -> bool:
        """Whether it compares, so that no other may follow without parentheses."""
        return self.precedence == COMPARISON

    def departure(self, column: int) -> Departure | None:
        """What to say of it; None for an operator of XPath 1.0."""
        if self.meant is not None:
            return slip(column, self.meant, f"'{self.spelled}'", self.advice)
        if self.version == "1.0":
            return None
        return later(column, f"'{self.spelled}' is an operator", self.version, self.advice)


def operator_at(token: Token, following: Token, *, bars_mean_or: bool) -> Operator | None:
    """The operator that begins with a token, where one is waited for."""
    if token.kind == "symbol":
        if token.text == "||" and bars_mean_or:
            return _SYMBOLS_ELSEWHERE["||"]
        return _SYMBOLS.get(token.text) or _SYMBOLS_ELSEWHERE.get(token.text)
    if token.kind != "name":
        return None
    found = _WORDS.get(token.text) or _WORDS_ELSEWHERE.get(token.text.lower())
    if found is None and token.text != token.text.lower():
        meant = _WORDS.get(token.text.lower())
        if meant is not None and meant.words == 1:
            return replace(meant, spelled=token.text, meant=f"'{meant.spelled}'")
    if found is not None and found.meant is not None:
        found = replace(found, spelled=token.text)
    if found is not None and found.words > 1 and following.text != found.spelled.split()[1]:
        return None
    return found


def _compared(operator: str, *, by_text: bool = False) -> Between:
    return lambda left, right: compare(operator, left, right, by_text=by_text)


def _arithmetic(operator: str, level: int) -> Between:
    def made(left: Piece, right: Piece) -> Piece:
        if Kind.MOMENT in {left.kind, right.kind}:
            raise NoRewriteError
        left, right = as_value(left), as_value(right)
        text = f"{closed(left, level)} {operator} {closed(right, level + 1)}"
        return piece(text, Kind.NUMBER, level, fixed=left.fixed and right.fixed)

    return made


def _whole_division(left: Piece, right: Piece) -> Piece:
    """What is left over goes before the division: floor() would round -3.5 to -4, not to -3."""
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
    return Piece(made.text, Kind.JOINED, PRIMARY, made.fixed)


def _to(left: Piece, right: Piece) -> Piece:
    left, right = as_value(left), as_value(right)
    return Piece("", Kind.RANGE, PRIMARY, left.fixed and right.fixed, (left, right))


def _is(left: Piece, right: Piece) -> Piece:
    left, right = as_nodes(left), as_nodes(right)
    both = union((left, right))
    one = piece(f"count({both.text}) = 1", Kind.BOOLEAN, EQUAL, fixed=both.fixed)
    there = [side for side in (left, right) if side.text != "."]
    return all_true(*there, one)


def _intersect(left: Piece, right: Piece) -> Piece:
    return _by_counting(as_nodes(left), as_nodes(right), "=")


def _except(left: Piece, right: Piece) -> Piece:
    left, right = as_nodes(left), as_nodes(right)
    names = [branch.text for branch in right.parts or (right,)]
    if left.text == "*" and all(_is_name(name) for name in names):
        test = " or ".join(f"self::{name}" for name in names)
        return piece(f"*[not({test})]", Kind.NODES, PATH, fixed=False)
    if left.text == "@*" and all(name[:1] == "@" and name[1:].isalnum() for name in names):
        test = " and ".join(f"name() != '{name[1:]}'" for name in names)
        return piece(f"@*[{test}]", Kind.NODES, PATH, fixed=False)
    return _by_counting(left, right, "!=")


def _is_name(text: str) -> bool:
    return text.replace("-", "").replace("_", "").replace(".", "").isalnum()


def _by_counting(left: Piece, right: Piece, operator: str) -> Piece:
    """A node is among others if there are not more of them with it."""
    if not right.fixed:
        raise NoRewriteError
    test = f"count(. | {right.text}) {operator} count({right.text})"
    return filtered(left, piece(test, Kind.BOOLEAN, EQUAL, fixed=False))


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
            return call("contains", left, literal(wanted), kind=Kind.BOOLEAN)
        case False, True:
            return call("starts-with", left, literal(wanted), kind=Kind.BOOLEAN)
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
        return call(name, left, right, kind=Kind.BOOLEAN)

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


def _by_spelling(*operators: Operator) -> dict[str, Operator]:
    return {operator.spelled.split()[0]: operator for operator in operators}


_VALUE_COMPARISONS: Final = {
    "eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_NO_TYPES: Final = "XPath 1.0 has no types"

_WORDS: Final = _by_spelling(
    Operator("or", 1, _or),
    Operator("and", 2, _and),
    *(
        Operator(
            word,
            COMPARISON,
            _compared(symbol, by_text=True),
            "2.0",
            f"write {symbol}" + (", which compares numbers" if symbol[0] in "<>" else ""),
        )
        for word, symbol in _VALUE_COMPARISONS.items()
    ),
    Operator("is", COMPARISON, _is, "2.0", "write a and b and count(a | b) = 1"),
    Operator("to", 5, _to, "2.0", "write x >= 1 and x <= 5"),
    Operator("div", 7, _arithmetic("div", PRODUCT)),
    Operator("mod", 7, _arithmetic("mod", PRODUCT)),
    Operator("idiv", 7, _whole_division, "2.0", "write (a - a mod b) div b"),
    Operator("union", 8, _union, "2.0", "write |"),
    Operator("intersect", 9, _intersect, "2.0", "write a[count(. | b) = count(b)] with b in full"),
    Operator("except", 9, _except, "2.0", "write a[count(. | b) != count(b)] with b in full"),
    Operator("instance of", 10, None, "2.0", _NO_TYPES, 2, Applied.TO_TYPE, with_type=_no_types),
    Operator("treat as", 11, None, "2.0", "leave it out", 2, Applied.TO_TYPE, with_type=_treated),
    Operator("castable as", 12, None, "2.0", _NO_TYPES, 2, Applied.TO_TYPE, with_type=_castable),
    Operator("cast as", 13, None, "2.0", _NO_TYPES, 2, Applied.TO_TYPE, with_type=_cast),
)
_SYMBOLS: Final = _by_spelling(
    *(Operator(symbol, COMPARISON, _compared(symbol)) for symbol in ("=", "!=", "<", "<=")),
    *(Operator(symbol, COMPARISON, _compared(symbol)) for symbol in (">", ">=")),
    Operator("+", 6, _arithmetic("+", SUM)),
    Operator("-", 6, _arithmetic("-", SUM)),
    Operator("*", 7, _arithmetic("*", PRODUCT)),
    Operator("|", 8, _union),
    Operator("||", 4, _joined, "3.0", "write concat(a, b)"),
    Operator(
        "<<", COMPARISON, _no_order, "2.0", "XPath 1.0 has the axes preceding:: and following::"
    ),
    Operator(
        ">>", COMPARISON, _no_order, "2.0", "XPath 1.0 has the axes preceding:: and following::"
    ),
    Operator("=>", 14, None, "3.1", "write the call: f(x)", applied=Applied.TO_CALL),
    Operator("!", 16, None, "3.0", "write p/q, or p[q]", applied=Applied.TO_EACH),
)
_SYMBOLS_ELSEWHERE: Final = _by_spelling(
    Operator("==", COMPARISON, _compared("="), meant="'='"),
    Operator("===", COMPARISON, _compared("="), meant="'='"),
    Operator("!==", COMPARISON, _compared("!="), meant="'!='"),
    Operator("<>", COMPARISON, _compared("!="), meant="'!='"),
    Operator("&&", 2, _and, meant="'and'"),
    Operator("&", 2, _and, meant="'and'"),
    Operator("||", 1, _or, meant="'or'"),
)
_WORDS_ELSEWHERE: Final = _by_spelling(
    Operator("in", COMPARISON, _compared("="), meant="'=' for each value"),
    Operator("like", COMPARISON, _like, meant="contains() or starts-with()"),
    Operator("equals", COMPARISON, _compared("="), meant="'='"),
    *(
        Operator(word, COMPARISON, _infix(word), meant=f"{word}(a, b)")
        for word in ("contains", "starts-with")
    ),
    Operator("ends-with", COMPARISON, _infix("ends-with"), meant="a comparison of substring()"),
    Operator("matches", COMPARISON, _infix("matches"), meant="contains() or starts-with()"),
)
