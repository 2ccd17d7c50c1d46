"""After a failure a network delivers as before, and reports what failed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from tests.routing.broker.trap import (
    CALLED,
    DOCUMENTS,
    LINKS,
    PLACES,
    SCHEMA,
    Trap,
    World,
)
from twigcast.errors import InternalError, UsageError
from twigcast.routing import Network, Strategy
from twigcast.routing.broker.decider import DocumentDecider


def actions(world: World) -> Iterator[Callable[[], object]]:
    network = world.network
    yield lambda: network.publish("north", DOCUMENTS[0])
    yield lambda: world.subscribe("south", "//a/c")
    yield lambda: world.subscribe("west", "//*[c]")
    yield lambda: network.publish("hub", DOCUMENTS[3])
    yield lambda: world.unsubscribe(1)
    yield lambda: network.advertise("south", SCHEMA, publisher="press")
    yield lambda: network.remove_link("hub", "south")
    yield lambda: network.add_link("hub", "south")
    yield lambda: network.publish("south", DOCUMENTS[3])


@pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
@pytest.mark.parametrize("at", [1, 2, 5])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@pytest.mark.parametrize("chosen", CALLED, ids=lambda each: f"{each.name}-{each.unit}")
def test_a_network_delivers_as_before_after_something_failed(
    chosen: Strategy,
    place: tuple[type, str],
    at: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "twigcast")
    world = World(chosen)
    with monkeypatch.context() as patched:
        trap = Trap(patched, place, at)
        for action in actions(world):
            try:
                action()
            except UsageError as error:
                assert "failed: KeyError: 'nobody foresaw this'" in str(error)  # noqa: PT017
            except InternalError:
                pass
    if len(world.network.topology.links) < 3:
        world.network.add_link("hub", "south")
    world.check()
    counted = [world.network.statistics(each).internal_errors for each in world.network.brokers]
    assert sum(counted) == trap.sprung


def test_a_network_logs_what_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    network = Network(LINKS, "covering")
    network.subscribe("south", "ann", "//b")
    with monkeypatch.context() as patched:
        Trap(patched, (DocumentDecider, "decide"), 1)
        outcome = network.publish("north", b"<b/>")
    assert "deciding a document failed: KeyError" in str(outcome.refused)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith("broker north: deciding a document failed")
    assert record.exc_info is not None
    assert len(network.publish("north", b"<b/>").deliveries) == 1
