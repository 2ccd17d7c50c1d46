"""The size of the internal subset of a document, measured before libxml2 reads it.

The internal subset is the part between the brackets of ``<!DOCTYPE a [ … ]>``: declarations from an
untrusted author, which libxml2 reads with all the others of the document. Its time grows with the
square of their number: each attribute of the type ``ID`` is compared with all attributes declared
for the same element, and each attribute is put behind all those that have ``xmlns`` in their names.
Parameter entities cannot hide any: libxml2 never replaces them where trees are built, and every
name that they could construct takes some bytes here.

    >>> internal_subset_bytes(b"<!DOCTYPE a [<!ENTITY e ']>'>]><a/>")
    16
"""

from __future__ import annotations

import re
from typing import Final

_DOCTYPE: Final = "<!DOCTYPE"
_WIDE_DOCTYPE: Final = _DOCTYPE.encode("utf-16-le")
"""Big-endian UTF-16 has the same bytes, one further on."""

_BLANK: Final = re.compile(rb"[ \t\r\n]*+")
_START: Final = re.compile(rb"""<!DOCTYPE(?:[^"'\[>]++|"[^"]*+"|'[^']*+')*+\[""")
_SUBSET: Final = re.compile(
    rb"""(?:[^]"'<]++|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+""", re.DOTALL
)
"""Up to the bracket that closes it, or to a literal or a comment that never ends."""


def internal_subset_bytes(content: bytes, *, wide: bool = False) -> int:
    """The size of the internal subset of a document in bytes, 0 if there is none.

    The document is in an encoding in which ASCII means ASCII; if it is ``wide``, in UTF-16, and
    what counts is the same in UTF-8. Of a document that is not well-formed the answer may be more
    than libxml2 would read, but never less.
    """
    if wide:
        if _WIDE_DOCTYPE not in content:
            return 0
        content = _narrow(content)
    start = _subset_start(content)
    if start is None:
        return 0
    subset = _SUBSET.match(content, start)
    assert subset is not None
    end = subset.end()
    return (end if content[end : end + 1] == b"]" else len(content)) - start


def _subset_start(content: bytes) -> int | None:
    """The start of the internal subset; comments and instructions may precede it."""
    at = len(b"\xef\xbb\xbf") if content.startswith(b"\xef\xbb\xbf") else 0
    while True:
        blank = _BLANK.match(content, at)
        assert blank is not None
        at = blank.end()
        if content.startswith(b"<?", at):
            end, closed = b"?>", at + 2
        elif content.startswith(b"<!--", at):
            end, closed = b"-->", at + 4
        else:
            start = _START.match(content, at)
            return None if start is None else start.end()
        at = content.find(end, closed)
        if at < 0:
            return None
        at += len(end)


def _narrow(content: bytes) -> bytes:
    """A document in UTF-16, converted to UTF-8."""
    little = content[:2] == b"\xff\xfe" or (content[:2] != b"\xfe\xff" and content[:1] != b"\x00")
    text = content.decode("utf-16-le" if little else "utf-16-be", "replace")
    return text.removeprefix("\ufeff").encode()
