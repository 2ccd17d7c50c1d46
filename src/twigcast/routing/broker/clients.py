"""Clients of a broker: their subscriptions and advertisements."""

from __future__ import annotations

from twigcast.covering import Advertisement
from twigcast.routing.events import Advertise, AdvertisementId, Subscribe, SubscriptionId


class Clients:
    """Subscriptions and advertisements of a broker's own clients, by their ids."""

    def __init__(self) -> None:
        self.subscriptions: dict[SubscriptionId, Subscribe] = {}
        self.advertisements: dict[AdvertisementId, Advertise] = {}
        self._born: dict[SubscriptionId, int] = {}
        """Of each subscription the version of the tables that it came with."""

    def subscribe(self, event: Subscribe, version: int) -> None:
        """A subscription comes, with a version of the tables."""
        self.subscriptions[event.subscription] = event
        self._born[event.subscription] = version

    def unsubscribe(self, subscription: SubscriptionId) -> Subscribe:
        """A subscription goes."""
        del self._born[subscription]
        return self.subscriptions.pop(subscription)

    def subscriber(self, subscription: SubscriptionId, version: int) -> str | None:
        """Who asked for a subscription, if it is the one that was there in a version.

        It may have left since, and its id may have been given anew.
        """
        born = self._born.get(subscription)
        if born is None or born > version:
            return None
        return self.subscriptions[subscription].subscriber

    def advertised_by(self, publisher: str) -> tuple[Advertisement, ...]:
        """What a publisher has advertised."""
        return tuple(
            event.advertisement
            for event in self.advertisements.values()
            if event.publisher == publisher
        )
