"""Topology files: brokers and links, in JSON or in TOML, as the end of the name says.

Both forms say the same. What the words mean, and what is refused, is told in
:mod:`twigcast.routing.topology`; here a file becomes a dictionary, and a topology a file again, a
line for each link::

    {
      "brokers": ["north", "south", "west"],
      "links": [
        ["north", "south"],
        {"between": ["north", "west"], "latency_ms": 5.0}
      ]
    }

Texts are UTF-8, with or without a byte-order mark. A file has at most 64 MiB, which is more than
the links that a topology may have need.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from twigcast.errors import UsageError
from twigcast.routing.topology import TOPOLOGY_LIMITS, Topology, TopologyLimits

__all__ = ["FILE_BYTES_MAX", "read_topology", "topology_form", "topology_text", "write_topology"]

TopologyForm: TypeAlias = Literal["json", "toml"]

FILE_BYTES_MAX: Final = 64 * 1024**2

_FORMS: Final[Mapping[str, TopologyForm]] = {".json": "json", ".toml": "toml"}


def read_topology(
    path: str | os.PathLike[str], *, limits: TopologyLimits = TOPOLOGY_LIMITS
) -> Topology:
    """The topology of a file; UsageError with the place if it cannot be read, or makes no sense."""
    form = topology_form(path)
    name = f"topology {Path(path).name}"
    try:
        text = _content(Path(path)).decode("utf-8-sig")
        table = tomllib.loads(text) if form == "toml" else _json_table(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}, byte {error.start + 1}: not UTF-8; save it as UTF-8") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{name}, {place}: not JSON: {error.msg}") from None
    except ValueError as error:  # tomllib tells the place in its text
        raise UsageError(f"{name}: not {form.upper()}: {error}") from None
    except RecursionError:
        raise UsageError(f"{name}: too many brackets inside each other; take them out") from None
    return Topology.of(table, name=name, limits=limits)


def write_topology(topology: Topology, path: str | os.PathLike[str]) -> None:
    """Write a topology file in the form that its name asks for; whole, or not at all."""
    path = Path(path)
    text = topology_text(topology, topology_form(path))
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def topology_form(path: str | os.PathLike[str]) -> TopologyForm:
    """The form that a file's name asks for; UsageError if it is none of the two."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMS:
        raise UsageError(
            f"{Path(path).name}: a topology file is JSON or TOML; let its name end in "
            f"{' or '.join(_FORMS)}"
        )
    return _FORMS[suffix]


def topology_text(topology: Topology, form: TopologyForm = "json") -> str:
    """What a topology file says, with a line for each link.

    >>> print(topology_text(Topology.of({"links": [["a", "b"]]}), "toml"), end="")
    brokers = ["a", "b"]
    links = [
      ["a", "b"],
    ]
    """
    rows_of = topology.to_table()
    brokers = rows_of.pop("brokers")
    if form == "toml":
        lists = [f"{key} = [{_rows(rows, _toml, '  ', ',')}]\n" for key, rows in rows_of.items()]
        return f"brokers = {_toml(brokers)}\n" + "".join(lists)
    lists = [f'  "{key}": [{_rows(rows, _json, "    ")}]' for key, rows in rows_of.items()]
    return "{\n" + ",\n".join([f'  "brokers": {_json(brokers)}', *lists]) + "\n}\n"


def _rows(rows: object, write: Callable[[object], str], indent: str, last: str = "") -> str:
    """Values on lines of their own, for between two brackets; nothing if there are none."""
    assert isinstance(rows, list)
    if not rows:
        return ""
    written = f",\n{indent}".join(map(write, rows))
    return f"\n{indent}{written}{last}\n{indent[2:]}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _toml(value: object) -> str:
    """A value in TOML: lists, texts and numbers are written as in JSON, tables are not.

    Names can be printed, so the signs that TOML escapes in another way are not in them.
    """
    if not isinstance(value, dict):
        return _json(value)
    return "{ " + ", ".join(f"{key} = {_json(one)}" for key, one in value.items()) + " }"


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except ValueError as error:  # a zero byte, or half of a surrogate pair
        raise UsageError(f"no file can have the name {str(path)!r}: {error}") from error
    except OSError as error:
        raise UsageError(f"cannot read the topology {path}: {error.strerror or error}") from error
    if len(content) > FILE_BYTES_MAX:
        raise UsageError(
            f"the topology {path} has more than {FILE_BYTES_MAX:,} bytes (FILE_BYTES_MAX); "
            "take fewer links"
        )
    return content


def _json_table(text: str) -> dict[str, object]:
    """What stands in a JSON text; a key that is there twice would lose one of its values."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        table = dict(pairs)
        if len(table) < len(pairs):
            keys = [key for key, _ in pairs]
            double = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {double!r} is there twice in one object")
        return table

    table: dict[str, object] = json.loads(text, object_pairs_hook=once)
    return table
