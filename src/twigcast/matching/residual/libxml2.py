"""What only libxml2 can decide: compiled expressions, within bounds of work and of memory.

Every engine comes here with its *candidates*: the patterns that a document may match as far as the
engine can tell. Each is compiled when it is first needed and kept, up to a bound. Before libxml2
is asked, the work is estimated (:mod:`~twigcast.matching.residual.cost`): an exact pattern over the
bound is decided by :mod:`~twigcast.matching.residual.tree_walk` instead, any other stays undecided.

The estimates of one document are added up, each distinct pattern counting once. Nearly always
the sum is small, which is known from the scale of the document without measuring it. Where it is
over its bound, patterns are decided from the cheapest to the dearest until the sum is spent; the
others are undecided. So nobody's subscription takes from a cheaper one.

    >>> residuals = Residuals()
    >>> second = Pattern.parse("//a[2]")
    >>> residuals.decide([(7, second), (8, second)], Document.parse(b"<r><a/><a/></r>"))
    Decision(matches=(7, 8), undecided=())
    >>> residuals.forget(second)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final

from lxml import etree

from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.interface.engine import Decision
from twigcast.matching.residual.cost import condition_cost
from twigcast.matching.residual.document_stats import SCALES, scale, sizes_at_scale, sizes_of
from twigcast.matching.residual.tree_walk import Walk

COST_MAX: Final = 10_000_000
"""Visits that one expression may cost on one document: some 50 to 100 ms of libxml2's time."""

DOCUMENT_COST_MAX: Final = 250_000_000
"""Visits that all expressions together may cost on one document: a second or two of libxml2's time.
The estimates are upper bounds, and those of a thousand rules that people wrote for DocBook, JATS
or HTML add up to 50 to 80 million on their larger documents (100 KB); this is three times as much.
As many steps are for all that the kernel has to look at, which takes less than a second."""

COMPILED_MAX: Final = 100_000
"""Compiled expressions kept, at about 2 KB each."""


_WALKING: Final = 150
"""A step of walking, in visits: it is Python's, and takes 1 to 2 microseconds."""


class _Compiled:
    """A compiled expression, and at most what it costs on documents of each scale."""

    __slots__ = ("_bounds", "xpath")

    def __init__(self, pattern: Pattern) -> None:
        text, namespaces = pattern.for_libxml2()
        # As a predicate the first node found will do; boolean(…) would find and sort them all.
        whole = f"boolean(/self::node()[{text}])"
        self.xpath = etree.XPath(whole, namespaces=namespaces, regexp=False)
        self._bounds: dict[float, float] = {}

    def bound(self, pattern: Pattern, size: float) -> float:
        """What no document of the scale can cost more than; worked out once for each."""
        tried = next((one for one in SCALES if one >= size), math.inf)
        known = self._bounds.get(tried)
        if known is None:
            known = math.inf
            if tried < math.inf:
                known = condition_cost(pattern.condition, sizes_at_scale(int(tried)))
            self._bounds[tried] = known
        return known


