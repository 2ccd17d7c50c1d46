r"""All routes of a tree at once, by two sweeps: up to the root, then down from it.

Over a link a broker sends what came from elsewhere (:mod:`~twigcast.routing.forwarding.forwarder`).
In a tree with a root, what a broker sends to its parent depends on its own subtree alone, and what
a parent sends to a child on everything else::

              a             up      d, e and f send what they have, b and c what they have
            /   \                   themselves and what came
           b     c          down    a sends b what it has and what came from c, and c likewise;
          / \     \                 then b sends to d and e, and c to f
         d   e     f

So each broker sends twice, a leaf once, and nothing is ever taken back. Routers arrive at the same
routes one change at a time: what is forwarded over a link is a function of what came from
elsewhere, whatever the order.

    >>> from twigcast.routing import Topology, covering
    >>> tree = Topology.of({"links": [["north", "hub"], ["hub", "south"]]}).tree()
    >>> asked = {"north": ["/a/b"], "south": ["/a", "/c"]}
    >>> own = {broker: [*map(Pattern.parse, texts)] for broker, texts in asked.items()}
    >>> routes = spread(tree, covering(), own)
    >>> sent = routes.forwarded
    >>> sent["hub", "south"], sent["north", "hub"], sent["hub", "north"]
    ((Pattern('/a'), Pattern('/c')), (Pattern('/a'), Pattern('/c')), (Pattern('/a/b'),))

Brokers of the same depth do not wait for each other, which is what lets Spark do this
(:mod:`twigcast.spark.plans.routes`): :func:`rounds` gives the order, :func:`forwarded_by` what one
broker sends. Where patterns follow advertisements, these are passed on first, in two sweeps of
their own.

A broker goes through the four steps of a strategy with the classes that routers use; only coverings
are found for all patterns together (:mod:`~twigcast.covering.index.batch_cover`), since nothing
will change. What routers merge at their ticks is merged here once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, assert_never

from twigcast.covering import Advertisement
from twigcast.covering.containment.covers import CompiledPattern, compiled_form
from twigcast.covering.delta import Difference
from twigcast.covering.index.batch_cover import minimal_sets
from twigcast.language import Pattern
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import LinkId
from twigcast.routing.forwarding.advertisement_table import AdvertisementTable
from twigcast.routing.forwarding.every_route import EveryRoute
from twigcast.routing.forwarding.outgoing_link import OutgoingLink
from twigcast.routing.forwarding.prefix_suppression import PrefixSuppression
from twigcast.routing.forwarding.suppression import Suppression
from twigcast.routing.path_unit.linear_parts import linear_parts
from twigcast.routing.piggyback.agreements import Agreements
from twigcast.routing.strategy import Strategy
from twigcast.routing.topology.model import Tree

COMPILED_PATTERNS_MAX: Final = 200_000
"""Compiled patterns that are kept, at about 2 KB each: brokers receive the same ones, and compiling
one takes five times as long as to find its place."""

CompiledOf: TypeAlias = Callable[[Pattern], CompiledPattern]
AdvertisementsByLink: TypeAlias = Mapping[tuple[str, str], tuple[Advertisement, ...]]
"""Advertisements by (broker, neighbour): what the neighbour has passed on to the broker."""


@dataclass(frozen=True, slots=True)
class Routes:
    """What all brokers know of each other, by (broker, neighbour)."""

    forwarded: Mapping[tuple[str, str], tuple[Pattern, ...]]
    """The patterns that lead from the broker to the neighbour, which sent them, in the order of
    texts. Each link is there, in both directions."""
    hints: Mapping[tuple[str, str], Hints] = field(default_factory=dict)
    """The annotations that the neighbour requests; none unless the strategy annotates.

    Routers send hints with each change; these are as if sent when all changes have come.
    """


class SweepStep(NamedTuple):
    """A broker sends to some of its neighbours."""

    broker: str
    to: tuple[str, ...]


def spread(
    tree: Tree,
    strategy: Strategy,
    own: Mapping[str, Collection[Pattern]],
    advertisements: Mapping[str, Collection[Advertisement]] | None = None,
    *,
    hints: bool = True,
) -> Routes:
    """The routes that routers come to, at brokers with these subscriptions and advertisements.

    Hints are left out where nobody wants them. UsageError for a broker that is not in the tree.
    """
    for broker in (*own, *(advertisements or ())):
        tree.neighbours(broker)
    by_link = passed_on(tree, strategy, advertisements or {})
    compiled_of, text_of = compiled_memory(), cache(_text)
    forwarded: dict[tuple[str, str], tuple[Pattern, ...]] = {}
    for step in chain.from_iterable(rounds(tree)):
        forwarded_over = forwarded_by(
            strategy,
            own.get(step.broker, ()),
            {link: forwarded[step.broker, link] for link in received_before(tree, step, forwarded)},
            step.to,
            advertised={link: by_link.get((step.broker, link), ()) for link in step.to},
            compiled_of=compiled_of,
        )
        for link, patterns in forwarded_over.items():
            forwarded[link, step.broker] = tuple(sorted(patterns, key=text_of))
    return Routes(forwarded, _hints(tree, strategy, own, forwarded) if hints else {})


def rounds(tree: Tree) -> tuple[tuple[SweepStep, ...], ...]:
    """The steps of both sweeps, round by round: up from the deepest brokers, then down.

    >>> from twigcast.routing import Topology
    >>> for steps in rounds(Topology.of({"links": [["a", "b"], ["a", "c"], ["c", "d"]]}).tree()):
    ...     print(*(f"{step.broker} to {', '.join(step.to)}" for step in steps), sep=";  ")
    d to c
    b to a;  c to a
    a to b, c
    c to d
    """
    levels: list[tuple[SweepStep, ...]] = []
    came_from: dict[str, str | None] = {part[0]: None for part in tree.parts}
    level = tuple(came_from)
    while level:
        children = {broker: _without(tree, broker, came_from[broker]) for broker in level}
        levels.append(tuple(SweepStep(broker, children[broker]) for broker in level))
        came_from.update((child, broker) for broker in level for child in children[broker])
        level = tuple(chain.from_iterable(children.values()))
    parents = {broker: (parent,) for broker, parent in came_from.items() if parent is not None}
    up = [
        tuple(SweepStep(step.broker, parents[step.broker]) for step in each)
        for each in levels[:0:-1]
    ]
    down = [tuple(step for step in each if step.to) for each in levels]
    return tuple(each for each in (*up, *down) if each)


def _without(tree: Tree, broker: str, parent: str | None) -> tuple[str, ...]:
    return tuple(each for each in tree.neighbours(broker) if each != parent)


def received_before(
    tree: Tree, step: SweepStep, forwarded: Collection[tuple[str, str]]
) -> tuple[str, ...]:
    """The neighbours that have sent what the step passes on: not to themselves alone."""
    return tuple(
        link
        for link in tree.neighbours(step.broker)
        if (step.broker, link) in forwarded and step.to != (link,)
    )


# A broker's step.


def forwarded_by(
    strategy: Strategy,
    own: Iterable[Pattern],
    received: Mapping[str, Iterable[Pattern]],
    to: Collection[str],
    *,
    advertised: Mapping[str, tuple[Advertisement, ...]] | None = None,
    compiled_of: CompiledOf | None = None,
) -> dict[str, tuple[Pattern, ...]]:
    """What a broker sends some neighbours, given its clients' patterns and what came from others.

    ``advertised`` is what came by the links to these neighbours. Patterns are in no special order,
    but always in the same.
    """
    if strategy.unit == "path":
        own = chain.from_iterable(map(linear_parts, own))
    sources: dict[str | None, Iterable[Pattern]] = {None: own}
    sources.update(received)
    possible = _not_held_back(strategy, sources, to, compiled_of)
    if strategy.towards == "all" and strategy.merging == "none":
        return possible
    advertisements = advertised or {}
    return {
        link: _outgoing(strategy, patterns, advertisements.get(link, ()))
        for link, patterns in possible.items()
    }


def _not_held_back(
    strategy: Strategy,
    sources: Mapping[str | None, Iterable[Pattern]],
    to: Collection[str],
    compiled_of: CompiledOf | None,
) -> dict[str, tuple[Pattern, ...]]:
    """Of all that came from elsewhere, what nothing else stands for."""
    match strategy.hold_back:
        case "everything":
            return dict.fromkeys(to, ())
        case "nothing":
            return _forwarded(EveryRoute(), sources, to)
        case "prefixed":
            return _forwarded(PrefixSuppression(strategy.depth), sources, to)
        case "covered":
            return _uncovered(sources, to, compiled_of)
        case _:
            assert_never(strategy.hold_back)


def _forwarded(
    order: Suppression, sources: Mapping[str | None, Iterable[Pattern]], to: Collection[str]
) -> dict[str, tuple[Pattern, ...]]:
    for link in to:
        order.add_link(LinkId(link))
    for source, patterns in sources.items():
        for pattern in patterns:
            order.add(pattern, None if source is None else LinkId(source))
    return {link: order.forwarded(LinkId(link)) for link in to}


def _uncovered(
    sources: Mapping[str | None, Iterable[Pattern]],
    to: Collection[str],
    compiled_of: CompiledOf | None,
) -> dict[str, tuple[Pattern, ...]]:
    bits = {link: 1 << place for place, link in enumerate(to)}
    every = (1 << len(bits)) - 1
    sets: dict[Pattern, int] = {}
    for source, patterns in sources.items():
        news = every if source is None else every & ~bits.get(source, 0)
        for pattern in patterns:
            sets[pattern] = sets.get(pattern, 0) | news
    forwarded = minimal_sets(sets, compiled_of=compiled_of)
    return {
        link: tuple(pattern for pattern, links in forwarded.items() if links & bit)
        for link, bit in bits.items()
    }


def _outgoing(
    strategy: Strategy, patterns: Iterable[Pattern], advertised: tuple[Advertisement, ...]
) -> tuple[Pattern, ...]:
    outgoing = OutgoingLink(strategy)
    outgoing.advertised(advertised)
    outgoing.add(Difference(added=tuple(sorted(patterns, key=_text))))
    if outgoing.wants_merge:
        outgoing.merge()
    return outgoing.whole()


def compiled_memory(patterns_max: int = COMPILED_PATTERNS_MAX) -> CompiledOf:
    """A function that compiles patterns for searches, and keeps so many of them."""

    @lru_cache(maxsize=patterns_max)
    def compiled_of(pattern: Pattern) -> CompiledPattern:
        return compiled_form(pattern.condition)

    return compiled_of


# Advertisements, which go first, and hints.


def passed_on(
    tree: Tree, strategy: Strategy, own: Mapping[str, Collection[Advertisement]]
) -> AdvertisementsByLink:
    """The advertisements that come by each link; none where nobody looks at them."""
    forwarded: dict[tuple[str, str], tuple[Advertisement, ...]] = {}
    if strategy.towards == "all":
        return forwarded
    for step in chain.from_iterable(rounds(tree)):
        table = AdvertisementTable()
        for advertisement in own.get(step.broker, ()):
            table.add(advertisement, None)
        for link in received_before(tree, step, forwarded):
            for advertisement in forwarded[step.broker, link]:
                table.add(advertisement, LinkId(link))
        for link in step.to:
            forwarded[link, step.broker] = table.forwarded(LinkId(link))
    return forwarded


def _hints(
    tree: Tree,
    strategy: Strategy,
    own: Mapping[str, Collection[Pattern]],
    forwarded: Mapping[tuple[str, str], tuple[Pattern, ...]],
) -> dict[tuple[str, str], Hints]:
    if strategy.protocol == "none" or not Agreements(strategy).kinds:
        return {}
    hints = {}
    for broker in tree.brokers:
        agreements, links = Agreements(strategy), tree.neighbours(broker)
        for pattern in chain(own.get(broker, ()), *(forwarded[broker, link] for link in links)):
            agreements.add(pattern)
        for link in links:
            hints[link, broker] = agreements.send(LinkId(link), forwarded[link, broker], 1, 1)
    return hints


def _text(pattern: Pattern) -> str:
    return pattern.text
