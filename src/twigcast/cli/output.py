r"""Output of the command line: results, notes and complaints.

Results go to standard output, plain, as text or as one JSON object per line.
Everything else (complaints, progress, hints, sums) goes to standard error, so that it is seen even
when the output goes into a file or another program. Complaints are one sentence each, and a flood
of them is cut short: the rest is counted. Long work ends with one line of sums.

Colour is for terminals, and :func:`painted` alone decides: none in pipes and files, none where
``NO_COLOR`` is set or the terminal is dumb, and never in JSON.

Names come from strangers: of members of archives, documents, subscribers, brokers. Nothing of them
reaches a terminal or a table raw. Whatever is written is escaped here, in one place, unless it is
:class:`Shown`. A *cell* of a table with tabs (:func:`cell`) that cannot stand there as it is
is written as a JSON string, in quotes, and so is one that begins with a quote. So no cell can be
mistaken for another: ``a\tb`` is a name with a backslash, ``"a\tb"`` one with a tab. JSON keeps
all names; what cannot be seen is spelled as JSON spells it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from twigcast.display import one_line

if TYPE_CHECKING:
    from twigcast.errors import DocumentError

REFUSED = 1
"""The exit code when some inputs were refused and the others answered."""

USAGE = 2
"""The exit code when a verb could not begin: wrong arguments, a missing file, no Java."""

COMPLAINTS_MAX = 20
"""Complaints that are shown one by one; of more there is the number."""

_QUOTED_MAX = 120

_SHOWN_BEFORE = 60
_SHOWN_AFTER = 40
"""How much of a long expression is shown around the place of an error."""


class Colour(StrEnum):
    """What a colour means, and the number that terminals know it by."""

    GOOD = "32"
    BAD = "31"
    DOUBT = "33"


class Shown(str):
    """A text that may go to a terminal as it is; put together with others, it is plain text."""

    __slots__ = ()


def painted(text: str, colour: Colour, stream: TextIO | None = None) -> Shown:
    """The text, in colour if the stream is a terminal that shows any; else standard output."""
    text = one_line(text)
    shown = (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"
    if not shown or os.environ.get("NO_COLOR"):
        return Shown(text)
    return Shown(f"\x1b[{colour}m{text}\x1b[0m")


def cell(text: str) -> Shown:
    r"""A name as a cell of a table with tabs: itself, or a JSON string where that cannot be.

    >>> print(cell("a.xml"), cell("a\tb.xml"), cell('"a".xml'))
    a.xml "a\tb.xml" "\"a\".xml"
    """
    if text.isprintable() and not text.startswith('"'):
        return Shown(text)
    return Shown(_json(text))


def unspaced(text: str) -> Shown:
    """A cell, or a part of it, that has no spaces: for lists of ids with spaces between them."""
    if text and " " not in text:
        return cell(text)
    return Shown(_json(text).replace(" ", "\\u0020"))


def clock() -> float:
    """A time to measure from."""
    return time.perf_counter()


def write(*parts: str, between: str = "\t") -> None:
    """Write a line of the result, made of parts; what is not Shown is escaped."""
    print(between.join(map(_shown, parts)))


def write_text(text: str) -> None:
    """Write a result as it is, lines and all: a document that was drawn, a topology."""
    print(text)


def write_json(record: Mapping[str, object]) -> None:
    """Write an object of the result, on one line."""
    print(_json(record))


def write_note(text: str = "") -> None:
    """Write a line to standard error."""
    print(_shown(text), file=sys.stderr)


def complain(text: str) -> None:
    """Write what is wrong to standard error, behind the name of the program."""
    write_note(Shown(f"{painted('twigcast:', Colour.BAD, sys.stderr)} {one_line(text)}"))


def _shown(text: str) -> str:
    return text if isinstance(text, Shown) else one_line(text)


def _json(value: object) -> str:
    """JSON in the letters of the text, but for those that cannot be seen."""
    return _UNSEEN.sub(_spelled, json.dumps(value, ensure_ascii=False))


_UNSEEN = re.compile(r"[^\x20-\x7e]")


def _spelled(found: re.Match[str]) -> str:
    letter = found[0]
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def write_sums(text: str, *, since: float) -> None:
    """Write the last line of long work: its result, and how long it took."""
    write_note(f"{text} in {clock() - since:,.1f} s")


def complain_of_all(texts: Iterable[str], *, hint: str) -> int:
    """Complain of each as far as they fit, then of the number left out; returns how many."""
    remaining = iter(texts)
    number = 0
    for text in islice(remaining, COMPLAINTS_MAX):
        complain(text)
        number += 1
    left_out = sum(1 for _ in remaining)
    if left_out:
        write_note(f"  … and {left_out:,} more; {hint}")
    return number + left_out


def quoted(text: str) -> str:
    """An expression in quotes, cut where it gets long."""
    return repr(text if len(text) <= _QUOTED_MAX else f"{text[:_QUOTED_MAX]}…")


def reason_of(error: DocumentError) -> str:
    """Why a document was refused and where in it, without its name."""
    places = (("line", error.line), ("column", error.column))
    place = ", ".join(f"{what} {number}" for what, number in places if number is not None)
    return f"{place}: {error.reason}" if place else error.reason


def pointed_at(text: str, column: int) -> tuple[str, str]:
    """The line of an expression that an error is in, and a line with a caret under the place.

    Long lines are cut around the place, and letters that are two columns wide are allowed for.

    >>> print(*pointed_at("/stock//[1]", 9), sep="|")
    /stock//[1]|        ^
    """
    place = min(max(column - 1, 0), len(text))
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    before, after = text[start:place], text[place:end]
    if len(before) > _SHOWN_BEFORE:
        before = "…" + before[-_SHOWN_BEFORE:]
    if len(after) > _SHOWN_AFTER:
        after = after[:_SHOWN_AFTER] + "…"
    return before + after, "".join(map(_blank, before)) + "^"


def shown_at(text: str, column: int) -> tuple[str, str]:
    """The same of an expression as it may be shown: the caret stands under what was escaped."""
    if text.isprintable():
        return pointed_at(text, column)
    place = min(max(column - 1, 0), len(text))
    return pointed_at(one_line(text), len(one_line(text[:place])) + 1)


def _blank(letter: str) -> str:
    """Spaces as wide as a letter; a tab stays one, for it is as wide as the terminal makes it."""
    if letter == "\t":
        return letter
    if unicodedata.combining(letter):
        return ""
    return "  " if unicodedata.east_asian_width(letter) in {"W", "F"} else " "
