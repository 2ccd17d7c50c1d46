"""Following decides what matching decides; it watches paths of elements, in order only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.following import FEED, matcher_of, tags
from tests.oracle import oracle_tree
from tests.strategies import ExpressionPair, documents, subscriptions
from twigcast.errors import UsageError
from twigcast.matching import Matcher, Position


@given(st.lists(subscriptions(), min_size=1, max_size=5), documents())
def test_following_decides_what_matching_decides(
    said: list[ExpressionPair], content: bytes
) -> None:
    matcher = matcher_of(*(one.text for one in said))
    account = matcher.follow(content)
    assert list(account.decided) == matcher.match(content)
    events = tags(oracle_tree(content))
    assert account.end == Position(len(events) // 2, len(events) // 2)


@pytest.mark.parametrize("xpath", ["//a[b][c]", "//a/@b", "//a/text()", "//a | //b", "//a[2]"])
def test_only_paths_of_elements_are_watched(xpath: str) -> None:
    with pytest.raises(UsageError, match="only a path of elements can be watched"):
        Matcher(engine="streaming").watch(1, xpath)


def test_ids_of_paths_are_used_once_at_a_time() -> None:
    matcher = matcher_of("//a")
    matcher.watch(0, "//b")
    with pytest.raises(UsageError, match="id 0 is taken by another path"):
        matcher.watch(0, "//c")
    with pytest.raises(UsageError, match="no path with id 1"):
        matcher.unwatch(1)


def test_an_engine_that_does_not_read_in_order_says_so() -> None:
    with pytest.raises(UsageError, match="take Matcher\\(engine='streaming'\\)"):
        Matcher(engine="lxml").follow(FEED)
