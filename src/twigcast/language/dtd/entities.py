"""Expansion of the modules of a DTD to a flat stream of declarations.

DTDs are assembled by *parameter entities*: ``%name;`` stands for a text, or for a whole module,
and ``<![INCLUDE[ … ]]>`` and ``<![IGNORE[ … ]]>`` switch parts on and off. All of that is expanded
here. The result is the element and attribute-list declarations in their order, each with the module
and the line on which it begins::

    <!ENTITY % inline "em | strong">
    <!ELEMENT p (#PCDATA | %inline;)*>    ->    "p (#PCDATA |  em | strong )*"

A stack of texts is read from the top: a reference pushes its replacement, and the end of a text
pops it. Reading is linear in the bytes and in the expansion of the references.

**Why not libxml2's loader.** Three problems were found with lxml 6.1 on libxml2 2.14. The loader
opens local files that a DTD names, unless stopped. It takes 43 seconds for one element with 40,000
attributes (0.9 MB), and as entities can hide them, they cannot be counted beforehand. And lxml does
not report the prefix of a child (``m:math`` is ``math``). The reader here has no access to anything
but the ``resolve`` function of the caller. libxml2 remains the oracle in the tests, where both read
the same DTDs, real and random.

Reference: XML 1.0 (fifth edition), sections 2.8, 3.4 and 4.1 to 4.5.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from twigcast.errors import SchemaError, SchemaLimitError
from twigcast.language.dtd.limits import SchemaLimits
from twigcast.language.dtd.module import NO_CHARACTER, absolute_id, decode_module
from twigcast.slips import caller_result

Resolve: TypeAlias = Callable[[str | None, str], bytes | None]
"""Maps the public and the system id of a module to its bytes, or to None if there is none."""

_FIRST: Final = (
    r":A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    r"\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME: Final = rf"[{_FIRST}][{_FIRST}\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*"
"""A name of XML 1.0, as a regular expression; here the colon is an ordinary letter."""

SPACE: Final = r"[\x20\t\n]"
LITERAL: Final = r"""(?:"[^"]*"|'[^']*')"""

_NEXT: Final = re.compile(
    rf"""(?P<space> {SPACE}+ )
       | % (?P<reference> {NAME} ) ;
       | (?P<comment> <!-- )
       | (?P<instruction> <\? )
       | <!\[ {SPACE}* (?: (?P<section> INCLUDE | IGNORE ) | % (?P<switch> {NAME} ) ; ) {SPACE}* \[
       | (?P<close> \]\]> )
       | <! (?P<declaration> ELEMENT | ATTLIST | ENTITY | NOTATION ) (?= [\x20\t\n%] )""",
    re.VERBOSE,
)
_PART: Final = re.compile(
    rf"""(?P<plain> [^%"'<>]+ | % (?= {SPACE} ) )
       | (?P<literal> {LITERAL} )
       | % (?P<reference> {NAME} ) ;
       | (?P<end> > )""",
    re.VERBOSE,
)
_ENTITY: Final = re.compile(
    rf"""{SPACE}+ (?P<parameter> % {SPACE}+ )? (?P<name> {NAME} ) {SPACE}+
         (?: (?P<value> {LITERAL} )
           | (?: SYSTEM | PUBLIC {SPACE}+ (?P<public> {LITERAL} ) ) {SPACE}+ (?P<system> {LITERAL} )
             (?: {SPACE}+ NDATA {SPACE}+ {NAME} )? )
         {SPACE}*""",
    re.VERBOSE,
)
_NOTATION: Final = re.compile(
    rf"""{SPACE}+ {NAME} {SPACE}+
         (?: SYSTEM {SPACE}+ {LITERAL} | PUBLIC {SPACE}+ {LITERAL} (?: {SPACE}+ {LITERAL} )? )
         {SPACE}*""",
    re.VERBOSE,
)
_INSTRUCTION: Final = re.compile(rf"{NAME}(?:{SPACE}.*?)?\?>", re.DOTALL)
_CODE: Final = "0*[0-9]{1,7}|x0*[0-9a-fA-F]{1,6}"
_IN_VALUE: Final = re.compile(rf"%(?P<name>{NAME});|&#(?P<code>{_CODE});|(?P<bad>%|&(?!{NAME};))")
_IN_DEFAULT: Final = re.compile(rf"&(?:#(?P<code>{_CODE})|(?P<name>{NAME}));|(?P<bad>[&<])")
_SECTION_ENDS: Final = re.compile(r"<!\[|\]\]>")

