"""Four brokers in a row that answer a document in parts."""

from __future__ import annotations

from tests.simulator.schedules import publishes, schedule, subscribes
from twigcast.routing.strategy import Strategy
from twigcast.simulator import CostModel, Measured, Results, Simulation

SECONDS_PER_CHECK = CostModel(0, 0, 0, 0, 0, 0, per_check=1.0, per_annotation=0)
LINKS: list[object] = [{"between": ["a", "b"], "latency_ms": 0}, ["a", "c"]]
FOUR = b"<r><x/><y/><z/></r>"


def play(
    strategy: Strategy,
    *subscriptions: tuple[str, str],
    costs: CostModel | Measured = SECONDS_PER_CHECK,
    engine: str = "streaming",
) -> Results:
    """A document of four elements is published at a."""
    clients = [
        subscribes(broker, place, text) for place, (broker, text) in enumerate(subscriptions)
    ]
    told = schedule(LINKS, clients, [publishes("a", "d", content=FOUR)])
    results = Simulation(told, strategy, costs=costs, engine=engine).run()
    assert (results.missed, results.unexpected, results.repeated) == (0, 0, 0)
    return results


def arrivals(results: Results) -> dict[str, float]:
    return {each.broker: round(each.seconds) for each in results.arrived}
