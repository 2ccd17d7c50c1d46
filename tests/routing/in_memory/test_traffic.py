"""What crosses links is counted by direction and kind."""

from __future__ import annotations

import pytest

from twigcast import Network
from twigcast.covering import Advertisement
from twigcast.language import Pattern, Schema
from twigcast.routing.events import Arrive, BrokerId, Change, Publication
from twigcast.routing.in_memory.traffic import KINDS, Traffic, message_bytes

A, B = Pattern.parse("/a"), Pattern.parse("/b")
PROMISE = Advertisement.of_schema(Schema.parse(b"<!ELEMENT a EMPTY>"))
DOCUMENT = Publication("p1", BrokerId("north"), "press", b"<a/>")
THERE, BACK = ("north", "south"), ("south", "north")


def kinds(**counted: int) -> dict[str, int]:
    """Counts of all kinds, 0 but for those that are named."""
    return {kind: counted.get(kind, 0) for kind in KINDS}


def test_each_pattern_and_each_advertisement_of_a_change_counts() -> None:
    traffic = Traffic()
    traffic.count(THERE, Change(1, 1, routes=(A, B), advertisements=(PROMISE,)))
    traffic.count(THERE, Change(1, 2, withdrawn=(A,), unadvertised=(PROMISE,)))
    assert traffic[THERE] == kinds(subscribe=2, unsubscribe=1, advertise=1, unadvertise=1)


def test_a_document_counts_once_and_its_paths_one_by_one() -> None:
    traffic = Traffic()
    traffic.count(THERE, Arrive(DOCUMENT))
    traffic.count(BACK, Arrive(DOCUMENT, paths=(0, 2, 5)))
    assert (traffic[THERE]["publish"], traffic[BACK]["publish"]) == (1, 3)


def test_directions_are_apart_and_totals_are_of_all() -> None:
    traffic = Traffic()
    traffic.count(BACK, Arrive(DOCUMENT))
    traffic.count(THERE, Change(1, 1, routes=(A,)))
    traffic.count(THERE, Arrive(DOCUMENT))
    assert traffic.by_link() == {
        THERE: kinds(subscribe=1, publish=1),
        BACK: kinds(publish=1),
    }
    assert list(traffic.by_link()) == [THERE, BACK]
    assert traffic.by_kind() == kinds(subscribe=1, publish=2)
    assert (traffic.total("publish"), traffic.total("advertise"), traffic.total()) == (2, 0, 3)


def test_where_nothing_crossed_nothing_is_counted() -> None:
    traffic = Traffic()
    assert traffic[THERE] == kinds()
    assert traffic.by_link() == {}
    assert traffic.total() == 0


def test_an_empty_change_is_no_message_and_still_has_an_envelope() -> None:
    traffic = Traffic()
    traffic.count(THERE, Change(1, 1))
    assert traffic.total() == 0
    assert traffic.bytes[THERE] == message_bytes(Change(1, 1)) > 0


def test_bytes_add_up_and_grow_with_what_is_said() -> None:
    traffic = Traffic()
    messages = (Change(1, 1), Change(1, 2, routes=(A,)), Change(1, 3, routes=(B,), withdrawn=(A,)))
    for message in messages:
        traffic.count(THERE, message)
    sizes = [message_bytes(message) for message in messages]
    assert sizes == sorted(set(sizes))
    assert traffic.bytes == {THERE: sum(sizes)}


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (Change(1, 1), Change(1, 1, advertisements=(PROMISE,))),
        (Change(1, 1), Change(1, 1, unadvertised=(PROMISE,))),
        (Arrive(DOCUMENT), Arrive(DOCUMENT, paths=(1, 2))),
    ],
)
def test_a_message_with_more_in_it_is_larger(
    smaller: Change | Arrive, larger: Change | Arrive
) -> None:
    assert message_bytes(smaller) < message_bytes(larger)


def test_a_document_takes_at_least_its_own_bytes() -> None:
    large = Publication("p", BrokerId("north"), "", b"<a>" + b" " * 1_000 + b"</a>")
    assert message_bytes(Arrive(large)) - message_bytes(Arrive(DOCUMENT)) == 1_003


def test_a_network_counts_what_its_outcomes_tell() -> None:
    network = Network({"links": [["a", "b"], ["b", "c"], ["b", "d"]]}, "identity")
    network.subscribe("c", "ann", "/x")
    left = network.subscribe("c", "ann", "/y")
    network.unsubscribe(left)
    outcomes = [network.publish("a", text) for text in (b"<x/>", b"<y/>", b"<x/>")]
    crossings = [crossing for outcome in outcomes for crossing in outcome.crossings]
    assert network.traffic.by_kind() == kinds(subscribe=6, unsubscribe=3, publish=4)
    assert crossings == [("a", "b"), ("b", "c")] * 2
    assert network.traffic["b", "c"] == kinds(publish=2)
    assert network.traffic["c", "b"] == kinds(subscribe=2, unsubscribe=1)


def test_paths_are_counted_one_by_one_under_that_strategy() -> None:
    network = Network({"links": [["a", "b"]]}, "advertised(unit=path)")
    schema = b"<!ELEMENT x (y, z)> <!ELEMENT y EMPTY> <!ELEMENT z EMPTY>"
    network.advertise("a", Schema.parse(schema))
    network.subscribe("b", "ann", "/x/y")
    assert len(network.publish("a", b"<x><y/><z/></x>").deliveries) == 1
    assert network.traffic["a", "b"]["publish"] == 1
    network.subscribe("b", "ann", "/x/z")
    network.publish("a", b"<x><y/><z/></x>")
    assert network.traffic["a", "b"]["publish"] == 3
