"""The few things that a search for records has to know about the syntax of XML.

In a well-formed document ``<`` begins markup wherever it stands, except inside a comment, a CDATA
section and a processing instruction: in texts and in attribute values it is written ``&lt;``. So
there are four *lexical states*, and what a ``<`` means depends on nothing else. Inside a tag there
is no state of its own: up to the next ``<`` it reads like text.

These patterns work on bytes in any encoding in which ASCII means ASCII. A tag that is none
(``<a b>``) does not fit; whether all else is as it should be is seen where a record is parsed.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final


class Lexical(IntEnum):
    """What a byte may be inside of."""

    CONTENT = 0
    COMMENT = 1
    CDATA = 2
    INSTRUCTION = 3


OPENERS: Final = {
    b"<!--": Lexical.COMMENT,
    b"<![CDATA[": Lexical.CDATA,
    b"<?": Lexical.INSTRUCTION,
}
TERMINATORS: Final = {
    Lexical.COMMENT: b"-->",
    Lexical.CDATA: b"]]>",
    Lexical.INSTRUCTION: b"?>",
}
NAMES: Final = {
    Lexical.COMMENT: "a comment",
    Lexical.CDATA: "a CDATA section",
    Lexical.INSTRUCTION: "a processing instruction",
}
TERMINATOR_BYTES_MAX: Final = 3

_WHITE = rb"[ \t\r\n]"
_NAME = rb"[A-Za-z_:\x80-\xff][-.0-9A-Za-z_:\x80-\xff]*+"
_VALUE = rb"(?:\"[^<\"]*+\"|'[^<']*+')"

START_TAG: Final = re.compile(
    rb"<(%(name)s)((?:%(white)s++%(name)s%(white)s*+=%(white)s*+%(value)s)*+)%(white)s*+(/?)>"
    % {b"name": _NAME, b"white": _WHITE, b"value": _VALUE}
)
"""A start tag, or one of an empty element: its name, its attributes, and a slash or nothing."""

END_TAG: Final = re.compile(rb"</(%s)%s*+>" % (_NAME, _WHITE))

ATTRIBUTE: Final = re.compile(rb"(%s)%s*+=%s*+(%s)" % (_NAME, _WHITE, _WHITE, _VALUE))
"""An attribute in the second part of a start tag: its name, and its value with the quotes."""

REFERENCE: Final = re.compile(rb"&%s;" % _NAME)
"""A reference to an entity."""

BLANK: Final = re.compile(rb"%s*+" % _WHITE)

_CUT_OFF = re.compile(rb"</?[^ \t\r\n/>]*+\Z")
_CUT_OFF_BYTES_MAX = 1 << 16
"""Of a name that goes on in the next piece. No document may have one of a thousand characters."""


def local_part(name: bytes) -> bytes:
    """A name without its prefix."""
    return name.rpartition(b":")[2]


def cut_off(text: bytes, start: int) -> int:
    """Where the last ``<`` stands, if its name may go on behind the text; else their end."""
    place = text.rfind(b"<", max(start, len(text) - _CUT_OFF_BYTES_MAX))
    return place if place >= 0 and _CUT_OFF.match(text, place) else len(text)


def cut_off_reference(text: bytes, start: int) -> int:
    """Where the last ``&`` stands, if its name may go on behind the text; else their end."""
    place = text.rfind(b"&", max(start, len(text) - _CUT_OFF_BYTES_MAX))
    return len(text) if place < 0 or b";" in text[place:] else place


def opened_by(text: bytes, place: int) -> tuple[Lexical, int] | None:
    """The state that begins at a ``<!`` or ``<?``, and where its content does; None if none."""
    for opener, state in OPENERS.items():
        if text.startswith(opener, place):
            return state, place + len(opener)
    return None


def may_open(text: bytes, place: int) -> bool:
    """Whether a ``<!`` at the end of the text may go on to open a state."""
    rest = text[place : place + max(map(len, OPENERS))]
    return len(text) - place == len(rest) and any(one.startswith(rest) for one in OPENERS)
