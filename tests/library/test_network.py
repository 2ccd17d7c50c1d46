"""Networks from topology files, and documents published by their paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

import twigcast
from tests.library.prices import FEED
from twigcast import routing
from twigcast.errors import DocumentError, UsageError


def test_a_network_is_made_from_a_topology_file(tmp_path: Path, feed: Path) -> None:
    path = tmp_path / "offices.toml"
    path.write_text('links = [["north", "hub"], ["hub", "south"]]')
    table = {"links": [["north", "hub"], ["hub", "south"]]}
    for given in (path, str(path), table, routing.Topology.of(table)):
        network = twigcast.Network(given)
        network.subscribe("south", "ann", "//price")
        for document in (feed, FEED, FEED.decode(), etree.fromstring(FEED)):
            (delivery,) = network.publish("north", document).deliveries
            assert delivery.subscriber == "ann"
        with pytest.raises(DocumentError, match="no such file"):
            network.publish("north", "missing.xml")
    with pytest.raises(UsageError, match="cannot read the topology"):
        twigcast.Network(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="JSON or TOML"):
        twigcast.Network("offices")


def test_a_refused_document_is_published_with_its_name_in_the_error(tmp_path: Path) -> None:
    document = tmp_path / "half.xml"
    document.write_text("<a>")
    network = twigcast.Network({"links": [["north", "south"]]})
    with pytest.raises(DocumentError, match=r"half\.xml, line 1"):
        network.publish("north", document)
