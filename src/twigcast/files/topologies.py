"""Topology files: brokers and links, in JSON or in TOML, by the end of the name.

Both forms have the same keys. What these mean, and what is refused, is described in
:mod:`twigcast.routing.topology.model`; here a file becomes a dictionary, and a topology a file
again, a line for each link::

    {
      "brokers": ["north", "south", "west"],
      "links": [
        ["north", "south"],
        {"between": ["north", "west"], "latency_ms": 5.0}
      ]
    }

Texts are UTF-8, with or without a byte-order mark. A file has at most 64 MiB, which is more than
the links that a topology may have need; in TOML, which takes far longer to read, some 4 MiB
(:data:`~twigcast.files.notation.TOML_CHARACTERS_MAX`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.files.notation import TOML_CHARACTERS_MAX, json_table, toml_table
from twigcast.files.opening import checked_path, read_regular
from twigcast.files.writing.new_files import new_file
from twigcast.routing.topology.model import TOPOLOGY_LIMITS, Topology, TopologyLimits

TopologyForm: TypeAlias = Literal["json", "toml"]

FILE_BYTES_MAX: Final = 64 * 1024**2

_FORMS: Final[Mapping[str, TopologyForm]] = {".json": "json", ".toml": "toml"}


@door("reading a topology")
def read_topology(
    path: str | os.PathLike[str], *, limits: TopologyLimits = TOPOLOGY_LIMITS
) -> Topology:
    """The topology of a file; UsageError with the place if it cannot be read, or makes no sense."""
    path = Path(checked_path(path, "a topology"))
    form = topology_form(path)
    name = f"topology {path.name}"
    try:
        text = _content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}, byte {error.start + 1}: not UTF-8; save it as UTF-8") from None
    table = toml_table(text, name) if form == "toml" else json_table(text, name)
    return Topology.of(table, name=name, limits=limits)


@door("writing a topology")
def write_topology(topology: Topology, path: str | os.PathLike[str]) -> None:
    """Write a topology file in the form of its name; whole, or not at all.

    UsageError if it cannot be written there, TwigcastError if the disk is full.
    """
    path = Path(checked_path(path, "a topology"))
    text = topology_text(topology, topology_form(path))
    with new_file(path) as file:
        file.write(text.encode())


def topology_form(path: str | os.PathLike[str]) -> TopologyForm:
    """The form of a file by its name; UsageError if it is none of the two."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMS:
        raise UsageError(
            f"{Path(path).name}: a topology file is JSON or TOML; let its name end in "
            f"{' or '.join(_FORMS)}"
        )
    return _FORMS[suffix]


@door("writing a topology")
def topology_text(topology: Topology, form: TopologyForm = "json") -> str:
    """The text of a topology file, with a line for each link; UsageError if too long for TOML.

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
        text = f"brokers = {_toml(brokers)}\n" + "".join(lists)
        if len(text) > TOML_CHARACTERS_MAX:
            raise UsageError(
                f"the topology would have {len(text):,} characters of TOML, of which "
                f"{TOML_CHARACTERS_MAX:,} can be read (TOML_CHARACTERS_MAX); write it in JSON"
            )
        return text
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
        content = read_regular(path, FILE_BYTES_MAX)
    except OSError as error:
        raise UsageError(f"cannot read the topology {path}: {error.strerror or error}") from error
    if len(content) > FILE_BYTES_MAX:
        raise UsageError(
            f"the topology {path} has more than {FILE_BYTES_MAX:,} bytes (FILE_BYTES_MAX); "
            "take fewer links"
        )
    return content
