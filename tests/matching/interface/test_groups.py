"""Groups of ids, made ready once."""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE, NATIVE
from tests.matching.engines.native_matchers import matcher_of
from twigcast.matching import Matcher

TRADES = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_groups_made_ready_follow_texts_that_come_and_go(engine: str) -> None:
    matcher = Matcher({1: "//note"}, engine=engine)
    groups = matcher.groups({"north": ["prices"], "south": [1]})
    assert matcher.match_links(TRADES, groups) == ["south"]
    matcher.add("prices", "//price")
    assert matcher.match_links(TRADES, groups) == ["north", "south"]
    matcher.remove("prices")
    assert matcher.match_links(TRADES, groups) == ["south"]
    matcher.add("prices", "//feed")
    assert matcher.match_links(TRADES, groups) == ["north", "south"]
    other = Matcher({"prices": "//price"}, engine=engine)
    assert other.match_links(TRADES, groups) == ["north"]


@NATIVE
def test_groups_may_name_ids_that_are_not_there_and_be_empty() -> None:
    matcher = matcher_of(("//a",))
    groups = matcher.groups({"far": [2**62, -7], "none": [], "both": [2**62, 0, 0]})
    assert matcher.match_links(b"<a/>", groups) == ["both"]
    matcher.add(2**62, "/a")
    assert matcher.match_links(b"<a/>", groups) == ["far", "both"]
    matcher.remove(0)
    matcher.remove(2**62)
    assert matcher.match_links(b"<a/>", groups) == []
