"""A probe of a document: what an expression finds, and what is there instead.

The eyes of :mod:`twigcast.matching.explain.explain`. Everything found is described by a path to it
and a line, so that a person can go and look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element

from twigcast.language.condition.model import Kind, Label
from twigcast.language.condition.writer import Libxml2Writer, PrefixWriter
from twigcast.language.document.parse import Document, split_tag
from twigcast.language.translate.translate import step_label
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    Axis,
    Call,
    Expression,
    NameTest,
    Path,
    Step,
)
from twigcast.matching.explain.near_names import nearest_name

_DOWNWARDS: Final = frozenset({Axis.CHILD, Axis.DESCENDANT, Axis.ATTRIBUTE})
_LOOKED_AT_MAX = 200
"""Around so many nodes a name is looked for in other namespaces."""

_VALUE_SHOWN_MAX = 60
"""Of a long value the front is enough to recognise it."""


class LocatedNode:
    """A node that was found. Its path, line and value are worked out when needed."""

    def __init__(self, node: Any, spelled: Callable[[str], str]) -> None:  # noqa: ANN401
        # An element, or for attributes, texts and namespaces one of lxml's smart strings.
        self._node = node
        self._spelled = spelled

    @property
    def element(self) -> _Element | None:
        """The element itself; None for any other kind of node."""
        return self._node if _is_element(self._node) else None

    @cached_property
    def value(self) -> str:
        """The string-value, short enough to show."""
        if _is_element(self._node):
            return _shown(str(_string(self._node)))
        # A comment or processing instruction has a text; any other node is its own value.
        return _shown(str(getattr(self._node, "text", self._node)))

    def is_node(self, other: LocatedNode) -> bool:
        """Whether both are the same node; of nodes that are not elements, one of the same path."""
        if self.element is None or other.element is None:
            return self.path == other.path
        return self.element is other.element

    @property
    def line(self) -> int | None:
        """The line it is on, where that is known."""
        return getattr(self._owner, "sourceline", None)

    @cached_property
    def path(self) -> str:
        """The names from the root down, with a number where siblings share one."""
        if self._owner is self._node:
            return self._path(self._node)
        kind = "text()"
        if getattr(self._node, "is_attribute", False):
            kind = f"@{self._spelled(self._node.attrname)}"
        owner = self._owner
        if getattr(self._node, "is_tail", False):
            owner = owner.getparent()
        return f"{self._path(owner)}/{kind}"

    @property
    def _owner(self) -> Any:  # noqa: ANN401
        if etree.iselement(self._node):
            return self._node
        return self._node.getparent() if hasattr(self._node, "getparent") else None

    def _path(self, element: _Element | None) -> str:
        names: list[str] = []
        while element is not None:
            name = self._step(element)
            before, behind = (
                sum(1 for one in element.itersiblings(preceding=way) if self._step(one) == name)
                for way in (True, False)
            )
            names.append(f"{name}[{before + 1}]" if before or behind else name)
            element = element.getparent()
        return "/" + "/".join(reversed(names))

    def _step(self, element: _Element) -> str:
        """The step to an element, which may lead to its siblings as well."""
        if _is_element(element):
            return self._spelled(str(element.tag))
        is_comment = element.tag is etree.Comment  # type: ignore[comparison-overlap]
        return "comment()" if is_comment else "processing-instruction()"


@dataclass(frozen=True, slots=True)
class Around:
    """What is there instead of what was wanted."""

    beside: tuple[str, ...]
    hints: tuple[str, ...]
    place: LocatedNode | None


class Probe:
    """Evaluates expressions on a document, node by node, and describes what is found."""

    def __init__(self, document: Document, namespaces: Mapping[str, str]) -> None:
        self._document = document
        self._prefixes = {uri: prefix for prefix, uri in namespaces.items()}
        self._writer = PrefixWriter(namespaces)
        self._root: _Element = document.tree.getroot()
        self._compiled: dict[tuple[str, ...], etree.XPath] = {}

    @property
    def root(self) -> str:
        """The name of the root element."""
        return self._spelled(str(self._root.tag))

    def nodes(self, expression: Expression, context: LocatedNode | None) -> list[LocatedNode]:
        """The nodes of a node-set, in document order."""
        return [LocatedNode(node, self._spelled) for node in self._evaluated(expression, context)]

    def count(self, expression: Expression, context: LocatedNode | None) -> int:
        """How many nodes there are in a node-set, the document node among them."""
        return int(self._evaluated(Call("count", (expression,)), context))

    def holds(self, expression: Expression, context: LocatedNode | None) -> bool:
        """Whether the expression is true at a node (or at the document node)."""
        return bool(self._evaluated(expression, context, "boolean"))

    def value(self, expression: Expression, context: LocatedNode | None) -> str:
        """The value of a string, number or boolean, as XPath would print it."""
        return _shown(str(self._evaluated(expression, context, "string")))

    def around(self, step: Step, reached: list[LocatedNode], *, below: bool) -> Around:
        """What is where a step leads nowhere, and where its name occurs otherwise.

        The place is the first node that has the name in another namespace, if there is one.
        """
        first = reached[0] if reached else None
        label = step_label(step)
        if label is None or label.local is None:
            return Around((), (), first)
        for context in (reached[:_LOOKED_AT_MAX] if step.axis in _DOWNWARDS else ()) or (first,):
            names = self._names(label.kind, step.axis, context, below=below)
            hints = tuple(self._other_namespaces(label, names))
            if hints:
                return Around(self._beside(label, names, below=below), hints, context)
        names = self._names(label.kind, step.axis, first, below=below)
        hints = tuple(self._elsewhere(label, names, is_said=below and not reached))
        return Around(self._beside(label, names, below=below), hints, first)

    def _beside(self, label: Label, names: list[str], *, below: bool) -> tuple[str, ...]:
        mark = "@" if label.kind is Kind.ATTRIBUTE else ""
        return () if below else tuple(mark + self._spelled(name) for name in names)

    def _names(
        self, kind: Kind, axis: Axis, context: LocatedNode | None, *, below: bool
    ) -> list[str]:
        """The names of the nodes among which the step looked."""
        element = context.element if context else None
        if context is not None and element is None:
            return []
        if axis not in _DOWNWARDS:
            if element is None or below:
                return []
            found = self._evaluated(Path.relative((Step(axis, NameTest(None, None)),)), context)
            return list(dict.fromkeys(str(one.tag) for one in found if _is_element(one)))
        if kind is Kind.ATTRIBUTE and not below:
            return [str(key) for key in element.attrib] if element is not None else []
        if below and element is None:
            return self._tags(kind)
        if context is None and not below and axis is Axis.CHILD:
            return [str(self._root.tag)]
        start = self._root if element is None else element
        deep = below or axis is not Axis.CHILD
        found = list(start.iter("*") if deep else start.iterchildren("*"))
        if kind is Kind.ATTRIBUTE:
            return list(dict.fromkeys(str(key) for one in found for key in one.attrib))
        if deep and element is not None:
            found = found[1:]
        return list(dict.fromkeys(str(one.tag) for one in found))

    def _other_namespaces(self, label: Label, names: list[str]) -> Iterable[str]:
        mark = "@" if label.kind is Kind.ATTRIBUTE else ""
        for name in names:
            namespace, local = split_tag(name)
            if local == label.local and label.namespace not in (namespace, None):
                where = f"in namespace {namespace}" if namespace else "in no namespace"
                unbound = namespace and namespace not in self._prefixes
                yield f"{mark}{local} is there, {where}: write {mark}{self._spelled(name)}" + (
                    f", or bind a prefix to {namespace}" if unbound else ""
                )

    def _elsewhere(self, label: Label, names: list[str], *, is_said: bool) -> Iterable[str]:
        """Where else in the document the name is, or a name that it may be a slip of."""
        assert label.local is not None
        mark = "@" if label.kind is Kind.ATTRIBUTE else ""
        axis = Axis.ATTRIBUTE if mark else Axis.CHILD
        name = NameTest(label.namespace, label.local)
        found = self.nodes(Path.rooted((ANYWHERE_BELOW, Step(axis, name))), None)
        shown = self._writer.expression(Path.relative((Step(axis, name),)))[0]
        near = None if found else self._near(label, names)
        if found:
            line = f" (line {found[0].line})" if found[0].line else ""
            yield f"{shown} occurs elsewhere: {found[0].path}{line}"
        elif near is not None:
            yield f"{shown} is nowhere; did you mean {mark}{self._spelled(near)}?"
        elif not is_said:
            yield f"{shown} is nowhere in the document"
        if mark and near is None and self._dtd is not None:
            yield (
                f"the DTD {self._dtd} is not read: if it supplies {shown}, "
                "that is why it is missing"
            )

    def _near(self, label: Label, names: list[str]) -> str | None:
        """The name that a name may be a slip of: one where it was asked for, or any."""
        for pool in (names, self._tags(label.kind)):
            tags = {split_tag(name)[1]: name for name in reversed(pool)}
            near = nearest_name(str(label.local), reversed(tags))
            if near is not None:
                return tags[near]
        return None

    def _tags(self, kind: Kind) -> list[str]:
        """The names of all elements or attributes, in the order of the document."""
        found = self._root.iter("*")
        if kind is Kind.ATTRIBUTE:
            return list(dict.fromkeys(str(key) for one in found for key in one.attrib))
        return list(dict.fromkeys(str(one.tag) for one in found))

    @cached_property
    def _dtd(self) -> str | None:
        """The address or name of the DTD that the document has outside of itself."""
        doctype: Any = self._document.tree.docinfo
        return str(doctype.system_url or doctype.public_id or "") or None

    def _evaluated(
        self, expression: Expression, context: LocatedNode | None, function: str = ""
    ) -> Any:  # noqa: ANN401  # What libxml2 gives depends on the expression.
        writer = Libxml2Writer()
        text, _ = writer.expression(expression)
        key = f"{function}({text})", *writer.namespaces.values()
        xpath = self._compiled.get(key)
        if xpath is None:
            xpath = self._compiled[key] = etree.XPath(
                key[0], namespaces=writer.namespaces, regexp=False, smart_strings=True
            )
        start = context.element if context and context.element is not None else self._document.tree
        return xpath(start)

    def _spelled(self, tag: str) -> str:
        """A name as the subscriber could write it."""
        namespace, local = split_tag(tag)
        if not namespace:
            return local
        prefix = self._prefixes.get(namespace)
        return f"{prefix}:{local}" if prefix else f"*:{local}"


_string: Final = etree.XPath("string()", smart_strings=False)


def _is_element(node: object) -> bool:
    """Whether it is an element proper, not a comment or processing instruction."""
    return etree.iselement(node) and isinstance(node.tag, str)


def _shown(value: str) -> str:
    return value if len(value) <= _VALUE_SHOWN_MAX else value[:_VALUE_SHOWN_MAX] + "…"
