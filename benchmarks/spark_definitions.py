"""The definitions of the pipeline on Spark beside matching: DataFrames, routes, programs.

The expected numbers are counts that reproduce on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.bars import Bar
from benchmarks.definition import FEWER_TURNS, SETS, Definition


def _routes(
    shape: str,
    size: str,
    subscriptions: int,
    *,
    routes: tuple[int, int],
    distinct: int,
    covered: int,
) -> Definition:
    """The routes of 127 brokers; ``routes`` are those of all subscriptions, and of the sample."""
    whole, sample = routes
    bar = Bar(
        says=f"spark: the routes of {subscriptions:,} subscriptions ({shape}) at 127 brokers are "
        "found in less than 10 minutes on 2 cores",
        engine="spark",
        figure="real_s",
        at_most=600,
    )
    return Definition(
        name=f"news-routes-{shape}-{size}",
        kind="routes",
        workload=f"news/{shape}",
        seed=1,
        subscriptions=subscriptions,
        documents=0,
        engines=("spark", "two sweeps", "routers"),
        sampled={"two sweeps": min(subscriptions, 100_000), "routers": 1_000},
        expected={
            "routes": whole,
            "routes, sample": sample,
            "distinct": distinct,
            "covered": covered,
        },
        bars=(bar,) if size == "1m" else (),
        turns=1,
        heavy=size != "10k",
        brokers=127,
    )


def _frames() -> Definition:
    """Deliveries as a DataFrame that Spark writes, beside the run that writes them itself."""
    bar = Bar(
        says="deliveries(df) into Parquet, 1,000 subscriptions: at least 60 % of the documents "
        "per CPU second of a run",
        engine="spark deliveries",
        figure="documents_per_cpu_s",
        over=("spark run", "documents_per_cpu_s"),
        at_least=0.6,
    )
    return Definition(
        name="nitf-spark-frames-1k",
        kind="on_spark",
        workload="nitf/d6_w20_s20_p1",
        subscriptions=1_000,
        documents=20_000,
        engines=("spark run", "spark deliveries"),
        expected={"all": 195_600, "sample": 195_600},
        bars=(bar,),
        turns=FEWER_TURNS,
        heavy=True,
    )


def _programs(expected: Mapping[int, int]) -> Definition:
    """``match`` and ``run`` from call to exit; deliveries by the number of documents."""
    return Definition(
        name="news-programs-3k",
        kind="programs",
        workload="news/values",
        seed=1,
        subscriptions=3_000,
        documents=max(expected),
        engines=tuple(
            f"{verb}, {size:,} documents" for size in expected for verb in ("match", "run")
        ),
        expected={f"{size:,} documents": deliveries for size, deliveries in expected.items()},
        turns=FEWER_TURNS,
        heavy=True,
    )


def _dumps(size: str, documents: int, *, all_of: int, sample: int) -> Definition:
    """Records of a dump; counts are the deliveries of all, and of the first thousand."""
    bars = (
        Bar(
            says=f"records of a dump ({size}): documents per CPU second at least 80 % of those of "
            "the same records in a Parquet table",
            engine="records",
            figure="documents_per_cpu_s",
            over=("parquet", "documents_per_cpu_s"),
            at_least=0.8,
        ),
        Bar(
            says=f"records of a dump ({size}): no worker takes a gigabyte",
            engine="records",
            figure="worker_mb",
            at_most=1_000,
        ),
    )
    return Definition(
        name=f"nitf-dump-{size}",
        kind="dumps",
        workload=f"nitf/{SETS['values']}",
        subscriptions=10_000,
        documents=documents,
        engines=("records", "parquet", "gzip"),
        expected={"all": all_of, "sample": sample},
        bars=bars,
        turns=FEWER_TURNS,
        heavy=True,
    )


SPARK_DEFINITIONS = (
    _dumps("100mb", 20_000, all_of=1_803_040, sample=90_152),
    _dumps("1gb", 200_000, all_of=18_030_400, sample=90_152),
    _frames(),
    _programs({2_000: 233_189, 10_000: 1_153_823, 20_000: 2_307_559, 40_000: 4_612_898}),
    _routes("mixed", "10k", 10_000, routes=(10_090, 2_397), distinct=9_739, covered=9_738),
    _routes(
        "values", "100k", 100_000, routes=(1_250_233, 88_031), distinct=100_000, covered=92_108
    ),
    _routes("mixed", "1m", 1_000_000, routes=(107_400, 2_397), distinct=945_766, covered=945_765),
)
"""Of ``mixed`` nearly all is covered by a handful; ``values`` all ask for a value, so that brokers
have to tell each other a good part of what they know."""
