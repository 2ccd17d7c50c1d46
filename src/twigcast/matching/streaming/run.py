"""One document on its way through the automaton, tag by tag.

A stack of *frames*, one for each open element, holds what has been found below each of them. At a
start tag the leaves follow that hold at the element's label path; each is handed to the frames at
its origins. A leaf that is new to a frame may complete a join there (the Nested Path Filter of
YFilter, with the branches tied to one node), and a completed join is a leaf that holds, handed to
the frames above in turn. What reaches the document node is decided, at that position.

    //a[b]/c        <r> <a> <b/>      frame of a: b
                            <c/>      frame of a: b, c  →  join complete  →  document node

Value tests wait: those of attributes until the path leads to them, those of texts and
string-values until the end tag, and so do negations.

Cost: for elements whose label path was seen below the same parent before, next to nothing; else
the leaves that hold there and are new to their frames. All this is counted in *steps*, and where
they are spent the reading ends: what was found by then holds, the rest is open. The count is the
same wherever and whenever the document is read. It does not depend on what is remembered (every
label path counts as if it were learned for this document), nor on the order in which the leaves of
one tag are looked at: the reading ends between such rounds only.

Once that has begun to be dear, leaves that cannot hold in this document are *pruned*: those that
require names it does not have, or a text that is nowhere in it. All such texts are looked for
once in the text of the whole, which has that of every element in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from math import inf
from typing import Any, Final, TypeAlias, cast

from lxml import etree
from lxml.etree import _Element

from twigcast.language.condition.model import Kind, Label, Operator, ValueTest
from twigcast.language.document.parse import Document
from twigcast.language.xpath.syntax import Literal
from twigcast.matching.residual.string_values import own_texts, string_value
from twigcast.matching.streaming.automaton import Leaf, keys_of
from twigcast.matching.streaming.joins import holds_at
from twigcast.matching.streaming.lazy_dfa import (
    CHARACTERS_SHIFT,
    LEARNED_MAX,
    LEAVES_SHIFT,
    LabelPath,
    LabelPaths,
    Marks,
    Tests,
    depths_of,
)
from twigcast.matching.streaming.positions import LastSeen, Position

STEPS_ELEMENTS: Final = 65_536
"""With every so many elements a document may take as many steps again: there are more places to
look at. The kernel does likewise."""

_PRUNED_FROM: Final = 200_000
"""Steps from which on it pays to see which leaves cannot hold: far more than documents take that
nobody made for the purpose."""
_PRUNED_FROM_EACH: Final = 32
"""Steps more for each leaf, since each has to be looked at for that."""

_OnFound: TypeAlias = "Callable[[Leaf, Reading], bool]"


class _ReadingSpentError(Exception):
    """The steps given were not enough."""


class _Frame:
    """An open element (or the document node), and what was found below it."""

    __slots__ = ("_value", "element", "found", "path", "seen", "watched")

    def __init__(self, path: LabelPath, element: _Element | None) -> None:
        self.path = path
        self.element = element
        self.found: set[Leaf] = set()
        self.seen: set[LabelPath] = set()
        """The label paths of the children so far."""
        self.watched: dict[Leaf, int] | None = None
        """Watched paths that begin here, with the position of the last element they led to."""
        self._value: str | None = None

    def value(self) -> str:
        """The string-value, read once however many tests there are."""
        if self._value is None:
            assert self.element is not None
            self._value = string_value(self.element)
        return self._value


class Reading:
    """Reads one document. Where ``on_found`` returns that it is enough, the reading ends.

    It ends as well when ``steps_max`` are spent, or when there is more to learn than
    ``learned_max`` cells.
    """

    def __init__(
        self,
        paths: LabelPaths,
        on_found: _OnFound | None = None,
        *,
        steps_max: float = inf,
        learned_max: float = LEARNED_MAX,
    ) -> None:
        self.positions: dict[Leaf, Position] = {}
        """The position at which each leaf was found to hold below the document node."""
        self.last: dict[Leaf, LastSeen] = {}
        """Where each watched leaf was seen last."""
        self.ends: list[int] = [0]
        """How many start tags came before each end tag; before them, before the beginning."""
        self.steps = 0
        """The steps that the reading took so far."""
        self.spent = False
        """Whether they were not enough; what was not found by then is open."""
        self._steps_max = steps_max
        self._learned_max = learned_max
        self._learned = 0
        pruned_from = _PRUNED_FROM + _PRUNED_FROM_EACH * len(paths.automaton.conditional)
        self._pause: float = min(pruned_from, steps_max)
        """Steps at which something is to be done: prune, or end."""
        self._pruned = False
        self._visited: set[LabelPath | Tests] = set()
        self._idle: set[Leaf] = set()
        """Leaves that need not be looked at any more: decided before this tag, or pruned."""
        self._fresh: list[AbstractSet[Leaf]] = []
        """Those decided with this tag."""
        self._starts = 0
        self._paths = paths
        self._on_found = on_found
        self._enough = False
        self._frames: list[_Frame] = []

    @property
    def position(self) -> Position:
        """How far the document has been read."""
        return Position(self._starts, len(self.ends) - 1)

    def read(self, document: Document) -> None:
        """From the first tag to the last, as far as the steps go."""
        self._document = document
        self._events = _tags(document)
        try:
            self._read()
        except _ReadingSpentError:
            self.spent = True
            self._frames = []

    def read_on(self) -> None:
        """Count the tags that are left when the steps are spent."""
        for event, _ in self._events:
            if event == "start":
                self._starts += 1
            else:
                self.ends.append(self._starts)

    def has(self, keys: AbstractSet[str]) -> bool:
        """Whether all the labels with these keys are in the document."""
        return keys <= self._keys

    def _read(self) -> None:
        root = _Frame(self._paths.root(), None)
        self._frames = [root]
        self._visit(root.path)
        self._mark_all(root.path.sure)
        for event, element in self._events:
            if self._fresh:
                if self._enough:  # since one of these was decided
                    return
                self._idle.update(*self._fresh)
                self._fresh = []
            if event == "start":
                self._start(element)
            else:
                self._end()
            if self.steps > self._pause:
                self._look_up()
        self._settle(root)

    def _start(self, element: _Element) -> None:
        self._starts += 1
        above = self._frames[-1]
        path = above.path.children.get(element.tag) or self._paths.child(above.path, element.tag)
        self._frames.append(_Frame(path, element))
        if path not in above.seen:
            above.seen.add(path)
            if path not in self._visited:
                self._visit(path)
            if path.sure:
                self._mark_all(path.sure)
        if path.owners:
            attributes: Any = element.items()
            for tag, value in attributes:
                tests = path.attributes.get(tag) or self._paths.attribute(path, tag)
                if tests.cells > 1:
                    self._test(tests, value)
        for leaf, depth in path.watched:
            frame = self._frames[depth]
            frame.watched = frame.watched or {}
            frame.watched[leaf] = self._starts

    def _end(self) -> None:
        self.ends.append(self._starts)
        frame = self._frames[-1]
        if frame.path.texts:
            assert frame.element is not None
            for value in own_texts(frame.element):
                self._test(frame.path.texts, value)
        if frame.path.late:
            self._settle(frame)
        if frame.watched:
            for leaf, element in frame.watched.items():
                before = self.last.get(leaf)
                self.last[leaf] = LastSeen(
                    max(element, before.element if before else 0), len(self.ends) - 1
                )
        self._frames.pop()

    # Steps.

    def _visit(self, path: LabelPath) -> None:
        """Count what has to be known about a label path, the first time it comes."""
        self._visited.add(path)
        self.steps += path.steps
        self._learned += path.cells
        if self._learned > self._learned_max:
            raise _ReadingSpentError

    def _look_up(self, more: int = 0) -> None:
        """Prune, or end if with some more steps it would be too many."""
        if not self._pruned:
            self._prune()
        allowed = self._steps_max * (1 + self._starts / STEPS_ELEMENTS)
        if self.steps + more > allowed:
            raise _ReadingSpentError
        self._pause = allowed

    def _prune(self) -> None:
        """Find the leaves that hold nowhere in the document."""
        self._pruned = True
        leaves = self._paths.automaton.conditional
        self.steps += len(leaves)
        searched = [(leaf, needle) for leaf in leaves if (needle := _needle(leaf)) is not None]
        self._idle.update(leaf for leaf in leaves if not self.has(leaf.required))
        if searched:
            text = string_value(self._document.tree.getroot())
            cost = len(searched) * (1 + (len(text) >> CHARACTERS_SHIFT))
            if cost <= self._steps_max / 4:
                self.steps += cost
                self._idle.update(leaf for leaf, needle in searched if needle not in text)

    @cached_property
    def _keys(self) -> AbstractSet[str]:
        """The keys of all the labels that the document has."""
        tags: set[str] = set()
        names: set[str] = set()
        for element in self._document.tree.getroot().iter("*"):
            tags.add(str(element.tag))
            names.update(map(str, element.keys()))
        kinds = [(Kind.ELEMENT, tag) for tag in tags] + [(Kind.ATTRIBUTE, name) for name in names]
        return {key for kind, tag in kinds for key in keys_of(kind, tag)}

    # Leaves.

    def _test(self, tests: Tests, value: str) -> None:
        """Mark what holds at an attribute or a text."""
        if tests not in self._visited:
            self._visited.add(tests)
            self.steps += tests.cells
            self._learned += tests.cells
        read = len(value) >> CHARACTERS_SHIFT
        steps = tests.weight + read
        if tests.searches:
            steps += tests.searches * (1 + read)
        if self.steps + steps > self._pause:
            self._look_up(steps)
        self.steps += steps
        if marks := tests.marks(value):
            self._mark_all(marks)

    def _mark_all(self, marks: Marks) -> None:
        frames = self._frames
        for depths, leaves, steps in marks:
            self.steps += steps
            for depth in depths:
                if not leaves <= frames[depth].found:
                    self._mark(depth, leaves)

    def _mark(self, depth: int, leaves: AbstractSet[Leaf]) -> None:
        """The leaves hold below the open element (or the document node) of that depth."""
        frame = self._frames[depth]
        new = leaves - frame.found
        if not new:
            return
        frame.found |= new
        if not depth:
            self._decided(new)
        touched: set[Leaf] = set()
        steps = len(new)
        for leaf in new:
            if joins := leaf.joins:
                touched.update(joins)
                # Each leaf is new to a frame once, in whatever order they come.
                steps += leaf.join_weight
        self.steps += steps
        if touched:
            self._try_joins(touched - self._idle, frame)

    def _try_joins(self, joins: set[Leaf], frame: _Frame) -> None:
        """See which joins are complete with what is new to a frame."""
        found, path = frame.found, frame.path
        complete: dict[int, set[Leaf]] = {}
        for join in joins:
            if (
                holds_at(join, Kind.ELEMENT, path.tag, found=found)
                if join.needs is None
                else join.needs <= found
            ):
                for depth in depths_of(path.states[join.state]):
                    complete.setdefault(depth, set()).add(join)
        for depth, leaves in complete.items():
            self._mark(depth, leaves)

    def _settle(self, frame: _Frame) -> None:
        """What could not be known before the end of an element is known now."""
        late, steps = self._late_leaves(frame)
        if self.steps + steps > self._pause:
            if not self._pruned:
                self._prune()
                late, steps = self._late_leaves(frame)
            self._look_up(steps)
        self.steps += steps
        found, tag, value = frame.found, frame.path.tag, frame.value
        for depths, leaves in late:
            hold = {
                leaf
                for leaf in leaves
                if holds_at(leaf, Kind.ELEMENT, tag, found=found, value=value)
            }
            if hold:
                for depth in depths:
                    self._mark(depth, hold)

    def _late_leaves(
        self, frame: _Frame
    ) -> tuple[list[tuple[tuple[int, ...], AbstractSet[Leaf]]], int]:
        """The leaves to look at by the end tag, with their depths, and the steps that takes."""
        path = frame.path
        late: list[tuple[tuple[int, ...], AbstractSet[Leaf]]] = []
        number = steps = 0
        for depths, leaves, _ in path.late:
            pending = leaves - self._idle if self._idle else leaves
            if not pending:
                continue
            new = pending - self._frames[depths[0]].found
            if len(depths) > 1 and len(new) < len(pending):
                new = new.union(*(pending - self._frames[depth].found for depth in depths))
            steps += len(depths) * (1 + (len(pending) >> LEAVES_SHIFT))
            if new:
                late.append((depths, new))
                number += len(new)
        if number:
            steps += number * path.late_weight
            if path.late_reads:
                read = len(frame.value()) >> CHARACTERS_SHIFT
                steps += read * (1 + number * path.late_searches)
        return late, steps

    def _decided(self, leaves: AbstractSet[Leaf]) -> None:
        position = self.position
        self.positions.update(dict.fromkeys(leaves, position))
        self._fresh.append(leaves)
        if self._on_found:
            for leaf in leaves:
                self._enough |= self._on_found(leaf, self)


def _needle(leaf: Leaf) -> str | None:
    """The text that an element must have in it, if that is the leaf's condition."""
    match leaf.where, leaf.state.step:
        case ValueTest(Operator.CONTAINS, Literal(text)), (_, Label(Kind.ELEMENT)):
            return text
        case _:
            return None


def _tags(document: Document) -> Iterator[tuple[str, _Element]]:
    return cast(
        "Iterator[tuple[str, _Element]]", etree.iterwalk(document.tree, events=("start", "end"))
    )
