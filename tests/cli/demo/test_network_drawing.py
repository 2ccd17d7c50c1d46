"""The network of the demo, drawn."""

from __future__ import annotations

import re

import pytest
from lxml import etree

from tests.cli.demo.pages import elements, style_of
from twigcast.cli.demo.html_report import report
from twigcast.cli.demo.network_drawing import network_drawing
from twigcast.cli.demo.regions import country
from twigcast.cli.demo.strategy_traffic import LinkLoad
from twigcast.cli.demo.summary import DemoSummary
from twigcast.routing import Topology

pytest.importorskip("pyspark")


def test_a_network_is_drawn_with_lines_as_wide_as_their_traffic() -> None:
    topology = Topology.of({"links": [["hub", "a<b"], ["a<b", "c"], ["hub", "d"]]})
    links = {("hub", "a<b"): LinkLoad(20, 2_000_000, 0), ("a<b", "c"): LinkLoad(5, 500_000, 0)}
    drawing = etree.fromstring(network_drawing(topology, links, {"c": 7}, documents=20))
    paths = [path for path in drawing.iter("path") if "C" in path.get("d", "")]
    widths = {
        kind: [path.get("stroke-width") for path in paths if path.get("class") == kind]
        for kind in ("band", "line")
    }
    assert widths == {"band": ["15.0"] * 3, "line": ["15.00", "3.75"]}
    titles = [title.text for title in drawing.iter("title")]
    assert "hub → a<b: 20 crossings, 2.0 MB" in titles
    assert "hub → d: 0 crossings, 0.0 MB" in titles
    assert "c: 7 copies handed over" in titles


def test_no_two_names_of_the_drawn_country_overlap() -> None:
    topology = country()
    drawing = etree.fromstring(network_drawing(topology, {}, {}, documents=1))
    names = [text for text in drawing.iter("text") if text.text in topology.brokers]
    assert len(names) == len(topology.brokers)
    size = [float(part) for part in drawing.get("viewBox", "").split()[2:]]
    boxes = []
    for name in names:
        width = 9.0 * len(name.text or "")
        shift = width / 2 if name.get("text-anchor") == "middle" else 0.0
        left, bottom = float(name.get("x", "")) - shift, float(name.get("y", ""))
        boxes.append((left, bottom - 14, left + width, bottom + 4))
    assert all(
        left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1]
        for left, top, right, bottom in boxes
    )
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            across = one[0] < other[2] and other[0] < one[2]
            upwards = one[1] < other[3] and other[1] < one[3]
            assert not (across and upwards)


def test_a_telephone_has_the_network_as_a_list(summary: DemoSummary) -> None:
    page = report(summary)
    narrow = style_of(page, narrow=True)
    assert re.search(r"\.network \{[^}]*display: none", narrow)
    assert re.search(r"\.network-list \{[^}]*display: block", narrow)
    (shown,) = (element for element in elements(page) if element.get("class") == "network-list")
    assert float((shown.get("viewBox") or "").split()[2]) <= 360
    assert [text.text for text in shown.iter("text")] == [
        "Hub",
        "Fen",
        "7 copies",
        "Lake",
        "1 copy",
        "bars: crossings to the broker, of 20 documents",
    ]
