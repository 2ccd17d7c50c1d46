"""Reduction of a set of patterns: covering, merging and aggregation together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from tests.covering.path_oracles import tiny_schemas
from twigcast import Pattern, Schema
from twigcast.covering import covers
from twigcast.covering.index.cover_index import CoverIndex
from twigcast.covering.merging import reduction
from twigcast.covering.merging.reduction import Reduction, reduced
from twigcast.covering.merging.spine import steps_of
from twigcast.errors import UsageError

_texts = st.lists(st.one_of(paths(4), trees(5)), max_size=8)

SCHEMA = Schema.parse(
    b"<!ELEMENT a (b|c)> <!ELEMENT b (d, e)> <!ELEMENT c (d, e)> <!ELEMENT d EMPTY>"
    b"<!ELEMENT e EMPTY>"
)


def check(texts: list[str], found: Reduction) -> None:
    given = {Pattern.parse(text) for text in texts}
    assert found.given == len(given)
    parts = [part for kept in found.kept for part in kept.parts]
    assert len(parts) == len(set(parts)) == found.minimal
    assert found.steps == sum(steps_of(kept.pattern) for kept in found.kept)
    for pattern in given:
        assert any(covers(wider=part, narrower=pattern) for part in parts)
    for kept in found.kept:
        for part in kept.parts:
            assert covers(wider=kept.pattern, narrower=part)


@given(_texts)
def test_the_minimal_set_covers_all_and_none_of_it_another(texts: list[str]) -> None:
    found = reduced(texts)
    check(texts, found)
    for kept in found.kept:
        assert kept.parts == (kept.pattern,)
        assert sum(covers(wider=one.pattern, narrower=kept.pattern) for one in found.kept) == 1


@given(tiny_schemas(), _texts, st.sampled_from([0, 0.3]))
def test_merging_stands_for_the_minimal_set(
    schema: Schema, texts: list[str], degree: float
) -> None:
    found = reduced(texts, schema=schema, degree=degree)
    check(texts, found)
    assert len(found.kept) <= found.minimal


@given(_texts, st.integers(1, 10))
def test_a_budget_is_kept(texts: list[str], steps_max: int) -> None:
    found = reduced(texts, steps_max=steps_max)
    check(texts, found)
    assert found.steps <= steps_max


def test_what_a_merger_covers_goes_with_it() -> None:
    found = reduced(["/a/b/d", "/a/c/d", "/a/*/d[@x]"], schema=SCHEMA, degree=0)
    assert found.minimal == 3
    assert [(kept.pattern.text, len(kept.parts)) for kept in found.kept] == [("/a/*/d", 3)]


def test_patterns_are_kept_in_the_order_they_were_given() -> None:
    found = reduced(["//e", "/a/c/d", "/a/b/d", "//b"], schema=SCHEMA, degree=0)
    assert [kept.pattern.text for kept in found.kept] == ["//e", "/a/c/d", "//b"]
    assert [kept.pattern.text for kept in reduced(["/x", "/b", "/a"]).kept] == ["/x", "/b", "/a"]


def test_a_degree_is_reported_where_it_is_known() -> None:
    merged = reduced(["/a/b/d", "/a/c/d"], schema=SCHEMA, degree=0)
    assert [kept.degree for kept in merged.kept] == [0]
    wider = reduced(["/a/b/d", "/a/c/d"], steps_max=3)
    assert [(kept.pattern.text, kept.degree) for kept in wider.kept] == [("/a/*/d", None)]


def test_a_root_may_be_several_coverings_away(monkeypatch: pytest.MonkeyPatch) -> None:
    index = CoverIndex("python")
    for number, text in enumerate(["//a", "//a/b", "//a/b/c"]):
        index.add(number, text)
    # As if nobody knew that the first covers the last.
    above = {"//a/b/c": [1, 2], "//a/b": [0, 1]}
    monkeypatch.setattr(index, "covering", lambda pattern: list(above[pattern.text]))
    assert reduction._root_above(Pattern.parse("//a/b/c"), index, {0}) == 0


def test_merging_without_a_schema_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a schema"):
        reduced(["/a"], degree=0.1)


def test_progress_is_reported() -> None:
    stages: list[str] = []
    reduced(
        ["/a/b/d", "/a/c/d", "//e/f"],
        schema=SCHEMA,
        degree=0,
        steps_max=2,
        report=lambda stage, *_: stages.append(stage),
    )
    assert list(dict.fromkeys(stages)) == [
        "sorting patterns in",
        "finding what covers what",
        "merging",
        "making patterns wider",
    ]
