"""The definitions of streams: small batches, with few and with many subscriptions."""

from __future__ import annotations

from benchmarks.bars import Bar
from benchmarks.definition import FEWER_TURNS, Definition


def _streaming(subscriptions: int) -> Definition:
    """Batches of 20 documents in files."""
    return Definition(
        name=f"news-streaming-{subscriptions // 1_000}k",
        kind="streaming",
        workload="news/values",
        seed=1,
        subscriptions=subscriptions,
        documents=20,
        engines=("identity", "stream", "stream, changed"),
        expected={"differences": 0},
        bars=(
            Bar(
                says=f"stream: a batch of 20 documents with {subscriptions:,} subscriptions takes "
                "at most 3 times as long as Spark's own floor",
                engine="stream",
                figure="batch_ms",
                over=("identity", "batch_ms"),
                at_most=3,
            ),
        ),
        turns=FEWER_TURNS,
    )


STREAM_DEFINITIONS = (_streaming(1_000), _streaming(100_000))
