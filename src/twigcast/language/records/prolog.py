"""The prolog of a dump, in front of its outermost element: encoding and DOCTYPE.

A search for records reads bytes in which ASCII means ASCII. UTF-8, Latin-1 and its relatives are
read as they are; UTF-16 is read as UTF-8, and places in it are counted in its own bytes
(:func:`source_bytes`).
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final, NamedTuple

from lxml import etree

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.language.document.parse import (
    LIBRARY_LIMITS,
    Document,
    DocumentLimits,
    new_parser,
    split_tag,
)

PROLOG_BYTES_MAX: Final = 1 << 20
"""Of all that stands in front of the outermost element, up to the end of the DOCTYPE."""

UTF_8_MARK: Final = codecs.BOM_UTF8

_WIDE: Final = {
    codecs.BOM_UTF16_LE: ("utf-16-le", 2),
    codecs.BOM_UTF16_BE: ("utf-16-be", 2),
    b"<\0": ("utf-16-le", 0),
    b"\0<": ("utf-16-be", 0),
}

_DECLARATION = re.compile(rb"<\?xml[ \t\r\n][^>]*\?>")
_ENCODING = re.compile(rb"""([ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["'])([^"'>]*)""")
_COMMENT = rb"<!--(?:[^-]|-(?!->))*+-->"
_INSTRUCTION = rb"<\?(?:[^?]|\?(?!>))*+\?>"
_MISCELLANEOUS = re.compile(rb"(?:[ \t\r\n]++|%s|%s)*+" % (_COMMENT, _INSTRUCTION))
_LITERAL = rb"\"[^\"]*+\"|'[^']*+'"
_SUBSET = rb"(?:[^\]<]|%s|%s|<![A-Z](?:[^<>\"']|%s)*+>)*+" % (_COMMENT, _INSTRUCTION, _LITERAL)
_DOCTYPE = re.compile(
    rb"<!DOCTYPE(?:[^\[\]<>\"']|%s)*+(?:\[%s\][ \t\r\n]*+)?+>" % (_LITERAL, _SUBSET)
)
_NOT_DECLARED = re.compile(rb"%s|%s|%s" % (_COMMENT, _INSTRUCTION, _LITERAL))
_NAMESPACE = re.compile(
    rb"<!ATTLIST[^>]*?[ \t\r\n]xmlns(?::[^ \t\r\n>]*+)?+[ \t\r\n][^'#>]*+(?:#FIXED[ \t\r\n]*+)?+'"
)
"""A namespace that elements have by default, where what is in quotes has been left out."""
_ENTITY_NAME = re.compile(rb"<!ENTITY[ \t\r\n]++([^ \t\r\n]++)")
_ENTITY = re.compile(rb"&(?!#|(?:amp|lt|gt|quot|apos);)")
_WITH_MARKUP = re.compile(
    rb"<!ENTITY[^>\"']*+(?:\"[^\"]*?(?:%(markup)s)|'[^']*?(?:%(markup)s))"
    % {b"markup": rb"<|%|&#0*60;|&#x0*3[Cc];"}
)

_PLAIN = re.compile(
    rb"""(?:<\?xml\s+version\s*=\s*["']1\.0["'](?:\s+encoding\s*=\s*["']utf-?8["'])?"""
    rb"""(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>)?""",
    re.IGNORECASE,
)
"""A declaration that says what is so without one."""

_NORMALIZED = re.compile(rb"[&\t\r\n]")
"""What stands for something else in an attribute's value."""

_CONTINUATION = bytes(range(0x80, 0xC0))
_FOUR_BYTES = bytes(range(0xF0, 0xF8))


class Prolog(NamedTuple):
    """What a dump says about all of its records. Make one with :func:`read_prolog`."""

    start: int
    """Where it ends, in bytes of the dump."""
    declaration: bytes = b""
    """The XML declaration, and below the DOCTYPE, in the encoding that is searched."""
    doctype: bytes = b""
    codec: str = "utf-8"
    """The encoding that is searched."""
    wide: str | None = None
    """The encoding of the dump, if it is UTF-16."""

    def head(self, content: bytes) -> bytes:
        """What a record needs in front of it, to mean on its own what it means in the dump.

        Declarations of attributes matter to every record, those of entities to one that has any.
        """
        if self.doctype and (b"<!ATTLIST" in self.doctype or _ENTITY.search(content)):
            return self.declaration + self.doctype
        return b"" if _is_plain(self.declaration) else self.declaration

    @property
    def entities(self) -> frozenset[bytes]:
        """References to the entities that are declared, and maybe some that are not."""
        names = _ENTITY_NAME.findall(self.doctype)
        return frozenset(b"&" + name + b";" for name in names)

    @property
    def has_markup_entities(self) -> bool:
        """Whether a reference to an entity may stand for elements."""
        return _WITH_MARKUP.search(self.doctype) is not None

    def elements_of(self, reference: bytes) -> set[str]:
        """The local names of the elements that a reference to an entity stands for.

        Their prefixes may be bound anywhere around the reference, and are not looked at.
        """
        document = self.declaration + self.doctype + b"<x>" + reference + b"</x>"
        root = etree.fromstring(document, new_parser(lenient=True))
        return {split_tag(one.tag)[1].rpartition(":")[2] for one in root.iterdescendants("*")}

    def value(self, quoted: bytes) -> str:
        """An attribute's value, of how it is written in the dump."""
        if not _NORMALIZED.search(quoted):
            return quoted[1:-1].decode(self.codec, "replace")
        document = b"<x a=" + quoted + b"/>"
        return Document.parse(self.head(document) + document).tree.getroot().get("a", "")


def read_prolog(
    head: bytes, *, whole: bool, limits: DocumentLimits = LIBRARY_LIMITS, name: str | None = None
) -> Prolog | None:
    """The prolog at the beginning of a dump; None if more of the dump is needed to find its end.

    ``whole`` says that there is no more. Raises DocumentError for one that cannot be read.
    """
    wide, mark = next(
        (form for start, form in _WIDE.items() if head.startswith(start)),
        (None, len(UTF_8_MARK) * head.startswith(UTF_8_MARK)),
    )
    text = head[mark:] if wide is None else Transcoder(wide).read(head[mark:])
    declared = _DECLARATION.match(text)
    declaration = declared[0] if declared else b""
    position = end = len(declaration)
    ended = _MISCELLANEOUS.match(text, position)
    assert ended is not None
    doctype = b""
    if found := _DOCTYPE.match(text, ended.end()):
        doctype, end = found[0], found.end()
    elif not whole and not _is_start_tag(text[ended.end() : ended.end() + 2]):
        if len(head) > PROLOG_BYTES_MAX:
            raise DocumentLimitError(
                "too many bytes in front of the outermost element",
                limit="PROLOG_BYTES_MAX",
                given=len(head),
                allowed=PROLOG_BYTES_MAX,
                document=name,
            )
        return None
    _check(declaration + doctype, head[:mark], wide, limits=limits, name=name)
    if _NAMESPACE.search(_NOT_DECLARED.sub(b"''", doctype)):
        raise DocumentError(
            "the DOCTYPE of a dump gives elements a namespace by default (ATTLIST … xmlns), which "
            "its records would not have; write it into the tags",
            document=name,
        )
    start = mark + source_bytes(text[:end], wide)
    if wide is not None:
        declaration = _ENCODING.sub(rb"\1UTF-8", declaration, count=1)
        return Prolog(start, declaration, doctype, "utf-8", wide)
    return Prolog(start, declaration, doctype, _codec(declaration))


def _is_start_tag(text: bytes) -> bool:
    return len(text) == len(b"<a") and text[:1] == b"<" and text[1:] not in (b"!", b"?")


def _check(
    head: bytes, mark: bytes, wide: str | None, *, limits: DocumentLimits, name: str | None
) -> None:
    """Refuse what every record would be refused for: the encoding, and the declarations."""
    document = head + b"<x/>"
    if wide is not None:
        document = document.decode("utf-8", "surrogatepass").encode(wide, "surrogatepass")
    Document.parse(mark + document, limits=limits, name=name)


def _codec(declaration: bytes) -> str:
    declared = _ENCODING.search(declaration)
    if declared is None:
        return "utf-8"
    try:
        codec = codecs.lookup(declared[2].decode("ascii", "replace")).name
    except LookupError:
        return "latin-1"  # Of a family in which ASCII means ASCII: the prolog has been read.
    return "utf-8" if codec.startswith(("utf", "ascii")) else codec


@lru_cache(maxsize=8)
def _is_plain(declaration: bytes) -> bool:
    """Whether a declaration says nothing; every record asks, and nearly all ask the same."""
    return _PLAIN.fullmatch(declaration) is not None


class Transcoder:
    """UTF-16 to UTF-8, piece by piece; whatever is no text in it is no UTF-8 either."""

    def __init__(self, wide: str) -> None:
        self._decoder = codecs.getincrementaldecoder(wide)("surrogatepass")

    def read(self, piece: bytes, *, final: bool = False) -> bytes:
        """The next piece; half a character at its end is kept for the next."""
        rest = b"\0" if final and self._is_odd(piece) else b""
        return self._decoder.decode(piece + rest, final=final).encode("utf-8", "surrogatepass")

    def _is_odd(self, piece: bytes) -> bool:
        pending, _ = self._decoder.getstate()
        return (len(pending) + len(piece)) % 2 == 1


def source_bytes(text: bytes, wide: str | None, start: int = 0, end: int | None = None) -> int:
    """How many bytes of the dump have become these.

    >>> source_bytes("aé𝄞".encode(), "utf-16-le"), source_bytes("aé𝄞".encode(), None)
    (8, 7)
    """
    end = len(text) if end is None else end
    if wide is None:
        return end - start
    text = text[start:end]
    characters = len(text.translate(None, _CONTINUATION))
    pairs = len(text) - len(text.translate(None, _FOUR_BYTES))
    return 2 * (characters + pairs)
