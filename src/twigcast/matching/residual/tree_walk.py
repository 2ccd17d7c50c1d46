"""Deciding an exact condition by walking the tree, in time that grows with the document only.

libxml2 evaluates expressions literally, and a few exact patterns (many ``//`` inside each other on
deep documents) make it repeat itself beyond any bound. Those go here: each condition is decided
once at each node, and the answer remembered, so the work is at most

    parts of the condition · nodes · depth

steps. They are counted, and a bound can be set. A step is a node at which a condition is decided,
or a label that is compared with another. Texts that are read and searched count as well: the
string-value of an element has all that is below it, so on deep documents these would be most of
the work, even where what is below has no text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias, assert_never, cast

from lxml import etree
from lxml.etree import _Element

from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstStep,
    FirstValue,
    Kind,
    Label,
    Not,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
)
from twigcast.language.condition.value_tests import passes
from twigcast.language.document.parse import Document, split_tag
from twigcast.language.document.tree_walk import walk_texts
from twigcast.matching.residual.string_values import string_value


@dataclass(frozen=True, slots=True, eq=False)
class LeafNode:
    """An attribute or text node: lxml has no object of its own for these."""

    owner: _Element
    kind: Kind
    tag: str
    value: str
    place: int
    """Of a text: a number that is larger the later it stands in the document."""


_READ_SHIFT: Final = 8
_SEARCHED_SHIFT: Final = 10
"""A step reads 256 characters of an element's string-value, or searches 1,024 of them, in the 1 to
2 microseconds that any other step takes."""

_PASSED_SHIFT: Final = 6
"""A step passes 64 nodes when an element's string-value is read."""

_COUNTED_SHIFT: Final = 2
"""A step is four elements where all of a document are passed once, to know their texts or sizes."""

_Node: TypeAlias = "_Element | LeafNode | None"  # None is the document node.


class _WalkSpentError(Exception):
    """The steps given were not enough."""


def holds(condition: Condition, document: Document) -> bool:
    """Whether an exact condition holds at the document node."""
    return ConditionWalk(document).holds_at(condition, None)


