"""Subscriptions as bytes, so that a set compiled in one process can serve in many.

The form is plain: a line that names the format and its version, a checksum, then JSON, a pair of
id and canonical text per subscription. Canonical texts need no prefix map and parse to the same
pattern. Whatever is not exactly as it was written is refused: bytes that are still JSON after a
disk has damaged them would be other subscriptions.

Where ids are texts, what stands in the bytes are their codes
(:mod:`~twigcast.matching.interface.ids`), and a part in front of all the rest says which text each
code stands for. Such a part has the *seal* of what follows it, so that parts of different files do
not pass for one.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from twigcast.errors import PatternError, UsageError
from twigcast.language.pattern import CANONICAL_LIMITS, Pattern
from twigcast.matching.interface.ids import Id, check_id, is_own_code

_HEADER: Final = b"twigcast subscriptions 2\n"
_IDS_HEADER: Final = b"twigcast ids 2\n"
_ALIGNMENT: Final = 64
"""What follows the ids begins at such a place, so that it can be used where it lies."""
_SEALED: Final = 64
"""So many bytes in front of every part have the checksum of all of it."""


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


def sums(part: bytes, rest: bytes | memoryview) -> bytes:
    """The checksum of a part, and the seal of the rest, which has a checksum of its own."""
    seal = zlib.crc32(rest[:_SEALED])
    return zlib.crc32(part).to_bytes(4, "little") + seal.to_bytes(4, "little")


def check_sums(written: bytes, part: bytes, rest: bytes | memoryview, what: str) -> None:
    """Raise :class:`UsageError` if a part, which is called ``what``, is not that of the rest."""
    found = sums(part, rest)
    if found[:4] != written[:4]:
        raise UsageError(f"stored subscriptions are damaged: the checksum of {what} is another")
    if found != written:
        raise UsageError(
            f"stored subscriptions are damaged: {what} belong to other subscriptions than those "
            "behind them; write them again from the subscriptions"
        )


def check_codes(ids: Mapping[int, Id], codes: Iterable[int]) -> None:
    """Raise :class:`UsageError` unless these are the codes in use that stand for an id."""
    if ids.keys() != set(codes):
        raise UsageError(
            "stored subscriptions are damaged: their ids are not those of the subscriptions; "
            "write them again from the subscriptions"
        )


def with_ids(ids: Sequence[tuple[int, Id]], content: bytes) -> bytes:
    """Stored subscriptions with the ids that their codes stand for, if there are any."""
    if not ids:
        return content
    texts = json.dumps(ids, ensure_ascii=False, separators=(",", ":")).encode()
    head = _IDS_HEADER + len(texts).to_bytes(8, "little") + sums(texts, content) + texts
    return head + bytes(-len(head) % _ALIGNMENT) + content


def without_ids(buffer: bytes | memoryview) -> tuple[dict[int, Id], bytes | memoryview]:
    """The ids by their codes, and the rest of the bytes; UsageError if the ids are damaged."""
    if bytes(buffer[: len(_IDS_HEADER)]) != _IDS_HEADER:
        return {}, buffer
    sizes, start = len(_IDS_HEADER) + 8, len(_IDS_HEADER) + 16
    end = start + int.from_bytes(buffer[len(_IDS_HEADER) : sizes], "little")
    texts, rest = bytes(buffer[start:end]), memoryview(buffer)[end + -end % _ALIGNMENT :]
    check_sums(bytes(buffer[sizes:start]), texts, rest, "their ids")
    try:
        ids: dict[int, Id] = dict(json.loads(texts))
        _check_ids(ids)
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"stored subscriptions are damaged: {error}") from None
    return ids, rest
