"""One document on its way through the automaton, tag by tag.

A stack of *frames*, one for each open element, holds what has been found below each of them. At a
start tag the element's label path tells which leaves hold; each is handed to the frames at its
origins. A leaf that is new to a frame may complete a join there (the Nested Path Filter of
YFilter, with the branches tied to one node), and a completed join is a leaf that holds, handed to
the frames above in turn. What reaches the document node is decided, at that moment.

    //a[b]/c        <r> <a> <b/>      frame of a: b
                            <c/>      frame of a: b, c  →  join complete  →  document node

Value tests wait: those of attributes until the path leads to them, those of texts and
string-values until the end tag, and so do negations.

Cost: for elements whose label path was seen below the same parent before, next to nothing; else
the leaves that hold there and are new to their frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeAlias, cast

from lxml import etree

from twigcast.language.condition import Kind
from twigcast.language.document import Document
from twigcast.matching.automaton import Leaf
from twigcast.matching.joins import holds_at
from twigcast.matching.label_paths import LabelPath, LabelPaths
from twigcast.matching.moments import LastSeen, Moment
from twigcast.matching.values import own_texts, string_value

if TYPE_CHECKING:
    from lxml.etree import _Element

__all__ = ["Reading"]

_OnFound: TypeAlias = "Callable[[Leaf, Reading], bool]"


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
    """Reads one document. Where ``on_found`` says that it is enough, the reading ends."""

    def __init__(self, paths: LabelPaths, on_found: _OnFound | None = None) -> None:
        self.moments: dict[Leaf, Moment] = {}
        """When each leaf was found to hold below the document node."""
        self.last: dict[Leaf, LastSeen] = {}
        """Where each watched leaf was seen last."""
        self.ends: list[Moment] = [Moment(0, 0)]
        """The moment of each end tag; before them, that of the beginning."""
        self._starts = 0
        self._paths = paths
        self._on_found = on_found
        self._enough = False
        self._frames: list[_Frame] = []

    @property
    def moment(self) -> Moment:
        """How far the document has been read."""
        return Moment(self._starts, len(self.ends) - 1)

    def read(self, document: Document) -> None:
        """From the first tag to the last."""
        root = _Frame(self._paths.root(), None)
        self._frames = [root]
        self._mark_sure(root.path)
        for event, element in _tags(document):
            if self._enough:
                return
            if event == "start":
                self._start(element)
            else:
                self._end()
        self._settle(root)

    def _start(self, element: _Element) -> None:
        self._starts += 1
        above = self._frames[-1]
        path = above.path.children.get(element.tag) or self._paths.child(above.path, element.tag)
        self._frames.append(_Frame(path, element))
        if path not in above.seen:
            above.seen.add(path)
            self._mark_sure(path)
        if path.owners:
            for tag, value in cast("list[tuple[str, str]]", element.items()):
                tests = path.attributes.get(tag) or self._paths.attribute(path, tag)
                for depth, leaves in tests.marks(value):
                    self._mark(depth, leaves)
        for leaf, depth in path.watched:
            frame = self._frames[depth]
            frame.watched = frame.watched or {}
            frame.watched[leaf] = self._starts

    def _end(self) -> None:
        self.ends.append(Moment(self._starts, len(self.ends)))
        frame = self._frames[-1]
        if frame.path.texts:
            assert frame.element is not None
            for value in own_texts(frame.element):
                for depth, leaves in frame.path.texts.marks(value):
                    self._mark(depth, leaves)
        if frame.path.late:
            self._settle(frame)
        if frame.watched:
            for leaf, element in frame.watched.items():
                before = self.last.get(leaf)
                self.last[leaf] = LastSeen(
                    max(element, before.element if before else 0), len(self.ends) - 1
                )
        self._frames.pop()

    def _mark_sure(self, path: LabelPath) -> None:
        for depth, leaves in path.sure:
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
        touched = {join for leaf in new for join in leaf.joins}
        if touched:
            # What has reached the document node is decided for good.
            self._try(touched - self._frames[0].found, frame)

    def _try(self, joins: set[Leaf], frame: _Frame) -> None:
        """See which joins are complete with what is new to a frame."""
        found, path = frame.found, frame.path
        complete: dict[int, set[Leaf]] = {}
        for join in joins:
            if (
                holds_at(join, Kind.ELEMENT, path.tag, found=found)
                if join.needs is None
                else join.needs <= found
            ):
                for depth in path.states[join.state]:
                    complete.setdefault(depth, set()).add(join)
        for depth, leaves in complete.items():
            self._mark(depth, leaves)

    def _settle(self, frame: _Frame) -> None:
        """What could not be known before the end of an element is known now."""
        for depth, leaves in frame.path.late:
            for leaf in leaves - self._frames[depth].found:
                if holds_at(
                    leaf, Kind.ELEMENT, frame.path.tag, found=frame.found, value=frame.value
                ):
                    self._mark(depth, {leaf})

    def _decided(self, leaves: AbstractSet[Leaf]) -> None:
        moment = self.moment
        self.moments.update(dict.fromkeys(leaves, moment))
        if self._on_found:
            for leaf in leaves:
                self._enough |= self._on_found(leaf, self)


def _tags(document: Document) -> Iterator[tuple[str, _Element]]:
    return cast(
        "Iterator[tuple[str, _Element]]", etree.iterwalk(document.tree, events=("start", "end"))
    )
