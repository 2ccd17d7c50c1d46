"""The broker's brain, without I/O: events in, effects out.

Read in this order:

    events                        everything a broker can suffer and want, as values
    strategy                      what a broker may forward, as values
    router                        one function: an event goes in, effects come out
    route_table, open_documents, deciding     where documents have to go
    forwarding                    what neighbours are told: the four steps of a strategy
    every_route, prefix_routes, outgoing      these steps
    advertisement_table           who promised what
    sessions, wire                how changes are numbered and written
    topology, network, traffic    routers joined in memory
"""

from twigcast.routing.network import Delivery, Network, Outcome
from twigcast.routing.router import ROUTER_LIMITS, Router, RouterLimits
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
from twigcast.routing.tables_view import RouterStatistics, TablesView
from twigcast.routing.topology import Topology
from twigcast.routing.traffic import Traffic

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
