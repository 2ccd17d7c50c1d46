"""The label prefilter never hides a pattern that matches."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracle import oracle
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.language import Document, Pattern
from twigcast.language.condition.model import Kind, Label
from twigcast.matching.prefilter import LabelIndex, required_labels


def index_of(*patterns: Pattern) -> LabelIndex[Pattern]:
    index: LabelIndex[Pattern] = LabelIndex()
    for pattern in patterns:
        index.add(pattern, required_labels(pattern.necessary.condition))
    return index


def names(xpath: str) -> set[str]:
    found = required_labels(Pattern.parse(xpath).necessary.condition)
    return {("@" if label.kind is Kind.ATTRIBUTE else "") + str(label.local) for label in found}


@pytest.mark.parametrize(
    ("xpath", "required"),
    [
        ("/a/b//c", {"a", "b", "c"}),
        ("//*/a/@x", {"a", "@x"}),
        ("//a[b or c]", {"a"}),
        ("//a[b/d or c/d]", {"a", "d"}),
        ("//a[not(b)]", {"a"}),
        ("//a[contains(b/c, 'x')]", {"a", "b", "c"}),
        ("a | b", set()),
        ("//a[b = c][2]", {"a", "b", "c"}),
        ("//k/ancestor::l[m]", {"k", "l", "m"}),
        ("//*[self::a or self::b]", set()),
        ("//*[@*]", set()),
        ("//a[count(b) > 1]/text()", {"a", "b"}),
        ("normalize-space(//a) != ''", {"a"}),
        ("//a[/b]", {"a", "b"}),
    ],
)
def test_required_labels_are_those_no_match_can_do_without(xpath: str, required: set[str]) -> None:
    assert names(xpath) == required


@given(subscriptions(), documents())
def test_a_matching_pattern_is_always_a_candidate(said: ExpressionPair, content: bytes) -> None:
    pattern = Pattern.parse(said.text, NAMESPACES)
    if oracle(said.oracle, content, NAMESPACES):
        assert index_of(pattern).candidates(Document.parse(content).labels) == [pattern]


def test_patterns_are_filed_where_few_others_are() -> None:
    index = index_of(*(Pattern.parse(f"//common/rare{number}") for number in range(10)))
    labels = [Label(Kind.ELEMENT, "", "common"), Label(Kind.ELEMENT, "", "rare3")]
    assert [pattern.text for pattern in index.candidates(labels)] == ["//common/rare3"]
    assert len(index) == 10


def test_what_requires_no_label_is_always_a_candidate() -> None:
    index = index_of(Pattern.parse("//*[@*]"))
    assert index.unfiltered == 1
    assert len(index.candidates([])) == 1
    index.remove(Pattern.parse("//*[@*]"))
    assert (index.unfiltered, len(index)) == (0, 0)
