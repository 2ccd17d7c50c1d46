"""What leaves stays for whoever came before, and numbers are never used twice."""

from __future__ import annotations

from twigcast.language import DocumentLimits, Pattern
from twigcast.routing.tables.versioned_matcher import VersionedMatcher


def test_a_pattern_that_left_is_there_for_older_versions_alone() -> None:
    matcher = VersionedMatcher("lxml", DocumentLimits())
    first, second = (matcher.add(Pattern.parse(text)) for text in ("//a", "//b"))
    matcher.remove(first, version=7)
    end = matcher.next_number
    assert list(matcher.of([first, second], end, version=6)) == [first, second]
    assert list(matcher.of([first, second], end, version=7)) == [second]
    assert list(matcher.of([first, second], second, version=6)) == [first]


def test_what_left_is_collected_when_no_older_version_is_needed() -> None:
    matcher, forgotten = VersionedMatcher("lxml", DocumentLimits()), list[int]()
    number = matcher.add(Pattern.parse("//a"))
    matcher.remove(number, version=3)
    matcher.collect(2, forgotten.append)
    assert number in matcher.left
    matcher.collect(3, forgotten.append)
    assert (forgotten, matcher.left, len(matcher.matcher)) == ([number], {}, 0)
    assert matcher.add(Pattern.parse("//a")) != number
