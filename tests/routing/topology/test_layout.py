"""A drawn tree: rows for leaves, and every other broker half way between those behind it."""

from __future__ import annotations

from twigcast.routing import Topology
from twigcast.routing.topology.layout import Point, downwards, points, tree_layout

NETWORK = Topology.of(
    {"links": [["hub", "west"], ["hub", "east"], ["west", "coast"], ["west", "port"]]}
)


def test_leaves_have_rows_and_others_stand_half_way() -> None:
    places = tree_layout("hub", NETWORK)
    assert {broker: place.row for broker, place in places.items()} == {
        "hub": 1.25,
        "west": 0.5,
        "east": 2.0,
        "coast": 0.0,
        "port": 1.0,
    }
    assert places["port"].above == "west"
    assert [place.depth for place in places.values()] == sorted(
        place.depth for place in places.values()
    )


def test_downwards_is_each_broker_before_those_behind_it() -> None:
    behind = {broker: place.behind for broker, place in tree_layout("hub", NETWORK).items()}
    assert [*downwards("hub", behind)] == ["hub", "west", "coast", "port", "east"]


def test_columns_and_rows_have_the_room_they_are_given() -> None:
    drawn = points(tree_layout("west", NETWORK), left=10, column=100, top=5, row=20)
    assert drawn["west"] == Point(10, 25, None, is_leaf=False)
    assert drawn["east"] == Point(210, 5, "hub", is_leaf=True)
