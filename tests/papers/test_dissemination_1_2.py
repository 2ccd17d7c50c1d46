"""Dissemination, section 1.2: advertisements and covering on a network of six brokers.

The text tells the story and the drawing of Figure 1.2 is lost in the scan. What the text fixes: the
path 5-4-3-1 from the subscriber to the publisher, and Brokers 2 and 6 beside it, to which the
subscription could go and does not. Where exactly 2 and 6 hang is reconstructed here in each of the
ways that fit the text; the story must be the same in all. The figure's expressions are lost too;
``sub_1`` and ``sub_2`` are our own.
"""

from __future__ import annotations

import pytest

from twigcast import Network, Schema
from twigcast.covering import Advertisement
from twigcast.routing.events import BrokerId, SubscriptionId
from twigcast.routing.strategy import advertised

PATH = [["1", "3"], ["3", "4"], ["4", "5"]]
REST = [
    [["2", "3"], ["4", "6"]],
    [["2", "3"], ["3", "6"]],
    [["2", "4"], ["4", "6"]],
    [["2", "4"], ["5", "6"]],
    [["1", "2"], ["5", "6"]],
]
"""Where Brokers 2 and 6 may hang."""

SCHEMA = Schema.parse(
    b"<!ELEMENT news (head, body)> <!ELEMENT head (#PCDATA)> <!ELEMENT body (price*)>"
    b"<!ELEMENT price (#PCDATA)> <!ATTLIST price currency CDATA #IMPLIED>"
)
DOCUMENT = b"<news><head>Rain</head><body><price currency='EUR'>7</price></body></news>"
SUB_1, SUB_2 = "/news//price", "/news/body/price[@currency = 'EUR']"
BROKERS = "123456"


FIRST = 2
"""The id of sub_1: after adv_1, the second that the network gives."""


@pytest.fixture(params=REST, ids=str)
def network(request: pytest.FixtureRequest) -> Network:
    """Six brokers; adv_1 at Broker 1, sub_1 at Broker 5."""
    network = Network({"brokers": list(BROKERS), "links": PATH + request.param}, advertised())
    network.advertise("1", SCHEMA, publisher="publisher")
    assert network.subscribe("5", "subscriber", SUB_1) == FIRST
    return network


def routes(network: Network, broker: str) -> dict[str, tuple[str, ...]]:
    """The PRT: what leads where."""
    return {link: told for link, told in network.tables(broker).routes.items() if told}


def test_the_advertisement_is_stored_everywhere_with_the_link_it_came_by(network: Network) -> None:
    told = Advertisement.of_schema(SCHEMA).text
    for broker in BROKERS[1:]:
        came = {link for link, said in network.tables(broker).advertisements.items() if said}
        assert len(came) == 1
        assert network.tables(broker).advertisements[came.pop()] == (told,)
    assert not any(network.tables("1").advertisements.values())
    assert network.tables("5").advertisements[BrokerId("4")] == (told,)
    assert network.tables("4").advertisements[BrokerId("3")] == (told,)
    assert network.tables("3").advertisements[BrokerId("1")] == (told,)


def test_the_subscription_goes_5_4_3_1_and_not_to_2_and_6(network: Network) -> None:
    assert routes(network, "4") == {"5": (SUB_1,)}
    assert routes(network, "3") == {"4": (SUB_1,)}
    assert routes(network, "1") == {"3": (SUB_1,)}
    assert routes(network, "2") == routes(network, "6") == routes(network, "5") == {}


def test_the_publication_goes_the_reverse_path_1_3_4_5(network: Network) -> None:
    outcome = network.publish("1", DOCUMENT, publisher="publisher")
    assert outcome.crossings == (("1", "3"), ("3", "4"), ("4", "5"))
    assert [each.subscriber for each in outcome.deliveries] == ["subscriber"]


def test_what_sub_1_covers_at_broker_4_is_not_forwarded_to_broker_3(network: Network) -> None:
    before = [network.tables(broker) for broker in "1263"]
    network.subscribe("4", "other", SUB_2)
    assert [network.tables(broker) for broker in "1263"] == before
    outcome = network.publish("1", DOCUMENT, publisher="publisher")
    assert outcome.crossings == (("1", "3"), ("3", "4"), ("4", "5"))
    assert sorted(each.subscriber for each in outcome.deliveries) == ["other", "subscriber"]


def test_sub_2_is_forwarded_once_sub_1_has_left(network: Network) -> None:
    """The section does not say so; without it, documents would be lost."""
    network.subscribe("4", "other", SUB_2)
    network.unsubscribe(SubscriptionId(FIRST))
    ((_, told),) = network.tables("4").subscriptions
    assert routes(network, "3") == {"4": (told,)}
    outcome = network.publish("1", DOCUMENT, publisher="publisher")
    assert outcome.crossings == (("1", "3"), ("3", "4"))
    assert [each.subscriber for each in outcome.deliveries] == ["other"]


def test_a_subscription_that_no_advertisement_overlaps_stays_where_it_is(network: Network) -> None:
    network.subscribe("2", "other", "/weather")
    told = [routes(network, broker) for broker in BROKERS]
    assert not any("/weather" in said for table in told for said in table.values())
