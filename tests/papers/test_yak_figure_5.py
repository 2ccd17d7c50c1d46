"""YAK, Figure 5 (sections 4.3.1 and 4.4): four brokers, three subscriptions, one document.

The drawing with its automata is lost in the scan; the text tells what each part shows. B1 stands in
the middle, B2, B3 and B4 are linked to it. C1 at B1 asks for /a (5a), C3 at B4 for /a/b[@d] (5b),
C2 at B3 for /a/b/c (5c); C3 takes back its subscription (5d); a document is published at B2 (5e).
In 5(e) the text lets the document go to B4 for the structure of C3's subscription, so that part
shows the network of 5(c), before C3 has left; the text of 4.4 is followed here.

Where we differ: the paper's deletion forgets what a deleted prefix had held back. Here it is
forwarded when that leaves; the last test shows it.
"""

from __future__ import annotations

from typing import Any

import pytest

from twigcast import Network
from twigcast.routing.strategy import prefix

BROKERS = ["B1", "B2", "B3", "B4"]
TOPOLOGY = {
    "brokers": BROKERS,
    "links": [["B1", "B2"], ["B1", "B3"], ["B1", "B4"]],
}
DOCUMENT = b"<a><b><c></c></b></a>"


class Drawn:
    """The network of Figure 5, part by part."""

    def __init__(self) -> None:
        self.network = Network(TOPOLOGY, prefix())
        self.ids: dict[str, Any] = {}

    def a(self) -> Drawn:
        self.ids["C1"] = self.network.subscribe("B1", "C1", "/a")
        return self

    def b(self) -> Drawn:
        self.ids["C3"] = self.network.subscribe("B4", "C3", "/a/b[@d]")
        return self

    def c(self) -> Drawn:
        self.ids["C2"] = self.network.subscribe("B3", "C2", "/a/b/c")
        return self

    def d(self) -> Drawn:
        self.network.unsubscribe(self.ids["C3"])
        return self

    def routes(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """What each broker has been told, by the link it came over."""
        return {
            broker: {
                link: told for link, told in self.network.tables(broker).routes.items() if told
            }
            for broker in BROKERS
        }


@pytest.fixture
def drawn() -> Drawn:
    return Drawn()


def test_5a_the_first_subscription_goes_to_every_neighbour(drawn: Drawn) -> None:
    assert drawn.a().routes() == {
        "B1": {},
        "B2": {"B1": ("/a",)},
        "B3": {"B1": ("/a",)},
        "B4": {"B1": ("/a",)},
    }


def test_5b_only_the_structure_is_forwarded_and_b1_holds_it_back(drawn: Drawn) -> None:
    before = drawn.a().routes()
    after = drawn.b().routes()
    assert after["B1"] == {"B4": ("/a/b",)}
    assert {**after, "B1": {}} == before


def test_5c_another_goes_to_b1_alone(drawn: Drawn) -> None:
    before = drawn.a().b().routes()
    after = drawn.c().routes()
    assert after["B1"] == {"B3": ("/a/b/c",), "B4": ("/a/b",)}
    assert {**after, "B1": before["B1"]} == before


def test_5d_a_deletion_is_told_to_whom_it_was_forwarded(drawn: Drawn) -> None:
    drawn.a().b().c().d()
    assert drawn.routes()["B1"] == {"B3": ("/a/b/c",)}
    again = Drawn().a().c()
    assert drawn.routes() == again.routes()


def test_5e_structure_decides_between_brokers_and_values_at_the_last(drawn: Drawn) -> None:
    outcome = drawn.a().b().c().network.publish("B2", DOCUMENT)
    assert outcome.crossings[0] == ("B2", "B1")
    assert sorted(outcome.crossings) == [("B1", "B3"), ("B1", "B4"), ("B2", "B1")]
    assert sorted(each.subscriber for each in outcome.deliveries) == ["C1", "C2"]


def test_5e_after_5d_the_document_no_longer_goes_to_b4(drawn: Drawn) -> None:
    outcome = drawn.a().b().c().d().network.publish("B2", DOCUMENT)
    assert sorted(outcome.crossings) == [("B1", "B3"), ("B2", "B1")]
    assert sorted(each.subscriber for each in outcome.deliveries) == ["C1", "C2"]


def test_what_a_deleted_prefix_held_back_is_forwarded(drawn: Drawn) -> None:
    drawn.a().b().c().network.unsubscribe(drawn.ids["C1"])
    told = drawn.routes()
    assert told["B2"] == {"B1": ("/a/b",)}
    assert told["B3"] == {"B1": ("/a/b",)}
    assert told["B4"] == {"B1": ("/a/b/c",)}
    outcome = drawn.network.publish("B2", DOCUMENT)
    assert [each.subscriber for each in outcome.deliveries] == ["C2"]
