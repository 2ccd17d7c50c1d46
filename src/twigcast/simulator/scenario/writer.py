"""The options of a run as a scenario again, so that whoever reads them can repeat the run.

>>> print(options_text({"run": {"seed": 7, "start": None}, "strategy": "best"}), end="")
strategy = "best"
<BLANKLINE>
[run]
seed = 7
# start is not set
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import UsageError

_LISTED: Final = "change"
"""The tables that are written one below the other."""


@door("writing options")
def options_text(options: Mapping[str, object]) -> str:
    """A TOML text with every option; one that is not set is named in a comment."""
    return "\n".join(_lines(options, ())) + "\n"


def _lines(table: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    """What is no table comes first, for what stands below a heading belongs to it."""
    for key, value in table.items():
        if value is None:
            yield f"# {key} is not set"
        elif not isinstance(value, Mapping) and key != _LISTED:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        below = (*path, _key(key))
        if isinstance(value, Mapping):
            yield from ("", f"[{'.'.join(below)}]")
            yield from _lines(value, below)
        elif key == _LISTED and isinstance(value, list):
            for each in value:
                yield from ("", f"[[{key}]]", *_lines(each, below))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: object) -> str:
    """Texts, numbers and lists are written as in JSON; a table inside a list is not."""
    match value:
        case Mapping():
            inside = (f"{_key(key)} = {_value(one)}" for key, one in value.items())
            return "{ " + ", ".join(inside) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            try:
                return json.dumps(value, ensure_ascii=False)
            except (TypeError, ValueError):
                raise UsageError(f"no option can have the value {shown(value)}") from None
