"""The oracle of the DTD reader: declarations as libxml2 reads them, in our values.

lxml does not report the prefixes of names in content models, so they are dropped on both sides.
libxml2 simplifies some models, ``(a? | b)*`` into ``(a | b)*``; so both sides are simplified as
far as that goes. lxml's ``etree.DTD(file)`` opens whatever a DTD names; here a document that refers
to the DTD is parsed with a resolver that gives out the modules it was given and nothing else.
"""
# ruff: noqa: ANN401 - lxml's objects for DTDs have no types

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lxml import etree

from twigcast.language.dtd.declarations import (
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

_BASE = "twigcast:/dtd/"
_OCCURS = {
    "once": Occurs.ONCE,
    "opt": Occurs.OPTIONAL,
    "mult": Occurs.ANY,
    "plus": Occurs.SOME,
}
_PRESENCE = {
    "required": Presence.REQUIRED,
    "implied": Presence.IMPLIED,
    "fixed": Presence.FIXED,
    "none": Presence.DEFAULT,
}

_COMPLAINTS = {"WAR_UNDECLARED_ENTITY", "ERR_UNDECLARED_ENTITY"}
"""Warnings only, to libxml2; but a schema with a hole is not the schema."""

Declared = Mapping[str, tuple[Content, frozenset[AttributeDeclaration]]]
Module = Callable[[str], bytes | None]


def declared_by_libxml2(content: bytes, module: Module = lambda _: None) -> Declared | None:
    """What libxml2 reads in a DTD, or None if it refuses or overlooks something in it."""
    parser = etree.XMLParser(
        load_dtd=True, no_network=True, resolve_entities=False, attribute_defaults=False
    )
    parser.resolvers.add(_Closed(content, module))
    try:
        root = etree.fromstring(b'<!DOCTYPE r SYSTEM "main.dtd"><r/>', parser, base_url=_BASE)
    except (etree.XMLSyntaxError, _NotGivenError):
        return None
    if any(entry.type_name in _COMPLAINTS for entry in parser.error_log):
        return None
    dtd: Any = root.getroottree().docinfo.externalDTD
    return {_qualified(element): _element(element) for element in dtd.iterelements()}


def comparable(elements: Mapping[str, ElementDeclaration]) -> Declared:
    """Our own declarations in the same form."""
    return {
        name: (_simplified(element.content), frozenset(element.attributes))
        for name, element in elements.items()
    }


class _NotGivenError(Exception):
    """A module that the test did not give."""


class _Closed(etree.Resolver):
    def __init__(self, content: bytes, module: Module) -> None:
        self._content = content
        self._module = module

    def resolve(self, url: str, _public_id: str, context: Any) -> Any:  # type: ignore[override]
        if url == _BASE + "main.dtd":
            return self.resolve_string(self._content, context, base_url=url)
        content = self._module(url.removeprefix(_BASE))
        if content is None:
            raise _NotGivenError(url)
        return self.resolve_string(content, context, base_url=url)


def _qualified(node: Any) -> str:
    return f"{node.prefix}:{node.name}" if node.prefix else str(node.name)


def _element(element: Any) -> tuple[Content, frozenset[AttributeDeclaration]]:
    attributes = frozenset(_attribute(attribute) for attribute in element.iterattributes())
    match element.type:
        case "empty":
            return Empty(), attributes
        case "any":
            return Anything(), attributes
        case "mixed":
            names = [name for name in _names(element.content) if name is not None]
            return Mixed(tuple(dict.fromkeys(names))), attributes
        case _:
            return _simplified(_particle(element.content)), attributes


def _names(node: Any) -> list[str | None]:
    names: list[str | None] = []
    while node is not None and node.type == "or":
        names.append(node.left.name)
        node = node.right
    return [*names, node.name]


def _particle(node: Any) -> Particle:
    """libxml2's binary tree as sequences and choices of any length."""
    occurs = _OCCURS[node.occur]
    if node.type == "element":
        return Child(node.name, occurs)
    parts = []
    kind = node.type
    rest = node
    while True:
        parts.append(_particle(rest.left))
        rest = rest.right
        if rest.type != kind or rest.occur != "once":
            break
    parts.append(_particle(rest))
    return group(Sequence if kind == "seq" else Choice, tuple(parts), occurs)


def _attribute(attribute: Any) -> AttributeDeclaration:
    default = attribute.default_value
    return AttributeDeclaration(
        _qualified(attribute),
        AttributeType(attribute.type.upper()),
        tuple(dict.fromkeys(attribute.values())),
        _PRESENCE[attribute.default],
        default and default.replace("&#38;", "&"),  # as libxml2 keeps it inside
    )


def _simplified(content: Content) -> Content:
    """A content model without prefixes, and without redundant occurrences."""
    match content:
        case Mixed(names):
            return Mixed(tuple(dict.fromkeys(name.rpartition(":")[2] for name in names)))
        case Child() | Sequence() | Choice():
            return _simplified_particle(content)
        case _:
            return content


def _simplified_particle(particle: Particle) -> Particle:
    if isinstance(particle, Child):
        return replace(particle, name=particle.name.rpartition(":")[2])
    parts = tuple(_simplified_particle(part) for part in particle.parts)
    occurs = particle.occurs
    if isinstance(particle, Sequence) or not occurs.may_repeat:
        return group(type(particle), parts, occurs)
    while any(part.occurs is not Occurs.ONCE or isinstance(part, Choice) for part in parts):
        if any(part.occurs.may_be_absent for part in parts):
            occurs = Occurs.ANY
        flat: list[Particle] = []
        for part in parts:
            flat.extend(
                part.parts if isinstance(part, Choice) else [replace(part, occurs=Occurs.ONCE)]
            )
        parts = tuple(flat)
    return group(Choice, parts, occurs)
