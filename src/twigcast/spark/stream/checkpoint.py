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

from pyspark.sql import SparkSession

from twigcast.errors import TwigcastError
from twigcast.spark.storage.batches import Store, local_path, readable_store

_VERSION: Final = "v1"
_NOTHING: Final = "-"
"""In the place of a source that had nothing yet."""


_NUMBERED: Final = re.compile(r"[0-9]+(?:\.compact)?")

_LOOKED_AT_MAX: Final = 200
"""Notes of one kind that are looked through; Spark keeps a hundred, and reads the last of them."""


def damaged_file(checkpoint: Store) -> str | None:
    """Where there is a note that Spark cannot read; None if all can be, as far as can be told.

    Spark itself tells what its reader of JSON came upon, and not always where. What sources of
    other kinds than files note, such as Kafka's, has forms of their own, and is not judged.
    """
    if checkpoint.exists("metadata"):
        notes = checkpoint.read("metadata").splitlines()
        if not (notes and _is_json(notes, dict)):
            return checkpoint.location("metadata")
    found = _damaged_note(checkpoint, "offsets") or _damaged_note(checkpoint, "commits")
    logs = [] if found else _logs_of_files(checkpoint)
    return next(filter(None, (found, *(_damaged_note(checkpoint, log) for log in logs))), None)


def _damaged_note(checkpoint: Store, folder: str) -> str | None:
    """The latest note in a folder that is none."""
    names = filter(_NUMBERED.fullmatch, checkpoint.names(folder))
    latest = sorted(names, key=lambda name: int(name.partition(".")[0]))[-_LOOKED_AT_MAX:]
    for name in reversed(latest):
        version, *lines = checkpoint.read(f"{folder}/{name}").split(b"\n")
        notes = [line for line in lines if line and line != _NOTHING.encode()]
        # Behind the first line of offsets stands what each source likes.
        sources = notes[1:] if folder == "offsets" else []
        own = notes[: len(notes) - len(sources)]
        are_json = _is_json(own, dict) and _is_json(sources, object)
        if not (version.startswith(b"v") and own and are_json):
            return checkpoint.location(f"{folder}/{name}")
    return None


def _logs_of_files(checkpoint: Store) -> list[str]:
    """The folders of notes about files, whose offsets are numbers in those."""
    numbers = [int(name) for name in checkpoint.names("offsets") if name.isdecimal()]
    if not numbers:
        return []
    _, _, *offsets = checkpoint.read(f"offsets/{max(numbers)}").decode().split("\n")
    return [
        f"sources/{number}"
        for number, offset in enumerate(filter(None, offsets))
        if offset != _NOTHING and "logOffset" in str(json.loads(offset))
    ]


def _is_json(lines: list[bytes], kind: type) -> bool:
    """Whether there is JSON of a kind, one a line."""
    try:
        return all(isinstance(json.loads(line), kind) for line in lines)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return False


def gone_files(checkpoint: Store, batch: int, spark: SparkSession | None = None) -> set[str]:
    """The files of a batch that are no longer there; a :class:`TwigcastError` if nobody can tell.

    Files without content are there, and Spark passes over them.
    """
    before = _ends(checkpoint, batch - 1) if batch else []
    found: set[str] = set()
    for source, end in enumerate(_ends(checkpoint, batch)):
        start = before[source] if source < len(before) else -1
        for number in range(start + 1, end + 1):
            found.update(_noted(checkpoint, source, number))
    return {path for path in found if not _is_there(path, spark)}


def _is_there(path: str, spark: SparkSession | None) -> bool:
    local = local_path(path)
    if local is not None:
        return Path(local).exists()
    assert spark is not None
    return readable_store(path, spark).exists("")


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
