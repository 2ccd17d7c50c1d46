"""The oracle: who should receive a document, and which links lead there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twigcast.language import Pattern
from twigcast.routing.events import BrokerId, SubscriptionId
from twigcast.routing.topology.model import Topology
from twigcast.simulator.engine.oracle import DeliveryOracle, leading_to


@given(st.data())
def test_a_link_leads_to_whoever_is_behind_it(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 9))
    above = [data.draw(st.integers(0, number - 1)) for number in range(1, size)]
    links = [(str(parent), str(child)) for child, parent in enumerate(above, start=1)]
    kept = data.draw(st.lists(st.sampled_from(links), unique=True))
    names = [BrokerId(str(number)) for number in range(size)]
    wanted = set(data.draw(st.lists(st.sampled_from(names))))
    linked: dict[BrokerId, dict[BrokerId, None]] = {name: {} for name in names}
    for one, other in kept:
        linked[BrokerId(one)][BrokerId(other)] = linked[BrokerId(other)][BrokerId(one)] = None

    expected = set()
    for one, other in [*kept, *((other, one) for one, other in kept)]:
        rest = [list(link) for link in kept if {one, other} != set(link)]
        parts = Topology.of({"brokers": list(names), "links": rest}).parts
        (behind,) = (part for part in parts if other in part)
        if wanted & set(behind):
            expected.add((one, other))
    assert set(leading_to(wanted, linked)) == expected


def test_the_oracle_follows_subscriptions_and_links() -> None:
    north, south = BrokerId("north"), BrokerId("south")
    oracle = DeliveryOracle([north, south])
    first, second = SubscriptionId(1), SubscriptionId(2)
    oracle.link(north, south)
    oracle.subscribe(south, first, Pattern.parse("//b"))
    oracle.subscribe(south, second, Pattern.parse("//b"))
    oracle.subscribe(south, first, Pattern.parse("//c"))  # The id is taken, so this is refused.
    found = oracle.expect(b"<a><b/></a>")
    assert found.receivers == {"south": {1, 2}}
    assert found.links == {("north", "south")}
    assert oracle.expect(b"<c/>").receivers == {}
    oracle.unsubscribe(south, first)
    assert oracle.expect(b"<b/>").receivers == {"south": {2}}
    oracle.unlink(north, south)
    assert oracle.expect(b"<b/>").links == frozenset()
    oracle.unsubscribe(south, second)
    oracle.unsubscribe(south, second)
    assert oracle.expect(b"<b/>").receivers == {}


def test_nobody_should_receive_what_cannot_be_read() -> None:
    oracle = DeliveryOracle([BrokerId("north")])
    oracle.subscribe(BrokerId("north"), SubscriptionId(1), Pattern.parse("/a"))
    assert oracle.expect(b"<a>").receivers == {}
