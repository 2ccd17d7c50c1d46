"""The label paths of a DTD.

An element of the DTD is a state, an element that may stand in it an edge. Paths that no complete
document can have are left out: elements that can never be completed, because they need themselves
or something undeclared, and whatever stands in a content model only beside such elements. All other
paths occur in some valid document, so the automaton is exact.

*Roots.* A document begins with the schema's root if it names one, else with any element.

*Namespaces.* A DTD has names as they are written, with their prefixes; patterns have namespaces.
The attributes ``xmlns`` and ``xmlns:p`` declare what a valid document can bind:

- A prefix that is ``#FIXED`` wherever it is declared stands for the values it is fixed to; ``xml``
  for its own; any other prefix may be bound to anything, so ``p:f`` becomes ``*:f``.
- A name without prefix is in no namespace, until an element declares ``xmlns``. Such an element and
  those in it are in the namespace it is fixed to, if the document writes the attribute (defaults
  are not applied here), or in the one around it; not fixed, in any.

*Text.* Mixed content and ANY hold text, EMPTY holds nothing, other content holds white space.

*Values.* An enumeration allows its values, a ``#FIXED`` attribute its one. A reader without the DTD
sees the spaces around a value that a validating reader would strip.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    DOCUMENT_NODE,
    AutomatonLimits,
    Sketch,
    TextKind,
    Values,
)
from twigcast.errors import SchemaError
from twigcast.language.condition.model import Kind, Label
from twigcast.language.dtd.schema import (
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
    Schema,
)
from twigcast.language.xpath.syntax import XML_NAMESPACE

_ENUMERATED: Final = frozenset({AttributeType.ENUMERATION, AttributeType.NOTATION})
_PLAIN: Final = re.compile(r"[^\s&<]+(?: [^\s&<]+)*")
"""A value that looks the same in every document: no references, single spaces inside."""


def schema_sketch(
    schema: Schema,
    roots: Sequence[str] | None = None,
    limits: AutomatonLimits = AUTOMATON_LIMITS,
) -> Sketch:
    """The paths of all documents that are valid by the schema and begin with one of the roots.

    SchemaError if no such document can be completed, SchemaLimitError if the automaton would have
    too many edges, UsageError if a root is not declared.
    """
    chosen = _roots(schema, roots)
    completable = [name for name in chosen if name in schema.heights]
    if not completable:
        shown = ", ".join(chosen[:8])
        raise SchemaError(
            f"no document can begin with {shown}: it would need itself, or something undeclared, "
            "without end"
        )
    return _DtdSketch(schema, limits).build(completable)


def _roots(schema: Schema, roots: Sequence[str] | None) -> tuple[str, ...]:
    if roots:
        return tuple(schema.root_or(name) for name in roots)
    return tuple(schema.elements) if schema.root is None else (schema.root,)


class _DtdSketch:
    """The sketch of a DTD: a state for each element and each namespace it may inherit.

    A DTD of 100 elements with 100 namespaces has 10,000 states and millions of edges. So edges are
    counted while they are added (and once more when the automaton is constructed), and whatever is
    the same for many states is computed once.
    """

    def __init__(self, schema: Schema, limits: AutomatonLimits) -> None:
        self._schema = schema
        self._limits = limits
        self._edge_count = 0
        self._prefixes = _prefix_namespaces(schema)
        self._anything = tuple(name for name in schema.elements if name in schema.heights)
        self._numbers: dict[tuple[str, str | None], int] = {}
        self._waiting: list[tuple[str, str | None]] = []
        self._sketch = Sketch()
        self._contents: dict[str, tuple[str, ...]] = {}
        self._element_edges: dict[tuple[str, str | None], tuple[tuple[Label, int], ...]] = {}
        self._shared: dict[tuple[tuple[str, ...], str | None], tuple[tuple[Label, int], ...]] = {}

    def build(self, roots: Sequence[str]) -> Sketch:
        self._sketch.edges[DOCUMENT_NODE] = self._edges(tuple(roots), "")
        while self._waiting:
            name, around = self._waiting.pop()
            if name not in self._contents:
                self._contents[name] = self._children(self._schema.elements[name].content)
            self._sketch.edges[self._numbers[name, around]] = self._edges(
                self._contents[name], around
            )
        return self._sketch

    def _edges(self, names: tuple[str, ...], around: str | None) -> tuple[tuple[Label, int], ...]:
        """Edges to elements whose parent is in the namespace ``around``.

        States with the same content share one list of them, or ``ANY`` would be quadratic.
        """
        key = names, around
        if key not in self._shared:
            self._shared[key] = tuple(
                chain.from_iterable(self._edges_to(name, around) for name in names)
            )
        self._edge_count += len(self._shared[key])
        self._limits.check_edges(self._edge_count)
        return self._shared[key]

    def _edges_to(self, name: str, around: str | None) -> tuple[tuple[Label, int], ...]:
        """Edges to one element."""
        key = name, around
        if key not in self._element_edges:
            declaration = self._schema.elements[name]
            self._element_edges[key] = tuple(
                (label, target)
                for inside in _default_namespaces(declaration, around)
                for target in (self._state(declaration, inside),)
                for label in self._labels(Kind.ELEMENT, name, inside)
            )
        return self._element_edges[key]

    def _state(self, declaration: ElementDeclaration, inside: str | None) -> int:
        key = (declaration.name, inside)
        if key not in self._numbers:
            text, attributes = _text_kind(declaration.content), self._attributes(declaration)
            self._numbers[key] = self._sketch.add(text, attributes)
            self._waiting.append(key)
        return self._numbers[key]

    def _attributes(self, declaration: ElementDeclaration) -> dict[Label, Values]:
        """The attributes by label; two that differ only in their prefix can have the same one."""
        by_label: dict[Label, Values] = {}
        for attribute in declaration.attributes:
            if attribute.name == "xmlns" or attribute.name.startswith("xmlns:"):
                continue
            values = _values(attribute)
            for label in self._labels(Kind.ATTRIBUTE, attribute.name, ""):
                by_label[label] = _union(by_label[label], values) if label in by_label else values
        return by_label

    def _labels(self, kind: Kind, name: str, unprefixed: str | None) -> list[Label]:
        prefix, colon, local = name.partition(":")
        if not colon:
            return [Label(kind, unprefixed, name)]
        namespaces = self._prefixes.get(prefix, (None,))
        return [Label(kind, namespace, local) for namespace in namespaces]

    def _children(self, content: Content) -> tuple[str, ...]:
        """The elements that may stand in some complete content, each once."""
        if isinstance(content, Anything):
            return self._anything
        if isinstance(content, Mixed):
            names: tuple[str, ...] | None = content.names
        elif isinstance(content, Empty):
            names = ()
        else:
            names = _possible(content, self._schema.heights)
        return tuple(name for name in dict.fromkeys(names or ()) if name in self._schema.heights)


def _possible(particle: Particle, complete: Mapping[str, int]) -> tuple[str, ...] | None:
    """The names in a particle that some complete content has; None if there is no such content.

    >>> from twigcast.language.dtd.declarations import Sequence as S
    >>> _possible(Choice((S((Child("a"), Child("endless"))), Child("b"))), {"a": 1, "b": 1})
    ('b',)
    """
    names: tuple[str, ...] | None
    if isinstance(particle, Child):
        names = (particle.name,) if particle.name in complete else None
    else:
        parts = [_possible(part, complete) for part in particle.parts]
        possible = [part for part in parts if part is not None]
        enough = bool(possible) if isinstance(particle, Choice) else len(possible) == len(parts)
        names = tuple(name for part in possible for name in part) if enough else None
    return () if names is None and particle.occurs.may_be_absent else names


def _prefix_namespaces(schema: Schema) -> dict[str, tuple[str, ...]]:
    """The namespaces of each prefix that the schema fixes."""
    by_prefix: dict[str, set[str | None]] = {"xml": {XML_NAMESPACE}}
    for declaration in schema.declarations:
        for attribute in declaration.attributes:
            if attribute.name.startswith("xmlns:"):
                prefix = attribute.name.removeprefix("xmlns:")
                by_prefix.setdefault(prefix, set()).add(_fixed_namespace(attribute))
    return {
        prefix: tuple(sorted(name for name in namespaces if name is not None))
        for prefix, namespaces in by_prefix.items()
        if None not in namespaces
    }


def _default_namespaces(
    declaration: ElementDeclaration, around: str | None
) -> tuple[str | None, ...]:
    """The namespaces that names without prefix may be in, from this element on."""
    for attribute in declaration.attributes:
        if attribute.name == "xmlns":
            fixed = _fixed_namespace(attribute)
            return (None,) if None in (fixed, around) else tuple(dict.fromkeys((around, fixed)))
    return (around,)


def _fixed_namespace(attribute: AttributeDeclaration) -> str | None:
    """The one namespace that the attribute can bind, or None."""
    values = _values(attribute) if attribute.presence is Presence.FIXED else None
    return values[0] if values else None


def _values(attribute: AttributeDeclaration) -> Values:
    if attribute.presence is Presence.FIXED:
        plain = attribute.default is not None and _PLAIN.fullmatch(attribute.default)
        single = attribute.type is AttributeType.CDATA or " " not in (attribute.default or "")
        return (attribute.default or "",) if plain and single else None
    return tuple(sorted(attribute.values)) if attribute.type in _ENUMERATED else None


def _union(one: Values, other: Values) -> Values:
    """The values of either; None stands for any."""
    return None if one is None or other is None else tuple(sorted({*one, *other}))


def _text_kind(content: Content) -> TextKind:
    if isinstance(content, Mixed | Anything):
        return TextKind.ANY
    return TextKind.NONE if isinstance(content, Empty) else TextKind.BLANK
