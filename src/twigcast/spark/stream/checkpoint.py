"""The files of a stream's batches, as Spark's checkpoint has them.

Spark numbers a batch and notes its files before it hands them over. If it is started again in
between, it hands over those that are there still, and says nothing of the others. Its notes do::

    offsets/7      v1, a line about the batch, and a line for each source: {"logOffset": 4}
    sources/0/4    v1, and a line for each file: {"path": "file:///…", "batchId": 4, …}

Now and then Spark gathers all the notes of a source in one file, ``sources/0/9.compact``. A batch
has what its sources have noted since the batch before.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from twigcast.errors import TwigcastError
from twigcast.spark.storage.batches import Store, local_path

_VERSION: Final = "v1"
_NOTHING: Final = "-"
"""In the place of a source that had nothing yet."""


_NUMBERED: Final = re.compile(r"[0-9]+(?:\.compact)?")

_LOOKED_AT_MAX: Final = 200
"""Notes of one kind that are looked through; Spark keeps a hundred, and reads the last of them."""


def damaged_file(checkpoint: Store) -> str | None:
    """Where there is a note that Spark cannot read; None if all can be, as far as can be told.

    Spark itself tells what its reader of JSON came upon, and not always where.
    """
    if checkpoint.exists("metadata") and not _is_json(checkpoint.read("metadata").splitlines()):
        return checkpoint.location("metadata")
    for folder in ("offsets", "commits", *_sources(checkpoint)):
        names = filter(_NUMBERED.fullmatch, checkpoint.names(folder))
        latest = sorted(names, key=lambda name: int(name.partition(".")[0]))[-_LOOKED_AT_MAX:]
        for name in reversed(latest):
            version, *lines = checkpoint.read(f"{folder}/{name}").split(b"\n")
            notes = [line for line in lines if line and line != _NOTHING.encode()]
            if not version.startswith(b"v") or not _is_json(notes):
                return checkpoint.location(f"{folder}/{name}")
    return None


def _sources(checkpoint: Store) -> list[str]:
    return [f"sources/{name}" for name in checkpoint.names("sources") if name.isdecimal()]


def _is_json(lines: list[bytes]) -> bool:
    """Whether there are objects, one a line."""
    try:
        return bool(lines) and all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return False


def gone_files(checkpoint: Store, batch: int) -> set[str]:
    """The files of a batch that are no longer there; a :class:`TwigcastError` if nobody can tell.

    Files without content are there, and Spark passes over them.
    """
    before = _ends(checkpoint, batch - 1) if batch else []
    found: set[str] = set()
    for source, end in enumerate(_ends(checkpoint, batch)):
        start = before[source] if source < len(before) else -1
        for number in range(start + 1, end + 1):
            found.update(_noted(checkpoint, source, number))
    return {path for path in found if (local := local_path(path)) and not Path(local).exists()}


def _ends(checkpoint: Store, batch: int) -> list[int]:
    """How far each source was when a batch was numbered."""
    name = f"offsets/{batch}"
    try:
        _, *sources = _lines(checkpoint, name)
        return [-1 if each == _NOTHING else int(json.loads(each)["logOffset"]) for each in sources]
    except (ValueError, TypeError, KeyError) as error:
        raise _unknown(checkpoint, name) from error


def _noted(checkpoint: Store, source: int, number: int) -> list[str]:
    """The files that a source has noted under a number."""
    name = f"sources/{source}/{number}"
    if not checkpoint.exists(name):
        name += ".compact"
    try:
        files = [json.loads(line) for line in _lines(checkpoint, name)]
        return [unquote(file["path"]) for file in files if file["batchId"] == number]
    except (ValueError, TypeError, KeyError) as error:
        raise _unknown(checkpoint, name) from error


def _lines(checkpoint: Store, name: str) -> list[str]:
    if not checkpoint.exists(name):
        raise _unknown(checkpoint, name)
    version, *lines = checkpoint.read(name).decode("utf-8", "replace").split("\n")
    if version != _VERSION:
        raise _unknown(checkpoint, name)
    return [line for line in lines if line]


def _unknown(checkpoint: Store, name: str) -> TwigcastError:
    return TwigcastError(
        f"cannot tell which files the batch has: {checkpoint.location(name)} is missing, damaged, "
        "or not as Spark has written it so far; put it back, or start a new stream in two new "
        "folders"
    )
