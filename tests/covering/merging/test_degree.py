"""Degrees of mergers: which share of the label paths nobody asked for."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths
from tests.covering.path_oracles import tiny_schemas
from twigcast import Pattern, Schema
from twigcast.covering.containment.covers import paths_of
from twigcast.covering.merging import degree as degree_module
from twigcast.covering.merging.degree import Degree, PathMeasure, merge_degree
from twigcast.covering.merging.greedy import merge
from twigcast.covering.merging.spine import plain_steps, spine_of
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.covering.paths.linear import LinearPath
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.files.schemas import shipped_schema
from twigcast.language.condition.model import TEXT, Label, Reach

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
