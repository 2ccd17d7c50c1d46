"""Redundant parts of conditions: which are removed, and the cost of finding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.language import Pattern
from twigcast.language.condition import model as condition
from twigcast.language.condition.model import Condition, implies, without_redundant
from twigcast.language.xpath.parser import PatternLimits

WIDE = PatternLimits(
    characters_max=200_000,
    steps_max=10_000,
    predicates_max=10_000,
    operators_max=10_000,
    steps_in_row_max=10_000,
)


def one_by_one(parts: Iterable[Condition], *, conjunction: bool) -> list[Condition]:
    """The plainest way: every part is compared with every other."""
    kept: list[Condition] = []
    for part in dict.fromkeys(parts):
        if any(implies(o, part) if conjunction else implies(part, o) for o in kept):
            continue
        kept = [
            other
            for other in kept
            if not (implies(part, other) if conjunction else implies(other, part))
        ]
        kept.append(part)
    return kept


SMALL = st.sampled_from(
    ["a", "b", "*", "@a", "@*", "text()", "a/b", "*/b", ".//a", ".//*", "a[b]", "*[a]", "a[b or c]",
     "self::a", "self::b", "self::*", ". = '1'", ". = '2'", "a = '1'", "* = '1'", "/a", "/b", "/*",
     "not(a)", "not(*)", "not(a/b)", "not(. = '1')", "not(self::a)", "not(a and b)", "a and b",
     "not(/a)", "a or b", "count(a) = count(b)", "contains(a, 'x')", "not(count(a) = count(b))",
     "{u}a", "*:a", "not({u}a)", "true()", "false()"]
)  # fmt: skip


def read(text: str) -> Condition:
    found = Pattern.parse(f"//k[{text}]").condition
    while isinstance(found, condition.Exists):
        if found.label.local == "k":
            return found.where
        found = found.where
    return found


@pytest.mark.parametrize("conjunction", [False, True])
@given(texts=st.lists(SMALL, min_size=9, max_size=40))
def test_many_parts_are_thinned_as_if_each_were_compared_with_each(
    *, texts: list[str], conjunction: bool
) -> None:
    parts = list(map(read, texts))
    assert without_redundant(parts, conjunction=conjunction) == one_by_one(
        parts, conjunction=conjunction
    )


ALTERNATIVES: dict[str, Callable[[int], str]] = {
    "names": lambda number: f"b{number}",
    "paths": lambda number: f".//b{number}/c",
    "attributes": lambda number: f"@b{number}",
    "values": lambda number: f". = '{number}'",
    "own names": lambda number: f"self::b{number}",
    "negations": lambda number: f"not(b{number})",
    "negated values": lambda number: f"not(. = '{number}')",
    "negated residuals": lambda number: f"not(b{number} = c)",
    "from the document": lambda number: f"/b{number}",
    "residuals": lambda number: f"b{number} = c",
}


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many comparisons there were so far, as the one number of a list."""
    count = [0]

    def counting(stronger: Condition, weaker: Condition) -> bool:
        count[0] += 1
        return implies(stronger, weaker)

    monkeypatch.setattr(condition, "implies", counting)
    return count


@pytest.mark.parametrize("operator", ["or", "and"])
@pytest.mark.parametrize("name", ALTERNATIVES)
def test_comparisons_grow_with_the_parts_and_not_with_their_pairs(
    name: str, operator: str, compared: list[int]
) -> None:
    parts = f" {operator} ".join(map(ALTERNATIVES[name], range(400)))
    pattern = Pattern.parse(f"//a[{parts}]", limits=WIDE)
    assert pattern.necessary.exact
    assert compared[0] < 20 * 400


@pytest.mark.parametrize("operator", ["or", "and"])
def test_what_a_long_residual_needs_is_found_in_one_pass(
    operator: str, compared: list[int]
) -> None:
    chain = f" {operator} ".join(f"b{number} = c{number}" for number in range(400))
    pattern = Pattern.parse(f"//a[count(b[{chain}]) > 1]", limits=WIDE)
    assert pattern.necessary.exact
    assert compared[0] < 20 * 400
