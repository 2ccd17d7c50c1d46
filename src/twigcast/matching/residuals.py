"""What only libxml2 can decide: compiled expressions, within bounds of work and of memory.

Every engine comes here with its *candidates*: the patterns that a document may match as far as the
engine can tell. Each is compiled when it is first needed and kept, up to a bound. Before libxml2
is asked, the work is estimated (:mod:`~twigcast.matching.cost`): an exact pattern over the bound
is decided by :mod:`~twigcast.matching.walk` instead, any other stays undecided.

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

from twigcast.language.document import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.cost import condition_cost
from twigcast.matching.engine import Decision
from twigcast.matching.sizes import SCALES, scale, sizes_at_scale, sizes_of
from twigcast.matching.walk import holds

__all__ = ["COMPILED_MAX", "COST_MAX", "Residuals"]

COST_MAX: Final = 10_000_000
"""Visits that one expression may cost on one document: some 50 to 100 ms of libxml2's time."""

COMPILED_MAX: Final = 100_000
"""Compiled expressions kept, at about 2 KB each."""


class _Compiled:
    """A compiled expression, and up to which scale of documents its cost is no question."""

    __slots__ = ("_safe", "_unsafe", "xpath")

    def __init__(self, pattern: Pattern) -> None:
        text, namespaces = pattern.for_libxml2()
        # As a predicate the first node found will do; boolean(…) would find and sort them all.
        whole = f"boolean(/self::node()[{text}])"
        self.xpath = etree.XPath(whole, namespaces=namespaces, regexp=False)
        self._safe, self._unsafe = 0.0, math.inf

    def is_safe(self, pattern: Pattern, size: float, cost_max: int) -> bool:
        """Whether no document of the scale can cost more; tried at most once for each."""
        if size <= self._safe:
            return True
        tried = next((one for one in SCALES if one >= size), math.inf)
        if tried >= self._unsafe:
            return False
        if condition_cost(pattern.condition, sizes_at_scale(int(tried))) > cost_max:
            self._unsafe = tried
            return False
        self._safe = tried
        return True


class Residuals:
    """Decides patterns one by one; ``cost_max`` bounds the work, ``compiled_max`` the memory.

    Several threads may ask at once. ``decided`` and ``walked`` count what was done so far.
    """

    def __init__(self, *, cost_max: int = COST_MAX, compiled_max: int = COMPILED_MAX) -> None:
        self.compiled_max = compiled_max
        self.decided = 0
        self.walked = 0
        self._cost_max = cost_max
        self._compiled: dict[Pattern, _Compiled] = {}
        self._lock = Lock()

    def decide(self, candidates: Iterable[tuple[int, Pattern]], document: Document) -> Decision:
        """Which of the ids match, each distinct pattern being evaluated once."""
        verdicts: dict[Pattern, bool | None] = {}
        found: dict[bool | None, list[int]] = {True: [], False: [], None: []}
        for one, pattern in candidates:
            if pattern not in verdicts:
                verdicts[pattern] = self.verdict(pattern, document)
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
        verdicts: dict[Pattern, bool | None] = {}

        def verdict(one: int) -> bool | None:
            pattern = candidates.get(one)
            if pattern is None:
                return False
            if pattern not in verdicts:
                verdicts[pattern] = self.verdict(pattern, document)
            return verdicts[pattern]

        decided = [any(verdict(one) for one in group) for group in groups]
        open_groups = (group for group, found in zip(groups, decided, strict=True) if not found)
        undecided = {one for group in open_groups for one in group if verdict(one) is None}
        return decided, tuple(sorted(undecided))

    def verdict(self, pattern: Pattern, document: Document) -> bool | None:
        """Whether the document matches; None where deciding it would cost too much."""
        self.decided += 1
        compiled = self._compiled.get(pattern) or self._compile(pattern)
        if (
            not compiled.is_safe(pattern, scale(document), self._cost_max)
            and condition_cost(pattern.condition, sizes_of(document)) > self._cost_max
        ):
            if not pattern.exact:
                return None
            self.walked += 1
            return holds(pattern.condition, document)
        try:
            return bool(compiled.xpath(document.tree))
        except etree.XPathError:
            # libxml2 has bounds of its own, on the size of node-sets and on recursion.
            return None

    def forget(self, pattern: Pattern) -> None:
        """Give back what is held for a pattern that nobody asks for any more."""
        with self._lock:
            self._compiled.pop(pattern, None)

    def __len__(self) -> int:
        return len(self._compiled)

    def _compile(self, pattern: Pattern) -> _Compiled:
        compiled = _Compiled(pattern)
        with self._lock:
            self._compiled[pattern] = compiled
            if len(self._compiled) > self.compiled_max:
                # The one compiled longest ago; keeping track of use would cost every evaluation.
                del self._compiled[next(iter(self._compiled))]
        return compiled
