"""The country of the demo, and what its regions ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.cli.demo.feed import write_feed
from twigcast.cli.demo.regions import DESKS, NEWSROOM, REGIONS, country
from twigcast.files import read_subscriptions

pytest.importorskip("pyspark")


def test_the_country_is_a_tree_from_the_newsroom_to_the_towns() -> None:
    topology = country()
    tree = topology.tree()
    towns = [town for region in REGIONS.values() for town in region.towns]
    assert len(set(topology.brokers)) == len(topology.links) + 1
    assert tree.left_out == ()
    assert {tree.hops(NEWSROOM, town) for town in towns} == {3}
    assert {desk for region in REGIONS.values() for desk in region.desks} == set(DESKS)


def test_regions_ask_for_what_their_desks_write(tmp_path: Path) -> None:
    feed = write_feed(tmp_path, documents=1, subscriptions=300, seed=1)
    asked = read_subscriptions(feed.subscriptions).subscriptions
    for region in REGIONS.values():
        texts = [one.xpath for one in asked if one.broker in region.towns]
        told = {
            name: sum(f"'{word}'" in text for text in texts for word in desk.words.split())
            for name, desk in DESKS.items()
        }
        assert max(told, key=lambda name: told[name]) == region.desks[0]
