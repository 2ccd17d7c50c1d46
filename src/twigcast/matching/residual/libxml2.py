"""Patterns decided by libxml2: compiled expressions, within bounds of work and of memory.

libxml2 cannot be stopped once it has begun, so it is given only what it can afford:

- Where the kernel is installed it finds the pairs that are undecided, for every engine, and
  evaluates what no index decides. Left to libxml2 is what the kernel is not sure of, within the
  bounds below, and for the engine ``lxml`` everything that is not undecided
  (:meth:`Residuals.answers`).
- Where it is not, every engine comes here with its *candidates*: the patterns that a document may
  match as far as the engine knows.

The work is estimated (:mod:`~twigcast.matching.residual.cost`): an exact pattern over the bound is
decided by :mod:`~twigcast.matching.residual.tree_walk` instead, any other stays undecided. The
estimate of a pattern is worked out once for each scale of documents, and on small documents that is
all; where it is over the bound, the document is measured and the pattern estimated for it.

The estimates of one document are added up, each distinct pattern counting once. Where the sum is
over its bound, patterns are decided from the cheapest to the dearest until it is spent; the others
are undecided. So nobody's subscription takes from a cheaper one. Both bounds grow with the
document.

    >>> residuals = Residuals()
    >>> second = Pattern.parse("//a[2]")
    >>> residuals.decide([(7, second), (8, second)], Document.parse(b"<r><a/><a/></r>"))
    Decision(matches=(7, 8), undecided=())
    >>> residuals.forget(second)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final

from lxml import etree

from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.interface.engine import Decision
from twigcast.matching.residual.cost import expression_cost, expression_of
from twigcast.matching.residual.document_stats import SCALES, scale, sizes_at_scale, sizes_of
from twigcast.matching.residual.tree_walk import ConditionWalk

COST_MAX: Final = 10_000_000
"""Steps that one expression may take on one document, some 50 milliseconds of the kernel; for
libxml2 visits of nodes, 50 to 100 milliseconds."""

DOCUMENT_COST_MAX: Final = 100_000_000
"""Steps or visits that all expressions together may take on one document: less than a second of the
kernel. A thousand rules that people wrote for DocBook, JATS or HTML take far fewer steps on their
larger documents (100 KB), and less than this even in visits."""

COST_NODES: Final = 65_536
"""With every so many nodes a document may take as many steps or visits again."""

COMPILED_MAX: Final = 100_000
"""Compiled expressions kept, at about 2 KB each."""


_WALKING: Final = 150
"""A step of walking, in visits: it is Python's, and takes 1 to 2 microseconds."""


_ANSWER_COST_MAX, _ANSWERS_COST_MAX = 10 * COST_MAX, 10 * DOCUMENT_COST_MAX
"""Visits beyond which libxml2 does not evaluate what the kernel has decided. Estimates are upper
bounds, so that is nearly always far less than a second, and some seconds for all of a document."""


class _Compiled:
    """A compiled expression, and at most what it costs on documents of each scale."""

    __slots__ = ("_bounds", "expression", "xpath")

    def __init__(self, pattern: Pattern) -> None:
        text, namespaces = pattern.for_libxml2()
        # As a predicate the first node found will do; boolean(…) would find and sort them all.
        whole = f"boolean(/self::node()[{text}])"
        self.xpath = etree.XPath(whole, namespaces=namespaces, regexp=False)
        self.expression = expression_of(pattern)
        self._bounds: dict[float, float] = {}

    def bound(self, size: float) -> float:
        """What no document of the scale can cost more than; worked out once for each."""
        tried = next((one for one in SCALES if one >= size), math.inf)
        bound = self._bounds.get(tried)
        if bound is None:
            bound = math.inf
            if tried < math.inf:
                bound = expression_cost(self.expression, sizes_at_scale(int(tried)))
            self._bounds[tried] = bound
        return bound


