"""Subscriptions as bytes, so that a set compiled in one process can serve in many.

The form is plain: a line that names the format and its version, a checksum, then JSON, a pair of
id and canonical text per subscription. Canonical texts need no prefix map and parse to the same
pattern. Whatever is not exactly as it was written is refused: bytes that are still JSON after a
disk has damaged them would be other subscriptions.

Where ids are texts, what stands in the bytes are their codes (:mod:`~twigcast.matching.ids`), and
a part in front of all the rest says which text each code stands for.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from twigcast.errors import PatternError, UsageError
from twigcast.language.pattern import CANONICAL_LIMITS, Pattern
from twigcast.matching.ids import Id, check_id, is_own_code

__all__ = ["from_buffer", "to_bytes", "with_ids", "without_ids"]

_HEADER: Final = b"twigcast subscriptions 2\n"
_IDS_HEADER: Final = b"twigcast ids 1\n"
_ALIGNMENT: Final = 64
"""What follows the ids begins at such a place, so that it can be used where it lies."""


def to_bytes(patterns: Mapping[int, Pattern]) -> bytes:
    """The patterns with their ids, in the order of the ids."""
    held = sorted(patterns.items(), key=itemgetter(0))
    rows = [[one, pattern.text] for one, pattern in held]
    texts = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    return _HEADER + zlib.crc32(texts).to_bytes(4, "little") + texts


def from_buffer(buffer: bytes | memoryview) -> Iterator[tuple[int, Pattern]]:
    """The ids and patterns written by :func:`to_bytes`.

    Raises :class:`UsageError` if the bytes are something else, or were cut off.
    """
    content = bytes(buffer)
    if not content.startswith(_HEADER):
        raise UsageError(
            "these bytes were not written by Matcher.to_bytes of this version; write them again "
            "from the subscriptions"
        )
    start = len(_HEADER) + 4
    texts = content[start:]
    if content[len(_HEADER) : start] != zlib.crc32(texts).to_bytes(4, "little"):
        raise UsageError("stored subscriptions are damaged: their checksum is another")
    try:
        seen: set[int] = set()
        for one, text in json.loads(texts):
            _check_code(one, seen)
            yield one, Pattern.parse(text, None, CANONICAL_LIMITS)
    except (ValueError, TypeError, PatternError, RecursionError) as error:
        raise UsageError(f"stored subscriptions are damaged: {error}") from None


def _check_code(code: object, seen: set[int]) -> None:
    """Take note of a code, which must be an integer that was not seen before."""
    if type(code) is not int or code in seen:
        raise ValueError(f"{code!r} is no id, or is there twice")
    check_id(code)
    seen.add(code)


def _check_ids(ids: Mapping[int, Id]) -> None:
    """Raise ValueError if these are not codes, each with an id of its own that needs one."""
    codes: set[int] = set()
    for code, one in ids.items():
        _check_code(code, codes)
        check_id(one)
        if is_own_code(code) or is_own_code(one):
            raise ValueError(f"{code} does not stand for {one!r}")
    if len(set(ids.values())) < len(ids):
        raise ValueError("two codes stand for one id")


def with_ids(ids: Sequence[tuple[int, Id]], content: bytes) -> bytes:
    """Stored subscriptions with the ids that their codes stand for, if there are any."""
    if not ids:
        return content
    texts = json.dumps(ids, ensure_ascii=False, separators=(",", ":")).encode()
    sizes = len(texts).to_bytes(8, "little") + zlib.crc32(texts).to_bytes(4, "little")
    head = _IDS_HEADER + sizes + texts
    return head + bytes(-len(head) % _ALIGNMENT) + content


def without_ids(buffer: bytes | memoryview) -> tuple[dict[int, Id], bytes | memoryview]:
    """The ids by their codes, and the rest of the bytes; UsageError if the ids are damaged."""
    if bytes(buffer[: len(_IDS_HEADER)]) != _IDS_HEADER:
        return {}, buffer
    sizes, start = len(_IDS_HEADER) + 8, len(_IDS_HEADER) + 12
    end = start + int.from_bytes(buffer[len(_IDS_HEADER) : sizes], "little")
    texts = bytes(buffer[start:end])
    if bytes(buffer[sizes:start]) != zlib.crc32(texts).to_bytes(4, "little"):
        raise UsageError("stored subscriptions are damaged: the checksum of their ids is another")
    try:
        ids: dict[int, Id] = dict(json.loads(texts))
        _check_ids(ids)
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"stored subscriptions are damaged: {error}") from None
    return ids, memoryview(buffer)[end + -end % _ALIGNMENT :]
