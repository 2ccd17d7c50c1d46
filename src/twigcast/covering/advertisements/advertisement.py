"""Advertisements: the shapes a publisher promises to keep to.

A broker that knows what publishers can send forwards a subscription only towards those that can
ever satisfy it (Dissemination, section 1.4). An advertisement is a set of label paths, kept as an
automaton; it comes from a DTD, from sample documents, or from path expressions written by hand:

    >>> from twigcast.language import Schema
    >>> dtd = b"<!ELEMENT list (item*)> <!ELEMENT item (#PCDATA | list)*>"
    >>> promise = Advertisement.of_schema(Schema.parse(dtd), roots=["list"])
    >>> overlaps(promise, "/list//list/item")
    True
    >>> overlaps(promise, "/list/list")
    False

A document is *included* if each of its nodes is at a path of the advertisement, with text and
values it allows. All the rest follows from that:

- :func:`overlaps` says no only if no included document matches the pattern;
- :func:`advertisement_covers` says yes only if every document of the narrower is in the wider;
- the union of two includes what either includes, and documents that mix their paths.

Advertisements are values: they can be compared, hashed, pickled and shared between threads.
What they derive is made when first asked for.
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

__all__ = ["Advertisement", "AdvertisementStatistics", "advertisement_covers", "overlaps"]


class AdvertisementStatistics(NamedTuple):
    """How large an advertisement is, and what keeps it ready."""

    states: int
    edges: int
    elements: int
    """Different labels of elements."""
    attributes: int
    """Attributes of all states together."""
    recursive: bool
    remembered: int
    """Sets kept for :func:`overlaps`."""


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
        """What valid documents of a DTD can have.

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
        """What sample documents have; what is assumed is told in :mod:`document_paths`.

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
        """The paths of expressions such as ``/a/b(c/d)+/@x``; PatternError if one is none."""
        read = [
            read_expression(text) for text in each_of(expressions, str, "expressions are texts")
        ]
        return cls(path_automaton(expressions_sketch(read), limits))

    @classmethod
    @door("reading an advertisement")
    def parse(cls, text: str, *, limits: AutomatonLimits = AUTOMATON_LIMITS) -> Advertisement:
        """The advertisement of a canonical text; SchemaError if it is none, or is too large."""
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
        """Whether the document keeps to what is advertised."""
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
        """How large it is."""
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
        """What :func:`overlaps` asks."""
        return PathOverlap(self.paths)

    @cached_property
    def _follower(self) -> PathFollower:
        return PathFollower(self.paths)

    def __reduce__(self) -> tuple[type[Advertisement], tuple[PathAutomaton]]:
        # What is derived stays here: it can be large, and is made again when it is needed.
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
    asked = pattern if isinstance(pattern, Pattern) else Pattern.parse(pattern)
    return advertisement.overlap.possible(asked.condition)


@door("comparing advertisements")
def advertisement_covers(
    *, wider: Advertisement, narrower: Advertisement, steps_max: int = INCLUSION_STEPS_MAX
) -> bool:
    """Whether every document that keeps to the narrower keeps to the wider.

    A yes is certain. A no is, unless it would take more than ``steps_max`` steps to find out.
    """
    return wider == narrower or covers_paths(
        wider=wider.paths, narrower=narrower.paths, steps_max=steps_max
    )


def _has_cycle(paths: PathAutomaton) -> bool:
    """Whether some path can go on for ever: states are taken away that lead only to such."""
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
