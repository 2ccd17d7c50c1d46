"""The definitions of dissemination on Spark: one broker, many brokers, many hops.

The expected numbers were found with all engines in agreement; they reproduce on every machine.
"""

from __future__ import annotations

from benchmarks.bars import Bar
from benchmarks.definition import FEWER_TURNS, Definition

BROKERS = 127

_TREE = Definition(
    name="news-spark-brokers",
    kind="disseminating",
    workload="news/five-steps",
    seed=1,
    subscriptions=20_000,
    documents=3_000,
    engines=(
        "one broker",
        "fused, covering",
        "fused, prefix(depth=4)",
        "fused, flooding",
        "hops, covering",
        "hops, flooding",
    ),
    sampled={"hops, covering": 500, "hops, flooding": 200},
    expected={"all": 668_430, "sample": 45_303},
    bars=(
        Bar(
            says=f"fused: {BROKERS} brokers cost at most 3 times the CPU of one with the same "
            "subscriptions",
            engine="fused, covering",
            figure="cpu_us",
            over=("one broker", "cpu_us"),
            at_most=3,
        ),
        Bar(
            says="fused: also where routes are matched beside the subscriptions",
            engine="fused, prefix(depth=4)",
            figure="cpu_us",
            over=("one broker", "cpu_us"),
            at_most=3,
        ),
    ),
    turns=FEWER_TURNS,
    heavy=True,
    brokers=BROKERS,
)

_LINE = Definition(
    name="news-spark-hops",
    kind="disseminating",
    workload="news/five-steps",
    seed=1,
    subscriptions=1_000,
    documents=500,
    engines=("line of 5", "line of 17", "line of 65"),
    expected={"all": 11_815, "sample": 11_815},
    bars=(
        Bar(
            says="hops: along 64 links a hop costs at most 1.25 times what it does along 16",
            engine="line of 65",
            figure="hop_ms",
            over=("line of 17", "hop_ms"),
            at_most=1.25,
        ),
    ),
    turns=FEWER_TURNS,
    brokers=65,
)

_LOADS = Definition(
    name="news-spark-loads-1m",
    kind="disseminating",
    workload="news/mixed",
    seed=1,
    subscriptions=1_000_000,
    documents=100,
    engines=("one broker",),
    expected={"all": 3_276_635, "sample": 3_276_635},
    bars=(
        Bar(
            says="a matcher of 1,000,000 subscriptions is loaded once per worker and version",
            engine="one broker",
            figure="loads_per_worker",
            at_most=1,
        ),
    ),
    turns=1,
    heavy=True,
)

DISSEMINATION_DEFINITIONS = (_TREE, _LINE, _LOADS)
