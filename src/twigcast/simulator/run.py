"""A simulation in one call, from a scenario to results."""

from __future__ import annotations

from dataclasses import replace

from twigcast.door import door
from twigcast.routing.broker.router import ROUTER_LIMITS
from twigcast.routing.strategy import Strategy
from twigcast.simulator.cost_model import Measured
from twigcast.simulator.engine.simulation import Simulation
from twigcast.simulator.generation.build import generate_schedule
from twigcast.simulator.results import Results
from twigcast.simulator.scenario.model import Scenario
from twigcast.simulator.schedule import Schedule


@door("simulating a scenario")
def simulate(
    scenario: Scenario, strategy: Strategy | str | None = None, *, schedule: Schedule | None = None
) -> Results:
    """Play a scenario to its end, under its own strategy or another.

    To compare strategies, generate the ``schedule`` once and hand it in each time. UsageError
    if the scenario names what is not there.
    """
    simulation = Simulation(
        generate_schedule(scenario).schedule if schedule is None else schedule,
        scenario.strategy if strategy is None else strategy,
        costs=Measured() if scenario.cost is None else scenario.cost,
        limits=scenario.limits,
        router_limits=replace(ROUTER_LIMITS, batch_delay=scenario.batch_delay),
        engine=scenario.engine,
    )
    return simulation.run()
