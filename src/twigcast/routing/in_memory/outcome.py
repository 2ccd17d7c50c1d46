"""Outcomes of publications in a network in memory."""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.display import counted, html_table, one_line, shortened
from twigcast.routing.events import SubscriptionId


@dataclass(frozen=True, slots=True)
class Delivery:
    """A document handed to a subscriber."""

    subscriber: str
    subscription: SubscriptionId
    broker: str
    publication: str
    """The id of the publication."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a publication."""

    publication: str
    deliveries: tuple[Delivery, ...]
    """In the order they were made."""
    crossings: tuple[tuple[str, str], ...]
    """The links it crossed, each as (from, to), in order."""
    refused: str | None = None
    """Why its broker refused it, if it did."""
    dead_letters: tuple[tuple[SubscriptionId | None, str], ...] = ()
    """Subscriptions for which it could not be decided, with the reason."""

    def __repr__(self) -> str:
        parts = [
            counted(len(self.deliveries), "delivery", "deliveries"),
            counted(len(self.crossings), "crossing"),
        ]
        if self.dead_letters:
            parts.append(f"{len(self.dead_letters):,} undecided")
        if self.refused is not None:
            parts = [f"refused: {shortened(one_line(self.refused))}"]
        return f"<Outcome: {one_line(self.publication)}, {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        rows = ((each.subscriber, each.subscription, each.broker) for each in self.deliveries)
        columns = ("subscriber", "subscription", "broker")
        return html_table(columns, rows, caption=repr(self)[1:-1])
