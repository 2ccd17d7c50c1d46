"""Stories that scenarios tell, and what is asked for and published in them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from twigcast.routing.events import Publish, Subscribe
from twigcast.simulator import Scenario, Schedule, generate_schedule
from twigcast.simulator.schedule import ClientEvent

TREE = '[topology]\ngenerate = "binary-tree"\nlevels = 3\n'


def generated(text: str, folder: Path = Path(), seed: int | None = None) -> Schedule:
    return generate_schedule(
        Scenario.of(tomllib.loads(text), name="t", folder=folder, seed=seed)
    ).schedule


def subscribed(schedule: Schedule) -> list[tuple[str, Subscribe]]:
    return [
        (timed.broker, timed.event)
        for timed in schedule.stage[1]
        if isinstance(timed, ClientEvent) and isinstance(timed.event, Subscribe)
    ]


def published(schedule: Schedule) -> list[tuple[float, str, Publish]]:
    return [
        (timed.at, timed.broker, timed.event)
        for timed in schedule.then
        if isinstance(timed, ClientEvent) and isinstance(timed.event, Publish)
    ]
