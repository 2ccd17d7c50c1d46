"""A cursor in a list of tokens, with lookahead."""

from __future__ import annotations

from twigcast.language.xpath.hints.tokens import UnreadableError
from twigcast.language.xpath.lexer import Token

_TOKENS_READ_MAX = 20_000
"""The body of a quantifier is read once for each of its values."""


class Cursor:
    """A position among tokens; the last one, of kind ``end``, is never passed."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._read = 0

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one after it."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Pass the next token and return it."""
        token = self._tokens[self._at]
        self._read += 1
        if token.kind == "end" or self._read > _TOKENS_READ_MAX:
            raise UnreadableError
        self._at += 1
        return token

    def looking_at(self, *symbols: str) -> bool:
        """Whether the next token is one of the symbols."""
        token = self._tokens[self._at]
        return token.kind == "symbol" and token.text in symbols

    def next_is(self, symbol: str) -> bool:
        """Whether the token after the next is that symbol."""
        token = self.peek(1)
        return token.kind == "symbol" and token.text == symbol

    def take(self, symbol: str) -> bool:
        """Pass the symbol if it is the next token."""
        if self.looking_at(symbol):
            self.advance()
            return True
        return False

    def expect(self, text: str) -> None:
        """Pass a required symbol or keyword."""
        token = self.advance()
        if token.text != text or token.kind == "literal":
            raise UnreadableError

    @property
    def place(self) -> int:
        """The position, for :meth:`return_to`."""
        return self._at

    def return_to(self, place: int) -> None:
        """Go back to a position."""
        self._at = place
