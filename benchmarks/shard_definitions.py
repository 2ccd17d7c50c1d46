"""The definitions of shards: how many of 16 a document reaches.

The expected numbers are counts that reproduce on every machine: what one matcher finds, and how
often documents visit shards.
"""

from __future__ import annotations

from benchmarks.bars import Bar
from benchmarks.definition import FEWER_TURNS, Definition

_ENGINES = ("similar", "by hash", "by hash, no summaries", "one matcher")


def _shards(
    name: str, subscriptions: int, *, deliveries: int, visits: tuple[int, int, int]
) -> Definition:
    """Subscriptions split into 16 shards; ``visits`` are those of the engines that have any."""
    bar = Bar(
        says="similar: with 16 shards and regional interests a document reaches fewer than half of "
        "them on average",
        engine="similar",
        figure="reached_share",
        at_most=0.5,
    )
    counts = zip(_ENGINES, visits, strict=False)
    return Definition(
        name=f"news-shards-{name}-{subscriptions // 1_000}k",
        kind="shards",
        workload=f"news/{name}",
        seed=1,
        subscriptions=subscriptions,
        documents=200,
        engines=_ENGINES,
        expected={
            "deliveries": deliveries,
            "differences": 0,
            **{f"visits, {engine}": count for engine, count in counts},
        },
        bars=(bar,) if name == "regional" else (),
        turns=FEWER_TURNS if name == "regional" else 1,
    )


SHARD_DEFINITIONS = (
    _shards("regional", 50_000, deliveries=7_093, visits=(177, 1_984, 3_200)),
    _shards("topics", 5_000, deliveries=118_165, visits=(2_058, 3_085, 3_200)),
    _shards("paths", 20_000, deliveries=562_307, visits=(3_039, 3_200, 3_200)),
    _shards("values", 20_000, deliveries=119_070, visits=(3_104, 3_200, 3_200)),
)