class ConditionWalk:
    """Exact conditions decided at the nodes of one document, each answer remembered."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._answers: dict[tuple[Condition, _Element | None], bool] = {}
        self._passed: dict[tuple[ValueTest, _Element | None], bool] = {}
        """The results of tests of string-values: many elements may lead to one and the same."""
        self._value_read: tuple[_Element | None, str] | None = None
        """The string-value that was read last, and whose it is."""
        self._steps = 0
        self._steps_max: float = math.inf

    def holds(self, condition: Condition, steps_max: int) -> tuple[bool | None, int]:
        """Whether a condition holds at the document node, and the steps that took.

        None if ``steps_max`` were not enough. What was found out by then is remembered.
        """
        self._steps, self._steps_max = 0, steps_max
        try:
            return self.holds_at(condition, None), self._steps
        except _WalkSpentError:
            return None, self._steps
        finally:
            self._steps_max = math.inf

    @cached_property
    def _root(self) -> _Element:
        return self._document.tree.getroot()

    def holds_at(self, condition: Condition, node: _Node) -> bool:
        """Whether the condition holds at a node; None stands for the document node."""
        if isinstance(node, LeafNode):
            self._step()
            return self._answer(condition, node)
        key = (condition, node)
        known = self._answers.get(key)
        if known is None:
            self._step()
            known = self._answers[key] = self._answer(condition, node)
        return known

    def _answer(self, condition: Condition, node: _Node) -> bool:
        match condition:
            case Exists(reach, label, where):
                found = self.reached(node, reach, label)
                return any(self.holds_at(where, other) for other in found)
            case AllOf(parts):
                return all(self.holds_at(part, node) for part in parts)
            case AnyOf(parts):
                return any(self.holds_at(part, node) for part in parts)
            case Not(part):
                return not self.holds_at(part, node)
            case AtDocument(inner):
                return self.holds_at(inner, None)
            case SelfIs(label):
                return node is not None and _has(node, label)
            case ValueTest():
                return self._passes(condition, node)
            case FirstValue(steps, test):
                first = None if isinstance(node, LeafNode) else self._first(steps, node)
                return first is not None and self._passes(test, first)
            case Residual():
                raise AssertionError("a residual condition is for libxml2 to decide")
            case _:
                assert_never(condition)

    def reached(self, node: _Node, reach: Reach, label: Label) -> Iterator[_Element | LeafNode]:
        """The nodes with the label below a node, in document order."""
        if isinstance(node, LeafNode):
            return
        for element in self._carriers(node, reach, label.kind):
            self._step()
            if label.kind is Kind.ELEMENT:
                if _has(element, label):
                    yield element
            else:
                yield from (leaf for leaf in self._leaves(element, label.kind) if _has(leaf, label))

    def _step(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > self._steps_max:
            raise _WalkSpentError

    def _carriers(self, node: _Element | None, reach: Reach, kind: Kind) -> Iterator[_Element]:
        """The elements that are, or that own, the nodes in question."""
        if kind is not Kind.ELEMENT and node is not None:
            yield node
        if reach is Reach.DESCENDANT:
            below = self._root.iter("*") if node is None else node.iterdescendants("*")
            yield from below
        elif kind is Kind.ELEMENT:
            yield from (self._root,) if node is None else node.iterchildren("*")

    def _first(
        self, steps: tuple[FirstStep, ...], node: _Element | None
    ) -> _Element | LeafNode | None:
        """The first node in document order that the steps lead to.

        One pass over what is below, in document order. Of each element two sets of numbers are
        known, as bits: how many of the steps lead exactly here (``at``), and how many lead here or
        to an element above (``passed``).
        """
        best: LeafNode | None = None
        above: list[tuple[Iterator[_Element], int, int]] = []
        element, at, passed = node, 1, 1
        while True:
            leaf = self._first_leaf(steps, element, at, passed)
            if leaf is not None and leaf.kind is Kind.ATTRIBUTE:
                return leaf
            if leaf is not None and (best is None or leaf.place < best.place):
                # A text below may stand before this one, so the walk goes on.
                best = leaf
            above.append((self._carriers(element, Reach.CHILD, Kind.ELEMENT), at, passed))
            following = None
            while above and (following := next(above[-1][0], None)) is None:
                above.pop()
            if following is None:
                return best
            self._step()
            element, (_, at_parent, passed_parent) = following, above[-1]
            at = self._advanced(steps, element, at_parent, passed_parent)
            if at >> len(steps):
                return element
            passed = passed_parent | at

    def _advanced(
        self, steps: tuple[FirstStep, ...], element: _Element, at: int, passed: int
    ) -> int:
        """How many steps lead exactly to an element, given its parent's sets."""
        found = 0
        for number, (reach, label, where) in enumerate(steps):
            ready = at if reach is Reach.CHILD else passed
            if not ready >> number & 1 or label.kind is not Kind.ELEMENT:
                continue
            self._step()
            if _has(element, label):
                found |= self.holds_at(where, element) << (number + 1)
        return found

    def _first_leaf(
        self, steps: tuple[FirstStep, ...], element: _Element | None, at: int, passed: int
    ) -> LeafNode | None:
        """The first attribute or text of an element that all the steps lead to."""
        reach, label, where = steps[-1]
        ready = at if reach is Reach.CHILD else passed
        if element is None or label.kind is Kind.ELEMENT or not ready >> (len(steps) - 1) & 1:
            return None
        leaves = (leaf for leaf in self._leaves(element, label.kind) if _has(leaf, label))
        return next((leaf for leaf in leaves if self.holds_at(where, leaf)), None)

    @cached_property
    def _texts(self) -> dict[_Element, list[LeafNode]]:
        """The text nodes of each element."""
        self._step(self._document.element_count >> _COUNTED_SHIFT)
        owned: dict[_Element, list[LeafNode]] = {}
        open_elements: list[_Element] = []
        for place, one in enumerate(walk_texts(self._root)):
            if one is None:
                open_elements.pop()
            elif isinstance(one, str):
                owner = open_elements[-1]
                owned.setdefault(owner, []).append(LeafNode(owner, Kind.TEXT, "", one, place))
            else:
                open_elements.append(one)
        return owned

    def _leaves(self, element: _Element, kind: Kind) -> Iterator[LeafNode]:
        if kind is Kind.TEXT:
            for leaf in self._texts.get(element, ()):
                self._step()
                yield leaf
            return
        self._step(len(element.attrib))
        for tag, value in element.items():
            yield LeafNode(element, kind, str(tag), str(value), 0)

    def _passes(self, test: ValueTest, node: _Node) -> bool:
        if isinstance(node, LeafNode):
            self._step(len(node.value) >> _SEARCHED_SHIFT)
            return passes(test, node.value)
        known = self._passed.get((test, node))
        if known is None:
            value = self._value(node)
            self._step(len(value) >> _SEARCHED_SHIFT)
            known = self._passed[test, node] = passes(test, value)
        return known

    def _value(self, node: _Element | None) -> str:
        """The string-value of an element, or of the document node."""
        if self._value_read is not None and self._value_read[0] is node:
            return self._value_read[1]
        top = self._root if node is None else node
        self._step(self._nodes_below.get(top, 0) >> _PASSED_SHIFT)
        # Not that of the root element: libxml2 counts entities declared inside as well.
        value = _document_value(self._root) if node is None else string_value(node)
        self._value_read = node, value
        self._step(len(value) >> _READ_SHIFT)
        return value

    @cached_property
    def _nodes_below(self) -> dict[_Element, int]:
        """How many nodes an element has below it, texts aside, if reading it is at least a step."""
        self._step(self._document.element_count >> _COUNTED_SHIFT)
        below: dict[_Element, int] = {}
        passed, begun = 0, []
        for event, element in etree.iterwalk(self._root, events=("start", "end")):
            if event == "start":
                begun.append(passed)
                passed += len(element)  # Its comments, instructions and references as well.
            elif (count := passed - begun.pop()) >> _PASSED_SHIFT:
                below[element] = count
        return below


_document_value = cast("Callable[[_Element], str]", etree.XPath("string(/)", smart_strings=False))


def _has(node: _Element | LeafNode, label: Label) -> bool:
    if isinstance(node, LeafNode) and node.kind is not label.kind:
        return False
    namespace, local = split_tag(str(node.tag))
    return label.namespace in (None, namespace) and label.local in (None, local)
