"""Start tags with attributes: values by type, unique IDs, references, bound prefixes.

What an element's attributes can be is worked out once per schema; drawing a start tag then costs
two random numbers per attribute. References cannot be drawn at once, since the IDs they may point
to are still to come: they hold a place until the document is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

from twigcast.language.dtd.schema import AttributeDeclaration, AttributeType, Presence, Schema
from twigcast.workload.vocabulary import Vocabulary

_REFERENCE = "\0"
"""Stands where a reference will be; no XML text can contain it."""

_REFERENCES = re.compile(_REFERENCE)
_UNMET = re.compile(rf' [^ =]+="{_REFERENCE}"')
_REFERRING = {AttributeType.IDREF, AttributeType.IDREFS}
_OF_ENTITIES = {AttributeType.ENTITY, AttributeType.ENTITIES}


_Quoted: TypeAlias = dict[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Attribute:
    """An attribute ready to be drawn: each of its values in quotes; none for an ID.

    Attributes that have the same values share them, for there may be a million.
    """

    name: str
    is_required: bool
    quoted: tuple[str, ...]


class StartTags:
    """The start tags of a schema's elements.

    ``share`` is the probability that an attribute which may be left out is there.
    """

    def __init__(self, schema: Schema, vocabulary: Vocabulary, share: float) -> None:
        self._share = share
        quoted: _Quoted = {}
        self._attributes = {
            element.name: tuple(_prepared(element.attributes, vocabulary, quoted))
            for element in schema.declarations
        }
        self._bindings = "".join(
            f" xmlns:{prefix}={quoteattr(schema.namespaces.get(prefix, f'urn:{prefix}'))}"
            for prefix in _prefixes(schema)
        )

    def document(self, rng: Random) -> DocumentTags:
        """The tags for one document, with IDs of its own."""
        return DocumentTags(self._attributes, self._bindings, self._share, rng)


class DocumentTags:
    """The start tags of one document."""

    def __init__(
        self,
        attributes: dict[str, tuple[_Attribute, ...]],
        bindings: str,
        share: float,
        rng: Random,
    ) -> None:
        self._attributes = attributes
        self._bindings = bindings
        self._share = share
        self._rng = rng
        self._ids = 0

    def root(self, name: str) -> str:
        """The inside of the root's start tag, with all prefixes bound."""
        return self.element(name) + self._bindings

    def element(self, name: str) -> str:
        """The inside of a start tag: ``box id="i3" kind="fact"``."""
        random = self._rng.random
        share = self._share
        tag = name
        for attribute in self._attributes[name]:
            if not attribute.is_required and random() >= share:
                continue
            if attribute.quoted:
                value = attribute.quoted[int(random() * len(attribute.quoted))]
                tag += f" {attribute.name}={value}"
            else:
                self._ids += 1
                tag += f' {attribute.name}="i{self._ids}"'
        return tag

    def completed(self, tag: str) -> str:
        """The same with references to IDs that the document has; without any, they are left out."""
        if _REFERENCE not in tag:
            return tag
        if not self._ids:
            return _UNMET.sub("", tag)
        random = self._rng.random
        return _REFERENCES.sub(lambda _: f"i{1 + int(random() * self._ids)}", tag)


def _prepared(
    attributes: tuple[AttributeDeclaration, ...], vocabulary: Vocabulary, quoted: _Quoted
) -> Iterator[_Attribute]:
    for attribute in attributes:
        is_required = attribute.presence is Presence.REQUIRED
        is_binding = attribute.name == "xmlns" or attribute.name.startswith("xmlns:")
        if (is_binding or attribute.type in _OF_ENTITIES) and not is_required:
            continue
        if attribute.type is AttributeType.ID:
            values: tuple[str, ...] = ()
        elif attribute.type in _REFERRING:
            values = (_REFERENCE,)
        else:
            values = vocabulary.attribute_values(attribute)
        texts = quoted.get(values)
        if texts is None:
            texts = quoted[values] = tuple(map(quoteattr, values))
        yield _Attribute(attribute.name, is_required, texts)


def _prefixes(schema: Schema) -> list[str]:
    """The prefixes in the names of a schema, in the order of their appearance."""
    names = [
        name
        for element in schema.declarations
        for name in (element.name, *(attribute.name for attribute in element.attributes))
    ]
    prefixes = dict.fromkeys(name.split(":", 1)[0] for name in names if ":" in name)
    return [prefix for prefix in prefixes if prefix not in {"xml", "xmlns"}]
