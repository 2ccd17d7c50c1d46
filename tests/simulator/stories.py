"""Stories that scenarios tell, and what is asked for and published in them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from twigcast.routing.events import Publish, Subscribe
from twigcast.simulator import Scenario, Schedule, generate_schedule
from twigcast.simulator.schedule import ClientEvent

TREE = '[topology]\ngenerate = "binary-tree"\nlevels = 3\n'


def told(text: str, folder: Path = Path(), seed: int | None = None) -> Schedule:
    return generate_schedule(
        Scenario.of(tomllib.loads(text), name="t", folder=folder, seed=seed)
    ).schedule


def subscribed(schedule: Schedule) -> list[tuple[str, Subscribe]]:
    return [
        (happening.broker, happening.event)
        for happening in schedule.stage[1]
        if isinstance(happening, ClientEvent) and isinstance(happening.event, Subscribe)
    ]


def published(schedule: Schedule) -> list[tuple[float, str, Publish]]:
    return [
        (happening.at, happening.broker, happening.event)
        for happening in schedule.then
        if isinstance(happening, ClientEvent) and isinstance(happening.event, Publish)
    ]
