"""Documents with everything that XML has: mostly well-formed, at times nearly so.

Names, namespaces and values are few, so that expressions meet them; prefixes are declared late,
twice, wrongly or not at all; references name characters that are none. A document is made as text
and then encoded, in one of the encodings that are read, or under a declaration that lies.
"""

from __future__ import annotations

from random import Random
from typing import Final

__all__ = ["random_document"]

_NAMES: Final = (
    "a",
    "b",
    "c",
    "a",
    "b",
    "é",
    "p:a",
    "q:b",
    "p:x",
    "r:c",
    "xml:a",
    "div",
    "a.b-c",
    "_",
)
_ATTRIBUTES: Final = ("x", "y", "p:x", "q:x", "xml:lang", "é", "id", "r:x", "xml:space", "xml:id")
_GOOD_ATTRIBUTES: Final = 7
"""So many of them may have any value."""
_NAMESPACES: Final = (
    "urn:p", "urn:p", "urn:q", "urn:q", "u", "rel", "", "u v", "http://www.w3.org/XML/1998/namespace",
    "http://www.w3.org/2000/xmlns/", "http://h/%zz", "a/../b", "1:2", "&#x20;", "&amp;", "é",
)  # fmt: skip
_PREFIXES: Final = ("p", "q", "r", "", "xml", "xmlns", "é")
_TEXTS: Final = (
    "",
    "1",
    "2",
    "5",
    "10",
    "x",
    "xy",
    " 5 ",
    "1e3",
    "-1",
    "é",
    "it's",
    "\n",
    "\u2028",
    "😀",
)
_REFERENCES: Final = (
    "&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#65;", "&#x41;", "&#10;", "&#13;", "&#9;",
    "&e;", "&f;", "&g;", "&#x10FFFF;", "&#0;", "&#xD800;", "&#xDC00;", "&#xFFFE;", "&#x110000;",
    "&#99999999999999999999;", "&", "&#;", "&#x;", "&;", "&e",
)  # fmt: skip
_GOOD_REFERENCES: Final = 10
"""So many of them stand for a character in every document."""
_CONTROLS: Final = (
    "\x00",
    "\x01",
    "\x0b",
    "\x7f",
    "\x85",
    "\ufffe",
    "\uffff",
    "]]>",
    "--",
    "<",
    ">",
)
_ENCODINGS: Final = (
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "latin-1",
    "ascii",
)
_DECLARED: Final = (
    "UTF-8",
    "utf-8",
    "UTF-16",
    "UTF-16LE",
    "ISO-8859-1",
    "US-ASCII",
    "windows-1252",
    "UTF-7",
)
_MARKS: Final = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
_SUBSET: Final = (
    "<!ENTITY e 'x'>", "<!ENTITY e '<b>1</b>'>", "<!ENTITY f '&e;&e;'>", "<!ENTITY e '&#38;#38;'>",
    "<!ENTITY e SYSTEM 'file:///none'>", "<!ENTITY % g 'x'>", "%g;", "<!ATTLIST a x CDATA 'd'>",
    "<!ATTLIST b xmlns CDATA 'urn:p'>", "<!ATTLIST a xml:id ID #IMPLIED>", "<!ELEMENT a ANY>",
    "<!--c-->", "<?t x?>", "<!NOTATION n SYSTEM 'n'>", " ", "<!ENTITY e \"'\">",
    "<!ATTLIST a xmlns:p CDATA #FIXED 'urn:q'>", "<!ENTITY e '</a><a>'>", "<!ENTITY e '&e;'>",
    "<!ENTITY u SYSTEM 'u' NDATA n>", "<![INCLUDE[]]>", "<!ENTITY e '&f;'>",
    "<!ENTITY e '&#xDC00;'>",
)  # fmt: skip
_GOOD_SUBSET: Final = 17
_DEPTHS: Final = (2, 3, 3, 4, 6)


def random_document(rng: Random, *, errors: float = 0.3) -> bytes:
    """A document; with that chance, something in it may be wrong."""
    return _Writer(rng, wrong=rng.random() < errors).document()


