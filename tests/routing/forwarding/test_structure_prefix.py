"""The structure of a pattern is a path that every document matching the pattern has."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.oracle import oracle
from tests.routing.forwarding.structure_oracle import is_structure_prefix
from tests.strategies import (
    NAMESPACES,
    THOROUGH,
    ExpressionPair,
    documents,
    subscriptions,
    tangles,
    thickets,
)
from twigcast.covering.paths.linear import linear_path
from twigcast.language import Pattern
from twigcast.language.condition.model import Kind
from twigcast.routing.forwarding.structure_prefix import (
    EVERYTHING,
    structure_prefixes,
    structures,
)

depths = st.one_of(st.none(), st.integers(1, 4))
bare_paths = st.lists(
    st.tuples(st.sampled_from(["/", "//"]), st.sampled_from(["a", "b", "*", "{urn:p}a"])).map(
        "".join
    ),
    min_size=1,
    max_size=5,
).map(lambda steps: Pattern.parse("".join(steps)))


def texts(expression: str, depth: int | None = None) -> list[str]:
    return [prefix.text for prefix in structure_prefixes(Pattern.parse(expression), depth)]


def begins(shorter: str, longer: str) -> bool:
    return is_structure_prefix(shorter=Pattern.parse(shorter), longer=Pattern.parse(longer))


def check_some_prefix_matches(said: ExpressionPair, document: bytes, depth: int | None) -> None:
    if not oracle(said.oracle, document, NAMESPACES):
        event("the document does not match")
        return
    event("the document matches")
    prefixes = structure_prefixes(Pattern.parse(said.text, NAMESPACES), depth)
    asked = [prefix.for_libxml2() for prefix in prefixes]
    assert any(oracle(text, document, namespaces) for text, namespaces in asked)


@THOROUGH
@given(subscriptions(), documents(), depths)
def test_a_document_that_matches_has_the_structure(
    said: ExpressionPair, document: bytes, depth: int | None
) -> None:
    check_some_prefix_matches(said, document, depth)


@THOROUGH
@given(tangles(), thickets(), depths)
def test_a_document_that_matches_a_twig_has_its_structure(
    said: ExpressionPair, document: bytes, depth: int | None
) -> None:
    check_some_prefix_matches(said, document, depth)


@given(subscriptions(), depths)
def test_a_structure_is_bare_paths_of_elements_and_its_own_structure(
    said: ExpressionPair, depth: int | None
) -> None:
    prefixes = structure_prefixes(Pattern.parse(said.text, NAMESPACES), depth)
    assert list(prefixes) == sorted(set(prefixes), key=lambda prefix: prefix.text)
    for prefix in prefixes:
        path = linear_path(prefix.condition)
        assert path is not None
        assert all(step.label.kind is Kind.ELEMENT for step in path)
        assert depth is None or len(path) <= depth
        assert structure_prefixes(prefix, depth) == structure_prefixes(prefix) == (prefix,)
        assert Pattern.parse(prefix.text) is prefix


@given(subscriptions(), depths)
def test_no_path_of_a_structure_begins_another_and_together_they_begin_the_pattern(
    said: ExpressionPair, depth: int | None
) -> None:
    pattern = Pattern.parse(said.text, NAMESPACES)
    prefixes = structure_prefixes(pattern, depth)
    for one in prefixes:
        for other in prefixes:
            assert is_structure_prefix(shorter=one, longer=other) == (one is other)
    for whole in structure_prefixes(pattern):
        assert any(is_structure_prefix(shorter=each, longer=whole) for each in prefixes)


@given(subscriptions(), depths, depths)
def test_a_shallower_structure_can_be_taken_from_a_deeper_one(
    said: ExpressionPair, one: int | None, other: int | None
) -> None:
    shallow, deep = sorted((one, other), key=lambda depth: depth or 99)
    pattern = Pattern.parse(said.text, NAMESPACES)
    again = {
        cut
        for prefix in structure_prefixes(pattern, deep)
        for cut in structure_prefixes(prefix, shallow)
    }
    # What another one begins is left out only where all are seen together.
    assert again >= set(structure_prefixes(pattern, shallow))


@given(bare_paths, bare_paths, bare_paths)
def test_structure_prefix_is_an_order(one: Pattern, two: Pattern, three: Pattern) -> None:
    def before(shorter: Pattern, longer: Pattern) -> bool:
        return is_structure_prefix(shorter=shorter, longer=longer)

    assert before(one, one)
    assert not (before(one, two) and before(two, three)) or before(one, three)
    if before(one, two) and before(two, one):
        assert structures(one) == structures(two)


@given(bare_paths)
def test_every_beginning_of_a_path_is_a_structure_prefix_and_nothing_longer_is(
    pattern: Pattern,
) -> None:
    for depth in range(1, 6):
        (shorter,) = structure_prefixes(pattern, depth)
        assert is_structure_prefix(shorter=shorter, longer=pattern)
        whole = structure_prefixes(pattern) == (shorter,)
        assert is_structure_prefix(shorter=pattern, longer=shorter) == whole


@pytest.mark.parametrize(
    ("expression", "structure"),
    [
        ("/a/b/c[@d='10']", "/a/b/c"),  # YAK, 4.3
        ("/a/b[c]/d", "/a/b/d"),  # YAK, 4.1
        ("/a/b[d]/c", "/a/b/d"),  # The same pattern.
        ("/a/b[c]/d[@x = 1]", "/a/b/d"),
        ("/a/b[c = 5]/d", "/a/b/d"),
        ('/product[book]/electronics//camera[@brand="canon"]', "/product/electronics//camera"),
        ("/a[b/c]/d", "/a/b/c"),
        ("/stock/price[. > 10]", "/stock/price"),
        ("/a/b/@x", "/a/b"),
        ("/a[.//b]/@x", "/a//b"),
        ("/a/b/text()", "/a/b"),
        ("/a//@x", "/a"),
        ("/a[x or y]/b", "/a/b"),
        ("/a[not(b/c)]/d", "/a/d"),
        ("/*/a[*]/b", "/*/a/b"),
        ("/a[.//c]/b", "/a/b"),
        ("//a[2]/b[last()]", "//a/b"),
        ("contains(/a/b, 'x')", "/a/b"),
        ("/a and //b/c", "//b/c"),
        ("(/a or //b) and //d", "//d"),
        ("//k/ancestor::l/t", "//l/t"),
    ],
)
def test_a_path_has_one_structure(expression: str, structure: str) -> None:
    assert texts(expression) == [structure]


@pytest.mark.parametrize(
    "expression",
    ["not(//a)", "//@x", "true()", "/*", "//*", "//a or not(//b)", "count(//a) = 0", "//text()"],
)
def test_what_says_nothing_of_elements_has_the_structure_of_everything(expression: str) -> None:
    assert structure_prefixes(Pattern.parse(expression)) == (EVERYTHING,)
    assert EVERYTHING.text == "/*"


def test_each_choice_has_a_structure() -> None:
    assert texts("/a[@x] | //b/c[. = 1]") == ["//b/c", "/a"]
    assert texts("/a[@x] | /a/b") == ["/a"]
    assert texts("(/a/b or /a/c/d) and /e") == ["/a/b", "/a/c/d"]
    assert texts("/a/b/c | /a/b/d | /e", depth=2) == ["/a/b", "/e"]


def test_what_no_document_matches_has_no_structure() -> None:
    assert texts("false()") == []


def test_interested_depth_keeps_the_first_steps() -> None:
    """YAK, 4.3.2."""
    assert texts("/a/b/c/e/f", depth=3) == ["/a/b/c"]
    assert texts("/a/b", depth=3) == ["/a/b"]
    assert texts("//a//b", depth=1) == ["//a"]
    assert texts("/*/b", depth=1) == ["/*"]


def test_namespaces_are_part_of_the_structure() -> None:
    pattern = Pattern.parse("/p:a/*:b[@x]/q:*[. = 1]", {"p": "urn:p", "q": "urn:q"})
    assert [p.text for p in structure_prefixes(pattern)] == ["/{urn:p}a/*:b/{urn:q}*"]


def test_structure_prefixes_of_queries() -> None:
    """YAK, 4.2: ignoring value tests, the one begins the other."""
    assert begins("/a/b", "/a/b/c[@x = 1]")
    assert begins("/a/b[. = 7]", "/a/b")
    assert begins("/*", "//b")
    assert begins("/a | /b", "/a/c | /b")
    assert not begins("/a/b/c", "/a/b")
    assert not begins("/a", "/a/b | /c")
    assert not begins("//b", "/a/b")
