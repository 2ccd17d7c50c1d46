"""Writer of declarations as a DTD: one file, no parameter entities, one line per element.

Reading the text gives the same declarations, so a schema that was changed or constructed by a
program can be stored, shown, or passed to a validator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

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
    Particle,
    Presence,
    Sequence,
)


def dtd_text(declarations: Iterable[ElementDeclaration]) -> str:
    """The text of a DTD with these declarations.

    >>> print(dtd_text([ElementDeclaration("a", Mixed(("b",)), (AttributeDeclaration("id"),))]))
    <!ELEMENT a (#PCDATA | b)*>
    <!ATTLIST a
      id CDATA #IMPLIED>
    <BLANKLINE>
    """
    lines: list[str] = []
    for declaration in declarations:
        lines.append(f"<!ELEMENT {declaration.name} {content_text(declaration.content)}>")
        if declaration.attributes:
            attributes = "\n  ".join(map(_attribute_text, declaration.attributes))
            lines.append(f"<!ATTLIST {declaration.name}\n  {attributes}>")
    return "".join(f"{line}\n" for line in lines)


def content_text(content: Content) -> str:
    """The text of a content model.

    >>> content_text(Child("a"))
    '(a)'
    """
    match content:
        case Empty():
            return "EMPTY"
        case Anything():
            return "ANY"
        case Mixed(()):
            return "(#PCDATA)"
        case Mixed(names):
            return f"(#PCDATA | {' | '.join(names)})*"
        case Child():
            return f"({_particle_text(content)})"
        case Sequence() | Choice():
            return _particle_text(content)
        case _:
            assert_never(content)


def _particle_text(particle: Particle) -> str:
    if isinstance(particle, Child):
        return f"{particle.name}{particle.occurs.value}"
    separator = ", " if isinstance(particle, Sequence) else " | "
    parts = separator.join(map(_particle_text, particle.parts))
    return f"({parts}){particle.occurs.value}"


def _attribute_text(attribute: AttributeDeclaration) -> str:
    kind = attribute.type.value
    if attribute.values:
        values = f"({' | '.join(attribute.values)})"
        kind = f"NOTATION {values}" if attribute.type is AttributeType.NOTATION else values
    parts = [attribute.name, kind]
    if attribute.presence is not Presence.DEFAULT:
        parts.append(attribute.presence.value)
    if attribute.default is not None:
        parts.append(_literal(attribute.default))
    return " ".join(parts)


def _literal(value: str) -> str:
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    for character in "\t\n\r":
        value = value.replace(character, f"&#{ord(character)};")
    return f'"{value}"'
