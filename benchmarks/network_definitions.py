"""The definitions of routers and networks: ``deciding``, ``subscribing``, ``simulation``.

The expected numbers are counts that reproduce on every machine: links decided, patterns forwarded,
messages sent, documents delivered.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.bars import Bar
from benchmarks.definition import FEWER_TURNS, SETS, Definition


def _deciding(kind: str, expected: Mapping[str, int], *, own: bool = False) -> Definition:
    """One router with 100,000 routes over 10 links, beside the bare matcher."""
    return Definition(
        name=f"{'news' if own else 'nitf'}-deciding-{kind}-100k",
        kind="deciding",
        workload=f"news/{kind}" if own else f"nitf/{SETS[kind]}",
        seed=1,
        subscriptions=100_000,
        documents=200 if own else 500,
        engines=("native", "native, with subscriptions", "one by one"),
        sampled={"one by one": 5},
        expected={"differences": 0, **expected},
        bars=(
            Bar(
                says="native: a router with 100,000 routes over 10 links decides at least 60 % as "
                f"many documents per second as the bare matcher ({kind})",
                engine="native",
                figure="of_match",
                at_least=0.6,
            ),
        ),
        turns=FEWER_TURNS,
        stands_in=own,
    )


_ALL_WAYS = (
    "covering",
    "covering, 1,000 at a time",
    "identity",
    "one index a link",
    "roots each time",
)


def _subscribing(
    name: str,
    workload: str,
    expected: Mapping[str, int],
    *,
    subscriptions: int = 100_000,
    identity: int = 10_000,
    barred: bool = False,
    stands_in: bool = False,
) -> Definition:
    """Subscriptions made one by one to 7 brokers."""
    bar = Bar(
        says="covering: at least 2,000 subscriptions per second for a network of 7 brokers, one "
        f"call at a time, up to {subscriptions:,} of {name}",
        engine="covering",
        figure="subscriptions_per_s",
        at_least=2_000,
    )
    size = f"{subscriptions // 1_000}k"
    return Definition(
        name=f"{'news' if workload.startswith('news/') else 'nitf'}-subscribing-{name}-{size}",
        kind="subscribing",
        workload=workload,
        seed=1,
        subscriptions=subscriptions,
        documents=50,
        engines=_ALL_WAYS,
        sampled={"identity": identity, "roots each time": 200},
        expected={"differences": 0, **expected},
        bars=(bar,) if barred else (),
        turns=FEWER_TURNS if barred else 1,
        heavy=subscriptions > 10_000,  # noqa: PLR2004
        stands_in=stands_in,
        brokers=7,
    )


_STRATEGIES = (
    "flooding",
    "prefix",
    "prefix(depth=3)",
    "covering",
    "covering(towards=producers)",
    "advertised(covering=false)",
    "advertised",
    "advertised(merging=perfect)",
    "advertised(merging=imperfect)",
    "best",
)
"""All but ``identity``, which would say 64,000 patterns over each of 126 links."""


def _simulation(
    name: str,
    workload: str,
    *,
    distinct: int,
    deliveries: int,
    messages: tuple[int, ...],
    subscriptions: int = 64_000,
    stands_in: bool = False,
) -> Definition:
    """127 brokers, as many subscriptions at each of 64 leaves as at each other, 50 documents."""
    heavy = subscriptions == 64_000  # noqa: PLR2004 - the size of the bar
    strategies = _STRATEGIES if heavy else ("identity", *_STRATEGIES)
    counts = zip(strategies, messages, strict=True)
    bars = tuple(
        Bar(
            says=f"{strategy}: a simulation of 127 brokers, 64,000 subscriptions and 50 documents "
            "takes at most two minutes",
            engine=strategy,
            figure="cpu_s",
            at_most=120,
        )
        for strategy in strategies
    )
    return Definition(
        name=name,
        kind="simulation",
        workload=workload,
        seed=1,
        subscriptions=subscriptions,
        documents=50,
        engines=strategies,
        expected={
            "deliveries": deliveries,
            "failures": 0,
            **{f"messages, {strategy}": count for strategy, count in counts},
        },
        bars=bars if heavy else (),
        turns=1,
        heavy=heavy,
        stands_in=stands_in,
        brokers=127,
        distinct=distinct,
    )


_ROWS = (
    "no-Adv-no-Cov",
    "no-Adv-with-Cov",
    "with-Adv-no-Cov",
    "with-Adv-with-Cov",
    "with-Adv-with-CovPM",
    "with-Adv-with-CovIPM",
)


def _rows(
    name: str,
    workload: str,
    *,
    brokers: int,
    subscriptions: int,
    deliveries: int,
    messages: tuple[int, ...],
) -> Definition:
    """Dissemination, Tables 1.2 (7 brokers) and 1.3 (127): messages of its six rows, in paths."""
    counts = zip(_ROWS, messages, strict=True)
    return Definition(
        name=name,
        kind="simulation",
        workload=workload,
        seed=1,
        subscriptions=subscriptions,
        documents=50,
        engines=_ROWS,
        expected={
            "deliveries": deliveries,
            "failures": 0,
            **{f"messages, {row}": count for row, count in counts},
        },
        turns=1,
        stands_in=workload.startswith("news/"),
        brokers=brokers,
        distinct=subscriptions,
    )


NETWORK_DEFINITIONS = (
    _deciding("paths", {"links": 5_000, "links, sample": 50, "deliveries": 1_086_764}),
    _deciding("values", {"links": 5_000, "links, sample": 50, "deliveries": 17_990}),
    _deciding("branches", {"links": 5_000, "links, sample": 50, "deliveries": 1_132_825}),
    _subscribing(
        "mixed",
        "news/mixed",
        {
            "forwarded": 65,
            "forwarded, sample": 26,
            "forwarded, identity": 9_845,
            "subscribe messages, covering": 1_099,
            "subscribe messages, covering, 1,000 at a time": 939,
            "subscribe messages, identity": 29_498,
            "deliveries": 29_104,
        },
        subscriptions=5_000,
        identity=5_000,
    ),
    _subscribing(
        "paths",
        f"nitf/{SETS['paths']}",
        {
            "forwarded": 475,
            "forwarded, sample": 21,
            "forwarded, identity": 20_000,
            "subscribe messages, covering": 1_870,
            "subscribe messages, covering, 1,000 at a time": 1_840,
            "subscribe messages, identity": 60_000,
            "deliveries": 576_667,
        },
        barred=True,
    ),
    _subscribing(
        "values",
        f"nitf/{SETS['values']}",
        {
            "forwarded": 20_487,
            "forwarded, sample": 385,
            "forwarded, identity": 20_000,
            "subscribe messages, covering": 78_393,
            "subscribe messages, covering, 1,000 at a time": 77_714,
            "subscribe messages, identity": 60_000,
            "deliveries": 9_193,
        },
        subscriptions=20_000,
    ),
    _subscribing(
        "branches",
        f"nitf/{SETS['branches']}",
        {
            "forwarded": 184,
            "forwarded, sample": 53,
            "forwarded, identity": 19_587,
            "subscribe messages, covering": 1_857,
            "subscribe messages, covering, 1,000 at a time": 1_566,
            "subscribe messages, identity": 58_685,
            "deliveries": 127_650,
        },
        subscriptions=20_000,
    ),
    _subscribing(
        "seven-steps",
        "drawn/seven-steps",
        {
            "forwarded": 18_507,
            "forwarded, sample": 390,
            "forwarded, identity": 20_000,
            "subscribe messages, covering": 79_390,
            "subscribe messages, covering, 1,000 at a time": 78_656,
            "subscribe messages, identity": 60_000,
            "deliveries": 3_687,
        },
        subscriptions=20_000,
    ),
    _simulation(
        "nitf-simulation-own",
        "drawn/paths",
        distinct=0,
        deliveries=1_412_833,
        messages=(
            70_351,
            70_603,
            70_603,
            70_603,
            70_603,
            460_268,
            70_603,
            70_603,
            70_603,
            70_603,
        ),
    ),
    _simulation(
        "nitf-simulation-chosen",
        "drawn/five-steps",
        distinct=5_000,
        deliveries=94_895,
        messages=(
            70_351,
            835_127,
            133_373,
            412_931,
            160_621,
            311_991,
            160_621,
            168_101,
            168_200,
            412_931,
        ),
    ),
    _simulation(
        "nitf-simulation-few",
        "drawn/five-steps",
        subscriptions=1_024,
        distinct=1_024,
        deliveries=2_065,
        messages=(
            134_372,
            7_375,
            127_640,
            24_914,
            99_841,
            13_836,
            15_746,
            13_836,
            14_222,
            14_338,
            99_841,
        ),
    ),
    _rows(
        "dissemination-table-1.2",
        "drawn/five-steps",
        brokers=7,
        subscriptions=4_000,
        deliveries=6_471,
        messages=(45_948, 31_589, 31_954, 26_055, 26_915, 32_944),
    ),
    _rows(
        "dissemination-table-1.3",
        "drawn/five-steps",
        brokers=127,
        subscriptions=1_024,
        deliveries=2_065,
        messages=(177_230, 142_699, 58_604, 56_694, 57_080, 57_941),
    ),
)
