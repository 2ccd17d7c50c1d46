"""The engine protocol behind :class:`twigcast.matching.Matcher`.

The matcher takes care of everything that all engines share: parsing expressions, refusing double
ids, ids that are texts, groups, batches, counting. An engine keeps patterns under integer ids and
decides documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from twigcast.display import some_of
from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Decision:
    """What was found out about one document; ids ascending, integers before texts.

    ``undecided`` are subscriptions that would have cost too much on this document: by themselves
    (``residual_cost_max``, outside the exact fragment only), or because all together did and these
    were the dearest (``document_cost_max``). Neither a match nor a miss, and never passed over in
    silence.

    >>> from twigcast import Matcher
    >>> Matcher({"a": "//price", "b": "//cost"}).decide("<trade><price/></trade>")
    Decision(matches=('a',), undecided=())
    """

    matches: tuple[Any, ...]
    """The ids of the subscriptions that match, as they were given."""
    undecided: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"Decision(matches={some_of(self.matches)}, undecided={some_of(self.undecided)})"


@dataclass(frozen=True, slots=True)
class EngineStatistics:
    """How an engine fares."""

    patterns: int
    """Distinct patterns; subscriptions of equal patterns share one."""
    residual: int
    """Those of them outside the exact fragment, which have to be evaluated."""
    unfiltered: int
    """Patterns that every document is a candidate for."""
    candidates: int
    """Patterns evaluated so far, over all documents."""
    by_libxml2: int
    """Pairs of document and pattern that libxml2 has evaluated."""
    walked: int
    """Evaluations too costly for libxml2 that were decided by the kernel, or, where that is not
    installed, by walking the tree."""
    compiled: int
    """Expressions held compiled, of at most ``compiled_max``."""
    compiled_max: int
    costly_documents: int
    """Documents on which all subscriptions together came near ``document_cost_max``, or over it:
    the work was given in rounds, and the dearest may be undecided."""


class Verdicts(NamedTuple):
    """The kernel's verdicts on a document; ids ascending."""

    matches: Sequence[int]
    unsure: Sequence[int]
    """What it leaves to libxml2."""
    undecided: Sequence[int]
    """What would take too many steps."""


class Kernel(Protocol):
    """The kernel beside another engine: it finds what is undecided, so that all engines agree."""

    def add(self, id: int, pattern: Pattern) -> None:
        """Take in a pattern under an id that is not in use."""

    def remove(self, id: int) -> bool:
        """Forget the id; whether it was there."""

    def verdicts(self, document: Document, skip: Collection[int]) -> Verdicts:
        """The kernel's verdicts, without libxml2."""

    @property
    def costly_documents(self) -> int:
        """Documents on which all subscriptions together took too many steps for one round."""


MakeKernel: TypeAlias = Callable[[], Kernel]


class Engine(Protocol):
    """A changing set of patterns that documents are matched against."""

    name: str

    def add(self, id: int, pattern: Pattern) -> None:
        """Take in a pattern under an id that is not in use."""

    def remove(self, id: int) -> bool:
        """Forget the id and whatever only it needed; whether it was there."""

    @property
    def patterns(self) -> Mapping[int, Pattern]:
        """The pattern under each id."""

    def decide(self, document: Document, skip: Collection[int]) -> Decision:
        """Which ids match; those in ``skip`` are not looked at."""

    def prepared(self, groups: Sequence[Collection[int]]) -> Sequence[Collection[int]]:
        """Groups prepared for many documents."""

    def decide_links(
        self, document: Document, groups: Sequence[Collection[int]], skip: Collection[int]
    ) -> tuple[list[bool], tuple[int, ...]]:
        """Whether each group has a match, and the undecided ids of the groups that have none.

        A group's first match decides it; what comes after is not looked at.
        """

    def statistics(self) -> EngineStatistics:
        """The counters as they are now."""
