"""TOML and JSON as people write them, read within bounds.

Python's reader of TOML takes memory that grows with the square of the parts of a dotted key
(``a.b.c``): 200 KB of them want gigabytes. A table takes a kilobyte, though it may be written in
two letters, and a megabyte takes a second to read. Brackets inside each other end its recursion,
and numbers of thousands of digits cannot be shown again. So a text is looked through first, and
what nobody writes by hand is refused (:data:`TOML_CHARACTERS_MAX`, :data:`TABLES_MAX`,
:data:`KEY_PARTS_MAX`, :data:`NESTING_MAX`, :data:`NUMBER_CHARACTERS_MAX`).

Of JSON, a key that is there twice in one object is refused, for one of its values would be lost.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Final, NoReturn, cast

from twigcast.display import shortened
from twigcast.errors import UsageError

TOML_CHARACTERS_MAX: Final = 4 * 1024**2
"""Of a text in TOML: some five seconds of reading, and 200 MB. JSON is read fifty times as fast."""

TABLES_MAX: Final = 100_000
"""Tables with a heading, or made by a dotted key: some 100 MB of them."""

KEY_PARTS_MAX: Final = 16
"""Parts of a dotted key; no file that Twigcast reads has tables more than three deep."""

NESTING_MAX: Final = 32
"""Brackets and braces inside each other in a TOML value."""

NUMBER_CHARACTERS_MAX: Final = 100
"""Of a number, or a date, in TOML. Whatever is counted here has some ten digits."""

_SHOWN_MAX = 100

_TOKEN = re.compile(
    r"""
      (?P<block>   \"\"\" (?: [^\"\\]++ | \\. | \"(?!\"\") )*+ \"{3,5} | '''.*?'{3,5} )
    | (?P<open_block> \"\"\" | ''' )
    | (?P<string>  \" (?: [^\"\\\n]++ | \\. )*+ \" | ' [^'\n]*+ ' )
    | (?P<unclosed> ["'] )
    | (?P<comment> \# [^\n]* )
    | (?P<word> [A-Za-z0-9_+\-:]+ )
    | (?P<dot> [ \t]* \. [ \t]* )
    | (?P<opening> [\[{] )
    | (?P<closing> [\]}] )
    | (?P<equals> = )
    | (?P<newline> \n )
    | (?P<between> [^"'\#A-Za-z0-9_+\-:.\[\]{}=\n] )
    """,
    re.DOTALL | re.VERBOSE,
)


def toml_table(text: str, name: str) -> dict[str, object]:
    """The values of a TOML text; UsageError, beginning with the name, if it is not readable."""
    if len(text) > TOML_CHARACTERS_MAX:
        allowed = f"{TOML_CHARACTERS_MAX:,} characters of TOML (TOML_CHARACTERS_MAX)"
        raise UsageError(f"{name}: more than {allowed}; write a topology of that size in JSON")
    _check_bounds(text, name)
    try:
        return tomllib.loads(text)
    except RecursionError:
        _too_deep(name)
    except ValueError as error:  # tomllib has the place in its text
        raise UsageError(f"{name}: not TOML: {error}") from None


def json_table(text: str, name: str) -> dict[str, object]:
    """The values of a JSON text, taken for an object; UsageError if it is no JSON that is read."""
    try:
        return cast("dict[str, object]", json_value(text))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{name}, {place}: not JSON: {error.msg}") from None
    except RecursionError:
        _too_deep(name)
    except ValueError as error:
        raise UsageError(f"{name}: not JSON: {error}") from None


def json_value(text: str) -> object:
    """The values of a JSON text; ValueError for a key that is there twice in one object.

    >>> json_value('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' is there twice in one object
    """
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                shown = shortened(key, _SHOWN_MAX)
                raise ValueError(f"the key {shown!r} is there twice in one object")
            seen.add(key)
    return table


def _check_bounds(text: str, name: str) -> None:
    """Look through a TOML text; where it is none any more, the reader will stop by itself."""
    parts = depth = tables = 0
    after_dot = in_heading = False
    line_begins = True
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind in {"word", "string", "block"}:
            parts = parts + 1 if after_dot else 1
            if parts > KEY_PARTS_MAX:
                excess = f"{KEY_PARTS_MAX:,} parts in a key (KEY_PARTS_MAX)"
                _refuse(name, text, token.start(), excess)
            length = token.end() - token.start()
            if kind == "word" and length > NUMBER_CHARACTERS_MAX:
                excess = f"{NUMBER_CHARACTERS_MAX:,} characters in a number (NUMBER_CHARACTERS_MAX)"
                _refuse(name, text, token.start(), excess)
        elif kind == "opening":
            in_heading = in_heading or (line_begins and not depth)
            depth += 1
            if depth > NESTING_MAX:
                _too_deep(name)
        elif kind == "closing":
            depth -= 1
        elif kind == "equals":
            tables += parts - 1
        elif kind == "newline":
            tables += parts if in_heading else 0
            in_heading = False
        elif kind in {"unclosed", "open_block"}:
            # Looked for once: what stands behind an open block would be looked through again.
            return
        if tables > TABLES_MAX:
            _refuse(name, text, token.start(), f"{TABLES_MAX:,} tables (TABLES_MAX)")
        after_dot = kind == "dot"
        line_begins = kind == "newline" or (line_begins and token[0].isspace())


def _refuse(name: str, text: str, place: int, allowed: str) -> NoReturn:
    line = text.count("\n", 0, place) + 1
    raise UsageError(f"{name}, line {line}: more than {allowed}")


def _too_deep(name: str) -> NoReturn:
    raise UsageError(f"{name}: too many brackets inside each other; take them out") from None
