"""What the automaton says about a label path, remembered.

Documents of one feed resemble each other: the same label paths (``/nitf/body/p``) come again and
again. Which states an element is at depends on its label path alone (names that no pattern
mentions being all alike), and so does everything that follows from states: which leaves hold there
already by its name, which have to wait for its end tag, which of its attributes are of interest.
So all this is worked out once per label path and kept as a tree, which the reader of a document
walks up and down in step with it. YFilter works out every transition anew for every element; the
memory changes the cost, not the answers.

For each state a path also knows the *origins*: the depths of the elements where its branch forked
off; states outside any fork have the document node, at depth 0.

    //a[.//c]/@d  at /a/b/a/c:   desc. c  has the origins 1 and 3, both a's

The memory is bounded in *cells* (a state, or a leaf at an origin, some 100 bytes each); over the
bound everything is forgotten and worked out again as it is needed. It is forgotten too whenever a
pattern comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from twigcast.language.condition import TRUE, Kind, Operator, ValueTest
from twigcast.language.syntax import Literal
from twigcast.language.values import constant_number, number_of
from twigcast.matching.automaton import Automaton, Leaf, State, keys_of
from twigcast.matching.joins import holds_at

__all__ = ["REMEMBERED_MAX", "LabelPath", "LabelPaths", "Marks", "Tests"]

REMEMBERED_MAX: Final = 2_000_000
"""Cells remembered, some 200 MB: a feed of one kind fits, even with 100,000 subscriptions."""

Marks: TypeAlias = tuple[tuple[int, frozenset[Leaf]], ...]
"""Leaves that hold, by the depth of the element (or document node) below which they hold."""

_Origins: TypeAlias = tuple[int, ...]


class Tests:
    """The leaves at the attributes of one name, or at the texts, of a label path.

    Equality is by far the most common test, so it is looked up instead of tried.
    """

    __slots__ = ("_equal_number", "_equal_text", "_others", "_sure", "cells", "kind", "tag")

    def __init__(self, kind: Kind, tag: str, states: Iterable[tuple[State, _Origins]]) -> None:
        self.kind = kind
        self.tag = tag
        sure = _Gathered()
        equal_text: dict[str, _Gathered] = {}
        equal_number: dict[float, _Gathered] = {}
        others: dict[Leaf, _Origins] = {}
        for state, origins in states:
            for where, leaf in state.leaves.items():
                match where:
                    case ValueTest(Operator.EQUAL, Literal(text)):
                        equal_text.setdefault(text, _Gathered()).add(leaf, origins)
                    case ValueTest(Operator.EQUAL, number):
                        found = equal_number.setdefault(constant_number(number), _Gathered())
                        found.add(leaf, origins)
                    case _ if where is TRUE:
                        sure.add(leaf, origins)
                    case _:
                        others[leaf] = _union(others.get(leaf, ()), origins)
        self._sure = sure.marks()
        self._equal_text = {text: found.marks() for text, found in equal_text.items()}
        self._equal_number = {number: found.marks() for number, found in equal_number.items()}
        self._others = others
        gathered = (sure, *equal_text.values(), *equal_number.values())
        self.cells = 1 + len(others) + sum(one.cells for one in gathered)

    def marks(self, value: str) -> Marks:
        """The leaves that hold at an attribute or text with this value."""
        found = self._sure
        if self._equal_text:
            found += self._equal_text.get(value, ())
        if self._equal_number:
            found += self._equal_number.get(number_of(value), ())
        if self._others:
            gathered = _Gathered()
            for leaf, origins in self._others.items():
                if holds_at(leaf, self.kind, self.tag, value=lambda: value):
                    gathered.add(leaf, origins)
            found += gathered.marks()
        return found


class LabelPath:
    """The names from the root element down to an element, and what follows from them."""

    __slots__ = (
        "attributes", "cells", "children", "depth", "far", "late", "owners", "parent", "states",
        "sure", "tag", "texts", "watched",
    )  # fmt: skip

    def __init__(self, parent: LabelPath | None, tag: str, states: dict[State, _Origins]) -> None:
        self.parent = parent
        self.tag = tag
        self.depth: int = parent.depth + 1 if parent else 0
        self.states = states
        """The states that elements of this path are at, with their origins."""
        self.far = tuple(
            (state, origins)
            for state, origins in _with_forks(states, self.depth)
            if state.far or state.far_leaves
        )
        """Those of them that have edges to descendants, forks included."""
        self.children: dict[str, LabelPath] = {}
        self.attributes: dict[str, Tests] = {}
        self.owners = self._owners()
        """Edges to attributes and texts, with the origins of the states they lead to."""
        texts = self.tests(Kind.TEXT, "")
        self.texts = texts if texts.cells > 1 else None
        self.sure, self.late, self.watched = self._leaves()
        """What holds by the name alone; what may hold by the end tag; what is watched, with the
        depth of the outermost element that it begins with."""
        marked = sum(len(leaves) for _, leaves in (*self.sure, *self.late))
        self.cells = 1 + len(states) + len(self.far) + marked + texts.cells

    def far_on_the_way(self) -> Iterator[tuple[State, _Origins]]:
        """The states with edges to descendants of this path and of those above it.

        The same state may come several times, with the origins that it has at each level.
        """
        path: LabelPath | None = self
        while path:
            yield from path.far
            path = path.parent

    def tests(self, kind: Kind, tag: str) -> Tests:
        """What is asked of the attributes with this tag, or of texts."""
        keys = keys_of(kind, tag)
        found = (
            (edges[key], origins) for edges, origins in self.owners for key in keys
            if key in edges
        )  # fmt: skip
        return Tests(kind, tag, found)

    def _owners(self) -> tuple[tuple[dict[str, State], _Origins], ...]:
        if not self.depth:
            return ()  # The document node has neither attributes nor texts.
        near = [
            (state.near_leaves, origins)
            for state, origins in _with_forks(self.states, self.depth)
            if state.near_leaves
        ]
        far = [
            (state.far_leaves, origins)
            for state, origins in self.far_on_the_way()
            if state.far_leaves
        ]
        return (*near, *far)

    def _leaves(self) -> tuple[Marks, Marks, tuple[tuple[Leaf, int], ...]]:
        sure, late = _Gathered(), _Gathered()
        watched: list[tuple[Leaf, int]] = []
        for state, origins in self.states.items():
            for where, leaf in state.leaves.items():
                if where is TRUE or (leaf.needs is None and holds_at(leaf, Kind.ELEMENT, self.tag)):
                    sure.add(leaf, origins)
                elif leaf.late:
                    late.add(leaf, origins)
                if leaf.watchers:
                    watched.append((leaf, min(origins) or self.depth))
        return sure.marks(), late.marks(), tuple(watched)


class LabelPaths:
    """The tree of label paths seen so far; ``remembered_max`` bounds its cells."""

    def __init__(self, automaton: Automaton, remembered_max: int = REMEMBERED_MAX) -> None:
        self.remembered = 0
        self.remembered_max = remembered_max
        self._automaton = automaton
        self._root: LabelPath | None = None

    def root(self) -> LabelPath:
        """The path of the document node."""
        if self._root is None:
            state = self._automaton.root
            self._root = LabelPath(None, "", {state: (0,)})
        return self._root

    def child(self, path: LabelPath, tag: str) -> LabelPath:
        """The path one level down."""
        alike = self._automaton.seen_as(tag)
        found = path.children.get(alike)
        if found is None:
            found = LabelPath(path, alike, _advanced(path, keys_of(Kind.ELEMENT, alike)))
            if self._has_room(found.cells, path):
                path.children[alike] = found
        if tag != alike and self._has_room(1, path):
            path.children[tag] = found
        return found

    def attribute(self, path: LabelPath, tag: str) -> Tests:
        """What is asked of the attributes with this name at a path."""
        alike = self._automaton.seen_as(tag)
        found = path.attributes.get(alike)
        if found is None:
            found = path.tests(Kind.ATTRIBUTE, alike)
            if self._has_room(found.cells, path):
                path.attributes[alike] = found
        if tag != alike and self._has_room(1, path):
            path.attributes[tag] = found
        return found

    def forget(self) -> None:
        """Begin anew, since the automaton is no longer what it was."""
        self._root = None
        self.remembered = 0

    def _has_room(self, cells: int, path: LabelPath) -> bool:
        """Whether so many cells more may be remembered, after making room if need be.

        The paths on the way to the open element stay in use, without what hung on them.
        """
        if self.remembered + cells > self.remembered_max:
            self.remembered = 0
            above: LabelPath | None = path
            while above:
                above.children.clear()
                above.attributes.clear()
                above = above.parent
        if cells > self.remembered_max:
            return False
        self.remembered += cells
        return True


class _Gathered:
    """Marks in the making."""

    def __init__(self) -> None:
        self._by_depth: dict[int, set[Leaf]] = {}

    def add(self, leaf: Leaf, origins: _Origins) -> None:
        for depth in origins:
            self._by_depth.setdefault(depth, set()).add(leaf)

    def marks(self) -> Marks:
        return tuple((depth, frozenset(leaves)) for depth, leaves in self._by_depth.items())

    @property
    def cells(self) -> int:
        return sum(map(len, self._by_depth.values()))


def _advanced(path: LabelPath, keys: tuple[str, ...]) -> dict[State, _Origins]:
    """The states of the elements with these labels, one level below a path."""
    found: dict[State, _Origins] = {}
    for state, origins in _with_forks(path.states, path.depth):
        if near := state.near:
            for key in keys:
                if key in near:
                    found[near[key]] = origins
    for state, origins in path.far_on_the_way():
        if far := state.far:
            for key in keys:
                if key in far:
                    reached = far[key]
                    found[reached] = _union(found.get(reached, ()), origins)
    return found


def _union(some: _Origins, others: _Origins) -> _Origins:
    if not some or some == others:
        return others
    return (*some, *(one for one in others if one not in some))


def _with_forks(states: dict[State, _Origins], depth: int) -> Iterable[tuple[State, _Origins]]:
    """The states, and the forks that begin at an element of this depth."""
    yield from states.items()
    for state in states:
        if state.fork is not None:
            yield state.fork, (depth,)
