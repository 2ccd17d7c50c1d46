"""What became of a publication, as people read it."""

from __future__ import annotations

from twigcast.routing import Network

NASTY = "e\x1b[2J\nv\te\u202e\x00\u2028<b>"


def test_what_people_read_is_printable() -> None:
    network = Network({"links": [["north", "south"]]}, "covering")
    network.subscribe("south", NASTY, "//a")
    outcome = network.publish("north", b"<a/>", publisher=NASTY)
    tables = network.tables("south")
    for text in (repr(outcome), outcome._repr_html_(), repr(tables), tables._repr_html_()):
        assert text.isprintable()
        assert "<b>" not in tables._repr_html_()
