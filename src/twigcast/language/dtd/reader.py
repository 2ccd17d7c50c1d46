"""Reader of the declarations of a DTD: content models and attributes as values.

:mod:`~twigcast.language.dtd.entities` has replaced every parameter entity; two small grammars
remain. A content model is read with a stack of open groups, one token after the other; an attribute
list is one regular expression, applied until the text is used up.

The first declaration of an attribute counts, a second one of an element is an error, and lists for
elements that are never declared are dropped, according to XML 1.0 (sections 3.2 and 3.3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from twigcast.errors import SchemaError, SchemaLimitError
from twigcast.language.dtd.declarations import (
    NESTING_MAX,
    Anything,
    AttributeDeclaration,
    AttributeType,
    Child,
    Choice,
    Content,
    ElementDeclaration,
    Empty,
    Mixed,
    Occurs,
    Particle,
    Presence,
    Sequence,
    group,
)
from twigcast.language.dtd.entities import (
    LITERAL,
    NAME,
    SPACE,
    Declaration,
    Expansion,
    Resolve,
)
from twigcast.language.dtd.limits import SchemaLimits

_ELEMENT: Final = re.compile(rf"{SPACE}+({NAME}){SPACE}+")
_MIXED: Final = re.compile(rf"\({SPACE}*#PCDATA{SPACE}*((?:\|{SPACE}*{NAME}{SPACE}*)*+)\)(\*?)")
_TOKEN: Final = re.compile(rf"{SPACE}*(\(|\)[?*+]?|[,|]|(?P<name>{NAME})[?*+]?)")

_LIST: Final = re.compile(rf"{SPACE}+({NAME})")
_TOKENS: Final = rf"\({SPACE}*[^()\x20\t\n|]++(?:{SPACE}*\|{SPACE}*[^()\x20\t\n|]++)*+{SPACE}*\)"
_ATTRIBUTE: Final = re.compile(
    rf"""{SPACE}+ (?P<name> {NAME} ) {SPACE}+
         (?: (?P<type> CDATA | ID | IDREFS? | ENTITY | ENTITIES | NMTOKENS? ) {SPACE}
           | (?P<notation> NOTATION {SPACE}+ )? (?P<values> {_TOKENS} ) {SPACE} )
         {SPACE}*
         (?: (?P<presence> \#REQUIRED | \#IMPLIED )
           | (?: (?P<fixed> \#FIXED ) {SPACE}+ )? (?P<default> {LITERAL} ) )
         (?= {SPACE} | \Z )""",
    re.VERBOSE,
)
_OF_TOKENS: Final = {AttributeType.NMTOKEN, AttributeType.NMTOKENS, AttributeType.ENUMERATION}
_OF_SEVERAL: Final = {AttributeType.IDREFS, AttributeType.ENTITIES, AttributeType.NMTOKENS}
_VALUE: Final = re.compile(r"[^()\x20\t\n|]+")
_NAME: Final = re.compile(NAME)
_NMTOKEN: Final = re.compile(rf"[\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*(?:{NAME})?")


def read_declarations(
    content: bytes, *, name: str, resolve: Resolve | None, limits: SchemaLimits
) -> tuple[ElementDeclaration, ...]:
    """The elements that a DTD declares, in the order of their declarations.

    ``name`` is the name of the main module in errors; ``resolve`` finds all others. SchemaError has
    the reason, the module and the line.
    """
    expansion = Expansion(content, name=name, resolve=resolve, limits=limits)
    reader = _DeclarationReader(expansion, limits)
    for declaration in expansion:
        if declaration.kind == "ELEMENT":
            reader.element(declaration)
        else:
            reader.attributes(declaration)
    return reader.result()


@dataclass(slots=True)
class _OpenGroup:
    """A group of a content model whose ')' has not been read yet."""

    parts: list[Particle] = field(default_factory=list)
    separator: str = ""


class _DeclarationReader:
    """Collects elements and attribute lists, which may come in any order."""

    def __init__(self, expansion: Expansion, limits: SchemaLimits) -> None:
        self._expansion = expansion
        self._limits = limits
        self._names = 0
        self._contents: dict[str, Content] = {}
        self._attributes: dict[str, dict[str, AttributeDeclaration]] = {}

    def result(self) -> tuple[ElementDeclaration, ...]:
        return tuple(
            ElementDeclaration(name, content, tuple(self._attributes.get(name, {}).values()))
            for name, content in self._contents.items()
        )

    def element(self, declaration: Declaration) -> None:
        found = _ELEMENT.match(declaration.text)
        if found is None:
            _fail(declaration, f"expected a name and its content in {_shown(declaration)}")
        name = found[1]
        if name in self._contents:
            _fail(declaration, f"element {name!r} is declared a second time")
        self._check("elements", len(self._contents) + 1, "elements_max", declaration)
        self._check("characters in a name", len(name), "name_length_max", declaration)
        model = declaration.text[found.end() :].rstrip(" \t\n")
        # Every name but the first follows one of these, so reading costs no more than this count.
        self._names += 1 + model.count("(") + model.count("|") + model.count(",")
        self._check("names in content models", self._names, "names_max", declaration)
        self._contents[name] = _content(model, declaration)

    def attributes(self, declaration: Declaration) -> None:
        matched = _LIST.match(declaration.text)
        if matched is None:
            _fail(declaration, f"expected the name of an element in {_shown(declaration)}")
        declared = self._attributes.setdefault(matched[1], {})
        end = len(declaration.text.rstrip(" \t\n"))
        position = matched.end()
        while position < end:
            attribute = _ATTRIBUTE.match(declaration.text, position)
            if attribute is None:
                rest = declaration.text[position:].strip()[:60]
                _fail(declaration, f"expected an attribute of element {matched[1]!r}, got {rest!r}")
            position = attribute.end()
            name = attribute["name"]
            self._check("characters in a name", len(name), "name_length_max", declaration)
            declared.setdefault(name, self._attribute(attribute, declaration))
            self._check("attributes of one element", len(declared), "attributes_max", declaration)

    def _check(self, what: str, given: int, limit: str, declaration: Declaration) -> None:
        allowed: int = getattr(self._limits, limit)
        if given > allowed:
            module = declaration.module
            raise SchemaLimitError(what, limit=limit, given=given, allowed=allowed, module=module)

    def _attribute(self, matched: re.Match[str], declaration: Declaration) -> AttributeDeclaration:
        values: tuple[str, ...] = ()
        if matched["type"]:
            kind = AttributeType(matched["type"])
        else:
            kind = AttributeType.NOTATION if matched["notation"] else AttributeType.ENUMERATION
            values = tuple(dict.fromkeys(_VALUE.findall(matched["values"])))
            allowed = _NAME if matched["notation"] else _NMTOKEN
            for value in values:
                if not allowed.fullmatch(value):
                    _fail(declaration, f"{value!r} is not a value that an attribute can list")
        default = matched["default"]
        if default is None:
            return AttributeDeclaration(
                matched["name"], kind, values, Presence(matched["presence"])
            )
        presence = Presence.FIXED if matched["fixed"] else Presence.DEFAULT
        value = self._expansion.default_value(default)
        if kind is not AttributeType.CDATA:
            value = " ".join(value.split())
            if not _is_of_type(value, kind):
                _fail(
                    declaration, f"attribute {matched['name']!r} cannot have {value!r}, its default"
                )
        return AttributeDeclaration(matched["name"], kind, values, presence, value)


def _is_of_type(value: str, kind: AttributeType) -> bool:
    """Whether a value consists of names or tokens, one or several, as its type requires."""
    token = _NMTOKEN if kind in _OF_TOKENS else _NAME
    tokens = value.split()
    is_list = kind in _OF_SEVERAL
    return (len(tokens) == 1 or (is_list and bool(tokens))) and all(map(token.fullmatch, tokens))


def _content(model: str, declaration: Declaration) -> Content:
    """The content model in the text after the element's name."""
    if model == "EMPTY":
        return Empty()
    if model == "ANY":
        return Anything()
    if found := _MIXED.fullmatch(model):
        names = tuple(dict.fromkeys(name.strip(" \t\n") for name in found[1].split("|")[1:]))
        if names and not found[2]:
            _fail(declaration, f"'(#PCDATA | …)' must end in '*' in {_shown(declaration)}")
        return Mixed(names)
    if not model.startswith("("):
        _fail(declaration, f"expected EMPTY, ANY or '(' in {_shown(declaration)}")
    return _particle(model, declaration)


def _particle(model: str, declaration: Declaration) -> Particle:
    """The particle in a text of names, commas, bars and groups."""
    outermost = _OpenGroup()
    open_groups = [outermost]
    position = 0
    expects_part = True
    while position < len(model):
        token = _TOKEN.match(model, position)
        symbol = token[1] if token else ""
        current = open_groups[-1]
        is_part = symbol == "(" or bool(token and token["name"])
        if token is None or is_part is not expects_part or (position and len(open_groups) == 1):
            expected = "a name or '('" if expects_part else "',', '|' or ')'"
            _fail(declaration, f"expected {expected}, got {model[position:].strip()[:40]!r}")
        position = token.end()
        if symbol == "(":
            if len(open_groups) > NESTING_MAX:
                _fail(declaration, f"groups are nested more than {NESTING_MAX} deep")
            open_groups.append(_OpenGroup())
        elif is_part:
            current.parts.append(Child(token["name"], Occurs(symbol[len(token["name"]) :])))
            expects_part = False
        elif symbol[0] == ")":
            open_groups.pop()
            kind = Choice if current.separator == "|" else Sequence
            closed = group(kind, tuple(current.parts), Occurs(symbol[1:]))
            open_groups[-1].parts.append(closed)
        else:
            if current.separator not in {"", symbol}:
                _fail(declaration, f"',' and '|' in one group of {_shown(declaration)}")
            current.separator = symbol
            expects_part = True
    if len(open_groups) > 1:
        _fail(declaration, f"'(' is never closed in {_shown(declaration)}")
    return outermost.parts[0]


def _shown(declaration: Declaration) -> str:
    text = " ".join(declaration.text[:80].split())
    return f"<!{declaration.kind} {text[:60]}"


def _fail(declaration: Declaration, reason: str) -> NoReturn:
    raise SchemaError(reason, module=declaration.module, line=declaration.line)
