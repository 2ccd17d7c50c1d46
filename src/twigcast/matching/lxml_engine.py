"""The engine ``lxml``: one compiled expression after the other, behind a label prefilter.

The plainest engine that is always right, because libxml2, the judge of matching, decides
everything. It stays in every test and every benchmark as the measure of the others.

Per document: its labels select candidates (:mod:`~twigcast.matching.prefilter`); each distinct
candidate pattern is evaluated once, however many subscriptions share it. Before libxml2 is asked,
the work is estimated (:mod:`~twigcast.matching.cost`): an exact pattern over the bound is decided
by :mod:`~twigcast.matching.walk` instead, a residual one stays undecided.

Readers on several threads are safe beside a writer: candidates are gathered under a lock,
evaluated outside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import Lock
from typing import Final

from lxml import etree

from twigcast.language.document import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.cost import Sizes, condition_cost
from twigcast.matching.engine import Decision, EngineStatistics
from twigcast.matching.prefilter import LabelIndex, required_labels
from twigcast.matching.walk import holds

__all__ = ["COMPILED_MAX", "COST_MAX", "LxmlEngine"]

COST_MAX: Final = 10_000_000
"""Visits that one expression may cost on one document: some 50 to 100 ms of libxml2's time."""

COMPILED_MAX: Final = 100_000
"""Compiled expressions kept, at about 2 KB each."""

_PROBES: Final = (100, 1_000, 10_000, 100_000, 1_000_000)
_PROBE_DEPTH = 32
_BYTES_PER_NODE = 64
"""Assumptions under which "small enough not to estimate" is worked out, once per pattern."""


class _Entry:
    """A pattern, the ids that ask for it, and its compiled expression once there was need of it."""

    __slots__ = ("ids", "pattern", "safe_nodes", "xpath")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.ids: tuple[int, ...] = ()
        self.xpath: etree.XPath | None = None
        self.safe_nodes = 0
        """The size of documents up to which the cost is no question."""

    def compile(self, cost_max: int) -> etree.XPath:
        text, namespaces = self.pattern.for_libxml2()
        # As a predicate the first node found will do; boolean(…) would find and sort them all.
        whole = f"boolean(/self::node()[{text}])"
        self.xpath = etree.XPath(whole, namespaces=namespaces, regexp=False)
        for nodes in _PROBES:
            sizes = Sizes(nodes, _PROBE_DEPTH, nodes, nodes * _BYTES_PER_NODE)
            if condition_cost(self.pattern.condition, sizes) > cost_max:
                break
            self.safe_nodes = nodes
        return self.xpath


class LxmlEngine:
    """Compiled expressions behind a label prefilter."""

    name = "lxml"

    def __init__(self, *, cost_max: int = COST_MAX, compiled_max: int = COMPILED_MAX) -> None:
        self._cost_max = cost_max
        self._compiled_max = compiled_max
        self._pattern_of: dict[int, Pattern] = {}
        self._entries: dict[Pattern, _Entry] = {}
        self._index: LabelIndex[_Entry] = LabelIndex()
        self._compiled: dict[_Entry, None] = {}
        self._lock = Lock()
        self._residual = self._candidates = self._walked = 0

    def add(self, id: int, pattern: Pattern) -> None:
        """Take in a pattern under an id that is not in use."""
        with self._lock:
            self._pattern_of[id] = pattern
            entry = self._entries.get(pattern)
            if entry is None:
                entry = self._entries[pattern] = _Entry(pattern)
                self._index.add(entry, required_labels(pattern.necessary.condition))
                self._residual += not pattern.exact
            entry.ids += (id,)

    def remove(self, id: int) -> None:
        """Forget the id and whatever only it needed."""
        with self._lock:
            pattern = self._pattern_of.pop(id)
            entry = self._entries[pattern]
            entry.ids = tuple(other for other in entry.ids if other != id)
            if not entry.ids:
                del self._entries[pattern]
                self._index.remove(entry)
                self._compiled.pop(entry, None)
                self._residual -= not pattern.exact

    def decide(self, document: Document, skip: Collection[int]) -> Decision:
        """Which ids match; those in ``skip`` are not looked at."""
        matches: list[int] = []
        undecided: list[int] = []
        size = _size(document)
        for entry, ids in self._gather(document):
            wanted = [one for one in ids if one not in skip] if skip else ids
            if wanted:
                verdict = self._verdict(entry, document, size)
                if verdict is not False:
                    (undecided if verdict is None else matches).extend(wanted)
        return Decision(tuple(sorted(matches)), tuple(sorted(undecided)))

    def decide_links(
        self, document: Document, groups: Sequence[Collection[int]], skip: Collection[int]
    ) -> tuple[list[bool], tuple[int, ...]]:
        """Whether each group has a match, and the undecided ids where that leaves doubt."""
        candidates = {one: entry for entry, ids in self._gather(document) for one in ids}
        size = _size(document)
        verdicts: dict[_Entry, bool | None] = {}

        def verdict(one: int) -> bool | None:
            entry = candidates.get(one)
            if entry is None or one in skip:
                return False
            if entry not in verdicts:
                verdicts[entry] = self._verdict(entry, document, size)
            return verdicts[entry]

        decided = [any(verdict(one) for one in group) for group in groups]
        open_groups = (group for group, found in zip(groups, decided, strict=True) if not found)
        undecided = {one for group in open_groups for one in group if verdict(one) is None}
        return decided, tuple(sorted(undecided))

    def statistics(self) -> EngineStatistics:
        """The counters of the moment."""
        return EngineStatistics(
            patterns=len(self._entries),
            residual=self._residual,
            unfiltered=self._index.unfiltered,
            candidates=self._candidates,
            walked=self._walked,
            compiled=len(self._compiled),
            compiled_max=self._compiled_max,
        )

    def _gather(self, document: Document) -> list[tuple[_Entry, tuple[int, ...]]]:
        labels = document.labels
        with self._lock:
            return [(entry, entry.ids) for entry in self._index.candidates(labels)]

    def _verdict(self, entry: _Entry, document: Document, size: int) -> bool | None:
        """Whether the document matches; None where deciding it would cost too much."""
        self._candidates += 1
        xpath = entry.xpath or self._compile(entry)
        if size > entry.safe_nodes and self._cost(entry.pattern, document) > self._cost_max:
            if not entry.pattern.exact:
                return None
            self._walked += 1
            return holds(entry.pattern.condition, document)
        try:
            return bool(xpath(document.tree))
        except etree.XPathError:
            # libxml2 has bounds of its own, on the size of node-sets and on recursion.
            return None

    def _compile(self, entry: _Entry) -> etree.XPath:
        xpath = entry.compile(self._cost_max)
        with self._lock:
            self._compiled[entry] = None
            if len(self._compiled) > self._compiled_max:
                # The one compiled longest ago; keeping track of use would cost every evaluation.
                oldest = next(iter(self._compiled))
                del self._compiled[oldest]
                oldest.xpath = None
        return xpath

    @staticmethod
    def _cost(pattern: Pattern, document: Document) -> float:
        sizes = Sizes(
            nodes=document.element_count,
            depth=document.depth,
            breadth=document.breadth,
            characters=len(document.content),
            labels=document.labels,
        )
        return condition_cost(pattern.condition, sizes)


def _size(document: Document) -> int:
    """The document's size in nodes, one with much text counted as if it had more of them."""
    return max(document.element_count, len(document.content) // _BYTES_PER_NODE)
