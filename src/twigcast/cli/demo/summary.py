"""The summary of the demo: all that is reported, on the screen and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twigcast.cli.demo.baseline_timing import Comparison
from twigcast.cli.demo.delivery_counts import DeliveryCounts
from twigcast.cli.demo.feed import DemoFeed
from twigcast.cli.demo.near_miss import NearMiss
from twigcast.cli.demo.strategy_traffic import LinkLoad, StrategyTraffic
from twigcast.routing import Topology

if TYPE_CHECKING:
    from twigcast.spark import Run


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """The feed, the results of the runs, and what can be learned from them."""

    feed: DemoFeed
    topology: Topology
    start_up_s: float
    """Until Java, Spark and its workers were there; none of it is in the seconds of the run."""
    run: Run
    tally: DeliveryCounts
    links: Mapping[tuple[str, str], LinkLoad]
    """What the main run sent over links, by (broker, neighbour)."""
    traffic: tuple[StrategyTraffic, ...]
    """Strategy by strategy; the main run is the last."""
    near_miss: NearMiss | None
    comparison: Comparison
    commands: tuple[str, ...]
    spark_version: str
    seed: int

    @property
    def compiling_s(self) -> float:
        """From subscriptions to what workers need: the matcher and the routes."""
        return self.run.seconds["subscriptions"] + self.run.seconds["routes"]

    @property
    def matching_s(self) -> float:
        """From documents in a file to finished tables."""
        return sum(self.run.seconds[step] for step in ("listing", "matching", "writing"))

    @property
    def document_ms(self) -> float:
        """What of the matching fell to one document, all workers together."""
        return 1000 * self.matching_s / self.run.documents

    @property
    def chosen(self) -> StrategyTraffic:
        """The traffic of the main run."""
        return self.traffic[-1]

    @property
    def most(self) -> StrategyTraffic:
        """The traffic of the strategy that sent most."""
        return max(self.traffic, key=lambda one: one.crossings)
