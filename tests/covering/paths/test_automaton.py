"""Automata of label paths: one form for one set of paths, inclusion, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.path_oracles import label_paths, tiny_schemas
from twigcast.covering import Advertisement
from twigcast.covering.paths.automaton import (
    AutomatonLimits,
    PathAutomaton,
    PathState,
    Sketch,
    TextKind,
    covers_paths,
    path_automaton,
)
from twigcast.covering.paths.expression import expressions_sketch, read_expression
from twigcast.covering.paths.from_dtd import schema_sketch
from twigcast.errors import SchemaLimitError
from twigcast.language.condition.model import Kind, Label
from twigcast.language.dtd.schema import Schema


def automaton(*expressions: str) -> PathAutomaton:
    return path_automaton(expressions_sketch(map(read_expression, expressions)))


def covers(wider: PathAutomaton, narrower: PathAutomaton) -> bool:
    return covers_paths(wider=wider, narrower=narrower)


_labels = st.sampled_from(["a", "b", "*", "*:a", "{u}a"])
_groups = st.lists(_labels, min_size=1, max_size=2).map(lambda names: f"({'/'.join(names)})+")
_parts = st.one_of(_labels.map(lambda name: f"/{name}"), _groups)
expressions = st.builds(
    lambda parts, leaf: "/" + "".join(parts).removeprefix("/") + leaf,
    st.lists(_parts, min_size=1, max_size=3),
    st.sampled_from(["", "", "/@x", "/text()"]),
)
automata = st.lists(expressions, min_size=1, max_size=3).map(lambda texts: automaton(*texts))


@given(st.lists(expressions, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_expressions_does_not_matter(texts: list[str], random: object) -> None:
    shuffled = list(texts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis hands out a Random.
    assert automaton(*texts) == automaton(*shuffled)
    assert automaton(*texts, *shuffled) == automaton(*texts)


@given(tiny_schemas())
def test_a_second_pass_changes_nothing(schema: Schema) -> None:
    once = path_automaton(schema_sketch(schema))
    sketch = Sketch()
    sketch.include(once)
    assert path_automaton(sketch) == once


@given(automata)
def test_a_second_pass_over_general_labels_changes_nothing(once: PathAutomaton) -> None:
    sketch = Sketch()
    sketch.include(once)
    assert path_automaton(sketch) == once


def test_states_that_name_other_labels_and_lead_to_the_same_are_one() -> None:
    once = automaton("/*(*)+/*:b(*)+/b")
    sketch = Sketch()
    sketch.include(once)
    assert path_automaton(sketch) == once


def test_states_that_lead_to_the_same_are_one() -> None:
    assert len(automaton("/a/b/d", "/a/c/d").states) == 4
    assert automaton("/(a)+/(a)+") == automaton("/a(a)+") == automaton("/(a)+")


def test_a_special_label_with_the_entry_of_a_general_one_is_dropped() -> None:
    assert automaton("/*:a/b", "/{u}a/b") == automaton("/*:a/b")
    assert automaton("/*/b", "/c/b") == automaton("/*/b")
    assert automaton("/*:a/b", "/{u}a/c") != automaton("/*:a/b")


def test_a_special_label_leads_to_all_that_a_general_one_does() -> None:
    both = automaton("/*:a/b", "/{u}a/c")
    assert covers(both, automaton("/{u}a/b", "/{u}a/c"))
    assert not covers(both, automaton("/{v}a/c"))


@given(automata, automata)
def test_a_union_covers_its_parts(one: PathAutomaton, other: PathAutomaton) -> None:
    sketch = Sketch()
    sketch.include(one)
    sketch.include(other)
    both = path_automaton(sketch)
    assert covers(both, one)
    assert covers(both, other)
    assert covers(one, both) == covers(one, other)


@given(automata, automata)
def test_inclusion_is_that_of_the_spelt_out_paths(one: PathAutomaton, other: PathAutomaton) -> None:
    plain = not any(
        label.namespace is None for each in (one, other) for _, label, _ in each.edges()
    )
    if covers(one, other) and plain:
        assert set(label_paths(other, 6)) <= set(label_paths(one, 6))
    elif plain:
        # States that differ are distinguished by paths not longer than both have states.
        depth = min(8, len(one.states) + len(other.states))
        assert not set(label_paths(other, depth)) <= set(label_paths(one, depth))


@given(automata, automata, automata)
def test_inclusion_is_transitive(a: PathAutomaton, b: PathAutomaton, c: PathAutomaton) -> None:
    assert covers(a, a)
    if covers(a, b) and covers(b, c):
        assert covers(a, c)


@pytest.mark.parametrize(
    ("wider", "narrower", "expected"),
    [
        ("/a(b)+/c", "/a/b/b/b/c", True),
        ("/a/b/b/b/c", "/a(b)+/c", False),
        ("/*/b", "/a/b", True),
        ("/a/b", "/*/b", False),
        ("/*:a", "/{u}a", True),
        ("/{u}a", "/*:a", False),
        ("/a/b/@x", "/a/b", True),
        ("/a/b", "/a/b/@x", False),
        ("/a/text()", "/a", True),
        ("/a", "/a/text()", False),
        ("/a/@*:x", "/a/@{u}x", True),
        ("/a/@{u}x", "/a/@*:x", False),
    ],
)
def test_inclusion_case_by_case(wider: str, narrower: str, expected: bool) -> None:  # noqa: FBT001
    assert covers(automaton(wider), automaton(narrower)) is expected


def test_values_are_included_as_sets() -> None:
    key = Label(Kind.ATTRIBUTE, "", "x")

    def with_values(values: tuple[str, ...] | None) -> PathAutomaton:
        sketch = Sketch()
        element = sketch.add(TextKind.NONE, {key: values})
        sketch.edges[0] = [(Label(Kind.ELEMENT, "", "a"), element)]
        return path_automaton(sketch)

    assert covers(with_values(None), with_values(("1",)))
    assert covers(with_values(("1", "2")), with_values(("1",)))
    assert not covers(with_values(("1",)), with_values(("1", "2")))
    assert not covers(with_values(("1",)), with_values(None))


def test_inclusion_that_takes_too_long_is_a_no() -> None:
    long = automaton("/" + "/".join("ab" * 20))
    assert covers_paths(wider=long, narrower=long, steps_max=40)
    assert not covers_paths(wider=long, narrower=long, steps_max=39)


def test_too_many_states_are_refused_by_name() -> None:
    with pytest.raises(SchemaLimitError, match="states_max") as caught:
        path_automaton(
            expressions_sketch([read_expression("/a/b/c/d")]), AutomatonLimits(states_max=3)
        )
    assert (caught.value.limit, caught.value.allowed) == ("states_max", 3)


def test_states_are_numbered_from_the_document_node() -> None:
    label = Label(Kind.ELEMENT, "", "a")
    assert automaton("/a").states == (
        PathState(edges=((label, 1),)),
        PathState(TextKind.BLANK),
    )


def _ring(length: int, inside: str, mark: str) -> Advertisement:
    """Elements ``*:f`` inside each other, in a circle, of which the last bears a mark."""
    states = ["0: *:f=1"]
    for state in range(1, length + 1):
        last = state == length
        states.append(f"{state}: {mark if last else ''} {inside} *:f={1 if last else state + 1}")
    return Advertisement.parse("\n".join(states))


LABELS = " ".join(f"g{number:03}=1" for number in range(300))
ATTRIBUTES = " ".join(f"@g{number:03}" for number in range(300))
VALUES = "@g(" + "|".join(f'"{number:03}"' for number in range(300)) + ")"


@pytest.mark.parametrize(
    ("of_wider", "of_narrower"),
    [(LABELS, ""), (ATTRIBUTES, ATTRIBUTES), (VALUES, VALUES)],
    ids=["labels", "attributes", "values"],
)
def test_whatever_is_looked_at_counts(of_wider: str, of_narrower: str) -> None:
    wider = _ring(15, f"text() {of_wider}", "@k").paths
    narrower = _ring(31, of_narrower, "text()").paths
    # 465 pairs of states, and 300 things to look at in each.
    assert covers_paths(wider=wider, narrower=narrower, steps_max=1_000_000)
    assert not covers_paths(wider=wider, narrower=narrower, steps_max=100_000)
