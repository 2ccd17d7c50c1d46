"""The engine ``lxml``: one compiled expression after the other, behind a label prefilter.

The plainest engine that is always right, because libxml2, the oracle of matching, decides
everything. It stays in every test and every benchmark as the measure of the others.

Per document: its labels select candidates (:mod:`~twigcast.matching.prefilter`); each distinct
candidate pattern is evaluated once, however many subscriptions share it. Where the kernel is
installed, it finds the pairs that are undecided, as it does for the engine ``native``; all others
libxml2 decides, unless it could take seconds for one. Without the kernel the bounds are those of
:mod:`~twigcast.matching.residual.libxml2`.

Readers on several threads are safe beside a writer: candidates are gathered under a lock,
evaluated outside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.interface.engine import Decision, EngineStatistics, MakeKernel
from twigcast.matching.prefilter import LabelIndex, required_labels
from twigcast.matching.residual.libxml2 import (
    COMPILED_MAX,
    COST_MAX,
    DOCUMENT_COST_MAX,
    Residuals,
    picked,
)
from twigcast.matching.restorable import RestorableEngine


class LxmlEngine(RestorableEngine):
    """Compiled expressions behind a label prefilter."""

    name = "lxml"

    def __init__(
        self,
        *,
        cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        compiled_max: int = COMPILED_MAX,
        kernel: MakeKernel | None = None,
    ) -> None:
        self._residuals = Residuals(
            cost_max=cost_max, document_cost_max=document_cost_max, compiled_max=compiled_max
        )
        super().__init__(kernel)

    def _begin(self) -> None:
        super()._begin()
        self._ids: dict[Pattern, tuple[int, ...]] = {}
        self._index: LabelIndex[Pattern] = LabelIndex()
        self._residual = 0

    def _take_in(self, id: int, pattern: Pattern) -> None:
        ids = self._ids.get(pattern)
        if ids is None:
            ids = ()
            self._index.add(pattern, required_labels(pattern.necessary.condition))
            self._residual += not pattern.exact
        self._ids[pattern] = (*ids, id)

    def _take_out(self, id: int, pattern: Pattern) -> None:
        left = tuple(other for other in self._ids[pattern] if other != id)
        if left:
            self._ids[pattern] = left
            return
        del self._ids[pattern]
        self._index.remove(pattern)
        self._residuals.forget(pattern)
        self._residual -= not pattern.exact

    def decide(self, document: Document, skip: Collection[int]) -> Decision:
        """Which ids match; those in ``skip`` are not looked at."""
        candidates = self._gather(document, skip)
        if self._kernel is None:
            return self._residuals.decide(candidates.items(), document)
        verdicts = self._kernel.verdicts(document, skip)
        answer = self._residuals.answers(document, frozenset(verdicts.matches))
        open_ids = {*verdicts.unsure, *verdicts.undecided}
        sure = ((one, pattern) for one, pattern in candidates.items() if one not in open_ids)
        matches = [one for one, pattern in sure if answer(one, pattern)]
        unsure = picked(self._pattern_of, verdicts.unsure)
        return self._residuals.completed(matches, unsure, document, undecided=verdicts.undecided)

    def decide_links(
        self, document: Document, groups: Sequence[Collection[int]], skip: Collection[int]
    ) -> tuple[list[bool], tuple[int, ...]]:
        """Whether each group has a match, and the undecided ids where that leaves doubt."""
        candidates = self._gather(document, skip)
        if self._kernel is None:
            return self._residuals.decide_links(groups, candidates, document)
        verdicts = self._kernel.verdicts(document, skip)
        answer = self._residuals.answers(document, frozenset(verdicts.matches))
        sure = candidates.keys() - {*verdicts.unsure, *verdicts.undecided}
        found = [
            any(answer(one, candidates[one]) for one in group if one in sure) for group in groups
        ]
        unsure = picked(self._pattern_of, verdicts.unsure)
        return self._residuals.completed_links(
            groups, found, unsure, document, undecided=verdicts.undecided
        )

    def statistics(self) -> EngineStatistics:
        """The counters as they are now."""
        return EngineStatistics(
            patterns=len(self._ids),
            residual=self._residual,
            unfiltered=self._index.unfiltered,
            candidates=self._residuals.decided,
            by_libxml2=self._residuals.by_libxml2,
            walked=self._residuals.walked,
            compiled=len(self._residuals),
            compiled_max=self._residuals.compiled_max,
            costly_documents=self._residuals.costly_documents
            + (self._kernel.costly_documents if self._kernel else 0),
        )

    def _gather(self, document: Document, skip: Collection[int]) -> dict[int, Pattern]:
        labels = document.labels
        with self._lock:
            self._mend()
            found = self._index.candidates(labels)
            ids = ((one, pattern) for pattern in found for one in self._ids[pattern])
            return {one: pattern for one, pattern in ids if one not in skip}
