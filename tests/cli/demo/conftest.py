"""The story of a demo, as its page and the screen are told it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.cli.demo.baseline_timing import Comparison
from twigcast.cli.demo.delivery_counts import DeliveryCounts
from twigcast.cli.demo.feed import DemoFeed
from twigcast.cli.demo.near_miss import NearMiss
from twigcast.cli.demo.strategy_traffic import LinkLoad, StrategyTraffic
from twigcast.cli.demo.summary import DemoSummary
from twigcast.files import Subscription
from twigcast.language import Document
from twigcast.matching import explain
from twigcast.routing import Topology

if TYPE_CHECKING:
    from twigcast.spark import Run


def a_run() -> Run:
    from twigcast.spark import Run

    return Run(
        run="r1",
        out="out",
        batch=0,
        started=datetime(2026, 1, 2, tzinfo=UTC),
        strategy="best",
        plan="fused",
        shards=1,
        brokers=3,
        subscriptions=3,
        rejected=0,
        documents=20,
        bytes=1_000_000,
        deliveries=9,
        internal_errors=0,
        dead_letters=2,
        routes=4,
        crossings=8,
        needless=0,
        shard_visits=0,
        annotation_bytes=0,
        engine="lxml",
        matcher_version="v",
        matcher_loads=1,
        workers=1,
        partitions=1,
        seconds={
            "subscriptions": 0.25,
            "routes": 0.5,
            "listing": 0.125,
            "matching": 2.0,
            "writing": 0.375,
        },
    )


@pytest.fixture
def summary(tmp_path: Path) -> DemoSummary:
    one = Subscription("s1", "//a[. < 3][b]", subscriber="Fen & Co", broker="Fen")
    document = Document.parse(b"<a>1</a>", name="<d>.xml")
    tally = DeliveryCounts(
        documents=20,
        subscribers=2,
        deliveries=9,
        received={"Fen & Co": 7, "Lake Post": 1},
        delivered={"Fen & Co": 8, "Lake Post": 1},
        held={"Fen & Co": 2, "Lake Post": 1},
        receivers={0: 13, 1: 6, 2: 1},
        by_subscription={"s1": frozenset({"x"})},
        by_broker={"Fen": 7, "Lake": 1},
    )
    return DemoSummary(
        feed=DemoFeed(
            tmp_path / "feed.zip",
            tmp_path / "subs.csv",
            tmp_path / "topology.toml",
            document_count=20,
            subscription_count=3,
            subscribers=("Fen & Co", "Lake Post"),
        ),
        topology=Topology.of({"links": [["Hub", "Fen"], ["Hub", "Lake"]]}),
        start_up_s=9.0,
        run=a_run(),
        tally=tally,
        links={("Hub", "Fen"): LinkLoad(7, 350_000, 0), ("Hub", "Lake"): LinkLoad(1, 50_000, 0)},
        traffic=(
            StrategyTraffic("flooding", "nothing & more", 40, 32, 2_000_000, 0),
            StrategyTraffic("best", "something", 8, 0, 400_000, 4),
        ),
        near_miss=NearMiss(one, "<d>.xml", explain(one.xpath, document), by_one_predicate=True),
        comparison=Comparison(5, one_by_one=10.0, matcher=40.0),
        commands=("twigcast explain '//a[. < 3]' x.xml",),
        spark_version="4",
        seed=1,
    )
