"""What would each strategy cost here? A topology, subscriptions at its brokers, and some documents.

    python examples/network.py topology.toml subscriptions.csv feed/

Builds the network in memory once for each strategy and publishes all documents at the first broker.
Prints what crossed the links. The advertisement is made from the documents themselves. Whatever
cannot be read is told on standard error and stops nothing.
"""

from __future__ import annotations

import argparse
import sys

from twigcast import Document, Network, PatternError, TwigcastError
from twigcast.covering import Advertisement
from twigcast.files import SubscriptionFile, read_documents, read_subscriptions, read_topology
from twigcast.routing import Topology

STRATEGIES = "flooding", "identity", "prefix", "covering", "advertised", "best"


def main() -> None:
    """A line for each strategy."""
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("topology", "subscriptions", "documents"):
        arguments.add_argument(name)
    given = arguments.parse_args()
    topology = read_topology(given.topology)
    file = read_subscriptions(given.subscriptions)
    for line in file.rejected:
        print(f"{given.subscriptions}, line {line.line}: {line.reason}", file=sys.stderr)
    documents = readable(given.documents)
    print(f"{'strategy':12}{'deliveries':>12}{'documents':>12}{'patterns':>12}{'routes':>12}")
    for name in STRATEGIES:
        figures = play(name, topology, file, documents)
        print(f"{name:12}" + "".join(f"{figure:12,}" for figure in figures))


def readable(path: str) -> list[Document]:
    """The documents of a folder or an archive that can be read."""
    found = []
    for name, content in read_documents(path):
        try:
            if isinstance(content, TwigcastError):
                raise content
            found.append(Document.parse(content, name=name))
        except TwigcastError as error:
            print(error, file=sys.stderr)
    return found


def play(
    strategy: str, topology: Topology, file: SubscriptionFile, documents: list[Document]
) -> tuple[int, int, int, int]:
    """Deliveries, documents and patterns that crossed links, and routes in all tables."""
    network = Network(topology, strategy)
    first = network.brokers[0]
    network.advertise(first, Advertisement.of_documents(documents))
    with network.batch():
        for each in file.subscriptions:
            try:
                at, who = each.broker or first, each.subscriber or "nobody in particular"
                network.subscribe(at, who, each.xpath, each.namespaces)
            except PatternError as error:
                if strategy == STRATEGIES[0]:  # once is enough
                    print(f"subscription {each.id}: {error}", file=sys.stderr)
    outcomes = [network.publish(first, document.content) for document in documents]
    routes = sum(network.statistics(broker).routes for broker in network.brokers)
    traffic = network.traffic.by_kind()
    delivered = sum(len(outcome.deliveries) for outcome in outcomes)
    return delivered, traffic["publish"], traffic["subscribe"], routes


if __name__ == "__main__":
    main()
