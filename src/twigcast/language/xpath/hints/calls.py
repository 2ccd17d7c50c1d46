"""Calls of functions of any name, with advice on the name, and the call in XPath 1.0."""

from __future__ import annotations

from typing import Final

from twigcast.language.xpath.hints.departures import Departure, later
from twigcast.language.xpath.hints.functions import (
    converted,
    known_call,
    later_function,
    nearest_function,
)
from twigcast.language.xpath.hints.pieces import NoRewriteError, Piece
from twigcast.language.xpath.hints.tokens import UnreadableError
from twigcast.language.xpath.lexer import Token
from twigcast.language.xpath.syntax import FUNCTIONS

_CONSTRUCTORS: Final = ("xs:", "xsd:")


def function_departure(token: Token) -> Departure | None:
    """The departure of a function; None for one of XPath 1.0.

    Raises :class:`UnreadableError` if the name is unknown.
    """
    name, column = token.text, token.column
    if name in FUNCTIONS:
        return None
    if name.startswith(_CONSTRUCTORS):
        return later(column, f"{name}() is a constructor")
    if name.removeprefix("fn:") in FUNCTIONS:
        what = f"the prefix in {name}() is the spelling"
        return later(column, what, advice="leave the prefix out")
    function = later_function(name)
    if function is not None:
        expected = f"XPath 1.0, but {name}() is a function of {function.origin}"
        return Departure(column, expected, function.advice)
    meant = nearest_function(name)
    if meant is None:
        raise UnreadableError
    expected = f"a function of XPath 1.0 instead of {name}()"
    function = later_function(meant)
    advice = f"did you mean {meant}()?" if function is None else function.advice
    return Departure(column, expected, advice, is_slip=True)


def function_call(name: str, arguments: list[Piece]) -> Piece:
    """The call in XPath 1.0; raises :class:`NoRewriteError` where there is none."""
    if name.startswith(_CONSTRUCTORS):
        if len(arguments) != 1:
            raise NoRewriteError
        return converted(name.partition(":")[2], arguments[0])
    known = name.removeprefix("fn:")
    if known not in FUNCTIONS and later_function(known) is None:
        known = nearest_function(known) or known
    if known in FUNCTIONS:
        return known_call(known, arguments)
    function = later_function(known)
    assert function is not None
    return function.rewritten(arguments)
