"""The broker's brain, without I/O: events in, effects out.

Read in this order:

    events                          everything a broker can suffer and want, as values
    strategy                        what a broker may forward, as values
    router, router_limits           one function: an event goes in, effects come out
    clients, documents, deciding    who is here, what comes in and where it has to go
    route_table, open_documents     tables as they were when a document came
    forwarding                      what neighbours are told: the four steps of a strategy
    every_route, prefix_routes, directed, outgoing, advertisement_table      these steps
    sessions, wire                  how changes are numbered and written
    hints, annotations, lessons     what is told about documents, and what follows from it
    piggyback, protocols, reading   when documents go on, and how they are decided with that
    topology, network, outcome, traffic      routers joined in memory
    remedies                        what is done about messages that failed
    sweeps                          the routes that these come to, all at once
"""

from twigcast.routing.broker.router import ROUTER_LIMITS, Router, RouterLimits
from twigcast.routing.broker.views import RouterStatistics, TablesView
from twigcast.routing.in_memory.network import Delivery, Network, Outcome
from twigcast.routing.in_memory.traffic import Traffic
from twigcast.routing.strategy import (
    STRATEGIES,
    Strategy,
    advertised,
    best,
    covering,
    flooding,
    identity,
    piggyback,
    prefix,
)
from twigcast.routing.topology.model import Topology

__all__ = [
    "ROUTER_LIMITS",
    "STRATEGIES",
    "Delivery",
    "Network",
    "Outcome",
    "Router",
    "RouterLimits",
    "RouterStatistics",
    "Strategy",
    "TablesView",
    "Topology",
    "Traffic",
    "advertised",
    "best",
    "covering",
    "flooding",
    "identity",
    "piggyback",
    "prefix",
]
