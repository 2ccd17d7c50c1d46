"""The oracle: who should receive a document, and which links lead there."""

from __future__ import annotations

from twigcast.language import Pattern
from twigcast.routing.events import BrokerId, SubscriptionId
from twigcast.simulator.engine.oracle import DeliveryOracle


def test_the_oracle_follows_subscriptions_and_links() -> None:
    north, south = BrokerId("north"), BrokerId("south")
    oracle = DeliveryOracle([north, south])
    first, second = SubscriptionId(1), SubscriptionId(2)
    oracle.link(north, south)
    oracle.subscribe(south, first, Pattern.parse("//b"))
    oracle.subscribe(south, second, Pattern.parse("//b"))
    oracle.subscribe(south, first, Pattern.parse("//c"))  # The id is taken, so this is refused.
    found = oracle.expect(b"<a><b/></a>", north)
    assert found.receivers == {"south": {1, 2}}
    assert found.links == {("north", "south")}
    assert oracle.expect(b"<c/>", north).receivers == {}
    oracle.unsubscribe(south, first)
    assert oracle.expect(b"<b/>", north).receivers == {"south": {2}}
    oracle.unlink(north, south)
    assert oracle.expect(b"<b/>", north).links == frozenset()
    oracle.unsubscribe(south, second)
    oracle.unsubscribe(south, second)
    assert oracle.expect(b"<b/>", north).receivers == {}


def test_nobody_should_receive_what_cannot_be_read() -> None:
    north = BrokerId("north")
    oracle = DeliveryOracle([north])
    oracle.subscribe(north, SubscriptionId(1), Pattern.parse("/a"))
    assert oracle.expect(b"<a>", north).receivers == {}
