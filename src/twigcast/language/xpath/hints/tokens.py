"""The lenient lexer: tokens of a refused expression.

It accepts the tokens of later versions of XPath (comments, doubled quotes, ``Q{uri}name``, more
operators) and characters from word processors and other languages (curly quotes, no-break spaces,
``==``, ``&&``). One pass; a text that still has an unknown character has no tokens.
"""

from __future__ import annotations

import re
from typing import Final

from twigcast.language.xpath.hints.departures import Departure, later, slip
from twigcast.language.xpath.lexer import NAME, Token

_SINGLE: Final = "\u2018\u2019\u201a\u201b\u2032\u00b4`\u2039\u203a"
_DOUBLE: Final = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_CURLY: Final = frozenset(_SINGLE + _DOUBLE)

_TOKEN: Final = re.compile(
    rf"""
    (?P<space>   [ \t\r\n]+ )
  | (?P<foreign> [\u00a0\u2000-\u200b\u202f\u205f\u3000]+ )
  | (?P<comment> \(: )
  | (?P<name>    (?: Q?\{{ [^{{}}]* \}} (?: {NAME} | \* )
                   | \*:{NAME}
                   | {NAME} (?: :(?!:) (?: {NAME} | \* ) )? ) )
  | (?P<number>  (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
  | (?P<literal> "(?: [^"] | "" )*" | '(?: [^'] | '' )*' )
  | (?P<curly>   [{_SINGLE}][^{_SINGLE}']*[{_SINGLE}'] | [{_DOUBLE}][^{_DOUBLE}"]*[{_DOUBLE}"] )
  | (?P<symbol>  \|\| | && | => | := | :: | \.\. | // | !==? | ===? | <> | << | >> | <= | >=
                 | [()\[\].@,/|+\-=<>*$!?\#&{{}}] )
    """,
    re.VERBOSE,
)
_COMMENT_EDGE: Final = re.compile(r"\(:|:\)")


class UnreadableError(Exception):
    """The syntax of the text is unknown here."""


def lenient_tokens(text: str, departures: list[Departure]) -> list[Token]:
    """The tokens, closed by one of kind ``end``; adds what is not XPath 1.0 to the departures.

    Raises :class:`UnreadableError` where no token can begin.
    """
    found: list[Token] = []
    position = 0
    while position < len(text):
        cut = _TOKEN.match(text, position)
        if cut is None:
            raise UnreadableError
        kind, spelled, column = cut.lastgroup or "", cut.group(), position + 1
        position = cut.end()
        if kind == "comment":
            departures.append(later(column, "'(: … :)' is a comment", "2.0", "leave it out"))
            position = _end_of_comment(text, position)
        elif kind == "foreign":
            departures.append(slip(column, "a plain space", f"the character {spelled[0]!r}"))
        elif kind == "curly":
            departures.append(slip(column, "straight quotes, ' or \",", spelled[0]))
            found.append(Token("literal", spelled, column))
        elif kind != "space":
            if kind == "literal" and spelled[0] * 2 in spelled[1:-1]:
                what = "a doubled quote inside a string is the spelling"
                departures.append(later(column, what, "2.0", "use the other kind of quotes"))
            found.append(Token(kind, spelled, column))
    found.append(Token("end", "", len(text) + 1))
    return found


def string_value(spelled: str) -> str:
    """The value between the quotes.

    >>> string_value("'it''s'"), string_value("“new”")
    ("it's", 'new')
    """
    inner = spelled[1:-1]
    return inner if spelled[0] in _CURLY else inner.replace(spelled[0] * 2, spelled[0])


def _end_of_comment(text: str, position: int) -> int:
    """The end of a comment; comments may be nested."""
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge.group() == "(:" else -1
        if depth == 0:
            return edge.end()
    raise UnreadableError
