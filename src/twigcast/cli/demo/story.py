"""All that the demo has to tell, gathered before it is told: on the screen and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from twigcast.cli.demo.comparison import Comparison
from twigcast.cli.demo.feed import Feed
from twigcast.cli.demo.near_miss import NearMiss
from twigcast.cli.demo.tally import Tally

if TYPE_CHECKING:
    from twigcast.spark import Run

__all__ = ["Story"]


@dataclass(frozen=True, slots=True)
class Story:
    """What was made, what the run gave, and what can be learned from it."""

    feed: Feed
    run: Run
    tally: Tally
    near_miss: NearMiss | None
    comparison: Comparison
    commands: tuple[str, ...]
    spark_version: str
    seed: int
