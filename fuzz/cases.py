"""Cases: the same target, seed and number give the same case, on every machine.

In a file a case is JSON. Bytes are written as a text of as many characters, the first 256 of
Unicode, so that what can be read stays readable.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from fuzz.target import Target

__all__ = ["as_bytes", "as_text", "generated", "read_case", "shown", "write_case"]


def as_text(content: bytes) -> str:
    """Bytes as a text that JSON can hold."""
    return content.decode("latin-1")


def as_bytes(text: str) -> bytes:
    """The bytes of :func:`as_text`."""
    return text.encode("latin-1")


def generated(target: Target, seed: int, number: int) -> Any:  # noqa: ANN401  # of the target's kind
    """The case with that number."""
    # Random takes a text by its digest: neighbouring numbers have nothing in common.
    return target.generate(Random(f"{target.name} {seed} {number}"))


def shown(case: Any) -> str:  # noqa: ANN401  # of any kind
    """The case as it stands in a file."""
    return json.dumps(msgspec.to_builtins(case), indent=1) + "\n"


def write_case(path: Path, case: Any) -> None:  # noqa: ANN401  # of any kind
    """Write a case into a file, whose folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(shown(case), encoding="ascii")


def read_case(target: Target, path: Path) -> Any:  # noqa: ANN401  # of the target's kind
    """The case in a file. Raises :class:`ValueError` if it is none of this target."""
    return msgspec.convert(json.loads(path.read_text(encoding="ascii")), target.kind)
