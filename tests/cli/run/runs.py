"""A run that nobody ran, and the words that every run is given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twigcast.spark import Run

NEEDED = ("--subscriptions", "subs.csv", "--publications", "feed", "--out", "out")


def a_run(out: str, **told: object) -> Run:
    """How a run went that nobody ran."""
    from twigcast.spark import Run

    usual: dict[str, Any] = {
        "run": "r1",
        "out": out,
        "batch": 0,
        "started": datetime(2026, 1, 2, tzinfo=UTC),
        "strategy": "covering",
        "plan": "fused",
        "shards": 1,
        "brokers": 5,
        "subscriptions": 4,
        "rejected": 0,
        "documents": 1234,
        "bytes": 5_000_000,
        "deliveries": 99,
        "internal_errors": 0,
        "dead_letters": 0,
        "routes": 12,
        "crossings": 345,
        "needless": 6,
        "shard_visits": 0,
        "annotation_bytes": 0,
        "engine": "lxml",
        "matcher_version": "abc",
        "matcher_loads": 2,
        "workers": 2,
        "partitions": 8,
        "seconds": {"matching": 1.5, "writing": 0.5},
    }
    return Run(**{**usual, **told})
