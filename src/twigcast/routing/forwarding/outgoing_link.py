"""The sending side of a link: what is sent, out of what could be forwarded.

The first two steps of a strategy, to widen and to hold back, are done for all links together. An
:class:`OutgoingLink` does the rest for one link, and keeps what has been sent over it:

    could be forwarded ──▶ direct ──▶ merge, now and then ──▶ sent
                             ▲             ▲
          advertisements that came by the link

    >>> from twigcast import Pattern, Schema
    >>> from twigcast.routing.strategy import advertised
    >>> south = OutgoingLink(advertised(merging="perfect"))
    >>> asked_for = ("/news", "/stock/ask", "/stock/bid")
    >>> south.add(Difference(added=tuple(map(Pattern.parse, asked_for))))
    >>> south.flush()
    Difference(added=(), removed=())
    >>> dtd = b"<!ELEMENT stock (bid|ask)> <!ELEMENT bid EMPTY> <!ELEMENT ask EMPTY>"
    >>> south.advertised((Advertisement.of_schema(Schema.parse(dtd), roots=["stock"]),))
    >>> south.flush()
    Difference(added=(Pattern('/stock/ask'), Pattern('/stock/bid')), removed=())
    >>> south.wants_merge, south.merge(), south.flush()
    (True, None, Difference(added=(Pattern('/stock/*'),),
                            removed=(Pattern('/stock/ask'), Pattern('/stock/bid'))))

*Merging.* A document that comes by the link keeps to one of the advertisements that came by it. So
mergers are measured by the union of these, which has the documents of each: perfect under the union
is perfect for all that can come. (Flooded documents keep to nothing, and go everywhere anyway.)
Between two merge ticks a :class:`~twigcast.covering.merging.merged_set.MergedSet` sees to it that
no merger adds too much: what comes joins a merger or is sent as it is, and a merger that has become
too wide, because a part has gone or an advertisement come, is dissolved at once. A merger covers
its parts under any advertisement; only what it adds depends on them.

*Aggregating* needs no advertisements: whatever is directed is made wider until it fits a share of
its steps, and advertisements only tell where to begin. An
:class:`~twigcast.covering.merging.aggregated_set.AggregatedSet` keeps that, and between two ticks
no aggregate is dissolved that still stands for something.

*Unique.* Directing depends on the patterns and the advertisements alone. Merging begins anew from
what is directed, in the order of texts; if covered patterns are held back, mergers that cover
others hold these back, too. So after a tick, what is forwarded is a function of what could be
forwarded and the advertisements, whatever went before.

*Limits.* A union of advertisements that is too large for an automaton is no fault of anyone: then
nothing is merged on this link, or aggregated as without advertisements, and
:meth:`OutgoingLink.statistics` tells.
"""

from __future__ import annotations

from typing import Final, NamedTuple, assert_never

from twigcast.covering import Advertisement, MergedSet
from twigcast.covering.containment.with_schema import SchemaPaths
from twigcast.covering.delta import DeltaSet, Difference
from twigcast.covering.merging.aggregated_set import AggregatedSet
from twigcast.covering.paths.automaton import AUTOMATON_LIMITS, AutomatonLimits
from twigcast.errors import SchemaLimitError
from twigcast.language import Pattern
from twigcast.routing.forwarding.direction import Direction
from twigcast.routing.strategy import Strategy

MERGE_TICK_STEPS_MAX: Final = 1_000_000
"""Labels followed to count degrees at a merge tick of one link: about a second, which a broker with
some links can spare a minute. What is perfect without counting is merged before."""


class OutgoingStatistics(NamedTuple):
    """How much is forwarded over a link, and how it came to that."""

    possible: int
    """Patterns that could be forwarded."""
    directed: int
    """Those of them that are worth sending over this link."""
    forwarded: int
    """Patterns that are sent: the directed ones, or mergers or aggregates of them."""
    advertisements: int
    """Different ones that came by the link; 0 where nobody looks at them."""
    comparisons: int
    """Questions whether a pattern overlaps an advertisement, so far."""
    merges: int
    """Merge ticks so far."""
    unions_refused: int
    """How often the union of the advertisements was too large, so that nothing was merged."""
    within_budget: bool
    """Whether the last merge tick could count all degrees that it asked for."""


