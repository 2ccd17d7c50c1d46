"""When an answer is certain, for ids and links; skips that begin at a position; last positions.

What a moment means is defined here once more, by cutting the document off there.
"""

from __future__ import annotations

from copy import deepcopy
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.oracle import by_oracle, oracle, oracle_tree
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    Condition,
    Exists,
    Kind,
    SelfIs,
    ValueTest,
)
from twigcast.matching import LastSeen, Matcher, Position

FEED = b"<feed><a><b/></a><a><b/><c>x</c></a><d/></feed>"


def matcher_of(*xpaths: str) -> Matcher:
    matcher = Matcher(engine="streaming")
    for number, xpath in enumerate(xpaths):
        matcher.add(number, xpath, NAMESPACES)
    return matcher


def tags(tree: etree._ElementTree) -> list[tuple[str, etree._Element]]:
    return list(etree.iterwalk(tree, events=("start", "end")))


def cut_off(content: bytes, seen: int) -> bytes:
    """The document as far as it is known behind so many tags, written; empty texts are lost."""
    return etree.tostring(cut_off_tree(content, seen), encoding="UTF-8")


def cut_off_tree(content: bytes, seen: int) -> etree._ElementTree:
    """The document as far as it is known behind so many tags, all open elements closed.

    The texts of an element are known with its end tag.
    """
    tree = deepcopy(oracle_tree(content))
    events = tags(tree)
    ended = {element for event, element in events[:seen] if event == "end"}
    for event, element in events[seen:]:
        parent = element.getparent()
        if event == "start" and parent is not None:
            parent.remove(element)
    for element in tree.iter("*"):
        if element not in ended:
            element.text = None
            for child in element:
                child.tail = None
    return tree


def is_rising(condition: Condition, kind: Kind = Kind.ELEMENT) -> bool:
    """Whether a complete witness is all it takes, and nothing has to wait for an end tag."""
    match condition:
        case Exists(_, label, where):
            return is_rising(where, label.kind)
        case AllOf(parts) | AnyOf(parts):
            return all(is_rising(part, kind) for part in parts)
        case ValueTest():
            return kind is not Kind.ELEMENT
        case SelfIs():
            return True
        case _:
            return False


# Moments.


@THOROUGH
@example(ExpressionPair("text()", "//text()"), b"<a><![CDATA[]]></a>")
@given(subscriptions(), documents())
def test_at_the_moment_told_the_answer_is_certain_and_not_one_tag_earlier(
    said: ExpressionPair, content: bytes
) -> None:
    moment = matcher_of(said.text).follow(content).decided.get(0)
    assert (moment is not None) == oracle(said.oracle, content, NAMESPACES)
    if moment is None:
        return
    seen = moment.element + moment.ends
    assert not seen or by_oracle(said.oracle, cut_off_tree(content, seen), NAMESPACES)
    if is_rising(Pattern.parse(said.text, NAMESPACES).condition) and seen > 1:
        assert not by_oracle(said.oracle, cut_off_tree(content, seen - 1), NAMESPACES)


@pytest.mark.parametrize(
    ("xpath", "element", "ends"),
    [
        ("true()", 0, 0),
        ("/feed", 1, 0),
        ("//a/b", 3, 0),
        ("//a[b]/c", 6, 3),
        ("//c[. = 'x']", 6, 4),
        ("//c/text()", 6, 4),
        ("//a[not(c)]", 3, 2),
        ("//a[c or not(b)]", 6, 3),
        ("//a[c]", 6, 3),
        ("/feed[not(z)]", 7, 7),
        ("not(//z)", 7, 7),
        ("//a[2]", 7, 7),
        ("//a and //d", 7, 5),
    ],
)
def test_moments_count_start_tags_and_end_tags(xpath: str, element: int, ends: int) -> None:
    account = matcher_of(xpath).follow(FEED)
    assert account.decided == {0: Position(element, ends)}
    assert account.end == Position(7, 7)


@given(st.lists(subscriptions(), min_size=1, max_size=5), documents())
def test_following_decides_what_matching_decides(
    said: list[ExpressionPair], content: bytes
) -> None:
    matcher = matcher_of(*(one.text for one in said))
    account = matcher.follow(content)
    assert list(account.decided) == matcher.match(content)
    events = tags(oracle_tree(content))
    assert account.end == Position(len(events) // 2, len(events) // 2)


# Links.


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


# Skips.


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


# Last positions.

steps = st.tuples(st.sampled_from(["/", "//"]), st.sampled_from(["a", "b", "*", "p:a"]))
linear_paths = st.lists(steps, min_size=1, max_size=4)


def last_seen(path: list[tuple[str, str]], content: bytes) -> LastSeen | None:
    """The same, as libxml2 finds it."""
    tree = oracle_tree(content)
    events = tags(tree)
    elements = [element for event, element in events if event == "start"]
    closed = [element for event, element in events if event == "end"]
    whole = "".join(slash + name for slash, name in path)
    rest = "".join(slash + name for slash, name in path[1:])
    first = "".join(path[0]) + (f"[.{rest}]" if rest else "")
    found = cast("list[etree._Element]", tree.xpath(whole, namespaces=NAMESPACES))
    begun = cast("list[etree._Element]", tree.xpath(first, namespaces=NAMESPACES))
    if not found:
        return None
    return LastSeen(
        max(elements.index(one) for one in found) + 1,
        max(closed.index(one) for one in begun) + 1,
    )


@given(st.lists(linear_paths, min_size=1, max_size=4), subscriptions(), documents())
def test_watched_paths_are_last_seen_where_libxml2_finds_them(
    paths: list[list[tuple[str, str]]], said: ExpressionPair, content: bytes
) -> None:
    matcher = matcher_of(said.text)
    for number, path in enumerate(paths):
        matcher.watch(number, "".join(slash + name for slash, name in path), NAMESPACES)
    account = matcher.follow(content)
    expected = [last_seen(path, content) for path in paths]
    assert account.last == {
        number: seen for number, seen in enumerate(expected) if seen is not None
    }
    assert account.never == tuple(number for number, seen in enumerate(expected) if seen is None)


def test_a_watched_path_tells_the_end_tag_of_its_first_element() -> None:
    matcher = Matcher(engine="streaming")
    for number, path in enumerate(("//a/b", "//a", "/feed//c", "//a/z")):
        matcher.watch(number, path)
    account = matcher.follow(FEED)
    assert account.last == {0: LastSeen(5, 5), 1: LastSeen(4, 5), 2: LastSeen(6, 7)}
    assert account.never == (3,)
    matcher.unwatch(0)
    assert list(matcher.follow(FEED).last) == [1, 2]


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
