"""Links are decided with their first match; what is skipped is skipped behind an end tag."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.matching.following import FEED, matcher_of, tags
from tests.oracle import oracle_tree
from tests.strategies import ExpressionPair, documents, subscriptions
from twigcast.matching import Position


@given(st.lists(subscriptions(), min_size=1, max_size=6), documents(), st.data())
def test_a_link_is_decided_with_the_first_of_its_matches(
    said: list[ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    matcher = matcher_of(*(one.text for one in said))
    ids = st.sets(st.sampled_from(range(len(said))))
    groups = data.draw(st.lists(ids, max_size=4))
    account = matcher.follow(content, groups)
    moments = [[account.decided[one] for one in group & account.decided.keys()] for group in groups]
    assert account.links == tuple(min(some, default=None) for some in moments)
    eager = matcher.follow(content, groups, eager=True)
    assert eager.links == account.links
    if groups and None not in eager.links:
        assert eager.end <= account.end
        assert eager.decided.items() <= account.decided.items()


def test_an_eager_reading_ends_with_the_last_link() -> None:
    matcher = matcher_of("//a/b", "//c", "//d")
    account = matcher.follow(FEED, [[0, 2], [1]], eager=True)
    assert account.links == (Position(3, 0), Position(6, 3))
    assert account.end == Position(6, 3)
    assert list(account.decided) == [0, 1]


@given(st.lists(subscriptions(), min_size=1, max_size=5), documents(), st.data())
def test_skips_begin_behind_their_end_tag(
    said: list[ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    matcher = matcher_of(*(one.text for one in said))
    ids = range(len(said))
    skip = data.draw(st.dictionaries(st.sampled_from(ids), st.integers(0, 8)))
    skip_from = {ends: {one for one in skip if skip[one] == ends} for ends in skip.values()}
    events = tags(oracle_tree(content))
    ends_at = [0, *(place for place, (event, _) in enumerate(events, 1) if event == "end")]
    expected = {
        one: moment
        for one, moment in matcher.follow(content).decided.items()
        if one not in skip
        or skip[one] >= len(ends_at)
        or (skip[one] and moment.element + moment.ends <= ends_at[skip[one]])
    }
    groups = [[one] for one in ids]
    account = matcher.follow(content, groups, skip_from)
    assert account.decided == expected
    assert account.links == tuple(expected.get(one) for one in ids)


def test_what_was_decided_before_a_skip_stays() -> None:
    matcher = matcher_of("//a/b", "//c", "//d", "//a[2]")
    account = matcher.follow(FEED, skip_from={2: [0, 1], 7: [2], 0: [3]})
    assert list(account.decided) == [0, 2]
