"""The lazy DFA: the automaton's states at each label path, computed once and remembered.

Documents of one feed resemble each other: the same label paths (``/nitf/body/p``) come again and
again. Which states an element is at depends on its label path alone (names that no pattern
mentions being all alike), and so does everything that follows from states: which leaves hold there
already by its name, which have to wait for its end tag, which of its attributes are of interest.
So all this is worked out once per label path and kept as a tree, which the reader of a document
walks up and down in step with it. YFilter works out every transition anew for every element; the
memory changes the cost, not the answers.

For each state a path also knows the *origins*: the depths of the elements where its branch forked
off; states outside any fork have the document node, at depth 0. They are the bits of a number.

    //a[.//c]/@d  at /a/b/a/c:   desc. c  has the origins 1 and 3, both a's

The memory is bounded in *cells* (a state, or a leaf at a set of origins, some 100 bytes each). What
one document may have to be learned for is bounded by its reader; between documents most is
forgotten once the bound is passed, and worked out again as it is needed. Never on the way through
a document: what that costs must not depend on the documents before. It is forgotten too whenever a
pattern comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias

from twigcast.language.condition.model import TRUE, Kind, Operator, ValueTest
from twigcast.language.condition.value_tests import constant_number, number_of
from twigcast.language.xpath.syntax import Literal
from twigcast.matching.streaming.automaton import Automaton, Leaf, State, keys_of
from twigcast.matching.streaming.joins import holds_at

REMEMBERED_MAX: Final = 2_000_000
"""Cells remembered, some 200 MB: a feed of one kind fits, even with 100,000 subscriptions."""

LEARNED_MAX: Final = 2_000_000
"""Cells that may be computed for one document, whether they are remembered or not, with as many
again for every 100,000 subscriptions: as much as a feed of one kind needs in all."""

_FAR_APART: Final = 8
"""Levels whose states are kept apart, so that no path has to copy those above it; deeper down they
are joined now and then, so that none is followed once for every level."""

CHARACTERS_SHIFT: Final = 5
"""A value is searched at 32 characters a step, as a power of two."""

LEAVES_SHIFT: Final = 4
"""Sets of leaves are compared at 16 of them a step, as a power of two."""

Marks: TypeAlias = tuple[tuple[tuple[int, ...], frozenset[Leaf], int], ...]
"""Leaves that hold, by the depths of the elements (or document node) below which they hold, and
the steps of comparing them with what was found at each."""

_Origins: TypeAlias = int
"""Depths, as the bits of a number."""


class Tests:
    """The leaves at the attributes of one name, or at the texts, of a label path.

    Equality is by far the most common test, so it is looked up instead of tried.
    """

    __slots__ = (
        "_equal_number", "_equal_text", "_needles", "_others", "_sure", "cells", "kind", "searches",
        "tag", "weight",
    )  # fmt: skip

    def __init__(self, kind: Kind, tag: str, states: Iterable[tuple[State, _Origins]]) -> None:
        self.kind = kind
        self.tag = tag
        sure = _MarksBuilder()
        equal_text: dict[str, _MarksBuilder] = {}
        equal_number: dict[float, _MarksBuilder] = {}
        needles: list[tuple[str, Leaf, _Origins]] = []
        others: dict[Leaf, _Origins] = {}
        for state, origins in states:
            for where, leaf in state.leaves.items():
                match where:
                    case ValueTest(Operator.EQUAL, Literal(text)):
                        equal_text.setdefault(text, _MarksBuilder()).add(leaf, origins)
                    case ValueTest(Operator.EQUAL, number):
                        found = equal_number.setdefault(constant_number(number), _MarksBuilder())
                        found.add(leaf, origins)
                    case ValueTest(Operator.CONTAINS, Literal(text)):
                        needles.append((text, leaf, origins))
                    case _ if where is TRUE:
                        sure.add(leaf, origins)
                    case _:
                        others[leaf] = others.get(leaf, 0) | origins
        self._sure = sure.marks()
        self._equal_text = {text: found.marks() for text, found in equal_text.items()}
        self._equal_number = {number: found.marks() for number, found in equal_number.items()}
        self._others = others
        self._needles = needles
        self.weight = 1 + sum(leaf.weight for leaf in others)
        """The steps that :meth:`marks` takes, whatever the value."""
        self.searches = len(needles)
        """How often it searches the value."""
        gathered = (sure, *equal_text.values(), *equal_number.values())
        self.cells = 1 + len(needles) + len(others) + sum(one.cells for one in gathered)

    def marks(self, value: str) -> Marks:
        """The leaves that hold at an attribute or text with this value."""
        found = self._sure
        if self._equal_text:
            found += self._equal_text.get(value, ())
        if self._equal_number:
            found += self._equal_number.get(number_of(value), ())
        if self._needles:
            gathered = _MarksBuilder()
            for needle, leaf, origins in self._needles:
                if needle in value:
                    gathered.add(leaf, origins)
            found += gathered.marks()
        if self._others:
            gathered = _MarksBuilder()
            for leaf, origins in self._others.items():
                if holds_at(leaf, self.kind, self.tag, value=lambda: value):
                    gathered.add(leaf, origins)
            found += gathered.marks()
        return found


class LabelPath:
    """The names from the root element down to an element, and what follows from them."""

    __slots__ = (
        "attributes", "cells", "children", "depth", "far", "late", "late_reads", "late_searches",
        "late_weight",
        "owners", "states", "steps", "sure", "tag", "texts", "watched",
    )  # fmt: skip

    def __init__(self, parent: LabelPath | None, tag: str, states: dict[State, _Origins]) -> None:
        self.tag = tag
        self.depth: int = parent.depth + 1 if parent else 0
        self.states = states
        """The states that elements of this path are at, with their origins."""
        self.far: tuple[dict[State, _Origins], ...] = self._far(parent.far if parent else ())
        """The states with edges to descendants of this path and of those above it, forks included.
        The same state may come several times, with the origins that it has at each level."""
        self.children: dict[str, LabelPath] = {}
        self.attributes: dict[str, Tests] = {}
        self.owners = self._owners()
        """Edges to attributes and texts, with the origins of the states they lead to."""
        texts = self.tests(Kind.TEXT, "")
        self.texts = texts if texts.cells > 1 else None
        self.sure, self.late, self.watched = self._leaves()
        """What holds by the name alone; what may hold by the end tag; what is watched, with the
        depth of the outermost element that it begins with."""
        late = [leaf for _, leaves, _ in self.late for leaf in leaves]
        self.late_weight = -(-sum(leaf.weight for leaf in late) // max(1, len(late)))
        self.late_searches = -(-sum(leaf.searches for leaf in late) // max(1, len(late)))
        self.late_reads = any(leaf.reads for leaf in late)
        """What one of the late leaves takes to be looked at, in steps and in searches of the value
        of the element; and whether that is read at all."""
        far = len(self.far[-1]) if self.far and not (parent and self.far is parent.far) else 0
        marked = sum(len(leaves) for _, leaves, _ in (*self.sure, *self.late))
        self.cells = 1 + len(states) + far + marked + texts.cells
        above = len(parent.states) + sum(map(len, parent.far)) if parent else 0
        self.steps = 2 * self.cells + above
        """What it takes to learn all this."""

    def tests(self, kind: Kind, tag: str) -> Tests:
        """The tests of attributes with this tag, or of texts."""
        keys = keys_of(kind, tag)
        found = (
            (edges[key], origins) for edges, origins in self.owners for key in keys
            if key in edges
        )  # fmt: skip
        return Tests(kind, tag, found)

    def _far(self, above: tuple[dict[State, _Origins], ...]) -> tuple[dict[State, _Origins], ...]:
        own = {
            state: origins
            for state, origins in _with_forks(self.states, self.depth)
            if state.far or state.far_leaves
        }
        if not own:
            return above
        if len(above) < _FAR_APART:
            return (*above, own)
        joined: dict[State, _Origins] = {}
        for far in (*above, own):
            for state, origins in far.items():
                joined[state] = joined.get(state, 0) | origins
        return (joined,)

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
            for states in self.far
            for state, origins in states.items()
            if state.far_leaves
        ]
        return (*near, *far)

    def _leaves(self) -> tuple[Marks, Marks, tuple[tuple[Leaf, int], ...]]:
        sure, late = _MarksBuilder(), _MarksBuilder()
        watched: list[tuple[Leaf, int]] = []
        for state, origins in self.states.items():
            for where, leaf in state.leaves.items():
                if where is TRUE or (leaf.needs is None and holds_at(leaf, Kind.ELEMENT, self.tag)):
                    sure.add(leaf, origins)
                elif leaf.late:
                    late.add(leaf, origins)
                if leaf.watchers:
                    watched.append((leaf, depths_of(origins)[0] or self.depth))
        return sure.marks(), late.marks(), tuple(watched)


class LabelPaths:
    """The tree of label paths seen so far; ``remembered_max`` bounds its cells."""

    def __init__(self, automaton: Automaton, remembered_max: int = REMEMBERED_MAX) -> None:
        self.remembered = 0
        self.remembered_max = remembered_max
        self.automaton = automaton
        self._root: LabelPath | None = None

    def root(self) -> LabelPath:
        """The path of the document node."""
        if self._root is None:
            self._root = LabelPath(None, "", {self.automaton.root: 1})
        return self._root

    def child(self, path: LabelPath, tag: str) -> LabelPath:
        """The path one level down."""
        canonical = self.automaton.canonical_tag(tag)
        found = path.children.get(canonical)
        if found is None:
            found = LabelPath(path, canonical, _advanced(path, keys_of(Kind.ELEMENT, canonical)))
            path.children[canonical] = found
            self.remembered += found.cells
        if tag != canonical:
            path.children[tag] = found
            self.remembered += 1
        return found

    def attribute(self, path: LabelPath, tag: str) -> Tests:
        """The tests of attributes with this name at a path."""
        canonical = self.automaton.canonical_tag(tag)
        found = path.attributes.get(canonical)
        if found is None:
            found = path.attributes[canonical] = path.tests(Kind.ATTRIBUTE, canonical)
            self.remembered += found.cells
        if tag != canonical:
            path.attributes[tag] = found
            self.remembered += 1
        return found

    def forget(self) -> None:
        """Begin anew, since the automaton is no longer what it was."""
        self._root = None
        self.remembered = 0

    def trim(self) -> None:
        """Forget at least half if there is too much, once a document has been read.

        What stays are the paths learned last, as far as those above them stay.
        """
        if self._root is None or self.remembered <= self.remembered_max:
            return
        self.remembered = 0
        paths = [self._root]
        for path in paths:
            held = [path.children[tag] for tag in path.children if path.children[tag].tag == tag]
            path.children.clear()
            path.attributes.clear()
            for child in reversed(held):
                if self.remembered + child.cells <= self.remembered_max // 2:
                    self.remembered += child.cells
                    path.children[child.tag] = child
                    paths.append(child)


class _MarksBuilder:
    """Marks in the making."""

    def __init__(self) -> None:
        self._by_origins: dict[_Origins, set[Leaf]] = {}

    def add(self, leaf: Leaf, origins: _Origins) -> None:
        self._by_origins.setdefault(origins, set()).add(leaf)

    def marks(self) -> Marks:
        return tuple(
            (depths, frozenset(leaves), len(depths) * (1 + (len(leaves) >> LEAVES_SHIFT)))
            for origins, leaves in self._by_origins.items()
            for depths in (depths_of(origins),)
        )

    @property
    def cells(self) -> int:
        return sum(map(len, self._by_origins.values()))


def _advanced(path: LabelPath, keys: tuple[str, ...]) -> dict[State, _Origins]:
    """The states of the elements with these labels, one level below a path."""
    found: dict[State, _Origins] = {}
    for state, origins in _with_forks(path.states, path.depth):
        if near := state.near:
            for key in keys:
                if key in near:
                    found[near[key]] = origins
    for states in path.far:
        for state, origins in states.items():
            if far := state.far:
                for key in keys:
                    if key in far:
                        reached = far[key]
                        found[reached] = found.get(reached, 0) | origins
    return found


@lru_cache(maxsize=4096)  # Few sets of depths are in use at a time.
def depths_of(origins: _Origins) -> tuple[int, ...]:
    """The depths that the bits of a number stand for, ascending.

    >>> depths_of(0b1010)
    (1, 3)
    """
    return tuple(depth for depth in range(origins.bit_length()) if origins >> depth & 1)


def _with_forks(states: dict[State, _Origins], depth: int) -> Iterable[tuple[State, _Origins]]:
    """The states, and the forks that begin at an element of this depth."""
    yield from states.items()
    for state in states:
        if state.fork is not None:
            yield state.fork, 1 << depth
