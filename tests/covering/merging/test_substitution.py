"""Wildcards of simple aggregates, bound so that a part is got back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import paths, trees
from twigcast import Pattern
from twigcast.covering import covers
from twigcast.covering.merging.substitution import simple_bindings
from twigcast.matching.bindings import Binding, substituted


def bindings(aggregated: str, part: str) -> dict[int, tuple[str, ...]] | None:
    found = simple_bindings(aggregate=Pattern.parse(aggregated), part=Pattern.parse(part))
    return None if found is None else dict(found)


def test_wildcards_are_bound_as_in_examples_2_1_and_3_1_of_piggyback() -> None:
    """Of s6 the * is b and the // is e; the path d/m of the other part cannot be made of it.

    The figure with the expressions is lost; these have the shape that the text tells.
    """
    assert bindings("/a/*/c//d", "/a/b/c/e/d") == {1: ("b",), 2: ("e",)}
    assert bindings("/a/*/c//d", "/a/b/c/e/d/m") is None
    assert covers(wider="/a/*/c//d", narrower="/a/b/c/e/d/m")


def test_a_wildcard_that_stays_needs_no_binding_as_in_example_4_1_of_piggyback() -> None:
    assert bindings("//a/*/c", "//a/x/c") == {2: ("x",)}


def test_a_gap_is_bound_to_a_row_of_names_as_in_example_1_1_of_piggyback() -> None:
    assert bindings("/a//d", "/a/b/c/d") == {1: ("b", "c")}


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ("/a//d", "/a/d", {1: ()}),
        ("/a//d", "/a//d", {}),
        ("/a/@*", "/a/@x", {1: ("x",)}),
        ("/a/*", "/a/{urn:u}b", {1: ("{urn:u}b",)}),
        ("/a[.//x]/*/b", "/a[.//x]/c/b", {1: ("c",)}),
        ("/a[b]/*", "/a[b]/c", None),
        ("/*[@x = 1]//d", "/a[@x = 1]/b/d", {1: ("a",), 2: ("b",)}),
        ("//*//d", "//a//d", {2: ("a",)}),
        ("//d//d", "//d/d/d", {2: ("d",)}),
        ("/a//d", "/a//b/d", None),
        ("/a//d", "/a/b//d", None),
        ("/a//d", "/a/b[x]/d", None),
        ("/a//d", "/a/*/d", None),
        ("/a/b", "/a/c", None),
        ("/a/*", "/a/*:b", None),
        ("/a/*", "/a/b[x]", None),
        ("/a/*", "//a/b", None),
    ],
)
def test_bindings(whole: str, part: str, expected: dict[int, tuple[str, ...]] | None) -> None:
    assert bindings(whole, part) == expected


@given(st.one_of(paths(), trees()), st.one_of(paths(), trees()))
def test_substituting_bindings_gives_the_part(one: str, other: str) -> None:
    found = bindings(one, other)
    if found is not None:
        bound = [Binding(*pair) for pair in found.items()]
        assert substituted(Pattern.parse(one), bound) is Pattern.parse(other)
