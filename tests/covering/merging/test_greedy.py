"""Merging: the three rules, their degrees, greedy merging, and mergers that lose parts."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from tests.covering.path_oracles import tiny_schemas
from twigcast import Matcher, Pattern, Schema
from twigcast.covering import covers
from twigcast.covering.containment.covers import paths_of
from twigcast.covering.merging import degree as degree_module
from twigcast.covering.merging.degree import Degree, PathMeasure, merge_degree
from twigcast.covering.merging.greedy import merge
from twigcast.covering.merging.rules import MergeRule, merger_of
from twigcast.covering.merging.spine import pattern_of, plain_steps, spine_of, steps_of
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.covering.paths.linear import LinearPath
from twigcast.errors import SchemaError, SchemaLimitError, UsageError
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.language.condition.model import TEXT, Label, Reach
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


# The rules.


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


@given(st.one_of(paths(), trees()))
def test_a_spine_means_what_its_pattern_means(text: str) -> None:
    pattern = Pattern.parse(text)
    spine = spine_of(pattern)
    assert spine is not None
    assert pattern_of(spine) is pattern


def test_steps_are_counted_wherever_they_are() -> None:
    texts = ["/a", "/a[b/c]//d[@x = 1]", "//a[not(b) or c]", "contains(//a/b, 'x')", "1 = 1"]
    assert [steps_of(pattern) for pattern in parsed(*texts)] == [1, 5, 3, 2, 1]


# Degrees.


def test_the_degree_of_the_example_in_dissemination_1_5_3() -> None:
    """Five elements allowed at the fourth position, two of them required: 60 % are added."""
    merger, *parts = parsed("/a/*/c/*", "/a/*/c/d", "/a/*/c/e")
    degree = merge_degree(merger, parts, schema=ABCDE)
    assert degree == Degree(added=6, accepted=10, perfect=False)
    assert degree.value == Fraction(3, 5)
    assert degree.within(0.6)
    assert not degree.within(0.59)


def test_a_merger_with_all_that_is_allowed_is_perfect() -> None:
    merger, *parts = parsed("/a/*/c", "/a/x/c", "/a/y/c")
    degree = merge_degree(merger, parts, schema=ABCDE)
    assert degree.perfect
    assert degree.value == 0


def test_what_lies_deeper_than_is_counted_is_not_perfect() -> None:
    deep = Schema.parse(b"<!ELEMENT a (a|b|c)*> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>")
    parts = parsed("/a/b", "/a/a", "/a/c/b")
    assert not merge_degree(Pattern.parse("/a/*"), parts, schema=deep, depth=1).perfect
    never = merge_degree(Pattern.parse("/a/a/a/*"), parsed("/a/a/a/b"), schema=deep, depth=2)
    assert never == Degree(added=0, accepted=0, perfect=False)
    assert never.value == 1
    assert not never.within(0)


def test_white_space_is_a_text_that_a_perfect_merger_may_not_add() -> None:
    schema = Schema.parse(b"<!ELEMENT a (b|c)> <!ELEMENT b (#PCDATA)> <!ELEMENT c (b)>")
    merger, part = parsed("/a/*/text()", "/a/b/text()")
    assert not merge_degree(merger, [part], schema=schema).perfect
    assert merged_texts("/a/b/text()", "/a/x/text()", schema=schema) != ["/a/*/text()"]


def test_a_degree_needs_a_spine() -> None:
    with pytest.raises(UsageError, match="begin with one path"):
        merge_degree(Pattern.parse("/a"), parsed("/a/b or /a/c"), schema=ABCDE)


@given(tiny_schemas(), paths(4), st.lists(paths(4), max_size=3), st.integers(1, 5))
def test_degrees_count_paths_as_if_written_out(
    schema: Schema, merger: str, parts: list[str], depth: int
) -> None:
    automaton = paths_of(schema).automaton
    linear = [plain_steps(spine_of(one) or ()) for one in parsed(merger, *parts)]
    degree = PathMeasure(automaton, depth=depth).degree(linear[0], linear[1:])
    accepted = [path for path in label_paths(automaton, depth) if accepts(linear[0], path)]
    assert degree.accepted == len(accepted)
    assert degree.added == sum(
        not any(accepts(part, path) for part in linear[1:]) for path in accepted
    )


def label_paths(paths: PathAutomaton, depth: int) -> list[tuple[Label, ...]]:
    """Every label path of at most so many labels, written out."""
    found: list[tuple[Label, ...]] = []

    def follow(state: int, path: tuple[Label, ...]) -> None:
        if path:
            found.append(path)
        if len(path) < depth:
            here = paths.states[state]
            found.extend((*path, label) for label, _ in here.attributes)
            if here.text is TextKind.ANY:
                found.append((*path, TEXT))
            for label, target in here.edges:
                follow(target, (*path, label))

    follow(DOCUMENT_NODE, ())
    return found


def accepts(pattern: LinearPath, path: tuple[Label, ...]) -> bool:
    """By trying every place for every step."""
    if not pattern:
        return True
    step, *rest = pattern
    places = range(len(path)) if step.reach is Reach.DESCENDANT else range(min(1, len(path)))
    return any(
        step.label.meet(path[place]) and accepts(tuple(rest), path[place + 1 :]) for place in places
    )


def test_counting_ends_by_a_named_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degree_module, "COUNTING_STEPS_MAX", 10)
    with pytest.raises(SchemaLimitError, match="COUNTING_STEPS_MAX"):
        merge_degree(Pattern.parse("//*"), parsed("//para"), schema=shipped_schema("news"))


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


DEEP = "".join(f"<!ELEMENT m{level} (m{level + 1})>" for level in range(1, 11))
TOO_DEEP = (
    f"<!ELEMENT r (m1,b?,c?)> {DEEP} <!ELEMENT m11 (g?)> <!ELEMENT b (z?)> <!ELEMENT c (z?)>"
    "<!ELEMENT g (z?)> <!ELEMENT z EMPTY>"
)
WHITE_SPACE = (
    "<!ELEMENT r (b?,c?,d?)> <!ELEMENT b (#PCDATA)> <!ELEMENT c (#PCDATA)> <!ELEMENT d (x?)>"
    "<!ELEMENT x EMPTY>"
)
BRANCHES = (
    "<!ELEMENT r (b|c)*> <!ELEMENT b (e?)> <!ELEMENT c (d?)> <!ELEMENT e (d?)> <!ELEMENT d (f?)>"
    "<!ELEMENT f EMPTY> <!ATTLIST b x CDATA #IMPLIED> <!ATTLIST c x CDATA #IMPLIED>"
    "<!ATTLIST e x CDATA #IMPLIED>"
)
UNCOUNTED = [
    (TOO_DEEP, ("//b/z", "//c/z")),
    (WHITE_SPACE, ("/r/b/text()", "/r/c/text()")),
    (BRANCHES, ("//b[@x]//d/f", "//c[@x]//d/f")),
]


@pytest.mark.parametrize(("dtd", "texts"), UNCOUNTED)
def test_a_merger_that_adds_only_what_is_not_counted_is_not_called_perfect(
    dtd: str, texts: tuple[str, ...]
) -> None:
    schema = Schema.parse(dtd.encode())
    (merger,) = merge(texts, schema=schema, degree=0.1).mergers
    assert (merger.degree, merger.perfect) == (Fraction(0), False)
    assert len(merge(texts, schema=schema).mergers) == 2
