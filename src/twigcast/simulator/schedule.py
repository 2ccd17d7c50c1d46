"""Schedules: all that happens to a network from outside, fixed before anything happens.

A schedule is a network of brokers and links, and what is done to it: publishers advertise and hand
in documents, clients subscribe and leave, links are lost and return. It begins with *phases* that
set the stage: each is played until the network is quiet again, then the next begins. The last phase
is the schedule itself, and its times are counted from its beginning.

So the same schedule can be played under each strategy, and each time it goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from twigcast.routing.topology.model import Tree

Outside: TypeAlias = Subscribe | Unsubscribe | Advertise | Unadvertise | Publish
"""What clients and publishers do to their broker."""


@dataclass(frozen=True, slots=True)
class ClientEvent:
    """A client or publisher comes to a broker."""

    at: float
    broker: BrokerId
    event: Outside


@dataclass(frozen=True, slots=True)
class LinkLost:
    """A link is lost, and what is on its way over it."""

    at: float
    between: tuple[BrokerId, BrokerId]


@dataclass(frozen=True, slots=True)
class LinkReturns:
    """A link can be used again."""

    at: float
    between: tuple[BrokerId, BrokerId]


TimedEvent: TypeAlias = ClientEvent | LinkLost | LinkReturns
Phase: TypeAlias = tuple[TimedEvent, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A network, the phases that set the stage, and what happens then."""

    network: Tree
    stage: tuple[Phase, ...] = ()
    then: Phase = ()
    start: float | None = None
    """When the schedule itself begins; None for when the stage is set and all is quiet."""


def unadvertised_publishers(schedule: Schedule) -> tuple[tuple[BrokerId, str], ...]:
    """Who publishes, at which broker, without an advertisement that stands at that time."""
    standing: dict[tuple[BrokerId, AdvertisementId], str] = {}
    unadvertised: dict[tuple[BrokerId, str], None] = {}
    then = sorted(schedule.then, key=lambda timed: timed.at)
    for timed in chain(*schedule.stage, then):
        if not isinstance(timed, ClientEvent):
            continue
        broker, event = timed.broker, timed.event
        match event:
            case Advertise():
                standing[broker, event.id] = event.publisher
            case Unadvertise():
                standing.pop((broker, event.id), None)
            case Publish():
                publisher = event.publication.publisher
                theirs = (name for (place, _), name in standing.items() if place == broker)
                if publisher not in theirs:
                    unadvertised[broker, publisher] = None
            case _:
                pass
    return tuple(unadvertised)
