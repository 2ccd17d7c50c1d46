"""Schedules tell beforehand which publishers have no standing advertisement."""

from __future__ import annotations

from tests.simulator.schedules import publishes, schedule
from twigcast.covering import Advertisement
from twigcast.routing.events import (
    Advertise,
    AdvertisementId,
    BrokerId,
    Unadvertise,
)
from twigcast.simulator.schedule import ClientEvent, TimedEvent, unadvertised_publishers


def test_publishers_without_a_standing_advertisement_are_known_beforehand() -> None:
    promise = Advertisement.of_expressions(["/a/b"])
    told = Advertise(AdvertisementId(1), "publisher", promise)
    advertises = ClientEvent(1.0, BrokerId("a"), told)
    takes_back = ClientEvent(3.0, BrokerId("a"), Unadvertise(AdvertisementId(1)))
    links: list[object] = [["a", "b"]]

    def found(*then: TimedEvent) -> tuple[tuple[str, str], ...]:
        return unadvertised_publishers(schedule(links, (), then))

    assert found(publishes("a", "d", 2.0)) == (("a", "publisher"),)
    assert found(advertises, publishes("a", "d", 2.0)) == ()
    assert found(advertises, publishes("b", "d", 2.0)) == (("b", "publisher"),)
    assert found(advertises, takes_back, publishes("a", "d", 4.0)) == (("a", "publisher"),)
