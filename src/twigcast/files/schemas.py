"""Schemas from files: the ten that come with Twigcast, and any DTD on disk.

>>> shipped_schema("news").root
'news'

A DTD on disk may be made of several modules. They are taken from the folder of the DTD and below
it, and from nowhere else: not by an absolute path, not by ``..``, not through a link that leads
out, not by an address on the net, even if the DTD came from a stranger and asks for it.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.parse import unquote

from twigcast.door import door
from twigcast.errors import SchemaError, UsageError
from twigcast.files.opening import checked_path, read_regular
from twigcast.language.dtd.schema import Schema, SchemaLimits

__all__ = ["read_schema", "shipped_schema", "shipped_schema_names"]

_DEFAULT_LIMITS = SchemaLimits()
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|/|\\|\.\.(?:/|$)")
"""Beginnings of names that cannot be meant relative to a folder, or lead out of it."""


@door("reading a DTD")
def shipped_schema_names() -> tuple[str, ...]:
    """The names of the schemas that come with Twigcast, in alphabetical order."""
    names = [file.name for file in _shipped_folder().iterdir()]
    return tuple(sorted(name[: -len(".dtd")] for name in names if name.endswith(".dtd")))


@door("reading a DTD")
@cache
def shipped_schema(name: str) -> Schema:
    """The schema of this name that comes with Twigcast; UsageError if there is none.

    What each one models stands at the top of its DTD.
    """
    if name not in shipped_schema_names():
        known = ", ".join(shipped_schema_names())
        raise UsageError(f"no schema {name!r} comes with Twigcast; there are {known}")
    content = _shipped_folder().joinpath(f"{name}.dtd").read_bytes()
    return Schema.parse(content, name=f"{name}.dtd")


@door("reading a DTD")
def read_schema(
    path: str | os.PathLike[str],
    *,
    root: str | None = None,
    skip_missing: bool = False,
    limits: SchemaLimits = _DEFAULT_LIMITS,
) -> Schema:
    """The schema that a DTD file declares, with the modules in its folder.

    A module that is not there is an error, as the schema would lack what it declares; with
    ``skip_missing`` it is left out. SchemaError (with module and line) if the DTD or a module
    cannot be read, UsageError if it does not declare ``root``.
    """
    path = Path(checked_path(path, "a DTD"))
    content = _content(path, limits)
    if content is None:
        raise SchemaError("there is no such file, or it cannot be read", module=str(path))
    folder = path.parent.resolve()

    def resolve(_public_id: str | None, system_id: str) -> bytes | None:
        module = _inside(folder, system_id)
        if module is None:
            return None
        found = _content(module, limits)
        return b"" if found is None and skip_missing else found

    return Schema.parse(content, resolve=resolve, root=root, name=path.name, limits=limits)


def _shipped_folder() -> resources.abc.Traversable:
    return resources.files("twigcast.workload").joinpath("dtds")


def _inside(folder: Path, system_id: str) -> Path | None:
    """Where a module lies, or None if that is not below the folder.

    The name is looked at before the disk is: a path that leads out is not even tried.
    """
    name = unquote(system_id)
    if _ELSEWHERE.match(os.path.normpath(name)) or _ELSEWHERE.match(name) or "\0" in name:
        return None
    try:
        module = (folder / name).resolve()
    except (OSError, RuntimeError):
        return None
    return module if module.is_relative_to(folder) else None


def _content(path: Path, limits: SchemaLimits) -> bytes | None:
    """The bytes of an ordinary file, at most one more than the limit; None if there is none.

    Pipes and devices are not opened: reading them might never end.
    """
    try:
        return read_regular(path, limits.bytes_max)
    except OSError:
        return None
