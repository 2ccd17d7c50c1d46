"""Declarations of a DTD, as frozen values: elements, their content models and their attributes.

The content of an element is one of six things. Three are simple, three are *particles*
and build a regular expression over the names of the children::

    EMPTY                        Empty()
    ANY                          Anything()
    (#PCDATA | em | strong)*     Mixed(("em", "strong"))
    (title)                      Child("title")
    (title, author+, year?)      Sequence((Child("title"), Child("author", Occurs.SOME), ...))
    (article | book)*            Choice((Child("article"), Child("book")), Occurs.ANY)

Groups of one part are dissolved (``((a))`` is ``Child("a")``, ``(a+)?`` is ``a*``), and so are
groups of their parent's own kind (``(a, (b, c))`` is ``(a, b, c)``), so equal models are mostly
equal values. Groups nest at most :data:`NESTING_MAX` deep, hence functions over particles may
simply recurse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

NESTING_MAX = 256
"""Groups inside groups in one content model; libxml2 has the same limit."""


class Occurs(Enum):
    """The numbers of occurrences that a particle allows."""

    ONCE = ""
    OPTIONAL = "?"
    ANY = "*"
    SOME = "+"

    @property
    def may_be_absent(self) -> bool:
        """Whether it allows no occurrence."""
        return self in {Occurs.OPTIONAL, Occurs.ANY}

    @property
    def may_repeat(self) -> bool:
        """Whether it allows more than one."""
        return self in {Occurs.ANY, Occurs.SOME}

    def within(self, outer: Occurs) -> Occurs:
        """The combination of the two, one directly around the other: ``(a+)?`` is ``a*``.

        >>> Occurs.SOME.within(Occurs.OPTIONAL)
        <Occurs.ANY: '*'>
        """
        absent = self.may_be_absent or outer.may_be_absent
        repeat = self.may_repeat or outer.may_repeat
        if repeat:
            return Occurs.ANY if absent else Occurs.SOME
        return Occurs.OPTIONAL if absent else Occurs.ONCE


@dataclass(frozen=True, slots=True)
class Child:
    """One element of this name."""

    name: str
    occurs: Occurs = Occurs.ONCE


@dataclass(frozen=True, slots=True)
class Sequence:
    """All parts, in this order."""

    parts: tuple[Particle, ...]
    occurs: Occurs = Occurs.ONCE


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple[Particle, ...]
    occurs: Occurs = Occurs.ONCE


Particle: TypeAlias = Child | Sequence | Choice


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing, not even text."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Text and every declared element, in any order."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """Text, and between it elements of these names in any number and order."""

    names: tuple[str, ...] = ()


Content: TypeAlias = Empty | Anything | Mixed | Particle


class AttributeType(Enum):
    """The types of attributes."""

    CDATA = "CDATA"
    ID = "ID"
    IDREF = "IDREF"
    IDREFS = "IDREFS"
    ENTITY = "ENTITY"
    ENTITIES = "ENTITIES"
    NMTOKEN = "NMTOKEN"
    NMTOKENS = "NMTOKENS"
    NOTATION = "NOTATION"
    ENUMERATION = "ENUMERATION"


class Presence(Enum):
    """Whether an attribute is required, and what applies when it is absent."""

    REQUIRED = "#REQUIRED"
    IMPLIED = "#IMPLIED"
    FIXED = "#FIXED"
    DEFAULT = ""


@dataclass(frozen=True, slots=True)
class AttributeDeclaration:
    """An attribute: its type, the values of an enumeration, and its default if it has one."""

    name: str
    type: AttributeType = AttributeType.CDATA
    values: tuple[str, ...] = ()
    presence: Presence = Presence.IMPLIED
    default: str | None = None


@dataclass(frozen=True, slots=True)
class ElementDeclaration:
    """An element: its content model, and its attributes in the order of their declaration."""

    name: str
    content: Content
    attributes: tuple[AttributeDeclaration, ...] = ()

    @property
    def holds_text(self) -> bool:
        """Whether text may stand directly in the element."""
        return isinstance(self.content, Mixed | Anything)


def child_names(content: Content) -> tuple[str, ...]:
    """The names in a content model, each once, in the order in which they are first mentioned.

    ``ANY`` mentions none; it allows all elements of the schema.

    >>> child_names(Sequence((Child("a"), Choice((Child("b"), Child("a"))))))
    ('a', 'b')
    """
    match content:
        case Empty() | Anything():
            return ()
        case Mixed(names):
            return names
        case Child() | Sequence() | Choice():
            return tuple(dict.fromkeys(_names(content)))
        case _:
            assert_never(content)


def group(
    kind: type[Sequence | Choice], parts: tuple[Particle, ...], occurs: Occurs = Occurs.ONCE
) -> Particle:
    """A sequence or a choice in its simplest form.

    >>> group(Choice, (Child("a", Occurs.SOME),), Occurs.OPTIONAL)
    Child(name='a', occurs=<Occurs.ANY: '*'>)
    """
    if len(parts) == 1:
        return _with_occurs(parts[0], parts[0].occurs.within(occurs))
    flat: list[Particle] = []
    for part in parts:
        if isinstance(part, kind) and part.occurs is Occurs.ONCE:
            flat.extend(part.parts)
        else:
            flat.append(part)
    return kind(tuple(flat), occurs)


def _with_occurs(particle: Particle, occurs: Occurs) -> Particle:
    if isinstance(particle, Child):
        return Child(particle.name, occurs)
    return type(particle)(particle.parts, occurs)


def _names(particle: Particle) -> Iterator[str]:
    if isinstance(particle, Child):
        yield particle.name
    else:
        for part in particle.parts:
            yield from _names(part)
