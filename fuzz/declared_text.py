"""Documents with declarations: entities, attributes with types, references to what nobody reads.

Everything is small and meets often: a handful of entity names, some of them declared twice, or
inside each other, or in a loop; texts of entities that are markup, whole or half; references in
content, values, namespaces and defaults. A document is made as text and encoded in any of the
encodings that are read; most are well-formed, and the others mostly nearly so.
"""

from __future__ import annotations

from random import Random
from typing import Final

__all__ = ["ENCODINGS", "random_declared_document"]

ENCODINGS: Final = (
    *(f"iso-8859-{number}" for number in (*range(1, 12), 13, 14, 15, 16)),
    *(f"windows-{number}" for number in range(1250, 1259)),
)
"""The encodings of one byte a character, as Python calls them, too."""

_NAMES: Final = ("a", "b", "c", "p:a", "p:b")
_ATTRIBUTES: Final = ("x", "y", "id", "p:x", "xml:lang", "xml:space", "xml:id", "xmlns", "xmlns:p")
_ENTITIES: Final = ("e", "f", "g", "h", "lt", "amp")
_TYPES: Final = (
    "CDATA", "CDATA", "ID", "IDREF", "IDREFS", "NMTOKEN", "NMTOKENS", "ENTITY", "ENTITIES",
    "(x|y)", "( 1 | z )", "NOTATION (n)", "NOTATION(n|m)", "( a:b|1.2-3)",
)  # fmt: skip
_DEFAULTS: Final = (
    "#IMPLIED", "#IMPLIED", "#REQUIRED", "'x'", '#FIXED "x"', "' x  y '", "''", "'a:b'", "'&e;'",
    "'&lt;'", "'<'", "#FIXED'x'", "'urn:d'", "'é'",
)  # fmt: skip
_CONTENTS: Final = (
    "EMPTY", "ANY", "(#PCDATA)", "(#PCDATA)*", "( #PCDATA | a|b )*", "(#PCDATA|a)",
    "(a,b?,(c|a)+)*", "( a )", "(a|b,c)", "(a?)", "((((a))))", "()", "(a,)", "a", "(a ?)",
    "(p:a)", "(%g;)",
)  # fmt: skip
_WORDS: Final = (
    "",
    "1",
    "x",
    " x  y ",
    "\n",
    "\t",
    "é",
    "😀",
    "]]",
    ">",
    "'",
    "]]>",
    "--",
    "%",
    "\r",
    "\r\n",
)
_GOOD_WORDS: Final = 11
_REFERENCES: Final = (
    "&#60;", "&#38;", "&#x3c;b/>", "&#38;#60;", "&#38;e;", "&#37;", "&#32;", "&#10;", "&#13;",
    "&#9;", "&amp;", "&lt;", "&quot;", "&e;", "&f;", "&g;", "&h;", "&u;", "&#0;", "&", "&e",
    "%g;", "&p:e;",
)  # fmt: skip
_GOOD_REFERENCES: Final = 17
_MARKUP: Final = (
    "<b>1</b>", "<b/>", "<a x='1'/>", "<p:b xmlns:p='urn:e'/>", "<p:b/>", "<!--c-->",
    "<b xmlns='urn:e'><c/></b>", "<?t i?>", "<![CDATA[<d>]]>", "<![CDATA[]]>", "</a><a>", "<b>",
    "</b>", "<b x='&f;'/>", "<b>&g;</b>", "<b id='i'/>", "<b xml:id='i'/>", "<?xml version='1.0'?>",
    "<", "<b x=' y  z '/>",
    "<b xml:lang='de'>&h;</b>", "</>", "</a>",
)  # fmt: skip
_GOOD_MARKUP: Final = 9
_DECLARED: Final = {"utf-8": "UTF-8", "utf-16": "UTF-16", "ascii": "US-ASCII"}


def random_declared_document(rng: Random, *, errors: float = 0.3) -> bytes:
    """A document; with that chance, something in it may be wrong."""
    return _Writer(rng, wrong=rng.random() < errors).document()


