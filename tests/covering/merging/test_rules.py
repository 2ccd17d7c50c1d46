"""The three rules of merging."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from twigcast import Pattern
from twigcast.covering import covers
from twigcast.covering.merging.rules import MergeRule, merger_of


def parsed(*texts: str) -> list[Pattern]:
    return [Pattern.parse(text) for text in texts]


@pytest.mark.parametrize(
    ("one", "other", "merged", "rule"),
    [
        ("/a/*/c/d", "/a/*/c/e", "/a/*/c/*", MergeRule.ELEMENT),
        ("/a/b", "/a/*", "/a/*", MergeRule.ELEMENT),
        ("/a/@x", "/a/@y", "/a/@*", MergeRule.ELEMENT),
        ("//a[x > 1]", "//b[x > 1]", "//*[x > 1]", MergeRule.ELEMENT),
        ("/a/{urn:u}b", "/a/b", "/a/*", MergeRule.ELEMENT),
        ("/a/m/b/c", "/a/k/b//c", "/a/*/b//c", MergeRule.ELEMENT_AND_OPERATOR),
        ("/m/a", "//k/a", "//*/a", MergeRule.ELEMENT_AND_OPERATOR),
        ("/a/b/c/d", "/a/e/f/g/d", "/a//d", MergeRule.PART),
        ("/a/b[x]/c/d", "/a/e/d", "/a//d", MergeRule.PART),
        ("/a/d", "/a/b/d", "/a//d", MergeRule.PART),
        ("/a/b/z", "/c/d/z", "//z", MergeRule.PART),
        ("/a/b//c/d", "/a/e/f/c/d", "/a//c/d", MergeRule.PART),
        ("/a/text()", "/a/b/text()", "/a//text()", MergeRule.PART),
    ],
)
def test_the_rules_of_dissemination_1_5_3(
    one: str, other: str, merged: str, rule: MergeRule
) -> None:
    for first, second in (parsed(one, other), parsed(other, one)):
        found = merger_of(first, second)
        assert found is not None
        assert (found.pattern.text, found.rule) == (merged, rule)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a/b", "/a/b"),
        ("/a/b", "/a/@b"),
        ("/a/@x", "/a/text()"),
        ("/a/b/c", "/d/e/f"),
        ("/a[x]/b/c", "/a[y]/b/c/d"),
        ("/a or /b", "/c"),
        ("not(/a)", "not(/b)"),
    ],
)
def test_other_pairs_are_not_merged(one: str, other: str) -> None:
    assert merger_of(*parsed(one, other)) is None


@given(st.one_of(paths(), trees()), st.one_of(paths(), trees()))
def test_a_merger_covers_its_parts(one: str, other: str) -> None:
    found = merger_of(*parsed(one, other))
    assume(found is not None)
    assert found is not None
    for part in (one, other):
        assert covers(wider=found.pattern, narrower=part)
