"""The fast path gives the same condition as the full translation, or declines."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, subscriptions
from twigcast.errors import PatternError
from twigcast.language.pattern import (
    CANONICAL_LIMITS,
    PATTERN_LIMITS,
    Pattern,
    PatternLimits,
    full_meaning,
)
from twigcast.language.translate.fast_path import fast_meaning

NAMES = st.sampled_from(["a", "b", "c", "*", "a.b", "and", "div", "text", "_1-x"])
TESTS = st.one_of(NAMES, NAMES, NAMES, st.sampled_from(["@x", "@y", "@*", "text()"]))
CONSTANTS = st.sampled_from(
    ["0", "17", "05.50", ".5", "5.", "123456789012345678", "''", "'x'", '"it\'s"', "'/a [1'", "' '"]
)


def paths(tests: st.SearchStrategy[str], lead: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    further = st.lists(st.tuples(st.sampled_from(["/", "/", "//"]), tests), max_size=3)
    return st.builds(
        lambda lead, first, rest: lead + first + "".join(map("".join, rest)), lead, tests, further
    )


@st.composite
def predicates(draw: st.DrawFn) -> str:
    path = draw(st.one_of(paths(TESTS, st.sampled_from(["", "", ".//"])), st.just(".")))
    if path != "." and draw(st.booleans()):
        return f"[{path}]"
    operator = draw(st.sampled_from(["=", " = ", "!=", "<", " <= ", ">", ">="]))
    return f"[{path}{operator}{draw(CONSTANTS)}]"


def with_predicates() -> st.SearchStrategy[str]:
    return st.builds(
        lambda test, found: test + "".join(found), TESTS, st.lists(predicates(), max_size=2)
    )


plain_texts = paths(with_predicates(), st.sampled_from(["", "/", "//"]))


@THOROUGH
@given(plain_texts)
def test_what_it_takes_is_the_value_of_the_long_way(text: str) -> None:
    found = fast_meaning(text, PATTERN_LIMITS)
    assert found is None or found is full_meaning(text, {}, PATTERN_LIMITS)


@given(plain_texts.filter(lambda text: "[1'" not in text))
def test_plain_paths_are_taken(text: str) -> None:
    assert fast_meaning(text, PATTERN_LIMITS) is not None


@THOROUGH
@given(subscriptions())
def test_on_the_whole_of_xpath_it_declines_or_agrees(expression: ExpressionPair) -> None:
    found = fast_meaning(expression.text, PATTERN_LIMITS)
    assert found is None or found is full_meaning(expression.text, NAMESPACES, PATTERN_LIMITS)


@THOROUGH
@given(st.text(alphabet="ab/*@.[]()='\"1 :|-<!$é\n", max_size=14))
def test_what_is_no_expression_is_declined(text: str) -> None:
    found = fast_meaning(text, PATTERN_LIMITS)
    try:
        expected = full_meaning(text, {}, PATTERN_LIMITS)
    except PatternError:
        assert found is None
    else:
        assert found is None or found is expected


@pytest.mark.parametrize(
    "text",
    [
        "", "/", "//", ".", "..", "/a/", "a b", " a", "a//", "p:a", "{u}a", "*:a", "a[1]", "a[-1]",
        "a[b and c]", "a[b[c]]", "a[b=c]", "a[b='x]", "a[']['=b]", "a[b=1e3]", "a[b=-1]", "a[/b]",
        "a[]", "a[.]", "a[./b]", "a[../b]", "child::a", "a()", "text(1)", "a|b", "é", "a[b='é']",
        "a[b='\x01']", "a[b/]", "a[b//]", "a[b='][c=']", "a/text()()", "a[b==1]", "a[=1]",
    ],
)  # fmt: skip
def test_everything_else_is_declined(text: str) -> None:
    assert fast_meaning(text, PATTERN_LIMITS) is None


LIMITED = "/a[b=1]//c[@d]/e"


@pytest.mark.parametrize(
    "limits",
    [
        PatternLimits(characters_max=15),
        PatternLimits(steps_max=4),
        PatternLimits(steps_in_row_max=2),
        PatternLimits(predicates_max=1),
        PatternLimits(predicate_depth_max=0),
        PatternLimits(nesting_max=1),
        PatternLimits(operators_max=0),
    ],
)
def test_what_is_over_a_limit_is_left_to_the_long_way(limits: PatternLimits) -> None:
    assert fast_meaning(LIMITED, PATTERN_LIMITS) is not None
    assert fast_meaning(LIMITED, limits) is None
    with pytest.raises(PatternError):
        Pattern.parse(LIMITED, None, limits)


@given(plain_texts, st.integers(0, 20))
def test_no_limit_is_stepped_over(text: str, allowed: int) -> None:
    for limits in (
        PatternLimits(characters_max=allowed),
        PatternLimits(steps_max=allowed),
        PatternLimits(steps_in_row_max=allowed),
        PatternLimits(predicates_max=allowed),
        PatternLimits(predicate_depth_max=allowed),
        PatternLimits(nesting_max=allowed),
        PatternLimits(operators_max=allowed),
    ):
        found = fast_meaning(text, limits)
        assert found is None or found is full_meaning(text, {}, limits)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["d6_w20_s20", "d6_w20_s20_p1", "d6_w20_s20_np20"])
def test_every_generated_path_of_the_benchmark_takes_the_short_way(
    shared_path: Callable[[str], Path], name: str
) -> None:
    packed = shared_path(f"bench/nitf/queries/{name}.txt.gz")
    for text in gzip.decompress(packed.read_bytes()).decode().splitlines():
        assert fast_meaning(text, PATTERN_LIMITS) is full_meaning(text, {}, CANONICAL_LIMITS)
