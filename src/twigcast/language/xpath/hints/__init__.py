r"""Advice for the author of an expression that was refused: what to write instead.

Most refused expressions are XPath of a later version, or carry a habit of another language. The
error then says so, and shows the same question in XPath 1.0, in the author's own words:

    >>> from twigcast import Pattern, PatternError
    >>> try:
    ...     Pattern.parse("//a[b eq 'x']")
    ... except PatternError as error:
    ...     print(f"{error.expected}\n{error.hint}")
    XPath 1.0, but 'eq' is an operator of XPath 2.0
    write //a[b = 'x']

    tokens, cursor        the text is cut up once more, taking more than XPath 1.0
    reading               a parser of XPath 2.0 to 3.1 that writes XPath 1.0
    operators             what has a counterpart in XPath 1.0, what has not
    calls, functions      likewise
    comparing, regular    sequences, dates, regular expressions
    pieces, departures    what is written, and what was noted on the way
    rewriting             all of these together
    slips                 what is no XPath at all: CSS, JSONPath, plain words

Nothing of this happens, nor is it imported, unless an expression is refused. A rewrite is shown
only if the parser accepts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twigcast.errors import PatternError
from twigcast.language.xpath.hints.departures import Departure
from twigcast.language.xpath.hints.rewriting import rewrite
from twigcast.language.xpath.hints.slips import advice_by_looks
from twigcast.language.xpath.parser import UNBOUND_PREFIX

__all__ = ["advised"]

_TEXT_MAX: Final = 8192
"""Longer expressions were made by a program; its author is better served by the place alone."""


def advised(error: PatternError, accepts: Callable[[str], bool]) -> PatternError:
    """The error with advice, where there is some; ``accepts`` says if a text is an expression."""
    text = error.text
    if len(text) > _TEXT_MAX:
        return error
    found = rewrite(text, error.column)
    first = found.departures[0] if found.departures else None
    rewritten = found.text is not None and accepts(found.text)
    if (
        first is None
        or not (rewritten or first.column <= error.column)
        or _comes_first(error, first)
    ):
        hint = error.hint or advice_by_looks(error, accepts)
        return PatternError(text, column=error.column, expected=error.expected, hint=hint)
    if rewritten:
        hint = f"did you mean {found.text}?" if first.is_slip else f"write {found.text}"
        return PatternError(text, column=first.column, expected=first.expected, hint=hint)
    blamed = found.obstacle or first
    return PatternError(text, column=blamed.column, expected=blamed.expected, hint=blamed.advice)


def _comes_first(error: PatternError, departure: Departure) -> bool:
    """Whether a prefix without a namespace is the first thing wrong; a rewrite keeps it."""
    return error.column < departure.column and error.expected.startswith(UNBOUND_PREFIX)
