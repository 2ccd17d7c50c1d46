"""Moments and last positions, defined once more by cutting the document off there."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.matching.following import FEED, cut_off_tree, matcher_of, tags
from tests.oracle import by_oracle, oracle, oracle_tree
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
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