class Residuals:
    """Decides patterns within bounds of work and memory.

    ``cost_max`` bounds the work of one pattern on one document, ``document_cost_max`` that of all
    of them, ``compiled_max`` the memory. Several threads may ask at once. ``decided`` and
    ``walked`` count what was done so far, ``costly_documents`` the documents that were over.
    """

    def __init__(
        self,
        *,
        cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        compiled_max: int = COMPILED_MAX,
    ) -> None:
        self.compiled_max = compiled_max
        self.decided = 0
        self.walked = 0
        self.costly_documents = 0
        self._cost_max = cost_max
        self._document_cost_max = document_cost_max
        self._compiled: dict[Pattern, _Compiled] = {}
        self._lock = Lock()

    def decide(self, candidates: Iterable[tuple[int, Pattern]], document: Document) -> Decision:
        """Which of the ids match, each distinct pattern being evaluated once."""
        held = list(candidates)
        costs = self._costs((pattern for _, pattern in held), document)
        verdicts = self._verdicts(costs, document)
        found: dict[bool | None, list[int]] = {True: [], False: [], None: []}
        for one, pattern in held:
            found[verdicts[pattern]].append(one)
        return Decision(tuple(sorted(found[True])), tuple(sorted(found[None])))

    def decide_links(
        self,
        groups: Sequence[Collection[int]],
        candidates: Mapping[int, Pattern],
        document: Document,
    ) -> tuple[list[bool], tuple[int, ...]]:
        """Whether each group has a match, and the undecided ids of the groups that have none.

        A group's first match decides it. Ids that are no candidates do not match.
        """
        wanted = (one for group in groups for one in group)
        costs = self._costs((candidates[one] for one in wanted if one in candidates), document)
        verdicts: dict[Pattern, bool | None] = {}
        if sum(costs.values()) > self._document_cost_max:
            verdicts = self._verdicts(costs, document)

        def verdict(one: int) -> bool | None:
            pattern = candidates.get(one)
            if pattern is None:
                return False
            if pattern not in verdicts:
                verdicts.update(self._verdicts({pattern: costs[pattern]}, document))
            return verdicts[pattern]

        decided = [any(verdict(one) for one in group) for group in groups]
        open_groups = (group for group, found in zip(groups, decided, strict=True) if not found)
        undecided = {one for group in open_groups for one in group if verdict(one) is None}
        return decided, tuple(sorted(undecided))

    def verdict(self, pattern: Pattern, document: Document) -> bool | None:
        """Whether the document matches; None where deciding it would cost too much."""
        costs = self._costs((pattern,), document)
        return self._verdicts(costs, document)[pattern]

    def _costs(self, patterns: Iterable[Pattern], document: Document) -> dict[Pattern, float]:
        """An upper bound of what each distinct pattern costs.

        The document is measured where a bound for all documents of its scale is too high.
        """
        size: float | None = None
        bounds: dict[Pattern, float] = {}
        measured: set[Pattern] = set()
        for pattern in patterns:
            if pattern in bounds:
                continue
            size = scale(document) if size is None else size
            bounds[pattern] = cost = self._held(pattern).bound(pattern, size)
            if cost > self._cost_max:
                bounds[pattern] = condition_cost(pattern.condition, sizes_of(document))
                measured.add(pattern)
        total = sum(bounds.values())
        if total > self._document_cost_max:
            # The highest bounds first: where they were too high, few need to be measured.
            for pattern in sorted(bounds.keys() - measured, key=bounds.__getitem__, reverse=True):
                cost = condition_cost(pattern.condition, sizes_of(document))
                total += cost - bounds[pattern]
                bounds[pattern] = cost
                if total <= self._document_cost_max:
                    break
        return bounds

    def _verdicts(
        self, costs: Mapping[Pattern, float], document: Document
    ) -> dict[Pattern, bool | None]:
        """The verdict on each pattern, the cheapest first if not all can be decided."""
        left = float(self._document_cost_max)
        within = [pattern for pattern, cost in costs.items() if cost <= self._cost_max]
        walks = [pattern for pattern in costs if costs[pattern] > self._cost_max and pattern.exact]
        if walks or sum(costs[pattern] for pattern in within) > left:
            within.sort(key=lambda one: (costs[one], one.text))
            walks.sort(key=lambda one: (costs[one], one.text))
        verdicts: dict[Pattern, bool | None] = dict.fromkeys(costs)
        for pattern in within:
            if costs[pattern] > left:
                self._count(len(costs), costly=True)
                return verdicts
            left -= costs[pattern]
            verdicts[pattern] = self._asked(pattern, document)
        walk = Walk(document)
        for number, pattern in enumerate(walks):
            # What the cheaper ones leave is for the others.
            steps_max = int(left / (len(walks) - number) / _WALKING)
            verdicts[pattern], steps = walk.holds(pattern.condition, steps_max)
            left -= steps * _WALKING
        costly = any(verdicts[pattern] is None for pattern in walks)
        self._count(len(costs), walked=len(walks), costly=costly)
        return verdicts

    def _count(self, decided: int, *, walked: int = 0, costly: bool = False) -> None:
        """Add to the counters, which several threads do at once."""
        with self._lock:
            self.decided += decided
            self.walked += walked
            self.costly_documents += costly

    def _asked(self, pattern: Pattern, document: Document) -> bool | None:
        try:
            return bool(self._held(pattern).xpath(document.tree))
        except etree.XPathError:
            # libxml2 has bounds of its own, on the size of node-sets and on recursion.
            return None

    def forget(self, pattern: Pattern) -> None:
        """Give back what is held for a pattern that nobody asks for any more."""
        with self._lock:
            self._compiled.pop(pattern, None)

    def __len__(self) -> int:
        return len(self._compiled)

    def _held(self, pattern: Pattern) -> _Compiled:
        return self._compiled.get(pattern) or self._compile(pattern)

    def _compile(self, pattern: Pattern) -> _Compiled:
        compiled = _Compiled(pattern)
        with self._lock:
            self._compiled[pattern] = compiled
            if len(self._compiled) > self.compiled_max:
                # The one compiled longest ago; keeping track of use would cost every evaluation.
                del self._compiled[next(iter(self._compiled))]
        return compiled
