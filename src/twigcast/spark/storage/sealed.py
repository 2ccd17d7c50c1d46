"""Small files of Twigcast's own: JSON that is read as it was written, or refused.

Manifests, and the records of a stream, say which batches are finished and what they were made of.
One that a disk has damaged, or that was written by hand, must not say something else::

    {
      "kind": "manifest",
      "format": 1,
      "batch": 0,
      …
      "checksum": "3f9a6c01d2b4e877"
    }

The checksum is over all other fields, whatever the white space between them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec

from twigcast.errors import UsageError

_Fields = TypeVar("_Fields")

FORMAT: Final = 1
"""The version of these files; another one is refused."""

_OWN: Final = ("kind", "format", "checksum")
_DIGITS: Final = 16


def sealed(kind: str, fields: Mapping[str, object]) -> bytes:
    """Fields as the content of a file of this kind."""
    whole = {"kind": kind, "format": FORMAT, **fields}
    return json.dumps({**whole, "checksum": _checksum(whole)}, indent=2).encode() + b"\n"


def unsealed(kind: str, content: bytes, form: type[_Fields], *, place: str, remedy: str) -> _Fields:
    """The fields that :func:`sealed` was given.

    A :class:`UsageError` names the ``place`` and the ``remedy`` if it is anything else.
    """
    try:
        return msgspec.convert(_fields(kind, content), form)
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"cannot use {place}: {error}; {remedy}") from error


def _fields(kind: str, content: bytes) -> dict[str, Any]:
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is damaged, or no {kind}: {error}") from error
    if not isinstance(whole, dict) or whole.get("kind") != kind or "format" not in whole:
        raise ValueError(f"it is no {kind}, or of a version without a checksum")
    if whole["format"] != FORMAT:
        raise ValueError(f"it is of another version ({whole['format']}, not {FORMAT})")
    if whole.pop("checksum", None) != _checksum(whole):
        raise ValueError("it is damaged: its checksum is another")
    return {name: value for name, value in whole.items() if name not in _OWN}


def _checksum(fields: Mapping[str, Any]) -> str:
    plain = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return sha256(plain.encode()).hexdigest()[:_DIGITS]
