"""What an estimate of cost knows of a document.

How many nodes there are of each kind and label, how deep and how wide the document is, how much
text it has. All of it is counted, so the same document has the same sizes everywhere. Two things
deserve a word:

*Nested* is how many elements with a label can be inside each other: 1 for ``price`` in a price
list, up to the depth for ``div`` in a page. It tells how often ``//div//price`` comes by the same
``price``, and how often the text below is read for ``//div[contains(., 'x')]``.

*Scale* is one number for how large a document is in every respect, cheap enough to ask of every
small document: if an expression is no question at a scale (:func:`sizes_at_scale`), documents up
to it need not be measured further.

Measuring takes time linear in the document, some microseconds an element.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakKeyDictionary

from lxml import etree

from twigcast.language.condition.model import Kind, Label
from twigcast.language.document.parse import Document, split_tag
from twigcast.language.document.tree_walk import walk_texts

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

    _Declarations = Iterable[tuple[str, tuple[str, str]]]

SCALES: Final = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The scales at which expressions are tried beforehand."""

_DEPTH_AT_SCALE = 12
_NAMESPACES_AT_SCALE = 64
_CHARACTERS_PER_NODE = 64
"""What a document of a scale may be, besides as many nodes: deeper ones have none."""

_NAMES_WALKED_MAX = 8
"""For so many names the document is walked for each alone, which is quicker; then for all."""

_DECLARATIONS_WALKED_MAX = 10_000
"""More declarations of namespaces than that are not looked at one by one: if they are those of one
element, lxml's time grows with the square of their number."""

_NODES_MAX = 10_000_000
"""Where the node-sets of libxml2 end, and with them counting."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a document is, part by part."""

    nodes: int
    """Elements, texts, comments and processing instructions."""
    elements: int
    attributes: int
    attributes_each: int
    """Of one element, at most."""
    depth: int
    breadth: int
    """At most so many nodes have one parent."""
    between: int
    """At most so many nodes stand between two elements."""
    characters: int
    """Bytes of text and attributes, at most, in UTF-8."""
    namespaces: int
    """At most so many namespaces are in scope."""
    namespace_length: int
    """At most so many bytes a namespace has; it is declared once, and on many elements."""
    counts: Mapping[Label, int] | None = None
    """How often each label occurs; without it, every label may be on every node."""
    tree: _ElementTree | None = None
    """Where to look for what is too rarely asked to be counted beforehand."""
    _nestings: dict[str, int] = field(default_factory=dict)
    """What was looked for already."""
    _lengths: dict[str, int] = field(default_factory=dict)
    """How long string-values are at most, by local name, and ``@`` for attributes."""

    def count(self, label: Label | None) -> int:
        """At most how many nodes have the label."""
        if label is None or label.kind is Kind.TEXT:
            return self.nodes
        if self.counts is None or label.local is None:
            return self.attributes if label.kind is Kind.ATTRIBUTE else self.elements
        return self.counts.get(label, 0)

    def count_anywhere(self, label: Label | None) -> int:
        """At most how many nodes have the name of the label, whatever the namespace."""
        return self.count(label if label is None else label._replace(namespace=None))

    def longest(self, label: Label | None) -> int:
        """At most how many bytes the string-value of a node with the label has."""
        if self.tree is None or label is None or label.local is None:
            return self.characters
        if not self._lengths:
            self._lengths.update(_lengths(self.tree))
        key = "@" if label.kind is Kind.ATTRIBUTE else label.local
        return self._lengths.get(key, 0)

    def nested(self, label: Label | None) -> int:
        """At most how many nodes with the label are inside each other."""
        if label is not None and label.kind is not Kind.ELEMENT:
            return 1
        if self.tree is None or label is None or label.local is None:
            return self.depth
        known = self._nestings.get(label.local)
        if known is None and len(self._nestings) < _NAMES_WALKED_MAX:
            known = self._nestings[label.local] = _nested(self.tree, label.local)
        elif known is None:
            self._nestings.update({label.local: 0} | _nested_names(self.tree))
            known = self._nestings[label.local]
        return known


def sizes_at_scale(nodes: int) -> Sizes:
    """The largest document of a scale."""
    return Sizes(
        nodes=nodes,
        elements=nodes,
        attributes=nodes,
        attributes_each=nodes,
        depth=_DEPTH_AT_SCALE,
        breadth=nodes,
        between=nodes,
        characters=nodes * _CHARACTERS_PER_NODE,
        namespaces=_NAMESPACES_AT_SCALE,
        namespace_length=nodes * _CHARACTERS_PER_NODE,
    )


