"""Limits of a router; what is over a bound is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from twigcast.routing.forwarding.advertisement_table import ADVERTISEMENTS_MAX
from twigcast.slips import check_fields


@dataclass(frozen=True, slots=True)
class RouterLimits:
    """Bounds of one router. What is over one is refused, and the reason names the bound."""

    links_max: int = 1_000
    """A broker with more neighbours is better split in two."""
    subscriptions_max: int = 2_000_000
    """Of the broker's own clients; a kernel holds that many in a gigabyte."""
    routes_max: int = 2_000_000
    """Over one link: as many as its own subscriptions."""
    advertisements_max: int = ADVERTISEMENTS_MAX
    """Different ones from all sources, and of the broker's own publishers; they are compared pair
    by pair."""
    pattern_characters_max: int = 65_536
    """Of a canonical text, which may be longer than the 16,384 that a subscriber may write. What
    comes over a link may have twice as many: a merger of brokers between can be a little longer
    than what it was made of."""
    open_documents_max: int = 10_000
    """Documents that wait for their answer: some seconds of work. Publishers are refused beyond."""
    open_arrivals_max: int = 100_000
    """The same with those that came over links. A driver holds back long before; beyond, documents
    are refused here, and lost."""
    batch_delay: float = 0.0
    """Seconds that a change of the tables may wait for company before neighbours are sent it."""

    def __post_init__(self) -> None:
        check_fields(self)


ROUTER_LIMITS: Final = RouterLimits()
