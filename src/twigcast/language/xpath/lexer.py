"""The lexer: tokens of an expression (XPath 1.0, section 3.7).

One regular expression matches all tokens. Whether ``*``, ``and``, ``div`` … are operators or names
is decided by the parser, which expects either an operand or an operator; that is equivalent to the
recommendation's rule.

Beyond the recommendation: ``*:name`` and ``{uri}name`` (any namespace, or a given one), and, as in
libxml2, exponents in numbers (``1e3``).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from twigcast.errors import PatternError

_FIRST: Final = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME: Final = f"[{_FIRST}][{_FIRST}\\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*"
"""A name without a colon, as a regular expression."""

_TOKEN: Final = re.compile(
    rf"""
    (?P<space>   [ \t\r\n]+ )
  | (?P<name>    (?: \{{ [^{{}}]* \}} (?: {NAME} | \* )
                   | \*:{NAME}
                   | {NAME} (?: :(?!:) (?: {NAME} | \* ) )? ) )
  | (?P<number>  (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
  | (?P<literal> "[^"]*" | '[^']*' )
  | (?P<symbol>  :: | \.\. | // | != | <= | >= | [()\[\].@,/|+\-=<>*$] )
    """,
    re.VERBOSE,
)


_WHOLE_NAME: Final = re.compile(NAME)


class Token(NamedTuple):
    """A piece of the text: its kind, its spelling, and the 1-based column where it begins."""

    kind: str
    text: str
    column: int


def tokens(text: str) -> list[Token]:
    """The tokens of an expression, closed by one of kind ``end``; spaces are left out.

    Raises :class:`PatternError` where no token can begin.
    """
    tokenized: list[Token] = []
    position = 0
    scan = _TOKEN.match
    while position < len(text):
        piece = scan(text, position)
        if piece is None:
            raise PatternError(text, column=position + 1, expected=_expected(text, position))
        kind = piece.lastgroup
        assert kind is not None
        if kind != "space":
            tokenized.append(Token(kind, piece.group(), position + 1))
        position = piece.end()
    tokenized.append(Token("end", "", len(text) + 1))
    return tokenized


def is_name(text: str) -> bool:
    """Whether the text is a name without a colon."""
    return _WHOLE_NAME.fullmatch(text) is not None


def _expected(text: str, position: int) -> str:
    character = text[position]
    if character in "\"'":
        return f"a closing {character} for the string that begins here"
    if character == "{":
        return "'{namespace-uri}name'"
    if character == "!":
        return "'!='"
    return f"no character {character!r} here: it is not part of XPath"
