"""Small schedules, written by hand, for tests of the simulator."""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.language import Pattern
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Publication,
    Publish,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from twigcast.routing.in_memory.traffic import message_bytes
from twigcast.routing.topology.model import Topology
from twigcast.simulator import CostModel, Schedule
from twigcast.simulator.schedule import ClientEvent, LinkLost, LinkReturns, TimedEvent

A = b"<a><b/></a>"


def subscribes(broker: str, id: int, xpath: str, at: float = 0.0) -> ClientEvent:
    """A client of a broker subscribes."""
    event = Subscribe(SubscriptionId(id), f"client {id}", Pattern.parse(xpath))
    return ClientEvent(at, BrokerId(broker), event)


def unsubscribes(broker: str, id: int, at: float) -> ClientEvent:
    """A client of a broker subscribes no longer."""
    return ClientEvent(at, BrokerId(broker), Unsubscribe(SubscriptionId(id)))


def publishes(broker: str, name: str, at: float = 0.0, content: bytes = A) -> ClientEvent:
    """A document is handed in."""
    publication = Publication(name, BrokerId(broker), "publisher", content)
    return ClientEvent(at, BrokerId(broker), Publish(publication))


def lost(one: str, other: str, at: float) -> LinkLost:
    return LinkLost(at, (BrokerId(one), BrokerId(other)))


def returns(one: str, other: str, at: float) -> LinkReturns:
    return LinkReturns(at, (BrokerId(one), BrokerId(other)))


def schedule(
    links: list[object],
    subscriptions: Iterable[TimedEvent] = (),
    then: Iterable[TimedEvent] = (),
    start: float | None = None,
) -> Schedule:
    """A schedule with one phase before it."""
    network = Topology.of({"links": links}).tree()
    return Schedule(network, stage=(tuple(subscriptions),), then=tuple(then), start=start)


FREE = CostModel(0, 0, 0, 0, 0, 0, 0, 0)
NORTH_SOUTH: list[object] = [
    {"between": ["north", "south"], "latency_ms": 20, "bandwidth_mbps": 0.008}
]
"""A thousand bytes a second."""


def arrival_bytes(name: str, content: bytes = A) -> int:
    return message_bytes(Arrive(Publication(name, BrokerId("north"), "publisher", content)))
