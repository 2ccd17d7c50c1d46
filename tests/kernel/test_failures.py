"""A panic of the kernel is an exception like any other, and spoils no more than it has to.

Nothing that Twigcast hands to the kernel makes it panic, as far as we know. So an index is stored,
forged where it lies and given a checksum that fits; the kernel believes it, and stumbles.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from twigcast.language import Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS

if TYPE_CHECKING:
    import twigcast_kernel as kernel
else:
    kernel = pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

LIMITS = (LIBRARY_LIMITS.bytes_max, 1_000_000, 256, 1_000, 1_000, 131_072)
DOCUMENT = b"<r><a k='1'><b>x</b><c/></a></r>"
PLACES = range(0, 1_100, 4)
WORDS = (1 << 64) - 1
FACTOR = 0x9E37_79B9_7F4A_7C15


def mixed(state: int, word: int, turn: int) -> int:
    product = (state ^ word) * FACTOR & WORDS
    return (product << turn | product >> 64 - turn) & WORDS


def checksum(start: int, content: bytes) -> int:
    """The kernel's own, so that forged content passes for sound."""
    lanes = [start, start ^ 1, start ^ 2, start ^ 3]
    whole = len(content) // 32 * 32
    for number, (word,) in enumerate(struct.iter_unpack("<Q", content[:whole])):
        lanes[number % 4] = mixed(lanes[number % 4], word, 29)
    total = len(content)
    for byte in content[whole:]:
        total = mixed(total, byte, 29)
    for lane in lanes:
        total = mixed(total, lane, 31)
    return total


def forged(stored: bytes, place: int) -> bytes:
    """A stored index with a number somewhere that no number is as large as."""
    content = bytearray(stored)
    start = 40 + 8 * int.from_bytes(content[16:24], "little")
    content[start + place : start + place + 4] = b"\xf0\xff\xff\x7f"
    total = checksum(checksum(0, bytes(content[40:start])), bytes(content[start:]))
    content[32:40] = total.to_bytes(8, "little")
    return bytes(content)


def stored_index() -> bytes:
    index = kernel.Index(float, LIMITS)
    for number, xpath in enumerate(["//a[b='x']/c", "//a", "/r/a[@k]//c"]):
        index.add(number, Pattern.parse(xpath).condition, residual=False)
    return index.to_bytes()


def failure(call: Callable[[], object]) -> str:
    """How a call failed; nothing where it did not. Anything but these is raised."""
    try:
        call()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


def test_a_forged_checksum_is_the_kernels_own() -> None:
    stored = stored_index()
    start = 40 + 8 * int.from_bytes(stored[16:24], "little")
    total = checksum(checksum(0, stored[40:start]), stored[start:])
    assert total == int.from_bytes(stored[32:40], "little")


def tried(index: kernel.Index) -> tuple[bool, bool]:
    """Whether a match failed, and whether a change did, after which there is no other."""
    added = Pattern.parse("//q").condition
    match_failed = bool(failure(lambda: index.match(DOCUMENT, [])))
    failure(lambda: index.match_events([("", "a"), ()], []))
    failure(lambda: index.match_links(DOCUMENT, index.links([[0], [1]]), []))
    failure(lambda: (index.statistics(), index.ids(), index.condition(0) if 0 in index else 0))
    changes: list[Callable[[], object]] = [
        lambda: index.remove(0),
        lambda: index.add(9, added, residual=False),
        lambda: index.remove(1),
        index.to_bytes,
    ]
    failures = [failure(change) for change in changes]
    first = next((number for number, text in enumerate(failures) if text), len(failures))
    assert all("make the index anew" in text for text in failures[first + 1 :])
    # It still answers, or fails for this one document.
    failure(lambda: index.match(DOCUMENT, []))
    return match_failed, first < len(failures)


def test_whatever_fails_inside_raises_and_a_failed_change_is_the_last() -> None:
    stored, outcomes = stored_index(), set()
    for place in PLACES:
        try:
            index = kernel.Index.from_buffer(forged(stored, place), float, LIMITS)
        except (RuntimeError, ValueError):
            continue
        outcomes.add(tried(index))
    # Sound ones, and every kind of failure.
    assert outcomes == {(False, False), (False, True), (True, False), (True, True)}
