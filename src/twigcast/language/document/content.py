"""Sources of documents, and their conversion to bytes.

======================  ===================================================================
bytes, bytearray,       the document as it was published
memoryview
text                    XML that was decoded already: the encoding in its declaration is
                        ignored
an open file            anything with a ``read`` that returns bytes or text; read to its end
lxml                    an element (with all that is below it, and nothing around it), or a
                        whole tree
======================  ===================================================================

A tree of lxml is written out and read again, so that it meets the same limits and the same rules
as any other document: a tree that cannot be written as XML, such as some of HTML, is refused.

    >>> content_of("<?xml version='1.0' encoding='latin-1'?><é/>").content.decode()
    "<?xml version='1.0' encoding='UTF-8'?><é/>"
"""

from __future__ import annotations

import re
from os import PathLike
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from lxml import etree
from lxml.etree import _Element, _ElementTree

from twigcast.errors import DocumentError, DocumentLimitError, UsageError

_DECLARATION: Final = re.compile(
    r"""(\A\ufeff?<\?xml\s[^>]*?\sencoding\s*=\s*["'])[^"'>]*(?=["'])"""
)
_PIECE: Final = 1 << 20
"""The number of bytes or characters read from an open file at a time."""
_KINDS: Final = "bytes, a text, an open file, an element or tree of lxml, or a Document"


class Readable(Protocol):
    """An open file, binary or text."""

    def read(self, size: int, /) -> bytes | str:
        """The next piece of at most that size, empty at the end."""


Source: TypeAlias = (
    "bytes | bytearray | memoryview | str | Readable | _Element | _ElementTree | PathLike[str]"
)
"""The sources of a document; paths are accepted only where files may be opened, not here."""


class Content(NamedTuple):
    """The bytes of a document, and its name in errors."""

    content: bytes
    name: str | None = None


def content_of(source: Source, *, name: str | None = None, bytes_max: int | None = None) -> Content:
    """The bytes of a document from any source.

    Of an open file no more than ``bytes_max`` are read. Raises :class:`DocumentError` if the source
    cannot be read, :class:`UsageError` for an object that is not a source.
    """
    if isinstance(source, bytes):
        return Content(source, name)
    if isinstance(source, str):
        return Content(encoded(source, name=name), name)
    if isinstance(source, bytearray | memoryview):
        try:
            return Content(bytes(source), name)
        except ValueError as error:  # a memoryview that was released
            raise DocumentError(f"cannot be read: {error}", document=name) from None
    if etree.iselement(source) or isinstance(source, etree._ElementTree):  # noqa: SLF001  # It has no public name.
        return Content(_written(source, name), name)
    if isinstance(source, PathLike):
        raise UsageError(
            f"a document is {_KINDS}, not the path {str(source)!r}; open it, or take the Matcher "
            "of the package twigcast, which opens paths"
        )
    if not hasattr(source, "read"):
        raise UsageError(f"a document is {_KINDS}, not {type(source).__name__}")
    called = getattr(source, "name", None)
    name = name or (called if isinstance(called, str) else None)
    return _read(cast("Readable", source), name, bytes_max)


def encoded(text: str, *, name: str | None = None) -> bytes:
    """A document that was decoded already, as bytes in the encoding they declare.

    The text is encoded as UTF-8, and its declaration changed accordingly.
    Raises :class:`DocumentError` for half of a surrogate pair, which no encoding can hold.

    >>> encoded("<?xml version='1.0' encoding='latin-1'?><a/>")
    b"<?xml version='1.0' encoding='UTF-8'?><a/>"
    """
    try:
        return _DECLARATION.sub(r"\1UTF-8", text, count=1).encode()
    except UnicodeEncodeError as error:
        raise DocumentError(
            f"character {error.start + 1:,} is half of a surrogate pair, which is no character",
            document=name,
        ) from None


def _read(file: Readable, name: str | None, bytes_max: int | None) -> Content:
    """The rest of an open file."""
    pieces: list[Any] = []
    size = 0
    while True:
        try:
            piece: object = file.read(_PIECE)
        except Exception as error:  # a caller's file may raise anything
            raise DocumentError(f"cannot be read: {error}", document=name) from error
        if not isinstance(piece, bytes | str) or (pieces and type(piece) is not type(pieces[0])):
            kind = "None, so it is not ready" if piece is None else f"{type(piece).__name__}"
            raise DocumentError(
                f"cannot be read: the open file gives {kind}, where bytes or text are expected",
                document=name,
            )
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
        if bytes_max is not None and size > bytes_max:
            raise DocumentLimitError(
                "too many bytes", limit="bytes_max", given=size, allowed=bytes_max, document=name
            )
    if pieces and isinstance(pieces[0], str):
        return Content(encoded("".join(pieces), name=name), name)
    return Content(b"".join(pieces), name)


def _written(tree: _Element | _ElementTree, name: str | None) -> bytes:
    """A tree of lxml as XML."""
    if isinstance(tree, etree._ElementTree):  # noqa: SLF001
        root: _Element | None = tree.getroot()
        if root is None:
            raise DocumentError("the tree cannot be written as XML: it is empty", document=name)
        if root.getparent() is not None:
            # For a tree inside another, lxml would also write the comments in front of it.
            tree = root
    try:
        return etree.tostring(tree, encoding="UTF-8", with_tail=False)
    except (etree.LxmlError, AssertionError, AttributeError, LookupError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise DocumentError(f"the tree cannot be written as XML: {reason}", document=name) from None
