"""Advertisements: the shapes of documents that a publisher keeps to.

A broker that knows what publishers can send forwards a subscription only towards those that can
ever satisfy it (Dissemination, section 1.4). An advertisement is a set of label paths, kept as an
automaton; it comes from a DTD, from sample documents, or from path expressions written by hand:

    >>> from twigcast.language import Schema
    >>> dtd = b"<!ELEMENT list (item*)> <!ELEMENT item (#PCDATA | list)*>"
    >>> lists = Advertisement.of_schema(Schema.parse(dtd), roots=["list"])
    >>> overlaps(lists, "/list//list/item")
    True
    >>> overlaps(lists, "/list/list")
    False

A document is *included* if each of its nodes is at a path of the advertisement, with text and
values it allows. Everything else follows from that:

- :func:`overlaps` returns no only if no included document matches the pattern;
- :func:`advertisement_covers` returns yes only if every document of the narrower is in the wider;
- the union of two includes what either includes, and documents that mix their paths.

Advertisements are values: they can be compared, hashed, pickled and shared between threads.
Derived tables are built when they are first needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from twigcast.covering.advertisements.overlap import PathOverlap
from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    INCLUSION_STEPS_MAX,
    AutomatonLimits,
    PathAutomaton,
    Sketch,
    covers_paths,
    path_automaton,
)
from twigcast.covering.paths.codec import automaton_text, read_automaton
from twigcast.covering.paths.expression import expressions_sketch, read_expression
from twigcast.covering.paths.from_documents import PathCollection, PathFollower
from twigcast.covering.paths.from_dtd import schema_sketch
from twigcast.display import counted
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.language import Document, Pattern, Schema
from twigcast.slips import each_of


class AdvertisementStatistics(NamedTuple):
    """Sizes of an advertisement, and of its caches."""

    states: int
    edges: int
    elements: int
    """Distinct labels of elements."""
    attributes: int
    """Attributes of all states together."""
    recursive: bool
    remembered: int
    """Sets cached for :func:`overlaps`."""


@dataclass(frozen=True)
class Advertisement:
    """A set of label paths that documents keep to.

    >>> from twigcast import Advertisement, Document, overlaps
    >>> stocks = Advertisement.of_expressions(["/stocks/stock/price"])
    >>> stocks
    <Advertisement: 4 states, 3 elements>
    >>> stocks.includes(Document.parse("<stocks><stock/></stocks>")), overlaps(stocks, "//bond")
    (True, False)
    """

    paths: PathAutomaton

    def __repr__(self) -> str:
        states = len(self.paths.states)
        elements = len({label for _, label, _ in self.paths.edges()})
        return f"<Advertisement: {counted(states, 'state')}, {counted(elements, 'element')}>"

    @classmethod
    @door("reading a schema")
    def of_schema(
        cls,
        schema: Schema,
        *,
        roots: Sequence[str] | None = None,
        limits: AutomatonLimits = AUTOMATON_LIMITS,
    ) -> Advertisement:
        """The paths of all valid documents of a DTD.

        They begin with one of ``roots``, or else with the schema's root, or else with any element.
        SchemaError if no document can be completed, SchemaLimitError if the automaton would be too
        large, UsageError if a root is not declared.
        """
        return cls(path_automaton(schema_sketch(schema, roots, limits), limits))

    @classmethod
    @door("reading documents")
    def of_documents(
        cls, documents: Iterable[Document], *, limits: AutomatonLimits = AUTOMATON_LIMITS
    ) -> Advertisement:
        """The paths of sample documents (:mod:`~twigcast.covering.paths.from_documents`).

        DocumentLimitError if they have too many different paths, UsageError if there are none.
        """
        seen = PathCollection(limits)
        for document in each_of(documents, Document, "samples are Documents"):
            seen.add(document)
        if not seen.sketch.edges[0]:
            raise UsageError("an advertisement from samples needs at least one document")
        return cls(path_automaton(seen.sketch, limits))

    @classmethod
    @door("reading expressions")
    def of_expressions(
        cls, expressions: Iterable[str], *, limits: AutomatonLimits = AUTOMATON_LIMITS
    ) -> Advertisement:
        """The paths of expressions such as ``/a/b(c/d)+/@x``; PatternError for a malformed one."""
        read = [
            read_expression(text) for text in each_of(expressions, str, "expressions are texts")
        ]
        return cls(path_automaton(expressions_sketch(read), limits))

    @classmethod
    @door("reading an advertisement")
    def parse(cls, text: str, *, limits: AutomatonLimits = AUTOMATON_LIMITS) -> Advertisement:
        """The advertisement of a canonical text; SchemaError if it is malformed or too large."""
        return cls(read_automaton(text, limits))

    @door("joining advertisements")
    def union(
        self, *others: Advertisement, limits: AutomatonLimits = AUTOMATON_LIMITS
    ) -> Advertisement:
        """All paths of all of them; SchemaLimitError if that is too large."""
        sketch = Sketch()
        for one in (self, *others):
            sketch.include(one.paths)
        return Advertisement(path_automaton(sketch, limits))

    __or__ = union

    @door("comparing with an advertisement")
    def includes(self, document: Document) -> bool:
        """Whether the document keeps to the advertisement."""
        return self.departure(document) is None

    @door("comparing with an advertisement")
    def departure(self, document: Document) -> str | None:
        """The path of the first node that is not advertised, or None if all are."""
        return self._follower.departure(document)

    @property
    def text(self) -> str:
        """The canonical text, one line for each state; :meth:`parse` reads it.

        >>> print(Advertisement.of_expressions(["/a(b)+/@x"]).text)
        0: a=1
        1: space() b=2
        2: space() @x b=2
        """
        return automaton_text(self.paths)

    @door("counting")
    def statistics(self) -> AdvertisementStatistics:
        """The sizes of the advertisement."""
        states = self.paths.states
        return AdvertisementStatistics(
            states=len(states),
            edges=sum(len(state.edges) for state in states),
            elements=len({label for _, label, _ in self.paths.edges()}),
            attributes=sum(len(state.attributes) for state in states),
            recursive=_has_cycle(self.paths),
            remembered=self.overlap.remembered,
        )

    @cached_property
    def overlap(self) -> PathOverlap:
        """The tables of :func:`overlaps`."""
        return PathOverlap(self.paths)

    @cached_property
    def _follower(self) -> PathFollower:
        return PathFollower(self.paths)

    def __reduce__(self) -> tuple[type[Advertisement], tuple[PathAutomaton]]:
        # Derived tables are not pickled: they can be large, and are rebuilt when needed.
        return Advertisement, (self.paths,)


@door("comparing an expression with an advertisement")
def overlaps(advertisement: Advertisement, pattern: Pattern | str) -> bool:
    """Whether some document that keeps to the advertisement may match the pattern.

    A no is certain. A yes is certain for patterns that are a single path of labels.

    >>> from twigcast.covering import Advertisement, overlaps
    >>> stocks = Advertisement.of_expressions(["/stocks/stock/price"])
    >>> overlaps(stocks, "//stock[price]"), overlaps(stocks, "//bond")
    (True, False)
    """
    parsed = pattern if isinstance(pattern, Pattern) else Pattern.parse(pattern)
    return advertisement.overlap.possible(parsed.condition)


@door("comparing advertisements")
def advertisement_covers(
    *, wider: Advertisement, narrower: Advertisement, steps_max: int = INCLUSION_STEPS_MAX
) -> bool:
    """Whether every document that keeps to the narrower keeps to the wider.

    A yes is certain; a no is, unless the check would take more than ``steps_max`` steps.
    """
    return wider == narrower or covers_paths(
        wider=wider.paths, narrower=narrower.paths, steps_max=steps_max
    )


def departure_from(advertisements: Iterable[Advertisement], document: Document) -> str | None:
    """How a document departs from the first of its advertisements; None if it keeps to any one."""
    first = None
    for each in advertisements:
        departure = each.departure(document)
        if departure is None:
            return None
        first = first or departure
    return first


def _has_cycle(paths: PathAutomaton) -> bool:
    """Whether some path can go on for ever: states without a cycle ahead are removed."""
    missing = [len(state.edges) for state in paths.states]
    above: list[list[int]] = [[] for _ in paths.states]
    for state, _, target in paths.edges():
        above[target].append(state)
    waiting = [state for state, number in enumerate(missing) if not number]
    for state in waiting:
        for parent in above[state]:
            missing[parent] -= 1
            if not missing[parent]:
                waiting.append(parent)
    return len(waiting) < len(missing)
