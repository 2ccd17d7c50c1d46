"""A folder for the files of cases, removed when the process ends."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["scratch_file"]


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="twigcast-fuzz-")


def scratch_file(name: str, content: bytes) -> Path:
    """A file with that content, in the place of the one of that name before."""
    path = Path(_folder().name) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
