"""What a router shows of itself: values to read, print and compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from twigcast.display import html_table
from twigcast.language import Pattern

__all__ = ["RouterStatistics", "TablesView", "texts_of"]


@dataclass(frozen=True, slots=True)
class TablesView:
    """The tables of a broker at one time: canonical texts by link, in order.

    Two networks with the same subscriptions, advertisements and links have equal tables, whatever
    has happened to them before.
    """

    routes: Mapping[str, tuple[str, ...]]
    """The patterns that lead to each link (PRT): what was asked for over it."""
    forwarded: Mapping[str, tuple[str, ...]]
    """What this broker has asked for over each link."""
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
    """Patterns said to neighbours, over all links."""
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


def texts_of(patterns: Iterable[Pattern]) -> tuple[str, ...]:
    """The canonical texts of patterns, in order."""
    return tuple(sorted(each.text for each in patterns))
