"""Views of a router's tables: values to read, print and compare."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from twigcast.covering import Advertisement
from twigcast.display import html_table
from twigcast.language import Pattern
from twigcast.routing.broker.clients import Clients
from twigcast.routing.broker.documents import BrokerDocuments
from twigcast.routing.events import LinkId
from twigcast.routing.forwarding.forwarder import Forwarder
from twigcast.routing.tables.route_table import RouteTable


@dataclass(frozen=True, slots=True)
class TablesView:
    """The tables of a broker at one time: canonical texts by link, in order.

    Two networks with the same subscriptions, advertisements and links have equal tables, whatever
    has happened to them before.
    """

    routes: Mapping[str, tuple[str, ...]]
    """The patterns that lead to each link (PRT): those received over it."""
    forwarded: Mapping[str, tuple[str, ...]]
    """The patterns that this broker has sent over each link."""
    advertisements: Mapping[str, tuple[str, ...]]
    """The advertisements that came by each link (SRT)."""
    advertised: Mapping[str, tuple[str, ...]]
    """The advertisements that were passed on over each link."""
    subscriptions: tuple[tuple[str, str], ...]
    """Subscriber and pattern of the broker's own clients."""

    def _repr_html_(self) -> str:
        rows = [
            (name, link, text)
            for name in ("routes", "forwarded", "advertisements", "advertised")
            for link, texts in getattr(self, name).items()
            for text in texts
        ]
        own = [("subscriptions", subscriber, text) for subscriber, text in self.subscriptions]
        return html_table(("table", "link or subscriber", "text"), [*rows, *own])


class RouterStatistics(NamedTuple):
    """How large a router's tables are, and what has happened so far."""

    links: int
    subscriptions: int
    routes: int
    """Over all links."""
    distinct_routes: int
    forwarded: int
    """Patterns sent to neighbours, over all links."""
    advertisements: int
    """That came by links."""
    open_documents: int
    """Of at most ``open_documents_max``."""
    kept_for_snapshots: int
    """Patterns that have left, and are kept for open documents."""
    documents: int
    deliveries: int
    dead_letters: int
    refused: int
    annotations: int
    """Documents that were sent with annotations."""
    annotation_bytes: int
    annotations_ignored: int
    """That came, and were malformed or made for another table."""
    skipped: int
    """Patterns that documents were not compared with, thanks to annotations."""
    sent_unread: int
    """Documents that were sent on before they were touched, over all links."""
    lies: int
    """Annotations that turned out to be untrue."""
    internal_errors: int = 0
    """What nobody foresaw: documents and events that were set aside for it."""
    needs_restart: bool = False
    """Whether tables could not be made anew after that. Documents are still decided; changes are
    refused as long as it fails."""

    def _repr_html_(self) -> str:
        return html_table(("statistic", "value"), self._asdict().items())


def tables_of(
    links: Collection[LinkId],
    routes: RouteTable,
    forwarding: Forwarder,
    clients: Clients,
) -> TablesView:
    """The tables of a broker as they are now."""
    return TablesView(
        routes={link: _texts(routes.routes(link)) for link in links},
        forwarded={link: _texts(forwarding.forwarded(link)) for link in links},
        advertisements={link: _texts(forwarding.advertised_by(link)) for link in links},
        advertised={link: _texts(forwarding.advertised_over(link)) for link in links},
        subscriptions=tuple(
            sorted((each.subscriber, each.pattern.text) for each in clients.subscriptions.values())
        ),
    )


def statistics_of(  # noqa: PLR0917 - the parts of a broker, each of which counts something
    links: Collection[LinkId],
    routes: RouteTable,
    forwarding: Forwarder,
    clients: Clients,
    documents: BrokerDocuments,
    *,
    refused: int,
    internal_errors: int,
    needs_restart: bool,
) -> RouterStatistics:
    """What there is now; ``refused`` are events, to which documents are added."""
    tally = documents.tally
    return RouterStatistics(
        links=len(links),
        subscriptions=len(clients.subscriptions),
        routes=sum(routes.sizes().values()),
        distinct_routes=routes.distinct,
        forwarded=sum(forwarding.sizes().values()),
        advertisements=sum(len(forwarding.advertised_by(link)) for link in links),
        open_documents=documents.waiting,
        kept_for_snapshots=routes.kept_for_snapshots,
        documents=tally.documents,
        deliveries=tally.deliveries,
        dead_letters=tally.dead_letters,
        refused=refused + tally.refused,
        annotations=tally.annotations,
        annotation_bytes=tally.annotation_bytes,
        annotations_ignored=tally.ignored,
        skipped=tally.skipped,
        sent_unread=tally.sent_unread,
        lies=tally.lies,
        internal_errors=internal_errors,
        needs_restart=needs_restart,
    )


def _texts(values: Iterable[Pattern | Advertisement]) -> tuple[str, ...]:
    """The canonical texts of patterns or advertisements, in order."""
    return tuple(sorted(each.text for each in values))
