"""Regular expressions with counterparts in XPath 1.0.

``matches(x, '^foo')`` is ``starts-with(x, 'foo')``. The same holds for every pattern of anchors and
plain letters, for alternatives of such, and for a fixed number of digits, since digits can be made
equal first:

    ^[0-9]{4}-[0-9]{2}$     translate(x, '123456789', '000000000') = '0000-00'

Everything else has no counterpart. Reference: XPath and XQuery Functions and Operators, 7.6.
"""

from __future__ import annotations

import re
from typing import Final

from twigcast.language.xpath.hints.pieces import (
    EQUAL,
    SUM,
    NoRewriteError,
    Piece,
    PieceKind,
    all_true,
    any_true,
    call,
    closed,
    literal,
    piece,
)

_UPPER: Final = literal("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER: Final = literal("abcdefghijklmnopqrstuvwxyz")
_DIGITS: Final = literal("0123456789")
_DIGITS_BUT_0: Final = literal("123456789")
_ZEROS: Final = literal("000000000")
_ALTERNATIVES_MAX = 8
_REPEATED_MAX = 32

_ATOM: Final = re.compile(
    r"""
    (?P<digit> (?: \\d | \[0-9\] ) (?: \{ (?P<times> [0-9]{1,2} ) \} )? )
  | \\ (?P<escaped> [^A-Za-z0-9] )
  | (?P<plain> [^.\\^$|?*+()\[\]{}] )
    """,
    re.VERBOSE,
)
_ONLY_DIGITS: Final = re.compile(r"\^(?:\\d|\[0-9\])\+\$")
_SOME_DIGIT: Final = frozenset({r"\d", "[0-9]", r"\d+", "[0-9]+", r".*\d.*", ".*[0-9].*"})
_GROUP: Final = re.compile(r"\((?:\?:)?([^()]*)\)")
_BAR: Final = re.compile(r"(?<!\\)\|")


def lowered(text: Piece) -> Piece:
    """The text in lower case, for A to Z."""
    return call("translate", text, _UPPER, _LOWER)


def uppered(text: Piece) -> Piece:
    """The text in upper case, for a to z."""
    return call("translate", text, _LOWER, _UPPER)


def ends_with(text: Piece, end: Piece) -> Piece:
    """The condition that the text ends with ``end``: its last letters are compared."""
    length = call("string-length", text, kind=PieceKind.NUMBER)
    if end.value is not None:
        start = f"{length.text} - {len(end.value) - 1}" if len(end.value) > 1 else length.text
        if not end.value:
            raise NoRewriteError
    else:
        if end.kind is PieceKind.NODES:
            end = call("string", end)
        start = f"{length.text} - {call('string-length', end).text} + 1"
    last = call("substring", text, piece(start, PieceKind.NUMBER, SUM, fixed=text.fixed))
    return _equal(last, end)


def matched(text: Piece, pattern: str, flags: str = "") -> Piece:
    """The condition that the text matches; :class:`NoRewriteError` for most patterns."""
    if flags not in {"", "i"}:
        raise NoRewriteError
    if _ONLY_DIGITS.fullmatch(pattern):
        left = call("translate", text, _DIGITS, literal(""))
        some = call("string-length", text, kind=PieceKind.NUMBER)
        longer = piece(f"{some.text} > 0", PieceKind.BOOLEAN, EQUAL, fixed=text.fixed)
        return all_true(longer, _equal(left, literal("")))
    if pattern in _SOME_DIGIT:
        return call("contains", _with_zero_digits(text), literal("0"), kind=PieceKind.BOOLEAN)
    alternatives = _BAR.split(pattern)
    group = _GROUP.fullmatch(pattern.removeprefix("^").removesuffix("$"))
    if group:
        start = "^" * pattern.startswith("^")
        end = "$" * pattern.endswith("$")
        alternatives = [f"{start}{one}{end}" for one in _BAR.split(group.group(1))]
    if len(alternatives) > _ALTERNATIVES_MAX:
        raise NoRewriteError
    return any_true(*(_alternative(text, one, flags) for one in alternatives))


def plain_text(pattern: str) -> str:
    """The one text that a pattern without anchors matches."""
    letters, digits = _letters(pattern)
    if digits or not letters:
        raise NoRewriteError
    return letters


def _alternative(text: Piece, pattern: str, flags: str) -> Piece:
    at_start, at_end = pattern.startswith("^"), pattern.endswith("$")
    pattern = pattern.removeprefix("^").removesuffix("$")
    if pattern.startswith(".*"):
        at_start, pattern = False, pattern[2:]
    if pattern.endswith(".*") and not pattern.endswith("\\.*"):
        at_end, pattern = False, pattern[:-2]
    letters, digits = _letters(pattern)
    if digits:
        if any(letter in "123456789" for letter in letters):
            raise NoRewriteError
        text = _with_zero_digits(text)
    if flags:
        if not letters.isascii():
            raise NoRewriteError
        text, letters = lowered(text), letters.lower()
    needle = literal(letters)
    if at_start and at_end:
        if not letters and text.kind is PieceKind.NODES:
            text = call("string", text)  # Where there is no such node, its text is empty.
        return _equal(text, needle)
    if not letters:
        raise NoRewriteError
    if at_end:
        return ends_with(text, needle)
    return call("starts-with" if at_start else "contains", text, needle, kind=PieceKind.BOOLEAN)


def _letters(pattern: str) -> tuple[str, bool]:
    """The letters of a pattern, with 0 for any digit, and whether there is a digit."""
    letters, digits = "", False
    position = 0
    while position < len(pattern):
        atom = _ATOM.match(pattern, position)
        if atom is None:
            raise NoRewriteError
        position = atom.end()
        if atom["digit"]:
            times = int(atom["times"] or 1)
            if times > _REPEATED_MAX:
                raise NoRewriteError
            letters, digits = letters + "0" * times, True
        else:
            letters += atom["escaped"] or atom["plain"]
    if digits and "0" in re.sub(r"\\d|\[0-9\]|\{[0-9]+\}", "", pattern):
        # A required zero cannot be distinguished from a digit replaced by zero.
        raise NoRewriteError
    return letters, digits


def _with_zero_digits(text: Piece) -> Piece:
    return call("translate", text, _DIGITS_BUT_0, _ZEROS)


def _equal(one: Piece, other: Piece) -> Piece:
    text = f"{closed(one, EQUAL + 1)} = {closed(other, EQUAL + 1)}"
    return piece(text, PieceKind.BOOLEAN, EQUAL, fixed=one.fixed and other.fixed)
