"""Greedy merging: within the degree, whatever the order, and mergers that lose parts."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from tests.covering.path_oracles import tiny_schemas
from twigcast import Matcher, Pattern, Schema
from twigcast.covering import covers
from twigcast.covering.merging.degree import merge_degree
from twigcast.covering.merging.greedy import merge
from twigcast.errors import SchemaError, UsageError
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.workload import PatternShape, generate_documents, generate_patterns

ABCDE = Schema.parse(
    b"<!ELEMENT a (x|y)> <!ELEMENT x (c)> <!ELEMENT y (c)> <!ELEMENT c (a1|b|c1|d|e)>"
    b"<!ELEMENT a1 EMPTY> <!ELEMENT b EMPTY> <!ELEMENT c1 EMPTY> <!ELEMENT d EMPTY>"
    b"<!ELEMENT e EMPTY>"
)
"""Below /a/*/c there may be five elements, as in the example of Dissemination 1.5.3."""


def parsed(*texts: str) -> list[Pattern]:
    return [Pattern.parse(text) for text in texts]


def merged_texts(*texts: str, schema: Schema, degree: float = 0) -> list[str]:
    return [merger.pattern.text for merger in merge(texts, schema=schema, degree=degree).mergers]


# Degrees.


@given(tiny_schemas(), paths(4), st.lists(paths(4), min_size=1, max_size=3))
def test_perfect_mergers_are_covered_under_the_schema(
    schema: Schema, merger: str, parts: list[str]
) -> None:
    degree = merge_degree(Pattern.parse(merger), parsed(*parts), schema=schema)
    assert degree.perfect == covers(wider=" or ".join(parts), narrower=merger, schema=schema)


# Greedy merging.


def test_perfect_mergers_are_found_in_rounds() -> None:
    texts = [f"/a/{one}/c/{two}" for one in "xy" for two in ("a1", "b", "c1", "d", "e")]
    assert merged_texts(*texts, schema=ABCDE) == ["/a/*/c/*"]


def test_merging_stops_at_the_degree() -> None:
    texts = ["/a/x/c/d", "/a/x/c/e", "/a/x/c/b"]
    assert merged_texts(*texts, schema=ABCDE, degree=0.3) == sorted(texts)
    assert merged_texts(*texts, schema=ABCDE, degree=0.4) == ["/a/x/c/*"]


def test_a_longer_part_is_replaced_where_nothing_else_can_stand() -> None:
    schema = Schema.parse(
        b"<!ELEMENT a (b|e)> <!ELEMENT b (c)> <!ELEMENT c (z)> <!ELEMENT e (z)> <!ELEMENT z EMPTY>"
    )
    assert merged_texts("/a/b/c/z", "/a/e/z", schema=schema) == ["/a//z"]


def test_branches_are_no_hindrance_if_they_are_equal() -> None:
    assert merged_texts("/a/x[c/b]/c/d", "/a/y[c/b]/c/d", schema=ABCDE) == ["/a/*[c/b]/c/d"]
    two = ["/a/x[c/a1]/c/d", "/a/y[c/b]/c/e"]
    assert merged_texts(*two, schema=ABCDE) == two


def test_patterns_without_a_spine_stay_as_they_are() -> None:
    texts = ["/a/x | /a/y", "/a/x/c", "/a/y/c", "not(/b)", "//a[2]"]
    merged = merge(texts, schema=ABCDE)
    assert {merger.pattern.text for merger in merged.mergers} >= {"/a/x or /a/y", "not(/b)"}
    assert sorted(part.text for merger in merged.mergers for part in merger.parts) == sorted(
        pattern.text for pattern in parsed(*texts)
    )


@pytest.mark.parametrize("degree", [0, 0.1, 0.5])
@pytest.mark.parametrize("name", shipped_schema_names())
def test_mergers_keep_their_promises_on_generated_patterns(name: str, degree: float) -> None:
    schema = shipped_schema(name)
    texts = list(
        generate_patterns(
            schema,
            rng=Random(7),
            count=150,
            shape=PatternShape(nested=0.1, attributes=0.2, distinct=False),
        )
    )
    merged = merge(texts, schema=schema, degree=degree)
    parts = [part for merger in merged.mergers for part in merger.parts]
    assert sorted(part.text for part in parts) == sorted({p.text for p in parsed(*texts)})
    for merger in merged.mergers:
        assert merger.degree <= degree
        for part in merger.parts:
            assert covers(wider=merger.pattern, narrower=part)


@pytest.mark.parametrize("name", shipped_schema_names())
def test_a_perfect_merger_adds_no_document_of_the_schema(name: str) -> None:
    schema = shipped_schema(name)
    texts = generate_patterns(
        schema,
        rng=Random(3),
        count=300,
        shape=PatternShape(depth_max=4, nested=0.1, attributes=0.2, distinct=False),
    )
    mergers = [one for one in merge(texts, schema=schema).mergers if len(one.parts) > 1]
    assert mergers
    matcher = Matcher()
    numbers = {part: number for number, part in enumerate(p for one in mergers for p in one.parts)}
    wholes = {number + len(numbers): one for number, one in enumerate(mergers)}
    for part, number in numbers.items():
        matcher.add(number, part.text)
    for number, merger in wholes.items():
        matcher.add(number, merger.pattern.text)
    for document in generate_documents(schema, rng=Random(4), count=20, elements=40):
        matched = set(matcher.match(document))
        for number, merger in wholes.items():
            assert (number in matched) == any(numbers[part] in matched for part in merger.parts)


@given(tiny_schemas(), st.lists(st.one_of(paths(4), trees(5)), max_size=8), st.randoms())
def test_what_is_merged_does_not_depend_on_the_order(
    schema: Schema, texts: list[str], rng: Random
) -> None:
    merged = merge(texts, schema=schema, degree=0.3)
    rng.shuffle(texts)
    assert merge(texts, schema=schema, degree=0.3) == merged


@given(tiny_schemas(), st.lists(st.one_of(paths(4), trees(5)), min_size=1, max_size=8))
def test_mergers_cover_their_parts_and_stay_within_the_degree(
    schema: Schema, texts: list[str]
) -> None:
    for merger in merge(texts, schema=schema, degree=0.3).mergers:
        for part in merger.parts:
            assert covers(wider=merger.pattern, narrower=part)
        if len(merger.parts) > 1 and merger.degree:
            known = merge_degree(merger.pattern, merger.parts, schema=schema)
            assert known.value <= Fraction(3, 10)


def test_a_budget_of_steps_is_kept_and_reported() -> None:
    texts = ["/a/x/c/d", "/a/x/c/e", "/a/x/c/b"]
    merged = merge(texts, schema=ABCDE, degree=0.4, steps_max=-1)
    assert not merged.within_budget
    assert len(merged.mergers) == len(texts)


@pytest.mark.parametrize("degree", [-0.1, 1.1])
def test_a_degree_out_of_range_is_refused(degree: float) -> None:
    with pytest.raises(UsageError, match="a degree lies in 0 … 1"):
        merge([], schema=ABCDE, degree=degree)


def test_a_schema_without_documents_is_refused() -> None:
    with pytest.raises(SchemaError):
        merge(["/a"], schema=Schema.parse(b"<!ELEMENT a (a)>"))


def test_nothing_is_merged_into_nothing() -> None:
    assert merge([], schema=ABCDE).mergers == ()