class _Writer:
    def __init__(self, rng: Random, *, wrong: bool) -> None:
        self._rng = rng
        self._wrong = wrong

    def document(self) -> bytes:
        rng = self._rng
        encoding = rng.choice(_ENCODINGS)
        text = self._prolog(encoding) + self._root() + self._epilog()
        content = text.encode(
            encoding, errors="xmlcharrefreplace" if rng.random() < 0.9 else "replace"
        )
        if self._mistake(0.1):
            return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b" ")) + content
        mark = _MARKS.get(encoding, b"")
        optional = encoding == "utf-8"
        return mark + content if not optional or self._chance(0.1) else content

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _mistake(self, share: float = 0.05) -> bool:
        return self._wrong and self._rng.random() < share

    def _prolog(self, encoding: str) -> str:
        rng, text = self._rng, ""
        needs = encoding == "latin-1" and not self._mistake(0.3)
        if needs or self._chance(0.3):
            fitting = {"latin-1": "ISO-8859-1", "ascii": "US-ASCII"}.get(
                encoding, encoding[:6].upper()
            )
            declared = rng.choice(_DECLARED) if self._mistake(0.3) else fitting
            version = rng.choice(("1.0", "1.1", "2.0")) if self._mistake(0.1) else "1.0"
            alone = rng.choice(("", "", " standalone='yes'", " standalone='no'"))
            text = f"<?xml version='{version}' encoding='{declared}'{alone}?>"
        while self._chance(0.15):
            text += self._aside()
        if self._chance(0.25):
            text += self._doctype()
        while self._chance(0.15):
            text += self._aside()
        return text

    def _doctype(self) -> str:
        rng = self._rng
        outside = rng.choice(("", "", " SYSTEM 'a.dtd'", " PUBLIC 'p' 'a.dtd'"))
        inside = ""
        if self._chance(0.8):
            pieces = "".join(
                rng.choice(_SUBSET[: None if self._wrong else _GOOD_SUBSET])
                for _ in range(rng.randint(0, 3))
            )
            inside = f" [{pieces}]"
        return f"<!DOCTYPE {rng.choice('aab')}{outside}{inside}>"

    def _epilog(self) -> str:
        text = ""
        while self._chance(0.1):
            text += self._aside()
        if self._mistake():
            text += self._rng.choice(("<a/>", "x", "</a>", "\x00", "<!DOCTYPE a>"))
        return text

    def _aside(self) -> str:
        rng = self._rng
        inner = rng.choice(_CONTROLS) if self._mistake() else rng.choice(("", "1", "x", " é "))
        return rng.choice((f"<!--{inner}-->", f"<?t {inner}?>", "<?t?>", "\n"))

    def _root(self) -> str:
        rng = self._rng
        if self._chance(0.02):
            levels = rng.choice((20, 100, 254, 255, 256, 257, 300))
            return "<a>" * levels + self._text() + "</a>" * levels
        if self._chance(0.02):
            count = rng.choice((100, 999, 1_000, 1_001))
            return "<a " + " ".join(f"n{number}='{number}'" for number in range(count)) + "/>"
        if self._chance(0.02):
            name = "n" * rng.choice((999, 1_000, 1_001, 1_002))
            return rng.choice(
                (f"<{name}/>", f"<a {name}=''/>", f"<a xmlns:p='{name}'/>", f"<a>{name}</a>")
            )
        late = self._mistake(0.2)
        return self._element(rng.choice(_DEPTHS), scope="" if late else self._scopes())

    def _scopes(self) -> str:
        """Declarations of the usual prefixes, for a root."""
        return " xmlns:p='urn:p' xmlns:q='urn:q' xmlns:r='urn:p'"

    def _element(self, depth: int, scope: str = "") -> str:
        rng = self._rng
        name = rng.choice(_NAMES)
        if self._mistake(0.02):
            name = rng.choice(("", "1a", "a:b:c", ":a", "a:", "-", "a\u0300", "zz:a", "a b", "×"))
        head = f"<{name}{scope}{self._attributes(bare=not scope)}"
        if self._chance(0.25):
            return head + rng.choice(("/>", " />"))
        inside = "".join(self._content(depth - 1) for _ in range(rng.randint(0, 4) if depth else 0))
        end = rng.choice(_NAMES) if self._mistake(0.02) else name
        close = "" if self._mistake(0.01) else f"</{end}{rng.choice(('', '', ' '))}>"
        return f"{head}>{inside}{close}"

    def _attributes(self, *, bare: bool) -> str:
        rng = self._rng
        names = [
            rng.choice(_ATTRIBUTES[: None if self._wrong else _GOOD_ATTRIBUTES])
            for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))
        ]
        if not self._mistake():
            names = list(dict.fromkeys(names))
        text = "".join(f" {name}={self._quoted(self._text())}" for name in names)
        if bare and self._chance(0.15):
            prefix = rng.choice(_PREFIXES) if self._wrong else rng.choice(("p", "q", "r", ""))
            space = rng.choice(_NAMESPACES) if self._wrong else rng.choice(_NAMESPACES[:6])
            declaration = f" xmlns{':' if prefix else ''}{prefix}={self._quoted(space)}"
            text = text + declaration if self._chance(0.5) else declaration + text
        return text

    def _quoted(self, value: str) -> str:
        if self._mistake(0.02):
            return self._rng.choice(("", "x", "'", '"', "'<'", "'x\"", "'&'", "''y=''"))
        quote = "'" if '"' in value or ("'" not in value and self._chance(0.5)) else '"'
        return f"{quote}{value}{quote}"

    def _text(self) -> str:
        rng = self._rng
        text = rng.choice(_TEXTS)
        if self._chance(0.15):
            text += rng.choice(_REFERENCES if self._wrong else _REFERENCES[:_GOOD_REFERENCES])
        if self._mistake(0.02):
            text += rng.choice(_CONTROLS)
        return text

    def _content(self, depth: int) -> str:
        draw = self._rng.random()
        if draw < 0.5:
            return self._element(depth)
        if draw < 0.8:
            return self._text()
        if draw < 0.9:
            return f"<![CDATA[{self._rng.choice(_TEXTS)}]]>"
        return self._aside()
