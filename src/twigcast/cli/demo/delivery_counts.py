"""Counts of deliveries: sums over those of a run.

A *delivery* is a document and a subscription that it satisfies. A subscriber may have several
subscriptions that one document satisfies, and yet receives it once: that is a *copy*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from twigcast.cli.demo.feed import DemoFeed

SUBSCRIBERS_SHOWN = 8
"""Subscribers who have a row of their own, on the screen and in the report."""


@dataclass(frozen=True, slots=True)
class DeliveryCounts:
    """The sums, and which documents each subscription received."""

    documents: int
    subscribers: int
    deliveries: int
    received: Mapping[str, int]
    """Copies by subscriber, most first; all subscribers are in it."""
    delivered: Mapping[str, int]
    """Deliveries by subscriber; those without any are not in it."""
    held: Mapping[str, int]
    """Subscriptions by subscriber."""
    receivers: Mapping[int, int]
    """How many documents went to so many subscribers, from 0 up."""
    by_subscription: Mapping[str, frozenset[str]]
    by_broker: Mapping[str, int]
    """Copies handed over at each broker; those without any are not in it."""

    @property
    def copies(self) -> int:
        """Documents handed to subscribers, each once to each of them."""
        return sum(self.received.values())

    @property
    def unwanted(self) -> int:
        """Documents that match no subscription."""
        return self.receivers.get(0, 0)


def read_tally(tables: Path, feed: DemoFeed, held: Mapping[str, int]) -> DeliveryCounts:
    """The sums over the table ``deliveries`` of a finished run."""
    import pyarrow.parquet as pq

    columns = ["document", "subscription", "subscriber", "broker"]
    table = pq.read_table(tables / "deliveries", columns=columns)
    rows = list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
    copies = {(document, subscriber): broker for document, _, subscriber, broker in rows}
    received = Counter(dict.fromkeys(feed.subscribers, 0))
    received.update(subscriber for _, subscriber in copies)
    by_document = Counter(document for document, _ in copies)
    receivers = Counter(by_document.values())
    receivers[0] = feed.document_count - len(by_document)
    by_subscription: dict[str, set[str]] = {}
    for document, subscription, *_ in rows:
        by_subscription.setdefault(subscription, set()).add(document)
    return DeliveryCounts(
        documents=feed.document_count,
        subscribers=len(feed.subscribers),
        deliveries=len(rows),
        received=dict(sorted(received.items(), key=lambda item: (-item[1], item[0]))),
        delivered=Counter(subscriber for _, _, subscriber, _ in rows),
        held=held,
        receivers=dict(sorted(receivers.items())),
        by_subscription={name: frozenset(found) for name, found in by_subscription.items()},
        by_broker=Counter(copies.values()),
    )
