"""The stage of the study: its patterns, its documents, its schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from twigcast.experiments.piggyback import (
    reckoned,
)
from twigcast.experiments.piggyback_stage import Stage
from twigcast.routing.events import Publish, Subscribe
from twigcast.simulator.schedule import ClientEvent

SMALL = Stage(levels=3, patterns=120, documents=3)


def test_patterns_are_all_different_and_ask_for_the_marker() -> None:
    _, subscriptions = SMALL.schedule().stage
    events = [each.event for each in subscriptions if isinstance(each, ClientEvent)]
    patterns = [event.pattern for event in events if isinstance(event, Subscribe)]
    assert len(patterns) == 7 * SMALL.patterns
    assert len(set(patterns)) > 0.9 * len(patterns)  # some texts mean the same
    assert all("test" in pattern.text for pattern in patterns)


@pytest.mark.parametrize("position", [0.25, 1.0])
def test_the_marker_stands_behind_its_share_of_the_elements(position: float) -> None:
    for handed in SMALL.documents_at(position):
        assert isinstance(handed, ClientEvent)
        assert isinstance(handed.event, Publish)
        tags = [each.tag for each in etree.fromstring(handed.event.publication.content).iter("*")]
        assert len(tags) == SMALL.elements
        assert tags.index("test") == pytest.approx(position * (len(tags) - 1), abs=1)


def test_the_dtd_of_the_paper_can_be_taken(shared_path: Callable[[str], Path]) -> None:
    dtd = shared_path("data/dtd/nitf-2.5/nitf-2-5-nocomments.dtd")
    stage = Stage(levels=2, patterns=40, documents=2, dtd=dtd)
    (lazy,) = reckoned(stage, combinations=("L+s-sd",), positions=(0.5,))
    assert (lazy.plays[0].failures, lazy.plays[0].deliveries > 0) == (0, True)
