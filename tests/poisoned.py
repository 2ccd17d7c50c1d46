"""Small documents that libxml2 refuses in unusual ways, and that readers have stumbled over.

Each has to be refused for itself, with an error of ours, and whatever was read before or comes
after it is answered as if it had not been there.
"""

from __future__ import annotations

from typing import Final

__all__ = ["GOOD", "POISONED"]

POISONED: Final[dict[str, bytes]] = {
    "half a character in a namespace": b"<x xmlns='&#xDC00;'",
    "the same with a prefix": b"<x xmlns:p='&#xD800;'/>",
    "half a character in a text": b"<a>&#xDFFF;</a>",
    "half a character in an attribute": b"<a b='&#xDC00;'/>",
    "a character that is none": b"<a>&#x110000;</a>",
    "a prefix that nobody declared, before a warning": b"<a q:x=''><b xmlns='rel'/></a>",
    "the same without the warning": b"<a q:x=''></a>",
    "a namespace with a blank": b"<a xmlns:p='u v'/>",
    "the same, before a warning": b"<a xmlns='u v'><b xmlns='rel'/></a>",
    "bytes that are no UTF-8": b"<a>\xed\xb0\x80</a>",
    "an encoding that nobody knows": b"<?xml version='1.0' encoding='x-none'?><a/>",
    "nothing": b"",
    "a name of half a character": b"<a\xed\xb0\x80/>",
}

GOOD: Final = b"<a><b/></a>"
