"""A broker whose tables stand still, and where a document goes from there.

A :class:`~twigcast.routing.broker.router.Router` is made for a life in which subscriptions come and
go; it keeps whatever the next change may need, above all what covers what. Where all documents are
on their way at once, as in a batch, nothing changes meanwhile, and a broker is no more than its
tables::

    own       0: //trade   4: //news          its clients' subscriptions, by number
    routes    west: //trade[price]            what a neighbour has sent
              south: (none)

    decide(<feed><news/></feed>, came by west)    ->    own 4; no link

What it decides is what a router with these tables would. Such brokers are quick to make, also on
another machine than the one that has worked out the routes:

- One that sends no annotations is **one matcher**, of its own subscriptions and of the routes
  together, so that a document is read once. A compiled matcher can be mapped from a file as it is.
- One that sends annotations reads them by tables of what it sent over each link
  (:mod:`~twigcast.routing.annotations.hints`). The costly part of these, which of the broker's
  patterns each pattern that was sent covers, is found once, by :func:`agreements`, and goes along
  with the tables.

Where a strategy counts traffic in paths, documents still travel whole here: over the same links,
since a document has a path for a link exactly if one of its linear parts matches the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Final

from twigcast.covering import CoverIndex
from twigcast.errors import DocumentError
from twigcast.language import DocumentLimits, Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.matching import Matcher
from twigcast.routing.annotations.agreement import SentTable
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import Hints, HintTable, hint_table
from twigcast.routing.annotations.kinds import Kinds
from twigcast.routing.broker.decider import DocumentDecider
from twigcast.routing.events import (
    BrokerId,
    Change,
    Decide,
    Decided,
    LinkId,
    Publication,
    SubscriptionId,
)
from twigcast.routing.piggyback.plug_in import Piggybacking, plug_in_for
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables.in_flight import OpenDocument

_SESSION: Final = 1
"""Nothing changes, so all that was ever sent was sent at once: in change 1 of session 1."""


@dataclass(frozen=True, slots=True)
class StandingTables:
    """All that a broker knows. What holds for links holds for each of them."""

    own: Mapping[int, Pattern]
    """Its clients' subscriptions, by numbers from 0 on that need not be without gaps."""
    routes: Mapping[LinkId, tuple[Pattern, ...]]
    """The patterns that lead to each link, in the order of texts; a link may have none."""
    sent: Mapping[LinkId, tuple[Pattern, ...]] = field(default_factory=dict)
    """The patterns it sent over each link, which are the far broker's routes to it."""
    covered: Mapping[Pattern, tuple[Pattern, ...]] = field(default_factory=dict)
    """Which of its patterns each pattern it sent covers."""
    hints: Mapping[LinkId, Hints] = field(default_factory=dict)
    """What the far broker would like to know; nothing if it is not among them."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """All that it wants documents for, each once."""
        return tuple(dict.fromkeys([*self.own.values(), *_routes(self)]))


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """Where a document goes."""

    links: tuple[LinkId, ...]
    """In the order of names."""
    own: tuple[int, ...]
    """Subscriptions of the broker that it satisfies, ascending."""
    undecided: tuple[int, ...] = ()
    """Those that were too costly to decide, ascending."""
    annotations: tuple[Annotations | None, ...] = ()
    """What goes along over each of the links."""
    ignored: str | None = None
    """Why annotations that came with it could not be used."""


# Without annotations.


def compiled_tables(
    tables: StandingTables, *, engine: str = "auto", limits: DocumentLimits = LIBRARY_LIMITS
) -> Matcher:
    """Own subscriptions and routes in one matcher.

    Subscriptions go by their numbers there, and routes by :func:`route_id` of theirs, which are
    counted through all links in the order of their names.
    """
    matcher = Matcher(engine=engine, limits=limits)
    for number, pattern in tables.own.items():
        matcher.add(number, pattern)
    for number, pattern in enumerate(_routes(tables)):
        matcher.add(route_id(number), pattern)
    return matcher


def route_id(number: int) -> int:
    """What a route with this number, counted from 0, goes by beside subscriptions.

    >>> route_id(0), route_id(1)
    (-1, -2)
    """
    return -1 - number


class PlainBroker:
    """A broker that sends documents as they are: over links where a route may match.

    A document too many is dropped further on, one too few is lost. ``matcher`` is that of
    :func:`compiled_tables`; ``sizes`` are how many routes each link has.
    """

    def __init__(self, matcher: Matcher, sizes: Mapping[LinkId, int]) -> None:
        self.matcher = matcher
        self.links: tuple[LinkId, ...] = tuple(sorted(sizes))
        self.ends = tuple(accumulate(sizes[link] for link in self.links))
        """For each link, the number behind that of its last route."""


# With annotations.


def agreements(
    strategy: Strategy, tables: Mapping[BrokerId, StandingTables]
) -> dict[BrokerId, StandingTables]:
    """The tables of a whole network, completed by what its brokers have agreed on.

    Given are all brokers with their subscriptions and routes. Nothing is added unless the strategy
    annotates.
    """
    if strategy.protocol == "none":
        return dict(tables)
    kinds = Kinds.parse(strategy.annotations)
    with_sent = {
        broker: _with_sent(each, {link: tables[link].routes[broker] for link in each.routes}, kinds)
        for broker, each in tables.items()
    }
    requests = {
        (broker, link): _hint_table(each, link, kinds).hints
        for broker, each in with_sent.items()
        for link in each.routes
    }
    return {
        broker: replace(each, hints={link: requests[link, broker] for link in each.routes})
        for broker, each in with_sent.items()
    }


class AnnotatingBroker:
    """A broker that reads annotations and sends its own; ``tables`` are complete."""

    def __init__(
        self,
        strategy: Strategy,
        tables: StandingTables,
        *,
        engine: str = "auto",
        limits: DocumentLimits = LIBRARY_LIMITS,
    ) -> None:
        plug_in = plug_in_for(strategy, engine=engine, limits=limits)
        assert isinstance(plug_in, Piggybacking), "this strategy has no annotations"
        self._plug_in = plug_in
        self._routes = self._plug_in.routes
        for link, patterns in tables.routes.items():
            self._routes.add_link(link)
            for pattern in patterns:
                self._routes.add(pattern, link)
        for number, pattern in tables.own.items():
            self._routes.subscribe(SubscriptionId(number), pattern)
        if self._plug_in.agreed.kinds:
            self._agree(tables)
        self._decider = DocumentDecider(strategy, limits, self._plug_in)

    def _agree(self, tables: StandingTables) -> None:
        agreed = self._plug_in.agreed
        for link, routes in tables.routes.items():
            table = _hint_table(tables, link, agreed.kinds)
            agreed.record_sent(link, SentTable(_SESSION, 1, table))
            change = Change(_SESSION, 1, hints=tables.hints.get(link))
            watched, _ = agreed.receive(link, change, routes)
            for row in watched:
                self._routes.watch(row)

    def decide(
        self,
        publication: Publication,
        came_by: LinkId | None,
        *,
        annotations: Annotations | None = None,
        flooded: bool = False,
    ) -> RoutingDecision:
        """Where a document goes that came over a link, or from a publisher here if over none.

        One that is flooded goes over all links, whatever the routes. Raises DocumentError if it
        has to be read and cannot be.
        """
        snapshot = self._routes.snapshot()
        effect = Decide(
            0, publication, came_by, snapshot.version, flooded=flooded, annotations=annotations
        )
        agreements = self._plug_in.agreements(came_by, annotations)
        document = OpenDocument(effect, snapshot, agreements=agreements)
        try:
            return _together(self._answers(effect, document))
        finally:
            self._routes.close(snapshot)

    def _answers(self, effect: Decide, document: OpenDocument) -> Iterator[Decided]:
        is_final = False
        while not is_final:
            answer = self._decider.decide(effect, document)
            if answer.error is not None:
                raise DocumentError(answer.error)
            yield answer
            is_final = answer.final


def _together(answers: Iterable[Decided]) -> RoutingDecision:
    """Several answers to one question as one."""
    sent: dict[LinkId, Annotations | None] = {}
    own: list[int] = []
    undecided: list[int] = []
    ignored = None
    for answer in answers:
        annotations = answer.annotations or (None,) * len(answer.links)
        sent.update(zip(answer.links, annotations, strict=True))
        own += answer.subscriptions
        undecided += answer.undecided
        ignored = ignored or answer.ignored
    links = tuple(sorted(sent))
    return RoutingDecision(
        links,
        tuple(sorted(own)),
        tuple(sorted(undecided)),
        tuple(sent[link] for link in links),
        ignored,
    )


def _with_sent(
    tables: StandingTables, sent: Mapping[LinkId, tuple[Pattern, ...]], kinds: Kinds
) -> StandingTables:
    """The same tables, with what was sent, and what that covers."""
    covered: dict[Pattern, tuple[Pattern, ...]] = {}
    if kinds.ps or kinds.ns:
        patterns, index = tables.patterns, CoverIndex()
        for number, pattern in enumerate(patterns):
            index.add(number, pattern)
        for pattern in chain(*sent.values()):
            if pattern not in covered:
                covered[pattern] = tuple(patterns[each] for each in index.covered(pattern))
    return replace(tables, sent=sent, covered=covered)


def _hint_table(tables: StandingTables, link: LinkId, kinds: Kinds) -> HintTable:
    """What makes sense of annotations that come over a link: the same wherever it is made."""
    return hint_table(tables.sent[link], tables.patterns, tables.covered.__getitem__, kinds)


def _routes(tables: StandingTables) -> Iterator[Pattern]:
    """All routes in the order of their numbers."""
    return chain.from_iterable(tables.routes[link] for link in sorted(tables.routes))
