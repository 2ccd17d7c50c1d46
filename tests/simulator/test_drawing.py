"""Pictures of networks: well-formed, tidy, and safe whatever brokers are called."""

from __future__ import annotations

from itertools import combinations

import pytest
from lxml import etree

from tests.simulator.schedules import publishes, schedule, subscribes
from twigcast.routing.topology.model import Topology
from twigcast.simulator import Schedule, Simulation, drawn_network

ALONE = Simulation(Schedule(Topology.of({"brokers": ["alone"]}).tree())).run()
SVG = "{http://www.w3.org/2000/svg}"


def picture(told: Schedule, title: str = "a title") -> etree._Element:
    results = Simulation(told, "flooding").run()
    return etree.fromstring(drawn_network(told.network, results, title=title).encode())


def discs(drawing: etree._Element) -> dict[str, tuple[float, float]]:
    """Where each broker stands, without those of the legend."""
    return {
        (disc.findtext(f"{SVG}title") or "").partition(":")[0]: (
            float(disc.get("cx", "")),
            float(disc.get("cy", "")),
        )
        for disc in drawing.iter(f"{SVG}circle")
        if disc.find(f"{SVG}title") is not None
    }


def test_no_two_brokers_stand_too_near_to_each_other() -> None:
    links: list[object] = [["a", "b"], ["a", "c"], ["c", "d"], ["c", "e"], ["c", "f"], ["f", "g"]]
    places = discs(picture(schedule(links)))
    assert places.keys() == set("abcdefg")
    for one, other in combinations(places.values(), 2):
        assert abs(one[0] - other[0]) >= 100 or abs(one[1] - other[1]) >= 20


def test_the_middle_of_the_tree_is_at_the_left() -> None:
    places = discs(picture(schedule([["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"]])))
    assert min(places, key=lambda name: places[name]) == "c"
    assert places["a"][0] == places["e"][0]


def test_lines_show_documents_and_needless_ones() -> None:
    told = schedule([["a", "b"], ["b", "c"]], [subscribes("b", 1, "//b")], [publishes("a", "d")])
    lines = [
        line for line in picture(told).iter(f"{SVG}path") if line.find(f"{SVG}title") is not None
    ]
    said = [line.findtext(f"{SVG}title") for line in lines]
    assert said == [
        "b → a: 0 documents, 0 needless; a → b: 1 documents, 0 needless; 1 ms",
        "b → c: 1 documents, 1 needless; c → b: 0 documents, 0 needless; 1 ms",
    ]
    needed, needless = (line.get("stroke") for line in lines)
    assert (needed, needless) == ("#2b6ea5", "#cd3c28")


def test_names_are_escaped() -> None:
    wild = '<b> & "c"'
    drawing = picture(schedule([["a", wild]]), title="<script>\x01 & more")
    texts = [text.text for text in drawing.iter(f"{SVG}text")]
    assert wild in texts
    assert "<script>\N{REPLACEMENT CHARACTER} & more" in texts
    assert not list(drawing.iter(f"{SVG}script"))


@pytest.mark.parametrize("first", range(0, 0x110000, 0x1000))
def test_whatever_a_title_holds_the_picture_is_well_formed(first: int) -> None:
    network = Topology.of({"brokers": ["alone"]}).tree()
    title = "".join(map(chr, range(first, first + 0x1000)))
    drawing = etree.fromstring(drawn_network(network, ALONE, title=title).encode())
    shown = next(text.text or "" for text in drawing.iter(f"{SVG}text"))
    seen = (sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in title)
    assert shown == "".join(seen)


def test_a_single_broker_is_a_picture_too() -> None:
    alone = Schedule(Topology.of({"brokers": ["alone"]}).tree())
    assert discs(picture(alone)).keys() == {"alone"}
