"""Documents drawn from a schema: valid, of the size that is asked for, not too deep.

A document is grown. It begins as the root with the least that its content model demands. Wherever
the model would allow more (``?``, ``*``, ``+``, mixed content) a *bud* is noted; then buds are
drawn at random and each puts forth one more occurrence, with buds of its own, until there are as
many elements as asked for::

    <order>              order (item+, note?)
      <item/>            required
      ·                  bud: another item
      ·                  bud: a note
    </order>

Every part of a content model knows the least number of levels and of elements it needs
(:mod:`~twigcast.workload.content_plan`), so no bud is opened that could not be completed within
the limits: the depth is never exceeded, and the number of elements only if the least document the
schema allows is larger already. It is reached exactly, unless what is left over is too little for
any bud, or the schema runs out of them.

Attributes and text have values from the :class:`Vocabulary` that predicates ask for. IDs are
unique and references point to one of them. Validity ends where a schema demands what cannot be
invented: a reference to an ID in a document without any, or the name of an unparsed entity.
Elements and attributes with a prefix find it bound at the root, whether the schema says so or not.

Sizes in the papers: Piggyback 6.1 has documents of 50 to 201 elements (Table 1) and moves a marker
through them; YAK 6.4 14.4 KB, depth at most 13; Dissemination 1.6 depth at most 10.
Cost: 10 to 30 µs per element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import TypeAlias

from twigcast.errors import UsageError
from twigcast.language.dtd.schema import Occurs, Schema
from twigcast.workload.content_plan import PlanPart, content_plans
from twigcast.workload.ranges import check_marker, check_whole
from twigcast.workload.start_tags import StartTags
from twigcast.workload.vocabulary import Vocabulary

ELEMENTS_MAX = 1_000_000
"""More elements a document of the library may not have, so none is made with more."""

BYTES_MAX = 10_000_000
"""Nor may it be larger."""

DEPTH_MAX = 256
"""Nor deeper: there libxml2 stops."""

DOCUMENTS_MAX = 10_000_000
"""Of one call: so many may be in one archive."""

_PHRASE_SHARE = 0.5
"""How much of the text between children is prose; the rest are values that predicates hit."""


@dataclass(frozen=True, slots=True)
class Marker:
    """An empty element put into documents once ``position`` of their elements have begun.

    At position 0.25, a quarter of the start tags stand before the marker; at 1, all of them. In
    Piggyback 6.1 the marker is called ``test`` and decides where the first match can be found. The
    schema does not know it, so the documents are not valid.
    """

    name: str = "test"
    position: float = 0.5

    def __post_init__(self) -> None:
        check_marker(self.name)
        if not 0 <= self.position <= 1:
            raise UsageError(f"the position of a marker lies in 0 … 1, not at {self.position}")


def generate_document(  # noqa: PLR0913 - one keyword for each parameter of the papers
    schema: Schema,
    *,
    rng: Random,
    elements: int = 130,
    depth_max: int = 10,
    bytes_target: int | None = None,
    attributes: float = 0.4,
    marker: Marker | None = None,
    root: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> bytes:
    """Draw one document; the parameters are those of :func:`generate_documents`."""
    documents = generate_documents(
        schema,
        rng=rng,
        count=1,
        elements=elements,
        depth_max=depth_max,
        bytes_target=bytes_target,
        attributes=attributes,
        marker=marker,
        root=root,
        vocabulary=vocabulary,
    )
    return next(documents)


def generate_documents(  # noqa: PLR0913 - one keyword for each parameter of the papers
    schema: Schema,
    *,
    rng: Random,
    count: int,
    elements: int = 130,
    depth_max: int = 10,
    bytes_target: int | None = None,
    attributes: float = 0.4,
    marker: Marker | None = None,
    root: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Iterator[bytes]:
    """Draw ``count`` documents, in UTF-8.

    Each has about ``elements`` elements (the marker not counted), or about ``bytes_target`` bytes
    if that is given, and is at most ``depth_max`` elements deep. ``attributes`` is the probability
    that an attribute which may be left out is there.

    UsageError if the schema has no single root and none is given, if a parameter is out of its
    range, or if no document of the schema fits into the limits.
    """
    check_whole("count", count, (0, DOCUMENTS_MAX), "DOCUMENTS_MAX")
    check_whole("elements", elements, (1, ELEMENTS_MAX), "ELEMENTS_MAX")
    check_whole("depth_max", depth_max, (1, DEPTH_MAX), "DEPTH_MAX")
    if bytes_target is not None:
        check_whole("bytes", bytes_target, (1, BYTES_MAX), "BYTES_MAX")
    soil = _Soil(
        schema,
        schema.root_or(root),
        vocabulary or Vocabulary(),
        depth_max=depth_max,
        share=attributes,
    )
    if not 0 <= attributes <= 1:
        raise UsageError(f"attributes is a probability, not {attributes}")
    if soil.least > ELEMENTS_MAX:
        raise UsageError(
            f"a document would have {soil.least:,} elements or more, where at most "
            f"{ELEMENTS_MAX:,} are allowed (ELEMENTS_MAX)"
        )
    if marker is not None and marker.name in schema.elements:
        raise UsageError(f"the marker {marker.name!r} is an element of the schema; take another")

    def draw() -> bytes:
        target = inf if bytes_target is None else bytes_target
        growth = _Growth(soil, rng, elements if bytes_target is None else ELEMENTS_MAX, target)
        return growth.written(growth.grown(), marker)

    return (draw() for _ in range(count))


class _Soil:
    """What all documents of one call have in common, worked out once."""

    def __init__(
        self,
        schema: Schema,
        root: str,
        vocabulary: Vocabulary,
        *,
        depth_max: int,
        share: float,
    ) -> None:
        height = schema.heights.get(root)
        if height is None:
            raise UsageError(f"no document can begin with {root!r}: it could never be completed")
        if height > depth_max:
            raise UsageError(f"a document with root {root!r} is at least {height} elements deep")
        self.root = root
        self.depth_max = depth_max
        self.vocabulary = vocabulary
        self.plans = content_plans(schema)
        self.tags = StartTags(schema, vocabulary, share)
        self.texts = {
            element.name: vocabulary.values(element.name)
            for element in schema.declarations
            if element.holds_text
        }
        plan = self.plans[root]
        self.least = 1 + (plan.least_size if plan else 0)


@dataclass(slots=True, eq=False)
class _Element:
    """An element of the growing document; its content is a tree of lists, in document order."""

    name: str
    tag: str
    depth: int
    content: list[_Content] = field(default_factory=list)


_Content: TypeAlias = "str | _Element | list[_Content]"


@dataclass(frozen=True, slots=True)
class _Bud:
    """A place where another occurrence of a part may be put."""

    part: PlanPart
    parent: _Element
    place: list[_Content]


class _Growth:
    """One document while it grows."""

    def __init__(self, soil: _Soil, rng: Random, elements: int, bytes_target: float) -> None:
        self._soil = soil
        self._tags = soil.tags.document(rng)
        self._random = rng.random
        self._rng = rng
        self._elements_target = elements
        self._bytes_target = bytes_target
        self._bytes = 0
        self._count = 0
        # Elements that are there or certain to come; what they need at least is counted in.
        self._committed = soil.least
        self._buds: list[_Bud] = []
        self._waiting: list[_Element] = []

    def grown(self) -> _Element:
        """The root of the document, with as much in it as was asked for."""
        root = self._element(self._soil.root, depth=1)
        self._fill()
        buds, random = self._buds, self._random
        while buds and self._committed < self._elements_target and self._bytes < self._bytes_target:
            self._open(int(random() * len(buds)))
        return root

    def written(self, root: _Element, marker: Marker | None) -> bytes:
        """The text of the document, with the marker after its share of the start tags."""
        pieces = ['<?xml version="1.0" encoding="UTF-8"?>\n']
        begun = 0
        before_marker = max(1, round(marker.position * self._count)) if marker else -1
        stack: list[_Content] = [root]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
            elif isinstance(item, list):
                stack.extend(reversed(item))
            else:
                if begun == before_marker and marker:
                    pieces.append(f"<{marker.name}/>")
                begun += 1
                tag = self._tags.completed(item.tag)
                if item.content:
                    pieces.append(f"<{tag}>")
                    stack += (f"</{item.name}>", item.content)
                else:
                    pieces.append(f"<{tag}/>")
        if begun == before_marker and marker:
            pieces.insert(-1, f"<{marker.name}/>")
        return "".join(pieces).encode()

    def _open(self, index: int) -> None:
        """Let a bud put forth one more occurrence, or drop it if that is not possible.

        Each call either adds elements or drops the bud, so growing comes to an end.
        """
        bud = self._buds[index]
        before = self._committed
        if before + bud.part.size <= self._elements_target:
            known = len(self._buds)
            self._committed += bud.part.size
            self._put(bud.part, bud.parent, bud.place)
            self._fill()
            while self._committed == before and len(self._buds) > known:
                # The occurrence was empty, as (a?, b?)* allows: fill it from its own buds.
                self._open(known + int(self._random() * (len(self._buds) - known)))
        if self._committed == before or not bud.part.occurs.may_repeat:
            self._buds[index] = self._buds[-1]
            self._buds.pop()

    def _fill(self) -> None:
        """Give every new element the least that its content model demands."""
        while self._waiting:
            element = self._waiting.pop()
            if element.name in self._soil.texts:
                element.content.append(self._text(element.name))
            plan = self._soil.plans[element.name]
            if plan is not None:
                self._place(plan, element, element.content)

    def _place(self, part: PlanPart, parent: _Element, place: list[_Content]) -> None:
        """Put a part where it belongs: once if it is demanded, and a bud if more is allowed."""
        if part.occurs is Occurs.ONCE:
            self._put(part, parent, place)
            return
        own_place: list[_Content] = []
        place.append(own_place)
        if parent.depth + part.height <= self._soil.depth_max:
            self._buds.append(_Bud(part, parent, own_place))
        if part.occurs is Occurs.SOME:
            self._put(part, parent, own_place)

    def _put(self, part: PlanPart, parent: _Element, place: list[_Content]) -> None:
        """Put one occurrence of a part."""
        if part.kind == "child":
            place.append(self._element(part.name, depth=parent.depth + 1))
            if parent.name in self._soil.texts:
                place.append(self._text(parent.name))
        elif part.kind == "all":
            for inner in part.parts:
                self._place(inner, parent, place)
        else:
            self._place(self._chosen(part, self._soil.depth_max - parent.depth), parent, place)

    def _chosen(self, part: PlanPart, room: int) -> PlanPart:
        """One of the parts, among those for which there is room in depth and in number."""
        spare = max(0, self._elements_target - self._committed)
        possible = [
            inner
            for inner in part.parts
            if inner.least_height <= room and inner.least_size - part.size <= spare
        ]
        chosen = possible[int(self._random() * len(possible))]
        self._committed += chosen.least_size - part.size
        return chosen

    def _element(self, name: str, depth: int) -> _Element:
        tag = self._tags.element(name) if depth > 1 else self._tags.root(name)
        element = _Element(name, tag, depth)
        self._waiting.append(element)
        self._count += 1
        is_empty = self._soil.plans[name] is None and name not in self._soil.texts
        self._bytes += len(tag) + (len("</>") if is_empty else len(name) + len("<></>"))
        return element

    def _text(self, name: str) -> str:
        """Text for an element: a value that predicates ask for, or, between children, a phrase."""
        values = self._soil.texts[name]
        if self._soil.plans[name] is not None and self._random() < _PHRASE_SHARE:
            text = f" {self._soil.vocabulary.phrase(self._rng)} "
        else:
            text = values[int(self._random() * len(values))]
        self._bytes += len(text)
        return text