class _Writer:
    def __init__(self, rng: Random, *, wrong: bool) -> None:
        self._rng = rng
        self._wrong = wrong

    def document(self) -> bytes:
        rng = self._rng
        encoding = rng.choice(("utf-8", "utf-8", "utf-16-le", "utf-16-be", "ascii", "one", "one"))
        if encoding == "one":
            encoding = rng.choice(ENCODINGS)
        wide = encoding.startswith("utf-16")
        body = self._prolog() + self._element(rng.choice((1, 2, 2, 3)), root=True)
        text = self._declaration(encoding) + body
        content = text.encode(encoding, errors="xmlcharrefreplace")
        if encoding in ENCODINGS and self._chance(0.3):
            # Any byte at all, also those that mean nothing.
            content = content.replace(b"x", bytes([rng.randint(0x80, 0xFF)]))
        marks = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
        mark = marks.get(encoding, b"\xef\xbb\xbf" if encoding == "utf-8" else b"")
        if (wide and not self._chance(0.2)) or (not wide and self._chance(0.05)):
            content = mark + content
        if self._mistake(0.05):
            content = content[:-1] if self._chance(0.5) else content + b"\0"
        if wide and self._mistake(0.1):
            at = rng.randrange(len(content)) & ~1
            content = content[:at] + b"\xd8\xdc"[:: rng.choice((1, -1))] + content[at + 2 :]
        return content

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _mistake(self, share: float = 0.05) -> bool:
        return self._wrong and self._rng.random() < share

    def _declaration(self, encoding: str) -> str:
        rng = self._rng
        declared = _DECLARED.get(encoding[:6], encoding)
        if encoding in ENCODINGS:
            number = encoding.rpartition("-")[2]
            forms = (
                ("{}", "ISO_8859-{n}", "ISO8859-{n}")
                if encoding.startswith("iso")
                else ("{}", "CP{n}", "cp{n}")
            )
            declared = rng.choice(forms).format(encoding, n=number)
        elif self._chance(0.3):
            return ""
        if self._mistake(0.1):
            declared = rng.choice(
                ("UTF-8", "UTF-16", "ISO-8859-1", "windows-1252", "UTF-16LE", "x")
            )
        version = "1.1" if self._mistake(0.05) else "1.0"
        alone = rng.choice(("", "", "", " standalone='no'", " standalone='yes'"))
        return f"<?xml version='{version}' encoding='{declared}'{alone}?>"

    def _prolog(self) -> str:
        rng = self._rng
        outside = rng.choice(("", " SYSTEM 'a.dtd'", " PUBLIC 'p' 'a.dtd'"))
        if self._chance(0.1):
            return f"<!DOCTYPE a{outside}>"
        inside = "".join(self._part() for _ in range(rng.choice((0, 1, 2, 2, 3, 4, 5))))
        aside = rng.choice(("", "", "", "<!--c-->", "<?t?>", "\n"))
        return f"{aside}<!DOCTYPE a{outside} [{inside}]{rng.choice(('', ' '))}>{aside}"

    def _part(self) -> str:
        rng = self._rng
        draw = rng.random()
        if draw < 0.55:
            return self._entity()
        if draw < 0.8:
            return self._attributes()
        if draw < 0.87:
            contents = _CONTENTS if self._wrong else _CONTENTS[:5]
            return f"<!ELEMENT {rng.choice(_NAMES)} {rng.choice(contents)}>"
        return rng.choice((
            "<!--c-->", "<?t i?>", " ", "\n", "<!NOTATION n SYSTEM 'n'>",
            "<!NOTATION m PUBLIC 'm'>", "%g;", "<!ENTITY % g 'x'>", "<!ENTITY % g SYSTEM 'x'>",
            rng.choice(("<![INCLUDE[]]>", "<?xml x?>", "%", "<!---->", "<!--->", "<!ENTITY>", "x"))
            if self._wrong else "",
        ))  # fmt: skip

    def _entity(self) -> str:
        rng = self._rng
        name = rng.choice(_ENTITIES[: None if self._chance(0.1) else 4])
        if self._chance(0.06):
            return f"<!ENTITY {name} SYSTEM 'x'{rng.choice(('', ' NDATA n'))}>"
        value = "".join(self._text(name) for _ in range(rng.choice((0, 1, 1, 2, 3))))
        quote = "'" if '"' in value else '"' if "'" in value else rng.choice("'\"")
        value = value.replace(quote, "")
        if self._chance(0.01):
            value = value * rng.choice((10, 1_000))
        return f"<!ENTITY {name} {quote}{value}{quote}>"

    def _text(self, name: str = "") -> str:
        """Some content, of the entity with this name if it is of one."""
        rng = self._rng
        draw = rng.random()
        if draw < 0.4:
            return rng.choice(_WORDS[: None if self._wrong else _GOOD_WORDS])
        if draw < 0.75:
            found = rng.choice(_REFERENCES[: None if self._wrong else _GOOD_REFERENCES])
            # Mostly those that come later, so that few are in a loop.
            later = found[1:2] > name or not name or not found[1:2].isalpha()
            return found if later or self._mistake(0.3) or len(found) > 3 else ""
        return rng.choice(_MARKUP[: None if self._wrong else _GOOD_MARKUP])

    def _attributes(self) -> str:
        rng = self._rng
        element = rng.choice(_NAMES)
        defined = ""
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            name = rng.choice(_ATTRIBUTES[: None if self._wrong else 6])
            defaults = _DEFAULTS if self._wrong else _DEFAULTS[:5]
            blank = rng.choice((" ", " ", "\n", "\t ", "" if self._mistake() else " "))
            defined += f"{blank}{name} {rng.choice(_TYPES)} {rng.choice(defaults)}"
        return f"<!ATTLIST {element}{defined}{rng.choice(('', ' '))}>"

    def _element(self, depth: int, *, root: bool = False) -> str:
        rng = self._rng
        name = rng.choice(("a", "a", "p:a")) if root else rng.choice(_NAMES)
        scopes = " xmlns:p='urn:p'" if root else ""
        if self._chance(0.1):
            scopes += f" xmlns='{rng.choice(('urn:d', 'urn:&f;', '&g;'))}'"
        values = ""
        for key in {rng.choice(_ATTRIBUTES[:6]) for _ in range(rng.choice((0, 1, 2, 3)))}:
            value = rng.choice(
                ("", "i", "j", " i ", " 1  2 ", "\t1\n", "&e;", "&f; &g;", "&#32;x&#10;", "&u;")
            )
            if self._chance(0.2):
                value = self._text().replace("'", "")
                value = value if self._mistake(0.3) else value.replace("<", "")
            values += f" {key}='{value}'"
        inside = ""
        for _ in range(rng.choice((0, 1, 2, 3))):
            inside += self._element(depth - 1) if depth and self._chance(0.5) else self._text()
            if self._chance(0.4):
                inside += rng.choice(("&e;", "&f;", "&g;", "&h;", "&u;"))
        if not inside and self._chance(0.5):
            return f"<{name}{scopes}{values}/>"
        return f"<{name}{scopes}{values}>{inside}</{name}>"
