"""The traffic of each strategy of the papers, for the very same deliveries.

Each strategy is run over the whole feed, on the same Spark. Three things are measured: the number
of *crossings* (one document over one link; needless if no subscription behind the link matches it),
their bytes, and the number of *routes* that the brokers had to keep. Cheap tables make for much
traffic and the other way round, which is what the papers are about. That everybody received the
same is checked, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from twigcast.cli.demo.feed import DemoFeed
from twigcast.cli.demo.regions import NEWSROOM
from twigcast.errors import TwigcastError
from twigcast.files.schemas import shipped_schema

if TYPE_CHECKING:
    from twigcast.language import Schema
    from twigcast.spark import Run

COMPARED: Final = {
    "flooding": "nothing: every document goes everywhere",
    "prefix(depth=3)": "YAK: of each path the first three steps",
    "piggyback(space=0.5)": "Piggyback: covering, aggregated to half the steps",
    "prefix": "YAK: paths, without values",
    "identity": "Gryphon: every subscription",
    "covering": "XNET: what no other subscription covers",
    "advertised": "Dissemination: covering, towards publishers only",
}
"""Strategies beside that of the main run, and what brokers tell each other."""


@dataclass(frozen=True, slots=True)
class StrategyTraffic:
    """What one strategy took to serve everybody."""

    strategy: str
    idea: str
    crossings: int
    needless: int
    bytes: int
    routes: int

    @property
    def needless_share(self) -> float:
        """Of the crossings, those that led to nobody."""
        return self.needless / self.crossings if self.crossings else 0.0


class LinkLoad(NamedTuple):
    """What went over one link in one direction."""

    documents: int
    bytes: int
    needless: int


def measure(feed: DemoFeed, main: Run, strategy: str) -> StrategyTraffic:
    """The traffic of a strategy, on the Spark that is running.

    A TwigcastError if it delivers anything else than the main run.
    """
    from twigcast.spark import Pipeline

    pipeline = Pipeline(
        None, feed.topology, feed.subscriptions, strategy, advertisements=advertised()
    )
    with TemporaryDirectory(prefix="twigcast-demo-") as folder:
        run = pipeline.disseminate(feed.documents, folder)
        if _pairs(Path(folder)) != _pairs(Path(main.out)):
            raise TwigcastError(
                f"{strategy} and {main.strategy} disagree on the demo: please report this"
            )
        return traffic_of(run, COMPARED[strategy])


def advertised() -> dict[str, Schema]:
    """What the newsroom has advertised, for strategies that make use of it."""
    return {NEWSROOM: shipped_schema("news")}


def traffic_of(run: Run, idea: str) -> StrategyTraffic:
    """The sums of a finished run."""
    total = sum(link.bytes for link in carried_by_link(Path(run.out)).values())
    return StrategyTraffic(run.strategy, idea, run.crossings, run.needless, total, run.routes)


def carried_by_link(tables: Path) -> Mapping[tuple[str, str], LinkLoad]:
    """The table ``traffic`` of a finished run, by (broker, neighbour)."""
    rows = _columns(tables / "traffic", "broker", "neighbour", *LinkLoad._fields)
    return {(broker, neighbour): LinkLoad(*sums) for broker, neighbour, *sums in rows}


def _pairs(tables: Path) -> set[tuple[str, str]]:
    """Who received what."""
    return set(_columns(tables / "deliveries", "document", "subscription"))


def _columns(table: Path, *names: str) -> Iterator[tuple[Any, ...]]:
    import pyarrow.parquet as pq

    read = pq.read_table(table, columns=list(names))
    return zip(*(read.column(name).to_pylist() for name in names), strict=True)
