"""The network of a scenario: written down there, read from a file, or drawn from the seed.

::

    [topology]                           [topology]                      [topology]
    brokers = ["north", "south"]         file = "net.json"               generate = "binary-tree"
    links = [["north", "south"]]                                         levels = 7

What is drawn is one of ``line``, ``star``, ``random-tree`` (``brokers``), ``binary-tree``
(``levels``) and ``transit-stub`` (the parameters of
:class:`~twigcast.workload.transit_stubs.TransitStub`, and ``brokers``, ``clients`` and
``clients_each`` for those who live there). ``latency_ms`` is a number or a range to draw
from. ``bandwidth_mbps`` holds for all links that do not say. Of a network with circles its minimum
spanning tree is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from twigcast.errors import UsageError
from twigcast.files.topologies import read_topology
from twigcast.routing.topology.model import Topology, Tree
from twigcast.simulator.scenario.table_reader import Keys
from twigcast.workload.topologies import (
    Range,
    TopologyTable,
    binary_tree,
    line,
    overlay,
    random_tree,
    star,
)
from twigcast.workload.transit_stubs import TransitStub, transit_stub

_KINDS: Final = ("line", "star", "binary-tree", "random-tree", "transit-stub")


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """Which network there is to be; all but what is drawn is known."""

    given: Topology | None
    """None if it is drawn."""
    kind: str = ""
    size: int = 0
    latency_ms: Range = (1.0, 1.0)
    shape: TransitStub = field(default_factory=TransitStub)
    clients: int = 0
    clients_each: int = 0
    bandwidth_mbps: float | None = None

    def tree(self, rng: Random) -> Tree:
        """The network; UsageError if it is in two parts."""
        topology = self.given or Topology.of(dict(self._drawn(rng)))
        tree = topology.tree()
        if self.bandwidth_mbps is None:
            return tree
        links = tuple(
            replace(link, bandwidth_mbps=self.bandwidth_mbps)
            if link.bandwidth_mbps is None
            else link
            for link in tree.links
        )
        return replace(tree, links=links)

    def _drawn(self, rng: Random) -> TopologyTable:
        match self.kind:
            case "line":
                return line(self.size, rng=rng, latency_ms=self.latency_ms)
            case "star":
                return star(self.size, rng=rng, latency_ms=self.latency_ms)
            case "random-tree":
                return random_tree(self.size, rng=rng, latency_ms=self.latency_ms)
            case "binary-tree":
                return binary_tree(self.size, rng=rng, latency_ms=self.latency_ms)
            case _:
                return overlay(
                    transit_stub(self.shape, rng=rng),
                    rng=rng,
                    brokers=self.size,
                    clients=self.clients,
                    clients_each=self.clients_each,
                )


def read_network_plan(keys: Keys, folder: Path) -> NetworkPlan:
    """The network of the table ``[topology]``; UsageError if it makes no sense."""
    plan = _plan(keys, folder)
    plan = replace(plan, bandwidth_mbps=keys.number_or_none("bandwidth_mbps", least=1e-9))
    keys.end()
    return plan


def _plan(keys: Keys, folder: Path) -> NetworkPlan:
    sources = [key for key in ("links", "file", "generate") if key in keys]
    if len(sources) > 1:
        raise UsageError(f"{keys.where}: {' and '.join(sources)} exclude each other; take one")
    if "file" in keys:
        return NetworkPlan(read_topology(folder / keys.needed("file")))
    if "generate" in keys:
        return _drawn_plan(keys)
    table = {key: keys.raw(key) for key in ("brokers", "links", "clients") if key in keys}
    if not table:
        raise UsageError(
            f"{keys.where}: there is no network; give brokers and links, "
            'file = "net.toml", or generate = "binary-tree"'
        )
    return NetworkPlan(Topology.of(table, name=keys.where))


def _drawn_plan(keys: Keys) -> NetworkPlan:
    kind = keys.one_of("generate", _KINDS, "")
    match kind:
        case "transit-stub":
            size, clients = keys.whole("brokers", 20, least=1), keys.whole("clients", 200)
            each = keys.whole("clients_each", 10)
            shape = _shape(keys)
            return NetworkPlan(None, kind, size, shape=shape, clients=clients, clients_each=each)
        case "binary-tree":
            size = keys.whole("levels", 3, least=1)
        case _:
            size = keys.whole("brokers", 7, least=1)
    return NetworkPlan(None, kind, size, _range(keys, "latency_ms", (1.0, 1.0)))


def _shape(keys: Keys) -> TransitStub:
    """Each parameter of the model, of the type that its default has."""
    usual = TransitStub()
    options: dict[str, Any] = {}
    for each in fields(TransitStub):
        default = getattr(usual, each.name)
        match default:
            case int():
                options[each.name] = keys.whole(each.name, default)
            case float():
                options[each.name] = keys.number(each.name, default)
            case _:
                options[each.name] = _range(keys, each.name, default)
    return TransitStub(**options)


def _range(keys: Keys, key: str, default: Range) -> Range:
    """A number, or the least and the most."""
    if key in keys and not isinstance(keys.raw(key), list):
        both = keys.number(key, 0.0)
        return both, both
    given = keys.numbers(key) if key in keys else default
    keys.taken[key] = list(given or ())
    match given:
        case (low, high) if low <= high:
            return low, high
        case _:
            raise keys.fault(key, "a number, or a list of the least and the most", keys.raw(key))
