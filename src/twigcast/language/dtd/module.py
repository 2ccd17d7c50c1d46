r"""Modules of a DTD, decoded from bytes to text, and their ids relative to each other.

A module is UTF-8, UTF-16, Latin-1 or ASCII. A byte-order mark decides; without one the text
declaration (``<?xml encoding="ISO-8859-1"?>``) does; without that it is UTF-8. Lines may end in
``\r\n``, ``\n`` or a bare ``\r``, as NITF's do; they come out as ``\n``, so that counting lines
is the same everywhere. The text declaration is blanked, its line ends kept.
"""

from __future__ import annotations

import codecs
import posixpath
import re
from typing import Final
from urllib.parse import urljoin

from twigcast.errors import SchemaError

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED_UTF16: Final = ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be"))

_ENCODINGS: Final = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "us-ascii": "ascii",
    "ascii": "ascii",
    "iso-8859-1": "latin-1",
    "latin1": "latin-1",
    "latin-1": "latin-1",
}
_TEXT_DECLARATION: Final = re.compile(
    r"""<\?xml(?=[ \t\r\n])(?:[^?"']|"[^"]*"|'[^']*')*\?>""",
)
_ENCODING: Final = re.compile(
    r"""[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z0-9._\-]*)["']"""
)
_DECLARATION_MAX: Final = 1000
"""A text declaration has a version and an encoding, so it is short."""

NO_CHARACTER: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML does not allow, mostly control characters."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def decode_module(content: bytes, *, module: str) -> str:
    r"""The text of a module; SchemaError if its bytes are not in its declared encoding.

    >>> decode_module(b'<?xml encoding="ISO-8859-1"?>\r<!-- caf\xe9 -->', module="x.dtd")
    '\n<!-- café -->'
    """
    encoding, content = _encoding(content, module)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1:,} is not {encoding.upper()}; declare the encoding in use"
        raise SchemaError(reason, module=module, line=_line(content, error.start)) from None
    if wrong := NO_CHARACTER.search(text):
        reason = f"{wrong[0]!r} is not a character of XML"
        line = len(re.findall("\r\n?|\n", text[: wrong.start()])) + 1
        raise SchemaError(reason, module=module, line=line)
    if declaration := _TEXT_DECLARATION.match(text[:_DECLARATION_MAX]):
        text = re.sub("[^\r\n]", "", declaration[0]) + text[declaration.end() :]
    return text.replace("\r\n", "\n").replace("\r", "\n")


def absolute_id(system_id: str, *, module: str) -> str:
    """The name of a module as seen from the main one, when ``module`` refers to ``system_id``.

    >>> absolute_id("ent/iso.ent", module="modules/base.mod")
    'modules/ent/iso.ent'
    >>> absolute_id("lat1.ent", module="http://example.org/dtd/base.mod")
    'http://example.org/dtd/lat1.ent'
    """
    if _SCHEME.match(system_id):
        return system_id
    if _SCHEME.match(module):
        return urljoin(module, system_id)
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), system_id))


def _encoding(content: bytes, module: str) -> tuple[str, bytes]:
    """The codec of a module, and its bytes without the mark."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding, content[len(mark) :]
    for start, encoding in _UNMARKED_UTF16:
        if content.startswith(start):
            return encoding, content
    declaration = _TEXT_DECLARATION.match(content[:_DECLARATION_MAX].decode("latin-1"))
    named = _ENCODING.search(declaration[0]) if declaration else None
    if named is None:
        return "utf-8", content
    encoding = _ENCODINGS.get(named[1].lower(), "")
    if not encoding:
        reason = f"encoding {named[1]!r} is not taken; use UTF-8, UTF-16, ISO-8859-1 or US-ASCII"
        raise SchemaError(reason, module=module, line=1)
    return encoding, content


def _line(content: bytes, position: int) -> int:
    return len(re.findall(b"\r\n?|\n", content[:position])) + 1
