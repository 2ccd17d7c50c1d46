"""A network of brokers in simulated time: scenarios in, figures out.

>>> from pathlib import Path
>>> from twigcast.simulator import Scenario, simulate
>>> topology = {"links": [["north", "south"]]}
>>> workload = {"subscriptions": 3, "documents": 2, "publishers_at": ["north"]}
>>> given = {"topology": topology, "workload": workload, "run": {"seed": 7}}
>>> scenario = Scenario.of(given, name="tiny", folder=Path())
>>> results = simulate(scenario)
>>> results.publications, results.missed, results.needless
(2, 0, 0)

In reading order:

    scenario     an experiment as people write it in TOML
    generation   from a scenario to a schedule, drawn from its seed
    schedule     what happens when: changes, documents, links that come and go
    engine       the schedule played: events, links, the delivery oracle, the record
    cost_model   how long a broker is busy with what comes to it
    results      who received what, what crossed the links, what the tables hold
    drawing      a network and its traffic as SVG
    run          from a scenario to results, in one call
"""

from __future__ import annotations

from twigcast.simulator.cost_model import CostModel, Measured
from twigcast.simulator.drawing import drawn_network
from twigcast.simulator.engine.simulation import Simulation, SimulationLimits
from twigcast.simulator.generation.build import GeneratedSchedule, generate_schedule
from twigcast.simulator.results import Results
from twigcast.simulator.run import simulate
from twigcast.simulator.scenario.model import Scenario, read_scenario
from twigcast.simulator.scenario.writer import options_text
from twigcast.simulator.schedule import Schedule

__all__ = [
    "CostModel",
    "GeneratedSchedule",
    "Measured",
    "Results",
    "Scenario",
    "Schedule",
    "Simulation",
    "SimulationLimits",
    "drawn_network",
    "generate_schedule",
    "options_text",
    "read_scenario",
    "simulate",
]
