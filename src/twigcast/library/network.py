"""The network, with files in its reach."""

from __future__ import annotations

import os
from collections.abc import Mapping

from twigcast.door import door
from twigcast.errors import DocumentError
from twigcast.files import read_topology
from twigcast.language import LIBRARY_LIMITS, Document
from twigcast.language.document.content import Source
from twigcast.library.documents import opened
from twigcast.routing import Network as CoreNetwork
from twigcast.routing import Outcome, RouterLimits, Strategy
from twigcast.routing.broker.router import ROUTER_LIMITS
from twigcast.routing.topology.model import Topology

__all__ = ["Network"]


class Network(CoreNetwork):
    """Brokers joined in memory, for tests, notebooks and teaching.

    ``topology`` is the path of a topology file (``.toml`` or ``.json``), what stands in one, or a
    :class:`~twigcast.routing.Topology`; ``strategy`` is a name or a value.

    >>> from twigcast import Network
    >>> network = Network({"links": [["north", "hub"], ["hub", "south"]]})
    >>> id = network.subscribe("south", "ann", "//trade[price > 100]")
    >>> outcome = network.publish("north", "<trade><price>120</price></trade>")
    >>> [delivery.subscriber for delivery in outcome.deliveries]
    ['ann']
    """

    @door("making a network")
    def __init__(
        self,
        topology: str | os.PathLike[str] | Mapping[str, object] | Topology,
        strategy: Strategy | str = "best",
        *,
        engine: str = "auto",
        limits: RouterLimits = ROUTER_LIMITS,
    ) -> None:
        if isinstance(topology, str | os.PathLike):
            topology = read_topology(topology)
        super().__init__(topology, strategy, engine=engine, limits=limits)

    @door("publishing a document")
    def publish(
        self, broker: str, document: Source | Document, *, publisher: str | None = None
    ) -> Outcome:
        """A publisher at a broker hands in a document; what happened to it.

        The document comes in any form that :meth:`Matcher.match` takes. Raises
        :class:`DocumentError` if it cannot be read.
        """
        if isinstance(document, Document):
            return super().publish(broker, document, publisher=publisher)
        content, name = opened(document, bytes_max=LIBRARY_LIMITS.bytes_max)
        try:
            return super().publish(broker, content, publisher=publisher)
        except DocumentError:
            Document.parse(content, name=name)  # raises the same, with the name of the file
            raise
