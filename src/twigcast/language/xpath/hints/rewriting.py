"""Rewriting of a refused expression in XPath 1.0.

The lenient lexer (:mod:`~twigcast.language.xpath.hints.tokens`) and parser
(:mod:`~twigcast.language.xpath.hints.reading`) do the work; this module decides which readings to
try, and what to report if they fail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Final

from twigcast.language.xpath.hints.departures import Departure, slip
from twigcast.language.xpath.hints.pieces import NoRewriteError
from twigcast.language.xpath.hints.reading import Reader
from twigcast.language.xpath.hints.tokens import UnreadableError, lenient_tokens

_ENTITY: Final = re.compile(r"&(?:quot|apos|lt|gt|amp|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});")


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The result of an attempt."""

    departures: tuple[Departure, ...]
    """All constructs that are not XPath 1.0, from left to right."""
    text: str | None = None
    """The expression in XPath 1.0, if there is one."""
    obstacle: Departure | None = None
    """The construct without counterpart in XPath 1.0, if that is known."""


def rewrite(text: str, column: int) -> Rewriting:
    """The rewriting of an expression that was refused at a column."""
    departures: list[Departure] = []
    text = _without_wrapping(text, column, departures)
    try:
        tokens = lenient_tokens(text, departures)
    except UnreadableError:
        return _rewriting(departures)
    outcome = _rewriting(departures)
    for bars_mean_or in (False, True):
        noted = list(departures)
        try:
            found = Reader(tokens, noted, bars_mean_or=bars_mean_or).whole()
        except UnreadableError:
            outcome = _rewriting(noted)
        except NoRewriteError as error:
            outcome = _rewriting(noted, obstacle=error.because)
        else:
            return _rewriting(noted, text=found)
        if all(token.text != "||" for token in tokens):
            break
    return outcome


def _rewriting(
    departures: list[Departure], text: str | None = None, obstacle: Departure | None = None
) -> Rewriting:
    in_order = sorted(departures, key=lambda departure: departure.column)
    return Rewriting(tuple(in_order), text, obstacle)


def _without_wrapping(text: str, column: int, departures: list[Departure]) -> str:
    """The expression without entities or separators of other formats."""
    refused = text[column - 1 : column]
    if refused == "&" and (first := _ENTITY.match(text, column - 1)):
        character = unescape(first.group())
        departures.append(slip(column, f"{character} itself", first.group()))
        text = _ENTITY.sub(lambda entity: unescape(entity.group()), text)
    if refused == ";" and not text[column:].strip("; \t\r\n"):
        departures.append(slip(column, "the end of the expression", "';'"))
        text = text[: column - 1]
    return text
