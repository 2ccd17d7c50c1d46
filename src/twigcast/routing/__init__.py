"""The broker's brain, without I/O: events in, effects out.

In reading order:

    events        everything that can happen to a broker, and everything it can want done
    strategy      what a broker forwards, as a value
    plug_in       what a strategy may add to a router
    topology      brokers, links, and the tree that documents travel along
    broker        the router: one function takes an event and returns effects
    tables        routes and local subscriptions, and snapshots of them
    forwarding    which patterns are forwarded over each link
    wire          messages between brokers as bytes
    annotations   what brokers send each other about a document, and what they request
    piggyback     documents decided with the help of annotations
    path_unit     documents that travel path by path
    static        brokers whose tables stand still, and all routes of a tree at once
    in_memory     routers joined in memory: :class:`Network`
"""

from twigcast.routing.broker.router import ROUTER_LIMITS, Router, RouterLimits
from twigcast.routing.broker.views import RouterStatistics, TablesView
from twigcast.routing.in_memory.network import Network
from twigcast.routing.in_memory.outcome import Delivery, Outcome
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
