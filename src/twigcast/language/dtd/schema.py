"""Schemas: the shapes that documents of one kind may have, read from a DTD.

A schema provides what routers and generators need: the elements and their possible children, which
elements can contain themselves, the possible roots, and the least depth of a document. It does not
validate documents; libxml2 does that.

>>> schema = Schema.parse(b"<!ELEMENT list (item*)> <!ELEMENT item (#PCDATA | list)*>")
>>> schema.children("item")
('list',)
>>> sorted(schema.recursive)
['item', 'list']

A DTD made of several modules is read with ``resolve``, a function that is called for each module
with its public and system id; :func:`twigcast.files.schemas.read_schema` has one for files. Nothing
else is ever opened. A schema is a value: equal declarations make equal schemas, and it can be
pickled. Derived properties are computed when first used, in time linear in the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from twigcast.display import counted, shown
from twigcast.door import door
from twigcast.errors import UsageError
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
    child_names,
)
from twigcast.language.dtd.element_graph import lowest_heights, recursive_elements
from twigcast.language.dtd.entities import Resolve
from twigcast.language.dtd.limits import SchemaLimits
from twigcast.language.dtd.reader import read_declarations
from twigcast.language.dtd.writer import dtd_text

__all__ = [
    "Anything",
    "AttributeDeclaration",
    "AttributeType",
    "Child",
    "Choice",
    "Content",
    "ElementDeclaration",
    "Empty",
    "Mixed",
    "Occurs",
    "Particle",
    "Presence",
    "Resolve",
    "Schema",
    "SchemaLimits",
    "Sequence",
]

_DEFAULT_LIMITS = SchemaLimits()
_ROOTS_SHOWN_MAX = 8


@dataclass(frozen=True)
class Schema:
    """Elements in the order of their declaration, and the root element, if known.

    >>> from twigcast import Schema
    >>> schema = Schema.parse(b"<!ELEMENT list (item*)> <!ELEMENT item (#PCDATA)>")
    >>> schema
    <Schema: 2 elements, root list>
    >>> schema.children("list")
    ('item',)
    """

    declarations: tuple[ElementDeclaration, ...]
    root: str | None = None

    def __post_init__(self) -> None:
        if len(self.elements) != len(self.declarations):
            raise UsageError("a schema declares each element once; two declarations share a name")
        if self.root is not None and self.root not in self.elements:
            raise UsageError(f"the schema declares no element {shown(self.root)} to be its root")

    @classmethod
    @door("reading a schema")
    def parse(
        cls,
        content: bytes,
        *,
        resolve: Resolve | None = None,
        root: str | None = None,
        name: str = "main.dtd",
        limits: SchemaLimits = _DEFAULT_LIMITS,
    ) -> Schema:
        """The schema that a DTD declares.

        ``content`` is the main module; for each other module that it names, ``resolve`` is given
        the public id (or None) and the system id, relative to ``name`` where it can be, and
        returns the bytes, or None to refuse. Without ``root``, the root is the one element that
        no other contains, or unknown if there are several.

        SchemaError (with module and line) if the DTD cannot be read, SchemaLimitError if it is
        too large, UsageError if it does not declare ``root``.
        """
        declarations = read_declarations(content, name=name, resolve=resolve, limits=limits)
        schema = cls(declarations, root)
        if root is None and len(schema.roots) == 1:
            return cls(declarations, schema.roots[0])
        return schema

    @cached_property
    def elements(self) -> Mapping[str, ElementDeclaration]:
        """The declarations by name, in their order."""
        return MappingProxyType({element.name: element for element in self.declarations})

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The elements that can occur inside themselves, by the names in the content models.

        ``ANY`` names none: an element with that content may hold itself and is not counted.
        """
        return recursive_elements(self.elements)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The elements that no other element may contain, in the order of their declaration.

        An element with content ANY contains whatever is declared; it does not count here.
        """
        contained = {
            child
            for element in self.declarations
            for child in child_names(element.content)
            if child != element.name
        }
        return tuple(name for name in self.elements if name not in contained)

    @cached_property
    def undeclared(self) -> tuple[str, ...]:
        """Names in content models that are not declared; no document can have them."""
        mentioned = [
            child for element in self.declarations for child in child_names(element.content)
        ]
        return tuple(name for name in dict.fromkeys(mentioned) if name not in self.elements)

    @cached_property
    def heights(self) -> Mapping[str, int]:
        """The height of the lowest complete tree below an element, counted in elements: 1 or more.

        Elements that can never be completed, since each needs itself or something undeclared, are
        missing here.
        """
        return MappingProxyType(lowest_heights(self.elements))

    @cached_property
    def namespaces(self) -> Mapping[str, str]:
        """The prefixes that attributes ``xmlns:p`` bind by default; the first binding counts."""
        found: dict[str, str] = {}
        for element in self.declarations:
            for attribute in element.attributes:
                if attribute.name.startswith("xmlns:") and attribute.default:
                    found.setdefault(attribute.name[len("xmlns:") :], attribute.default)
        return MappingProxyType(found)

    @property
    def text(self) -> str:
        """The schema as a DTD in one piece, without parameter entities."""
        return dtd_text(self.declarations)

    @door("reading a schema")
    def children(self, name: str) -> tuple[str, ...]:
        """The declared elements that may stand directly in ``name``, in the order of its model.

        UsageError if the schema does not declare ``name``.
        """
        content = self._declared(name).content
        if isinstance(content, Anything):
            return tuple(self.elements)
        return tuple(child for child in child_names(content) if child in self.elements)

    @door("reading a schema")
    def reachable(self, root: str | None = None) -> tuple[str, ...]:
        """The elements that a document with this root may have, in the order of declaration."""
        start = self.root_or(root)
        found = {start}
        waiting = [start]
        while waiting and len(found) < len(self.elements):
            new = [child for child in self.children(waiting.pop()) if child not in found]
            found.update(new)
            waiting.extend(new)
        return tuple(name for name in self.elements if name in found)

    @door("reading a schema")
    def root_or(self, name: str | None) -> str:
        """The root element: ``name`` if it is given, else the schema's own root.

        UsageError if there is neither, with the elements to choose from.
        """
        if name is not None:
            return self._declared(name).name
        if self.root is None:
            roots = ", ".join((self.roots or tuple(self.elements))[:_ROOTS_SHOWN_MAX])
            raise UsageError(f"the schema has no single root; name one, such as {roots}")
        return self.root

    def _declared(self, name: str) -> ElementDeclaration:
        declaration = self.elements.get(name)
        if declaration is None:
            raise UsageError(f"the schema declares no element {shown(name)}")
        return declaration

    def __repr__(self) -> str:
        root = f"root {self.root}" if self.root is not None else "no single root"
        return f"<Schema: {counted(len(self.declarations), 'element')}, {root}>"

    def __reduce__(self) -> tuple[type[Schema], tuple[object, ...]]:
        # Views of dictionaries cannot be pickled, and need not be: they are derived.
        return Schema, (self.declarations, self.root)