_PREDEFINED: Final = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}

_REFERENCE_COST: Final = 50
"""The cost of a reference beside its text, so that a million empty ones are not free."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The text after ``<!ELEMENT`` or ``<!ATTLIST``, and its place."""

    kind: str
    text: str
    module: str
    line: int


@dataclass(frozen=True, slots=True)
class _Entity:
    """An entity: its replacement text, or the ids of the module that has it."""

    text: str | None
    public_id: str | None = None
    system_id: str = ""


@dataclass(slots=True)
class _TextFrame:
    """A text being read; ``entity`` is the reference that put it on the stack."""

    text: str
    entity: str | None
    module: str | None
    position: int = 0
    line: int = 1
    line_position: int = 0
    sections: int = 0


class Expansion:
    """The declarations of one DTD, to be iterated over once.

    SchemaError has the module and the line of the error; SchemaLimitError also the limit.
    """

    def __init__(
        self, content: bytes, *, name: str, resolve: Resolve | None, limits: SchemaLimits
    ) -> None:
        self._resolve = resolve
        self._limits = limits
        self._parameters: dict[str, _Entity] = {}
        self._general: dict[str, _Entity] = {}
        self._modules: dict[tuple[str | None, str], str] = {}
        self._bytes = 0
        self._expanded = 0
        self._declarations = 0
        self._frames: list[_TextFrame] = []
        self._frames.append(_TextFrame(self._decoded(content, name), None, name))

    def __iter__(self) -> Iterator[Declaration]:
        while self._frames:
            frame = self._frames[-1]
            token = _NEXT.match(frame.text, frame.position)
            if token is None:
                if frame.position < len(frame.text):
                    self._fail(f"expected a declaration, got {self._rest(frame)}")
                self._leave(frame)
                continue
            if token.lastgroup == "declaration":
                module, line = self._current_place()
                frame.position = token.end()
                text = self._declaration(token["declaration"])
                if token["declaration"] in {"ELEMENT", "ATTLIST"}:
                    yield Declaration(token["declaration"], text, module, line)
            else:
                self._handle_other(frame, token)

    def default_value(self, literal: str) -> str:
        """The default value of an attribute, given in quotes, with references replaced."""
        return self._plain(literal[1:-1], ())

    def _handle_other(self, frame: _TextFrame, token: re.Match[str]) -> None:
        """Handle everything but declarations: comments, references, sections."""
        match token.lastgroup:
            case "comment":
                frame.position = self._comment_end(frame, token.end())
            case "instruction":
                instruction = _INSTRUCTION.match(frame.text, token.end())
                if instruction is None:
                    self._fail("a processing instruction has no name or is never closed")
                frame.position = instruction.end()
            case "reference":
                frame.position = token.end()
                self._enter(token["reference"])
            case "section" | "switch":
                self._section(frame, token)
            case "close":
                if frame.sections == 0:
                    self._fail("']]>' closes nothing")
                frame.sections -= 1
                frame.position = token.end()
            case _:
                frame.position = token.end()

    def _comment_end(self, frame: _TextFrame, start: int) -> int:
        dashes = frame.text.find("--", start)
        if dashes < 0:
            self._fail("a comment is never closed")
        if not frame.text.startswith("-->", dashes):
            self._fail("'--' inside a comment")
        return dashes + 3

    def _section(self, frame: _TextFrame, token: re.Match[str]) -> None:
        """Enter an included section, or skip an ignored one."""
        keyword = token["section"]
        if keyword is None:
            keyword = (self._parameter(token["switch"]).text or "").strip(" \t\n")
        if keyword == "INCLUDE":
            frame.sections += 1
            frame.position = token.end()
        elif keyword == "IGNORE":
            frame.position = self._ignored_end(frame, token.end())
        else:
            self._fail(f"%{token['switch']}; is neither INCLUDE nor IGNORE but {keyword[:40]!r}")

    def _ignored_end(self, frame: _TextFrame, start: int) -> int:
        depth = 1
        for token in _SECTION_ENDS.finditer(frame.text, start):
            depth += 1 if token[0] == "<![" else -1
            if depth == 0:
                return token.end()
        return self._fail("'<![IGNORE[' is never closed")

    def _leave(self, frame: _TextFrame) -> None:
        if frame.sections:
            self._fail("'<![INCLUDE[' is never closed")
        self._frames.pop()

    def _declaration(self, kind: str) -> str:
        """The text of a declaration up to its '>', parameter entities replaced."""
        self._declarations += 1
        if self._declarations > self._limits.declarations_max:
            self._exceed("declarations", "declarations_max", self._declarations)
        depth = len(self._frames)
        parts: list[str] = []
        while True:
            frame = self._frames[-1]
            token = _PART.match(frame.text, frame.position)
            if token is None:
                if frame.position < len(frame.text):
                    self._fail(f"<!{kind} is never closed; it goes on {self._rest(frame)}")
                if len(self._frames) == depth:
                    self._fail(f"<!{kind} is never closed")
                self._frames.pop()
                parts.append(" ")
                continue
            frame.position = token.end()
            if token.lastgroup == "reference":
                parts.append(" ")
                self._enter(token["reference"])
            elif token.lastgroup != "end":
                parts.append(token[0])
            elif len(self._frames) != depth:
                self._fail(f"<!{kind} begins outside of %{frame.entity}; and ends in it")
            else:
                break
        text = "".join(parts)
        if kind == "ENTITY":
            self._define(text)
        elif kind == "NOTATION" and not _NOTATION.fullmatch(text):
            self._fail(f"expected a name and an id in <!NOTATION{text[:60]}")
        return text

    def _define(self, text: str) -> None:
        """Define an entity; the first definition of a name counts."""
        token = _ENTITY.fullmatch(text)
        if token is None:
            self._fail(f"expected a name and a value in <!ENTITY{text[:60]}")
        entities = self._parameters if token["parameter"] else self._general
        if token["name"] in entities:
            return
        if token["value"]:
            replaced = self._value(token["value"][1:-1], ())
            entities[token["name"]] = _Entity(replaced)
        else:
            public = " ".join(token["public"][1:-1].split()) if token["public"] else None
            system = absolute_id(token["system"][1:-1], module=self._current_place()[0])
            entities[token["name"]] = _Entity(None, public, system)

    def _value(self, text: str, inside: tuple[str, ...]) -> str:
        """A text in the quotes of an entity, with its references replaced (XML 4.5)."""

        def replace(token: re.Match[str]) -> str:
            if token["code"]:
                return self._character(token["code"])
            if token["bad"]:
                self._fail(f"{token['bad']!r} in the value of an entity begins no reference")
            name = token["name"]
            self._descend(name, inside)
            return self._value(self._text(name), (*inside, name))

        return _IN_VALUE.sub(replace, text)

    def _plain(self, text: str, inside: tuple[str, ...]) -> str:
        """A text in the quotes of an attribute, with its references replaced (XML 3.3.3)."""

        def replace(token: re.Match[str]) -> str:
            name = token["name"]
            if token["code"]:
                return self._character(token["code"])
            if token["bad"]:
                self._fail(f"{token['bad']!r} in the default of an attribute begins no reference")
            if name in _PREDEFINED:
                return _PREDEFINED[name]
            entity = self._general.get(name)
            if entity is None or entity.text is None:
                self._fail(f"&{name}; in the default of an attribute is not a text declared above")
            self._descend(name, inside)
            self._count_expansion(entity.text)
            return self._plain(entity.text, (*inside, name))

        return _IN_DEFAULT.sub(replace, re.sub("[\t\n]", " ", text))

    def _character(self, code: str) -> str:
        number = int(code[1:], 16) if code[0] == "x" else int(code)
        if number > sys.maxunicode or NO_CHARACTER.match(chr(number)):
            self._fail(f"&#{code}; is not a character of XML")
        return chr(number)

    def _enter(self, name: str) -> None:
        """Continue with the replacement text of a parameter entity."""
        self._descend(name, tuple(frame.entity for frame in self._frames if frame.entity))
        text = self._text(name)
        entity = self._parameters[name]
        module = entity.system_id if entity.text is None else None
        self._frames.append(_TextFrame(text, name, module))

    def _descend(self, name: str, inside: tuple[str, ...]) -> None:
        if name in inside:
            self._fail(f"entity {name!r} refers to itself")
        if len(inside) >= self._limits.references_deep_max:
            self._exceed("entities inside entities", "references_deep_max", len(inside) + 1)

    def _text(self, name: str) -> str:
        """The replacement text of a parameter entity; its module is read if necessary."""
        entity = self._parameter(name)
        text = self._module(entity) if entity.text is None else entity.text
        self._count_expansion(text)
        return text

    def _count_expansion(self, text: str) -> None:
        self._expanded += len(text) + _REFERENCE_COST
        if self._expanded > self._limits.expanded_max:
            self._exceed("characters from entities", "expanded_max", self._expanded)

    def _parameter(self, name: str) -> _Entity:
        entity = self._parameters.get(name)
        if entity is None:
            self._fail(f"entity '%{name};' is not declared above")
        return entity

    def _module(self, entity: _Entity) -> str:
        key = (entity.public_id, entity.system_id)
        if key not in self._modules:
            if len(self._modules) + 1 >= self._limits.modules_max:
                self._exceed("modules", "modules_max", len(self._modules) + 2)
            content = caller_result(self._resolve, *key) if self._resolve else None
            if content is None and _is_entity_set(entity.public_id):
                content = b""
            if content is None:
                public = f" (public id {entity.public_id!r})" if entity.public_id else ""
                self._fail(f"module {entity.system_id!r}{public} was not given; no other is opened")
            self._modules[key] = self._decoded(content, entity.system_id)
        return self._modules[key]

    def _decoded(self, content: bytes, module: str) -> str:
        self._bytes += len(content)
        if self._bytes > self._limits.bytes_max:
            self._exceed("bytes in all modules", "bytes_max", self._bytes)
        return decode_module(content, module=module)

    def _current_place(self) -> tuple[str, int]:
        """The module being read, and the line in it."""
        frame = next(frame for frame in reversed(self._frames) if frame.module is not None)
        frame.line += frame.text.count("\n", frame.line_position, frame.position)
        frame.line_position = frame.position
        assert frame.module is not None
        return frame.module, frame.line

    def _rest(self, frame: _TextFrame) -> str:
        return repr(frame.text[frame.position : frame.position + 40])

    def _exceed(self, what: str, limit: str, given: int) -> NoReturn:
        module = self._current_place()[0] if self._frames else None
        allowed: int = getattr(self._limits, limit)
        raise SchemaLimitError(what, limit=limit, given=given, allowed=allowed, module=module)

    def _fail(self, reason: str) -> NoReturn:
        module, line = self._current_place()
        raise SchemaError(reason, module=module, line=line)


def _is_entity_set(public_id: str | None) -> bool:
    """Whether a public id is that of a module that only names characters and texts.

    An example is ``ISO 8879:1986//ENTITIES Added Latin 1//EN``. A schema does not need it: real
    DTDs name dozens of such sets by paths of machines long gone.
    """
    return public_id is not None and "//ENTITIES " in public_id
