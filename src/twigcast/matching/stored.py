"""Subscriptions as bytes, so that a set compiled in one process can serve in many.

The form is plain: a line that names the format and its version, then JSON, a pair of id and
canonical text per subscription. Canonical texts need no prefix map and parse to the same pattern.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from twigcast.errors import PatternError, UsageError
from twigcast.language.pattern import CANONICAL_LIMITS, Pattern

__all__ = ["from_buffer", "to_bytes"]

_HEADER: Final = b"twigcast subscriptions 1\n"


def to_bytes(patterns: Mapping[int, Pattern]) -> bytes:
    """The patterns with their ids, in the order of the ids."""
    rows = [[one, patterns[one].text] for one in sorted(patterns)]
    return _HEADER + json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def from_buffer(buffer: bytes | memoryview) -> Iterator[tuple[int, Pattern]]:
    """The ids and patterns written by :func:`to_bytes`.

    Raises :class:`UsageError` if the bytes are something else, or were cut off.
    """
    content = bytes(buffer)
    if not content.startswith(_HEADER):
        raise UsageError("these bytes were not written by Matcher.to_bytes of this version")
    try:
        for one, text in json.loads(content[len(_HEADER) :]):
            yield one, Pattern.parse(text, None, CANONICAL_LIMITS)
    except (ValueError, TypeError, PatternError, RecursionError) as error:
        raise UsageError(f"stored subscriptions are damaged: {error}") from None
