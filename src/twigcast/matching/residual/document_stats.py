"""Sizes of a document, for an estimate of cost.

A document that is small enough is not measured: its bytes bound the number of its nodes
(:func:`scale`), and an expression is tried once at each of a few scales (:func:`sizes_at_scale`).
Where that is too much, the document is measured once, by libxml2 and in linear time. All of it is
counted, so the same document has the same sizes everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakKeyDictionary

from lxml import etree

from twigcast.language.condition.model import Kind, Label
from twigcast.language.document.parse import Document

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

SCALES: Final = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Numbers of nodes at which expressions are tried beforehand."""

_BYTES_PER_NODE: Final = 2.5
"""A node takes as many bytes at least: in ``x<a/>`` there are two, in ``a=''`` one."""

_DEPTH_AT_SCALE: Final = 16
_NAMESPACES_AT_SCALE: Final = 64
"""What a document of a scale may be, besides as many nodes; others are measured."""

_DEPTHS: Final = (_DEPTH_AT_SCALE, 64)
"""Levels that are measured; deeper documents count as 256, where libxml2 stops."""

_NODES_MAX: Final = 10_000_000
"""Where the node-sets of libxml2 end, and with them counting."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a document is, part by part; each number may be too high."""

    nodes: int
    """Nodes of all kinds, attributes included."""
    elements: int
    attributes: int
    depth: int
    breadth: int
    """Children or attributes of one node."""
    attributes_each: int
    """Attributes of one element."""
    between: int
    """Nodes that may stand between two elements."""
    characters: int
    """Bytes of names, text and attributes, in UTF-8."""
    namespaces: int
    """Namespaces in scope."""
    counts: Mapping[Label, int] | None = None
    """How often each label occurs; without it, every label may be on every node."""

    def count(self, label: Label | None) -> int:
        """How many nodes have the label."""
        if label is None or label.kind is Kind.TEXT:
            return self.nodes
        if self.counts is None or label.local is None:
            return self.attributes if label.kind is Kind.ATTRIBUTE else self.elements
        return self.counts.get(label, 0)


def sizes_at_scale(nodes: int) -> Sizes:
    """The largest document of a scale."""
    return Sizes(
        nodes=nodes,
        elements=nodes,
        attributes=nodes,
        depth=_DEPTH_AT_SCALE,
        breadth=nodes,
        attributes_each=nodes,
        between=nodes,
        characters=int(nodes * _BYTES_PER_NODE),
        namespaces=_NAMESPACES_AT_SCALE,
    )


def scale(document: Document) -> float:
    """How many nodes it can have, by its bytes; infinite if it has to be measured."""
    known = _scales.get(document)
    if known is None:
        known = _scales[document] = _scale(document)
    return known


def sizes_of(document: Document) -> Sizes:
    """The document measured, once."""
    known = _measured.get(document)
    if known is None:
        known = _measured[document] = _measure(document)
    return known


def _scale(document: Document) -> float:
    size = len(document.content) / _BYTES_PER_NODE + 1
    expands = document.grows and any(word in document.content for word in _ENTITY_DECLARATIONS)
    if size > SCALES[-1] or expands or _namespaces(document) > _NAMESPACES_AT_SCALE:
        return math.inf
    return math.inf if _is_deeper(document, _DEPTH_AT_SCALE) else size


def _measure(document: Document) -> Sizes:
    nodes, attributes = _count(_all_nodes, document), _count(_attributes, document)
    remarks = min(_count(_comments, document) + _count(_instructions, document), nodes)
    levels = (levels for levels in _DEPTHS if not _is_deeper(document, levels))
    # Between any two children, and behind the last, there can be a text.
    children = document.breadth + remarks
    return Sizes(
        nodes=nodes + attributes,
        elements=document.element_count,
        attributes=attributes,
        depth=next(levels, 256),
        breadth=max(min(nodes, 2 * children + 1), document.attributes_each),
        attributes_each=document.attributes_each,
        between=2 * remarks + 1,
        characters=_characters(document),
        namespaces=_namespaces(document),
        counts=document.labels,
    )


def _is_deeper(document: Document, levels: int) -> bool:
    return bool(_LEVELS[levels](document.tree))


def _namespaces(document: Document) -> int:
    """All that are declared, and ``xml``; entities declare nothing that is not written there."""
    return 1 + sum(document.content.count(word) for word in _NAMESPACE_DECLARATIONS)


def _characters(document: Document) -> int:
    # A byte of Latin-1 takes two in UTF-8, and two of UTF-16 up to three.
    written = 2 * len(document.content) if _may_be_recoded(document) else len(document.content)
    if document.grows:
        # A character takes up to four bytes.
        values = (value for element in document.tree.iter("*") for value in element.values())
        written += 4 * (int(_text_length(document.tree)) + sum(map(len, values)))
    return written


def _may_be_recoded(document: Document) -> bool:
    head = document.content[:200]
    return b"encoding" in head or b"\x00" in head


def _count(nodes: Callable[[_ElementTree], float], document: Document) -> int:
    try:
        return int(nodes(document.tree))
    except etree.XPathEvalError:
        return _NODES_MAX


def _number(xpath: str) -> Callable[[_ElementTree], float]:
    return cast("Callable[[_ElementTree], float]", etree.XPath(xpath))


_scales: WeakKeyDictionary[Document, float] = WeakKeyDictionary()
_measured: WeakKeyDictionary[Document, Sizes] = WeakKeyDictionary()
_NAMESPACE_DECLARATIONS: Final = (b"xmlns", "xmlns".encode("utf-16-le"))
_ENTITY_DECLARATIONS: Final = (b"<!ENTITY", "<!ENTITY".encode("utf-16-le"))
_all_nodes = _number("count(//node())")
_attributes = _number("count(//@*)")
_comments = _number("count(//comment())")
_instructions = _number("count(//processing-instruction())")
_text_length = _number("string-length(/)")
_LEVELS: Final = {
    levels: _number(f"boolean(/self::node()[{'/'.join(['*'] * (levels + 1))}])")
    for levels in _DEPTHS
}
