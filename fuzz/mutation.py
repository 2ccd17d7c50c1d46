"""Damage to bytes: cut, doubled, exchanged, and with pieces put in that mean something."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

__all__ = ["NUMBERS", "XML_PIECES", "XPATH_PIECES", "mutated", "replaced", "spliced"]

XML_PIECES: Final[tuple[bytes, ...]] = (
    *(bytes([byte]) for byte in b"<>&\"'/=:-?!]#%"),
    *(b"--", b"]]>", b"<!--", b"-->", b"<![CDATA[", b"<![CDATA[]]>", b"<?", b"?>", b"<?x y?>"),
    *(b"<?xml version='1.0'?>", b"<!DOCTYPE a>", b"<!DOCTYPE a SYSTEM 'b'>", b"&amp;", b"&lt;"),
    *(b"&#65;", b"&#x41;", b"&#0;", b"&#13;", b"&#10;", b"&#xFFFF;", b"&e;", b"\r", b"\n", b"\t"),
    *(b" ", b"\r\n", b"\x00", b"\x0b", b"\x7f", b"\x80", b"\xc3\xa9", b"\xc2\x85", b"\xef\xbf\xbf"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xcc\x81", b"\xe2\x80\xbf"),
    *(b" xmlns='u'", b" xmlns=''", b" xmlns:p='u'", b" xmlns:q='u'", b" xmlns:p=''"),
    *(b" xmlns='a b'", b" xmlns='1:2'", b" xmlns:xml='u'", b" p:x='1'", b" q:x='2'", b" x='1'"),
    *(b" xml:id='i'", b" xml:id='1'", b" xml:id='\xc3\xa9'", b"<p:a/>", b"<a/>", b"<a>", b"</a>"),
    *(b"<xml:a/>", b"a:b", b"&#xD800;", b"&#xDC00;", b"&#x10FFFF;", b"&#x110000;", b"&#xFFFE;"),
    *(
        b"<!DOCTYPE a [<!ENTITY e 'x'>]>",
        b"<!DOCTYPE a [<!ATTLIST a x CDATA 'd'>]>",
        b" xmlns='rel'",
    ),
    *(b" xmlns:r='u v'", b"<!ENTITY e '<a/>'>", b"&f;", b"<?xml version='1.0' encoding='UTF-16'?>"),
)
"""Markup, references, blanks, characters and bytes of all kinds."""

XPATH_PIECES: Final[tuple[bytes, ...]] = (
    *(b"/", b"//", b"[", b"]", b"(", b")", b"@", b".", b"..", b"*", b"|", b"+", b"-", b"=", b"!="),
    *(b"<", b"<=", b">", b">=", b",", b"::", b":", b"$x", b"'", b'"', b" ", b"\n", b"and", b"or"),
    *(
        b"div",
        b"mod",
        b"not(",
        b"count(",
        b"position()",
        b"last()",
        b"text()",
        b"node()",
        b"a",
        b"b",
    ),
    *(b"comment()", b"processing-instruction('t')", b"self::node()", b"parent::*", b"namespace::*"),
    *(
        b"preceding::",
        b"following::",
        b"ancestor::",
        b"{urn:p}",
        b"*:a",
        b"1",
        b".5",
        b"1e3",
        b"''",
    ),
    *(b"id('x')", b"lang('en')", b"string-length(.)=1", b"name()", b"[1]", b"[name()]", b"1 div 0"),
    *(
        b"0 div 0",
        b"-1",
        b"\xc3\xa9",
        b"\x00",
        b"\xff",
        b"sum(",
        b"translate(",
        b"current()",
        b"key(",
    ),
)
"""Tokens of XPath, and what is none."""

NUMBERS: Final[tuple[int, ...]] = (0, 1, 7, 8, 63, 64, 127, 128, 255, 0x7FFF, 0xFFFF, 2**31, 2**32)
"""Numbers at which sizes and counts go wrong."""


def replaced(content: bytes, place: float, length: int, piece: bytes) -> bytes:
    """The content with some bytes at a place, given as a share of its length, replaced."""
    start = round(place * len(content))
    return content[:start] + piece + content[start + length :]


def spliced(rng: Random, one: bytes, other: bytes) -> bytes:
    """The beginning of one and the end of another."""
    return one[: rng.randint(0, len(one))] + other[rng.randint(0, len(other)) :]


def mutated(
    rng: Random, content: bytes, pieces: Sequence[bytes] = (), *, times_max: int = 3
) -> bytes:
    """The content, damaged in up to so many places."""
    for _ in range(rng.randint(1, times_max)):
        content = _damaged(rng, content, pieces)
    return content


def _damaged(rng: Random, content: bytes, pieces: Sequence[bytes]) -> bytes:
    place = rng.randint(0, len(content))
    length = min(rng.choice((1, 1, 2, 4, 8, 16, 64)), len(content) - place)
    before, cut, after = content[:place], content[place : place + length], content[place + length :]
    match rng.randrange(9 if pieces else 7):
        case 0:
            return (
                before + bytes(byte ^ 1 << rng.randrange(8) for byte in cut[:1]) + cut[1:] + after
            )
        case 1:
            return before + rng.randbytes(len(cut)) + after
        case 2:
            return before + after
        case 3:
            start = rng.randint(0, len(content))
            return before + content[start : start + length] + cut + after
        case 4:
            return before + cut * rng.choice((2, 2, 3, 30)) + after
        case 5:
            return before if rng.randrange(4) == 0 else before + rng.randbytes(length or 1) + after
        case 6:
            size = rng.choice((1, 2, 4, 8))
            number = rng.choice(NUMBERS) % (1 << 8 * size)
            return before + number.to_bytes(size, "little") + content[place + size :]
        case 7:
            return before + rng.choice(pieces) + cut + after
        case _:
            return before + rng.choice(pieces) + after