def scale(document: Document) -> float:
    """The scale of a document; infinite if it is deeper than documents of any scale may be."""
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
    if _namespaces(document) > _NAMESPACES_AT_SCALE or _is_deep(document.tree):
        return math.inf
    characters = -(-_characters(document) // _CHARACTERS_PER_NODE)
    return max(_count(_nodes, document), _count(_attributes, document), characters)


def _measure(document: Document) -> Sizes:
    nodes = _count(_nodes, document)
    # Children that are no text, of the document node too; between any two there can be a text.
    children = max(document.breadth, _count(_at_top, document))
    return Sizes(
        nodes=nodes,
        elements=document.element_count,
        attributes=_count(_attributes, document),
        attributes_each=document.attributes_each,
        depth=document.depth,
        breadth=min(nodes, 2 * children + 1),
        between=min(nodes, 2 * _longest_gap(document) + 1),
        characters=_characters(document),
        namespaces=_namespaces(document),
        namespace_length=_namespace_length(document),
        counts=document.labels,
        tree=document.tree,
    )


def _nested(tree: _ElementTree, local: str) -> int:
    deepest = level = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end"), tag=f"{{*}}{local}"):
        level += 1 if event == "start" else -1
        deepest = max(deepest, level)
    return deepest


def _nested_names(tree: _ElementTree) -> dict[str, int]:
    """The same for all names, in one walk."""
    levels: Counter[str] = Counter()
    deepest: dict[str, int] = {}
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        local = element.tag.rpartition("}")[2]
        levels[local] += 1 if event == "start" else -1
        deepest[local] = max(deepest.get(local, 0), levels[local])
    return deepest


def _lengths(tree: _ElementTree) -> dict[str, int]:
    """How many bytes string-values have at most: of elements by local name, of attributes at ``@``.

    All are found in one walk, so it does not matter how many expressions ask.
    """
    longest = {"@": 0}
    read = 0
    begun: list[tuple[str, int]] = []
    for one in walk_texts(tree.getroot()):
        if one is None:
            local, start = begun.pop()
            longest[local] = max(longest.get(local, 0), read - start)
        elif isinstance(one, str):
            read += len(one.encode())
        else:
            begun.append((split_tag(str(one.tag))[1], read))
            for value in one.values():
                longest["@"] = max(longest["@"], len(str(value).encode()))
    return longest


def _longest_gap(document: Document) -> int:
    """How many comments and processing instructions follow each other at most."""
    longest = gap = _count(_at_top, document)
    for node in document.tree.iter() if _has_others(document.tree) else ():
        tag: object = node.tag  # A function where it is no element, which the stubs do not know.
        gap = 0 if isinstance(tag, str) else gap + 1
        longest = max(longest, gap)
    return longest


def _namespaces(document: Document) -> int:
    """At most how many namespaces are in scope anywhere: all that are declared, and ``xml``."""
    written = _declarations_written(document)
    if not document.grows:
        return 1 + written
    if written > _DECLARATIONS_WALKED_MAX:
        return _NODES_MAX
    return 1 + sum(1 for _ in etree.iterwalk(document.tree, events=("start-ns",)))


def _namespace_length(document: Document) -> int:
    """At most how many bytes a namespace has."""
    if _declarations_written(document) > _DECLARATIONS_WALKED_MAX:
        return _characters(document)
    declared = etree.iterwalk(document.tree, events=("start-ns",))
    lengths = (len(uri.encode()) for _, (_, uri) in cast("_Declarations", declared))
    return max(lengths, default=0)


def _declarations_written(document: Document) -> int:
    """One element has no more declarations of namespaces than that, whatever entities do."""
    return sum(document.content.count(word) for word in _NAMESPACE_DECLARATIONS)


def _characters(document: Document) -> int:
    """At most how many bytes of names and text libxml2 holds."""
    written = len(document.content)
    if document.grows:
        # A character takes up to four bytes.
        values = (value for element in document.tree.iter("*") for value in element.values())
        written += 4 * (int(_text_length(document.tree)) + sum(map(len, values)))
    return written


def _count(nodes: Callable[[_ElementTree], float], document: Document) -> int:
    try:
        return int(nodes(document.tree))
    except etree.XPathEvalError:
        return _NODES_MAX


_scales: WeakKeyDictionary[Document, float] = WeakKeyDictionary()
_measured: WeakKeyDictionary[Document, Sizes] = WeakKeyDictionary()
_NAMESPACE_DECLARATIONS: Final = (b"xmlns", "xmlns".encode("utf-16-le"))
_nodes = cast("Callable[[_ElementTree], float]", etree.XPath("count(//node())"))
_at_top = cast("Callable[[_ElementTree], float]", etree.XPath("count(/node())"))
_text_length = cast("Callable[[_ElementTree], float]", etree.XPath("string-length(/)"))
_attributes = cast("Callable[[_ElementTree], float]", etree.XPath("count(//@*)"))
_has_others = cast(
    "Callable[[_ElementTree], bool]",
    etree.XPath("boolean(/self::node()[//comment() or //processing-instruction()])"),
)
_is_deep = cast(
    "Callable[[_ElementTree], bool]",
    etree.XPath(f"boolean(/self::node()[{'/'.join(['*'] * (_DEPTH_AT_SCALE + 1))}])"),
)
