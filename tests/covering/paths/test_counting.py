"""Counting label paths level by level, against paths spelt out one by one."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.path_oracles import label_paths, tiny_schemas
from twigcast.covering.advertisements.advertisement import Advertisement
from twigcast.covering.paths import counting as path_counts
from twigcast.covering.paths.counting import (
    LinearPath,
    accepted_path,
    count_accepted,
    count_selected,
    linear_path,
    selected_paths,
)
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.files.schemas import shipped_schema
from twigcast.language import Pattern, Schema
from twigcast.workload import generate_patterns

DEPTH = 5


def steps(text: str) -> LinearPath:
    found = linear_path(Pattern.parse(text).condition)
    assert found is not None
    return found


def as_regex(text: str) -> re.Pattern[str]:
    """A linear pattern over names without namespace, as a regular expression over paths."""
    spelt = ""
    for slashes, name in re.findall(r"(//?)([^/]+)", text):
        label = {"*": r"/\{[^@/]*", "@*": "/@[^/]*"}.get(name, "/" + re.escape(name))
        if not name.startswith(("@", "*", "text")):
            label = rf"/(?:\{{\}}){re.escape(name)}"
        spelt += (r"(?:/[^/]+)*" if slashes == "//" else "") + label
    return re.compile(spelt)


_names = st.sampled_from(["a", "b", "*"])
_ends = st.sampled_from(["a", "b", "*", "@x", "@*", "text()"])
_slashes = st.sampled_from(["/", "//"])


@st.composite
def linear_texts(draw: st.DrawFn) -> str:
    middle = "".join(draw(_slashes) + draw(_names) for _ in range(draw(st.integers(1, 2))))
    return middle + draw(_slashes) + draw(_ends)


def spelt_out(advertisement: Advertisement) -> list[str]:
    return ["/" + "/".join(path) for path in label_paths(advertisement.paths, DEPTH)]


def by_length(paths: list[str]) -> tuple[int, ...]:
    # A namespace that is left open is spelt {None}, so no slash but those between labels is there.
    lengths = [path.count("/") for path in paths]
    return tuple(lengths.count(length) for length in range(1, DEPTH + 1))


@given(tiny_schemas(), linear_texts())
def test_selected_paths_are_counted_as_if_listed(schema: Schema, text: str) -> None:
    advertisement = Advertisement.of_schema(schema)
    regex = as_regex(text)
    listed = [path for path in spelt_out(advertisement) if regex.fullmatch(path)]
    counts = count_selected(advertisement.paths, steps(text), depth=DEPTH)
    assert counts == by_length(listed)


@given(tiny_schemas(), linear_texts(), linear_texts(), linear_texts())
def test_accepted_paths_are_counted_as_if_listed(
    schema: Schema, one: str, two: str, other: str
) -> None:
    advertisement = Advertisement.of_schema(schema)

    def accepts(text: str, path: str) -> bool:
        return re.compile(as_regex(text).pattern + r"(?=/|$)").match(path) is not None

    listed = [
        path
        for path in spelt_out(advertisement)
        if (accepts(one, path) or accepts(two, path)) and not accepts(other, path)
    ]
    wanted, but_not = [steps(one), steps(two)], [steps(other)]
    counts = count_accepted(advertisement.paths, wanted, but_not=but_not, depth=DEPTH)
    assert counts == by_length(listed)
    witness = accepted_path(advertisement.paths, wanted, but_not=but_not)
    if listed:
        assert witness is not None
        assert len(witness) == min(path.count("/") for path in listed)
    else:
        assert witness is None or len(witness) > DEPTH


@given(tiny_schemas(), linear_texts())
def test_the_intersection_has_the_selected_paths_and_those_that_lead_there(
    schema: Schema, text: str
) -> None:
    advertisement = Advertisement.of_schema(schema)
    narrowed = selected_paths(advertisement.paths, steps(text))
    counts = count_selected(advertisement.paths, steps(text), depth=DEPTH)
    if narrowed is None:
        assert not any(counts)
        return
    assert count_selected(narrowed, steps(text), depth=DEPTH) == counts
    assert selected_paths(narrowed, steps(text)) == narrowed


def test_the_example_of_the_degree_of_a_merger() -> None:
    """Dissemination, section 1.5.3: a to e at the fourth place, so 3 of 5 are too many."""
    letters = "abcde"
    advertisement = Advertisement.of_expressions(f"/a/b/c/{letter}" for letter in letters)
    merger, parts = steps("/a/*/c/*"), [steps("/a/*/c/d"), steps("/a/*/c/e")]
    added = count_accepted(advertisement.paths, [merger], but_not=parts, depth=4)
    assert (sum(added), sum(count_accepted(advertisement.paths, [merger], depth=4))) == (3, 5)
    assert accepted_path(advertisement.paths, [merger], but_not=parts) is not None
    everything = [steps(f"/a/*/c/{letter}") for letter in letters]
    assert accepted_path(advertisement.paths, [merger], but_not=everything) is None


def test_counts_are_exact_however_large() -> None:
    advertisement = Advertisement.of_expressions(["/(a)+", "/((a)+(b)+)+", "/((b)+(a)+)+", "/(b)+"])
    assert count_selected(advertisement.paths, steps("//b/*"), depth=200)[-1] > 2**198


def test_patterns_with_branches_or_values_are_not_linear() -> None:
    for text in ("/a[b]/c", "/a[. = 1]", "/a | /b", "not(/a)", "true()", "/a[2]"):
        assert linear_path(Pattern.parse(text).condition) is None
    with pytest.raises(UsageError, match="at least one step"):
        count_selected(Advertisement.of_expressions(["/a"]).paths, (), depth=1)


def test_counting_ends_by_a_named_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_counts, "COUNTING_STEPS_MAX", 10)
    advertisement = Advertisement.of_schema(shipped_schema("news"))
    with pytest.raises(SchemaLimitError, match="COUNTING_STEPS_MAX"):
        count_accepted(advertisement.paths, [steps("//*")], depth=20)


def test_generated_paths_select_something() -> None:
    schema = shipped_schema("auction")
    advertisement = Advertisement.of_schema(schema)
    for text in generate_patterns(schema, rng=Random(3), count=200, attributes=0.3):
        assert any(count_selected(advertisement.paths, steps(text), depth=30)), text
