"""Simulations by seed: who received what and when, and all figures, under some strategies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.goldens.golden import Golden
from twigcast.simulator import (
    GeneratedSchedule,
    Results,
    generate_schedule,
    options_text,
    read_scenario,
    simulate,
)

_NEWSROOM: Final = """
[topology]
links = [
    { between = ["london", "new york"], latency_ms = 35 },
    { between = ["london", "paris"], latency_ms = 5 },
    { between = ["paris", "madrid"], latency_ms = 9 },
    { between = ["new york", "chicago"], latency_ms = 10 },
]
bandwidth_mbps = 100
[workload]
dtds = ["news", "transit"]
interests = 1
subscriptions = 6
documents = 8
publishers_at = ["london", "chicago"]
publish_every = 0.5
[workload.patterns]
depth_max = 8
wildcard = 0.1
descendant = 0.1
predicates = 1.0
[workload.document]
elements = 30
[churn]
seconds = 3
subscribe = 1
unsubscribe = 1
[[change]]
at = 2
do = "link_down"
between = ["london", "new york"]
[[change]]
at = 3
do = "link_up"
between = ["london", "new york"]
[run]
seed = 1
engine = "streaming"
"""

_DRAWN: Final = """
[topology]
generate = "random-tree"
brokers = 5
latency_ms = [1, 40]
bandwidth_mbps = 10
[workload]
dtds = ["news", "parts"]
interests = 2
subscriptions = 4
documents = 6
publishers = 2
publish_times = [0, 1, 2, 60, 61, 62]
advertise = true
[workload.patterns]
predicates = 1
nested = 0.2
[workload.document]
elements = 30
[run]
seed = 7
engine = "streaming"
"""

SCENARIOS: Final = {"newsroom": _NEWSROOM, "drawn": _DRAWN}
"""Of both the engine is told, since some figures (comparisons) are of one engine alone."""

STRATEGIES: Final = (
    "flooding",
    "best",
    "piggyback(on=advertised(merging=perfect), annotations=+sd-sd, merge_every=1)",
)


def _played(name: str, folder: Path) -> str:
    path = folder / f"{name}.toml"
    path.write_text(SCENARIOS[name], encoding="utf-8")
    scenario = read_scenario(path)
    told = generate_schedule(scenario)
    lines = ["# options", "", options_text(scenario.options), "", *_drawn(told)]
    for strategy in STRATEGIES:
        results = simulate(scenario, strategy, schedule=told.schedule)
        lines += ["", f"# {strategy}", "", *_figures(results), "", *_trace(results)]
    return "\n".join(lines).rstrip() + "\n"


def _drawn(told: GeneratedSchedule) -> Iterator[str]:
    yield "# drawn"
    yield ""
    for name, value in told.drawn.items():
        yield f"{name}: {json.dumps(value)}"


def _figures(results: Results) -> Iterator[str]:
    """What ``--json`` has of it, a line for each figure."""
    for key, value in results.to_json().items():
        if key == "real_seconds":
            yield f"{key}: #"
        elif isinstance(value, list) and value:
            yield f"{key}:"
            yield from (f"    {_plain(one)}" for one in value)
        else:
            yield f"{key}: {_plain(value)}"


def _plain(value: Any) -> str:  # noqa: ANN401 (whatever goes into JSON)
    return json.dumps(_rounded(value))


def _rounded(value: Any) -> Any:  # noqa: ANN401 (likewise)
    """Sums of floats, without the digits that the order of adding decides."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _trace(results: Results) -> Iterator[str]:
    for one in results.arrived:
        whom = " ".join(map(str, one.subscriptions))
        yield f"{one.seconds:.9f}  {one.publication} at {one.broker} for {whom}"


GOLDENS: Final = tuple(
    Golden(f"simulation-{name}.txt", partial(_played, name)) for name in SCENARIOS
)
