"""The context of a place in a dump: the elements around it, and the lexical state.

A *context* is all that has to be known about the bytes in front of a place in order to read on from
there::

    <feed xmlns="urn:f" xml:lang="en"> <entry> … </entry> <entry> … <!-- … | … --> </entry>
                                                                           |
    frames   feed, with its namespace and language                          a place
    level 1  inside a record, its name entry, the second of the dump
    lexical  inside a comment

Of the elements around, a *frame* keeps what a record inherits: names, namespaces, ``xml:lang`` and
``xml:base``, as they are written. Inside a record nothing is kept but how many elements of its
local name are open, for that finds its end. A context travels to those who read on, as bytes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from twigcast.language.records.lexer import ATTRIBUTE, Lexical, local_part

FRAMES_MAX: Final = 256
"""Elements around a record. libxml2 reads no more inside each other."""

FRAMES_BYTES_MAX: Final = 1 << 14
"""Of the names and namespaces of all elements around a record, which each record may inherit: a
record of four bytes becomes a document of so many. Real dumps have one or two thousand."""

_BASE_WEIGHT: Final = 4
"""What a byte of ``xml:base`` counts, since each one is resolved against all those further out."""


class Frame(NamedTuple):
    """An element around a place: what records inside it inherit, as it is written."""

    name: bytes
    namespaces: tuple[tuple[bytes, bytes], ...] = ()
    """Prefixes with values in quotes; the default namespace has the prefix ``""``."""
    lang: bytes | None = None
    base: bytes | None = None

    @classmethod
    def of(cls, name: bytes, attributes: bytes) -> Frame:
        """The frame of a start tag."""
        if b"xml" not in attributes:
            return cls(name)
        namespaces: list[tuple[bytes, bytes]] = []
        lang = base = None
        for attribute, value in ATTRIBUTE.findall(attributes):
            prefix, colon, local = attribute.partition(b":")
            if prefix == b"xmlns":
                namespaces.append((local if colon else b"", value))
            elif attribute == b"xml:lang":
                lang = value
            elif attribute == b"xml:base":
                base = value
        return cls(name, tuple(namespaces), lang, base)

    @property
    def prefix(self) -> bytes:
        """The prefix of the element's name."""
        return self.name.rpartition(b":")[0]

    @property
    def local(self) -> bytes:
        """Its name without the prefix."""
        return local_part(self.name)

    @property
    def kind(self) -> Frame:
        """What matters to whether an element is a record."""
        return self if self.lang is self.base is None else Frame(self.name, self.namespaces)

    @property
    def size(self) -> int:
        """What it counts to :data:`FRAMES_BYTES_MAX`: its bytes as they are written, about."""
        named = sum(
            len(b" xmlns:=") + len(prefix) + len(value) for prefix, value in self.namespaces
        )
        inherited = len(self.lang or b"") + _BASE_WEIGHT * len(self.base or b"")
        return len(self.name) + named + inherited


Frames = tuple[Frame, ...]


class DumpContext(NamedTuple):
    """What holds at a place."""

    frames: Frames = ()
    """The elements around the record, or around the place if it is inside none."""
    level: int = 0
    """Inside a record: how many elements of its local name are open, with its own."""
    record: bytes = b""
    """The name of the record that the place is inside of, with its prefix."""
    number: int = 0
    """How many records have begun."""
    lexical: Lexical = Lexical.CONTENT
    since: int = 0
    """Where the comment, CDATA section or processing instruction begins."""
    ended: bool = False
    """Whether the outermost element has ended."""


def size_of(frames: Frames) -> int:
    """What frames count to :data:`FRAMES_BYTES_MAX`."""
    return sum(frame.size for frame in frames)
