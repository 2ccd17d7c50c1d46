"""A document is parsed once at a broker, whoever needs its tree."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.language import Document, Schema
from twigcast.routing import Network
from twigcast.routing.strategy import strategy

LINE = {"links": [["A", "B"], ["B", "C"]]}
SCHEMA = Schema.parse(b"<!ELEMENT a (b*)> <!ELEMENT b (#PCDATA)>")


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("name", ["identity", "advertised", "piggyback(annotations=+s-sd)"])
def test_each_broker_parses_a_document_once_at_most(
    engine: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network(LINE, strategy(name), engine=engine)
    if network.strategy.needs_advertisements:
        network.advertise("A", SCHEMA)
    for broker in network.brokers:
        # Only libxml2 knows namespaces, so that every engine wants the tree for both tables.
        network.subscribe(broker, "reader", "//b[count(namespace::*) = 1]")
    parsed: list[bytes] = []
    whole = Document.parse

    def parse(content: bytes, **given: Any) -> Document:  # noqa: ANN401
        parsed.append(content)
        return whole(content, **given)

    monkeypatch.setattr(Document, "parse", staticmethod(parse))
    outcome = network.publish("A", b"<a><b>1</b><b>2</b></a>")
    assert (len(outcome.deliveries), len(outcome.crossings)) == (3, 2)
    assert 1 <= len(parsed) <= len(network.brokers)
