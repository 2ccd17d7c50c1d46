"""Real documents, expressions and DTDs: those that lie beside the checkout, where there are any."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["real_documents", "real_expressions", "real_schemas"]

_SHARED: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
_BYTES_MAX: Final = 6_000
"""Of a document: damage to a larger one seldom hits anything but text."""


@cache
def real_documents() -> tuple[bytes, ...]:
    """Small documents of many kinds; none on a machine without them."""
    return tuple(_small(path for path in _SHARED.glob("docs/*/*") if path.suffix != ".md"))


@cache
def real_schemas() -> tuple[bytes, ...]:
    """Small DTDs."""
    return tuple(_small(_SHARED.rglob("*.dtd"), bytes_max=40_000))


@cache
def real_expressions() -> tuple[tuple[str, dict[str, str]], ...]:
    """Expressions that people wrote, with their prefixes; relative paths have ``//`` in front."""
    path = _SHARED / "xpath" / "sample.jsonl"
    if not path.is_file():
        return ()
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return tuple((row["sub"], row["ns"]) for row in rows)


def _small(paths: Iterable[Path], *, bytes_max: int = _BYTES_MAX) -> list[bytes]:
    found = sorted(path for path in paths if path.is_file())
    return [path.read_bytes() for path in found if path.stat().st_size <= bytes_max]
