"""Bindings: the names that the wildcards of a match stand for.

A wildcard is a ``*`` or a ``//``. In a document that matches, the one stands for a name, and the
other for the names that were passed over, possibly none. Wildcards are counted from 1, from left
to right in the canonical text of the pattern.

    /*//c[.//@d]   in   <a><b><c><e d=''/></c></b></a>
     1 2    3           1: a    2: b    3: e

A document can match in several ways. The first in document order counts: at each step the first
node that leads to a match. Wildcards inside a negation, in the argument of a function and in
alternatives that were not needed stand for nothing in particular.

By these a downstream broker learns how a pattern was matched upstream, and sees at once
which of its narrower patterns are matched too: the PS annotations of Piggyback (3.1.1 and 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml.etree import _Element

from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    Kind,
    Label,
    Reach,
    SelfIs,
)
from twigcast.language.condition.normal_form import all_of, any_of, at_document, exists
from twigcast.language.condition.wildcards import (
    is_own_wildcard,
    is_wildcard,
    wildcards_in,
)
from twigcast.language.document.parse import Document, split_tag
from twigcast.language.pattern import Pattern
from twigcast.matching.residual.tree_walk import ConditionWalk, LeafNode
from twigcast.slips import each_of


class Binding(NamedTuple):
    """What one wildcard stands for; names are as lxml writes them, ``{uri}local``."""

    wildcard: int
    """Its number in the canonical text, from 1."""
    path: tuple[str, ...]
    """For ``*`` the one name, for ``//`` the names passed over."""


class BindingFinder:
    """How a document matches patterns; what was found out for one serves the others."""

    def __init__(self, document: Document) -> None:
        self._walk = ConditionWalk(document)

    def bindings(self, pattern: Pattern) -> tuple[Binding, ...]:
        """What the wildcards stand for in the first match; nothing if there is none.

        Raises :class:`UsageError` if only libxml2 can say how the pattern matches.
        """
        if not pattern.exact:
            raise UsageError(f"libxml2 alone knows how {pattern.text} matches, and does not tell")
        if not self._walk.holds_at(pattern.condition, None):
            return ()
        return tuple(self._bound(pattern.condition, None, 0))

    def _bound(
        self, condition: Condition, node: _Element | LeafNode | None, before: int
    ) -> Iterator[Binding]:
        """The bindings of a condition that holds at a node, so many wildcards being before it."""
        match condition:
            case Exists(reach, label, where):
                nodes = self._walk.reached(node, reach, label)
                found = next(other for other in nodes if self._walk.holds_at(where, other))
                if reach is Reach.DESCENDANT:
                    before += 1
                    yield Binding(before, _between(node, found))
                if is_wildcard(label):
                    before += 1
                    yield Binding(before, (str(found.tag),))
                yield from self._bound(where, found, before)
            case SelfIs(label) if is_own_wildcard(label) and node is not None:
                yield Binding(before + 1, (str(node.tag),))
            case AllOf(parts):
                for part in parts:
                    yield from self._bound(part, node, before)
                    before += wildcards_in(part)
            case AnyOf(parts):
                for part in parts:
                    if self._walk.holds_at(part, node):
                        yield from self._bound(part, node, before)
                        return
                    before += wildcards_in(part)
            case AtDocument(inner):
                yield from self._bound(inner, None, before)
            case _:
                return


@door("putting values into an expression")
def substituted(pattern: Pattern, bindings: Iterable[Binding]) -> Pattern:
    """The pattern with what its wildcards stand for in their places.

    >>> substituted(Pattern.parse("/*//c"), [Binding(1, ("a",)), Binding(2, ("b",))]).text
    '/a/b/c'
    """
    return Pattern(
        _substituted(
            pattern.condition, dict(each_of(bindings, tuple, "bindings are of the type Binding")), 0
        )
    )


def _substituted(condition: Condition, bound: dict[int, tuple[str, ...]], before: int) -> Condition:
    match condition:
        case Exists(reach, label, where):
            over: tuple[str, ...] = ()
            if reach is Reach.DESCENDANT:
                before += 1
                if before in bound:
                    reach, over = Reach.CHILD, bound[before]
            if is_wildcard(label):
                before += 1
                if before in bound:
                    label = _label(label.kind, bound[before][0])
            inner = exists(reach, label, _substituted(where, bound, before))
            for name in reversed(over):
                inner = exists(Reach.CHILD, _label(Kind.ELEMENT, name), inner)
            return inner
        case AllOf(parts) | AnyOf(parts):
            rebuilt = []
            for part in parts:
                rebuilt.append(_substituted(part, bound, before))
                before += wildcards_in(part)
            return all_of(rebuilt) if isinstance(condition, AllOf) else any_of(rebuilt)
        case SelfIs(label) if is_own_wildcard(label) and before + 1 in bound:
            return SelfIs(_label(label.kind, bound[before + 1][0]))
        case AtDocument(inner):
            return at_document(_substituted(inner, bound, before))
        case _:
            return condition


def _between(above: _Element | LeafNode | None, below: _Element | LeafNode) -> tuple[str, ...]:
    """The names of the elements between two nodes, from the top."""
    element = below.owner if isinstance(below, LeafNode) else below.getparent()
    names: list[str] = []
    while element is not None and element is not above:
        names.append(str(element.tag))
        element = element.getparent()
    return tuple(reversed(names))


def _label(kind: Kind, tag: str) -> Label:
    return Label(kind, *split_tag(tag))