class OutgoingLink:
    """What is forwarded over one link, kept up to date."""

    def __init__(
        self,
        strategy: Strategy,
        *,
        limits: AutomatonLimits = AUTOMATON_LIMITS,
        steps_max: int = MERGE_TICK_STEPS_MAX,
    ) -> None:
        self._limits = limits
        self._directed = None if strategy.towards == "all" else Direction(strategy.towards)
        self._merged = _merging(strategy, steps_max)
        self._sent = DeltaSet()
        self._changed = False
        """Whether something has changed since the last merge tick."""
        self._measured_anew = False
        """Whether the merged set has yet to be measured by other advertisements."""
        self._merges = 0
        self._unions_refused = 0

    def add(self, difference: Difference) -> None:
        """What could be forwarded over the link changes."""
        directed = self._directed
        self._follow(difference if directed is None else directed.add(difference))

    def advertised(self, advertisements: tuple[Advertisement, ...]) -> None:
        """These and no others have come by the link."""
        if self._directed is None:
            return
        before = set(self._directed.advertisements)
        change = self._directed.advertised(advertisements)
        if self._merged is not None and before != set(advertisements):
            self._changed = self._measured_anew = True
            if self._merged.merged:
                self._measure_anew(self._merged)
        self._follow(change)

    @property
    def wants_merge(self) -> bool:
        """Whether a merge tick could change what is forwarded."""
        merged = self._merged
        return self._changed and merged is not None and len(merged) >= merged.least

    def merge(self) -> None:
        """Merge anew, from the patterns that are directed over this link."""
        if self._merged is None:
            return
        if self._measured_anew:
            self._measure_anew(self._merged)
        self._send(self._merged.merge())
        self._merges += 1
        self._changed = False

    def flush(self) -> Difference:
        """What is to be forwarded anew, and then to be withdrawn, since the last call."""
        return self._sent.difference()

    def whole(self) -> tuple[Pattern, ...]:
        """All that is forwarded, in the order of texts."""
        return self._sent.patterns()

    def __len__(self) -> int:
        """How much is forwarded."""
        return len(self._sent)

    def statistics(self) -> OutgoingStatistics:
        """How much is forwarded, and why not more or less."""
        directed, merged = self._directed, self._merged
        to_send = len(self._sent) if merged is None else len(merged)
        return OutgoingStatistics(
            possible=to_send if directed is None else len(directed),
            directed=to_send,
            forwarded=len(self._sent),
            advertisements=0 if directed is None else len(directed.advertisements),
            comparisons=0 if directed is None else directed.comparisons,
            merges=self._merges,
            unions_refused=self._unions_refused,
            within_budget=merged is None or merged.within_budget,
        )

    def _follow(self, change: Difference) -> None:
        """What is directed over this link changes: send that, or have it merged."""
        if self._merged is None:
            self._send(change)
            return
        for pattern in change.added:
            self._send(self._merged.add(pattern))
        self._send(self._merged.remove(*change.removed))
        self._changed = self._changed or change != Difference()

    def _measure_anew(self, merged: MergedSet) -> None:
        """Have mergers measured by the advertisements there are, and those too wide dissolved."""
        self._measured_anew = False
        self._send(merged.under(self._union()))

    def _union(self) -> SchemaPaths | None:
        """The label paths of all advertisements; None if there is none, or if it is too large."""
        assert self._directed is not None
        ordered = sorted(self._directed.advertisements, key=lambda each: each.text)
        if not ordered:
            return None
        try:
            return SchemaPaths(ordered[0].union(*ordered[1:], limits=self._limits).paths)
        except SchemaLimitError:
            self._unions_refused += 1
            return None

    def _send(self, change: Difference) -> None:
        for pattern in change.added:
            self._sent.add(pattern)
        for pattern in change.removed:
            self._sent.remove(pattern)


def _merging(strategy: Strategy, steps_max: int) -> MergedSet | None:
    """What a strategy merges with; None if it does not."""
    minimal = strategy.hold_back == "covered"
    match strategy.merging:
        case "none":
            return None
        case "space":
            assert strategy.space is not None
            return AggregatedSet(strategy.space, minimal=minimal)
        case "perfect" | "imperfect":
            # Only where documents are held to advertisements is it known what a merger adds.
            if strategy.towards != "advertisers":
                return None
            degree = strategy.degree if strategy.merging == "imperfect" else 0
            return MergedSet(None, degree=degree, steps_max=steps_max, minimal=minimal)
        case _:
            assert_never(strategy.merging)
