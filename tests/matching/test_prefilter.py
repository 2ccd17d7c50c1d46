"""The label prefilter never hides a pattern that matches."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.judge import judge
from tests.strategies import NAMESPACES, Said, documents, subscriptions
from twigcast.language import Document, Pattern
from twigcast.language.condition import Kind, Label
from twigcast.matching.prefilter import LabelIndex, required_labels


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
def test_a_matching_pattern_is_always_a_candidate(said: Said, content: bytes) -> None:
    index = LabelIndex()
    pattern = Pattern.parse(said.text, NAMESPACES)
    index.add(pattern)
    if judge(said.judge, content, NAMESPACES):
        assert pattern in index.candidates(Document.parse(content).labels)


def test_patterns_are_filed_where_few_others_are() -> None:
    index = LabelIndex()
    for number in range(10):
        index.add(Pattern.parse(f"//common/rare{number}"))
    labels = {Label(Kind.ELEMENT, "", "common"): 1, Label(Kind.ELEMENT, "", "rare3"): 1}
    assert [pattern.text for pattern in index.candidates(labels)] == ["//common/rare3"]
    assert len(index) == 10


def test_what_requires_no_label_is_always_a_candidate() -> None:
    index = LabelIndex()
    index.add(Pattern.parse("//*[@*]"))
    assert index.unfiltered == 1
    assert len(list(index.candidates({}))) == 1
    index.remove(Pattern.parse("//*[@*]"))
    assert (index.unfiltered, len(index)) == (0, 0)
