"""Twigs: every form means what its condition means."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.covering.drawn import condition_of, trees
from twigcast.covering.containment.twig import (
    CHILD,
    Twig,
    condensed,
    twig_of,
    with_one_of_each_attribute,
)
from twigcast.language import Pattern, PatternLimits
from twigcast.language.condition.model import Operator, ValueTest
from twigcast.language.xpath.syntax import Literal, Number


def twig(text: str) -> Twig:
    found = twig_of(Pattern.parse(text).condition)
    assert found is not None
    return found


def test_a_path_is_a_chain() -> None:
    found = twig("/a//b/@x")
    assert found.parents == (-1, 0, 1, 2)
    assert found.reaches == (CHILD, CHILD, 1, CHILD)
    assert found.children == ((1,), (2,), (3,), ())
    assert found.is_path
    assert found.has_far_edges


def test_what_is_below_a_node_follows_it_without_a_gap() -> None:
    found = twig("/a[b[c][d]][e/f]/g")
    for node, below in enumerate(found.children):
        last = max([node, *below])
        while found.children[last]:
            last = found.children[last][-1]
        inside = {node, *(n for n in range(found.size) if _is_below(found, n, node))}
        assert inside == set(range(node, last + 1))
    assert not found.is_path


def _is_below(found: Twig, node: int, above: int) -> bool:
    while node > 0:
        node = found.parents[node]
        if node == above:
            return True
    return False


def test_value_tests_stand_at_their_nodes() -> None:
    found = twig("//a[b > 3][@x = '1']")
    tests = zip(found.labels, found.tests, strict=True)
    assert {label and label.local: here for label, here in tests} == {
        None: (),
        "a": (),
        "b": (ValueTest(Operator.GREATER, Number("3")),),
        "x": (ValueTest(Operator.EQUAL, Literal("1")),),
    }


@pytest.mark.parametrize("text", ["//a[b or c]", "//a[not(b)]", "//a[2]/b", "contains(//a, 'x')"])
def test_more_than_paths_and_values_is_a_twig_only_with_opaque_tests(text: str) -> None:
    condition = Pattern.parse(text).condition
    assert twig_of(condition) is None
    found = twig_of(condition, opaque=True)
    assert found is not None
    assert any(found.tests)


@pytest.mark.parametrize(
    "texts",
    [
        ("/a/*//b", "/a//*/b", "/a//*//b"),
        ("/a/*/*", "/a//*/*", "/a/*//*", "/a//*//*"),
        ("//*/*/a", "/*//*/a", "/*/*//a"),
        ("/a/*//@x", "/a//*/@x"),
    ],
)
def test_condensed_spellings_of_one_meaning_are_one_twig(texts: tuple[str, ...]) -> None:
    assert len({condensed(twig(text)) for text in texts}) == 1


@pytest.mark.parametrize(
    "text", ["/a/*/b", "/a/*[b]//c[d]", "/a//*[@x]/b", "/a/@*", "/a//*[. > 1]/b"]
)
def test_nodes_that_require_more_than_levels_are_not_condensed(text: str) -> None:
    assert condensed(twig(text)).size == twig(text).size


def test_one_attribute_is_one_node() -> None:
    found = with_one_of_each_attribute(twig("//a[@x > 3][@x < 5][@y][b[@x > 1]]"))
    assert sorted(len(tests) for tests in found.tests) == [0, 0, 0, 0, 1, 2]
    apart = twig("//a[@* > 3][@* < 5]")
    assert with_one_of_each_attribute(apart) == apart


@given(trees())
def test_a_twig_means_what_its_condition_means(text: str) -> None:
    found = twig(text)
    assert Pattern(condition_of(found)) is Pattern.parse(text)


def test_a_twig_may_be_deep() -> None:
    limits = PatternLimits(characters_max=100_000, steps_max=10_000, steps_in_row_max=10_000)
    text = "/a//*" * 2_000
    found = twig_of(Pattern.parse(text, limits=limits).condition)
    assert found is not None
    assert found.size == 4_001
    assert condensed(found).size == 2_002  # The last star stays, as a number of levels.