class Residuals:
    """Decides patterns within bounds of work and memory.

    ``cost_max`` bounds the work of one pattern on one document, ``document_cost_max`` that of all
    of them, ``compiled_max`` the memory. Several threads may use it at once. ``decided``,
    ``by_libxml2`` and ``walked`` count the pairs so far, those that libxml2 decided, and those that
    were too costly for it; ``costly_documents`` the documents that were over.
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
        self.by_libxml2 = 0
        self.walked = 0
        self.costly_documents = 0
        self._cost_max = cost_max
        self._document_cost_max = document_cost_max
        self._compiled: dict[Pattern, _Compiled] = {}
        self._lock = Lock()

    def decide(self, candidates: Iterable[tuple[int, Pattern]], document: Document) -> Decision:
        """Which of the ids match, each distinct pattern being evaluated once."""
        candidate_list = list(candidates)
        costs = self._costs((pattern for _, pattern in candidate_list), document)
        verdicts = self._verdicts(costs, document)
        ids_by_verdict: dict[bool | None, list[int]] = {True: [], False: [], None: []}
        for one, pattern in candidate_list:
            ids_by_verdict[verdicts[pattern]].append(one)
        return Decision(tuple(sorted(ids_by_verdict[True])), tuple(sorted(ids_by_verdict[None])))

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
        if sum(costs.values()) > self._document_cost_max * _times(document):
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

    def completed(
        self,
        matches: Iterable[int],
        unsure: Mapping[int, Pattern],
        document: Document,
        *,
        undecided: Iterable[int],
    ) -> Decision:
        """A decision of which libxml2 has to decide what the kernel is not sure of."""
        decided = self.decide(unsure.items(), document)
        return Decision(
            tuple(sorted((*matches, *decided.matches))),
            tuple(sorted((*undecided, *decided.undecided))),
        )

    def completed_links(
        self,
        groups: Sequence[Collection[int]],
        found: list[bool],
        unsure: Mapping[int, Pattern],
        document: Document,
        *,
        undecided: Iterable[int],
    ) -> tuple[list[bool], tuple[int, ...]]:
        """The same for groups, some of which have their matches."""
        left = [number for number, answer in enumerate(found) if not answer]
        decided, costly = self.decide_links([groups[number] for number in left], unsure, document)
        for number, answer in zip(left, decided, strict=True):
            found[number] = answer
        open_groups = (group for group, answer in zip(groups, found, strict=True) if not answer)
        open_ids = {one for group in open_groups for one in group}
        return found, tuple(sorted(open_ids.intersection((*undecided, *costly))))

    def answers(
        self, document: Document, otherwise: Collection[int]
    ) -> Callable[[int, Pattern], bool]:
        """A function from an id and its pattern to libxml2's answer.

        Where that could take libxml2 seconds, or it gives up, those in ``otherwise`` match.
        """
        answers: dict[Pattern, bool] = {}
        left: float = _ANSWERS_COST_MAX

        def answer(one: int, pattern: Pattern) -> bool:
            nonlocal left
            if pattern in answers:
                return answers[pattern]
            # Rough bounds would soon add up to all there is.
            cost = self._cost(pattern, document, _ANSWER_COST_MAX / 100)
            verdict = None
            if cost <= min(left, _ANSWER_COST_MAX):
                left -= cost
                verdict = self._evaluate(pattern, document)
            self._count(1, walked=verdict is None)
            answers[pattern] = one in otherwise if verdict is None else verdict
            return answers[pattern]

        return answer

    def verdict(self, pattern: Pattern, document: Document) -> bool | None:
        """Whether the document matches; None where deciding it would cost too much."""
        costs = self._costs((pattern,), document)
        return self._verdicts(costs, document)[pattern]

    def _costs(self, patterns: Iterable[Pattern], document: Document) -> dict[Pattern, float]:
        """An upper bound of what each distinct pattern costs."""
        most = self._cost_max * _times(document)
        bounds = {
            pattern: self._cost(pattern, document, most) for pattern in dict.fromkeys(patterns)
        }
        total, left = sum(bounds.values()), self._document_cost_max * _times(document)
        if total > left:
            # The highest bounds first: where they were too high, few need to be measured.
            for pattern in sorted(bounds, key=bounds.__getitem__, reverse=True):
                cost = self._measured_cost(pattern, document)
                total += cost - bounds[pattern]
                bounds[pattern] = cost
                if total <= left:
                    break
        return bounds

    def _cost(self, pattern: Pattern, document: Document, most: float) -> float:
        """An upper bound; the document is measured where that for its scale is over ``most``."""
        bound = self._compiled_of(pattern).bound(scale(document))
        return bound if bound <= most else self._measured_cost(pattern, document)

    def _measured_cost(self, pattern: Pattern, document: Document) -> float:
        return expression_cost(self._compiled_of(pattern).expression, sizes_of(document))

    def _verdicts(
        self, costs: Mapping[Pattern, float], document: Document
    ) -> dict[Pattern, bool | None]:
        """The verdict on each pattern, the cheapest first if not all can be decided."""
        times = _times(document)
        left, most = self._document_cost_max * times, self._cost_max * times
        within = [pattern for pattern, cost in costs.items() if cost <= most]
        walks = [pattern for pattern in costs if costs[pattern] > most and pattern.exact]
        if walks or sum(costs[pattern] for pattern in within) > left:
            within.sort(key=lambda one: (costs[one], one.text))
            walks.sort(key=lambda one: (costs[one], one.text))
        verdicts: dict[Pattern, bool | None] = dict.fromkeys(costs)
        for pattern in within:
            if costs[pattern] > left:
                self._count(len(costs), costly=True)
                return verdicts
            left -= costs[pattern]
            verdicts[pattern] = self._evaluate(pattern, document)
        walk = ConditionWalk(document)
        for number, pattern in enumerate(walks):
            # What the cheaper ones leave is for the others.
            steps_max = int(left / (len(walks) - number) / _WALKING)
            verdicts[pattern], steps = walk.holds(pattern.condition, steps_max)
            left -= steps * _WALKING
        costly = any(verdicts[pattern] is None for pattern in walks)
        self._count(len(costs), walked=len(walks), costly=costly)
        return verdicts

    def _count(
        self, decided: int = 0, *, by_libxml2: int = 0, walked: int = 0, costly: bool = False
    ) -> None:
        """Add to the counters, which several threads do at once."""
        with self._lock:
            self.decided += decided
            self.by_libxml2 += by_libxml2
            self.walked += walked
            self.costly_documents += costly

    def _evaluate(self, pattern: Pattern, document: Document) -> bool | None:
        self._count(by_libxml2=1)
        try:
            return bool(self._compiled_of(pattern).xpath(document.tree))
        except etree.XPathError:
            # libxml2 has bounds of its own, on the size of node-sets and on recursion.
            return None

    def forget(self, pattern: Pattern) -> None:
        """Free what is held for a pattern that nobody needs any more."""
        with self._lock:
            self._compiled.pop(pattern, None)

    def __len__(self) -> int:
        return len(self._compiled)

    def _compiled_of(self, pattern: Pattern) -> _Compiled:
        return self._compiled.get(pattern) or self._compile(pattern)

    def _compile(self, pattern: Pattern) -> _Compiled:
        compiled = _Compiled(pattern)
        with self._lock:
            self._compiled[pattern] = compiled
            if len(self._compiled) > self.compiled_max:
                # The one compiled longest ago; keeping track of use would cost every evaluation.
                del self._compiled[next(iter(self._compiled))]
        return compiled


def picked(patterns: Mapping[int, Pattern], ids: Iterable[int]) -> dict[int, Pattern]:
    """The patterns of these ids, as far as they are there."""
    found = ((one, patterns.get(one)) for one in ids)
    return {one: pattern for one, pattern in found if pattern is not None}


def _times(document: Document) -> float:
    """How many times as much as on a small document may be done on this one."""
    return 1 if scale(document) <= COST_NODES else 1 + sizes_of(document).nodes / COST_NODES
