"""Long lists of alternatives: indexed like short ones, and answered as libxml2 does."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.engines import EVERY_ENGINE
from twigcast.matching import Matcher
from twigcast.matching.engines.native import AVAILABLE, NativeStatistics

needs_kernel = pytest.mark.skipif(not AVAILABLE, reason="the kernel is not installed")

numbers = st.integers(0, 39)
parts = st.one_of(
    numbers.map(lambda number: f"@k = '{number}'"),
    numbers.map(lambda number: f"x{number}"),
    numbers.map(lambda number: f"x{number} = '{number % 7}'"),
    numbers.map(lambda number: f"not(x{number})"),
    numbers.map(lambda number: f".//x{number}/@k"),
)


def lists(of: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(of, min_size=1, max_size=30).map(" or ".join)


def one_sort() -> st.SearchStrategy[str]:
    return st.sampled_from(["@k = '{}'", "x{}", "x{} = '3'"]).flatmap(
        lambda form: lists(numbers.map(form.format))
    )


predicates = one_sort() | lists(parts)
expressions = st.one_of(
    predicates.map(lambda one: f"//t[{one}]"),
    st.tuples(predicates, one_sort()).map(lambda it: f"//t[{it[0]}][{it[1]}]"),
    st.tuples(predicates, numbers).map(lambda it: f"/r/t[{it[0]}]/x{it[1]}"),
    predicates.map(lambda one: f"//t[not({one})]"),
    st.lists(numbers, min_size=17, max_size=30).map(
        lambda chosen: " | ".join(f"//x{number}" for number in chosen)
    ),
)
leaves = st.tuples(numbers, numbers).map(lambda it: f"<x{it[0]} k='1'>{it[1] % 7}</x{it[0]}>")
items = st.tuples(numbers, st.lists(leaves, max_size=3).map("".join)).map(
    lambda it: f"<t k='{it[0]}'>{it[1]}</t>"
)


def short(xpath: str) -> bool:
    return xpath.count("x") + xpath.count("@") < 60


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(
    st.lists(expressions.filter(short), min_size=1, max_size=8, unique=True),
    st.lists(items, max_size=8).map("".join),
    st.data(),
)
def test_long_alternatives_are_answered_as_libxml2_does(
    engine: str, xpaths: list[str], inside: str, data: st.DataObject
) -> None:
    content = f"<r>{inside}</r>".encode()
    tree = etree.fromstring(content)
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(xpaths):
        matcher.add(number, xpath)
        matcher.match(content)
    gone = data.draw(st.sets(st.integers(0, len(xpaths) - 1)))
    for number in gone:
        matcher.remove(number)
    expected = [
        number
        for number, xpath in enumerate(xpaths)
        if number not in gone and tree.getroottree().xpath(xpath)
    ]
    assert sorted(matcher.match(content)) == expected
    assert sorted(Matcher.from_buffer(matcher.to_bytes()).match(content)) == expected


@needs_kernel
def test_long_lists_of_values_are_not_looked_for_in_the_document() -> None:
    chance = random.Random(1)
    chosen = [[chance.randrange(100_000) for _ in range(30)] for _ in range(500)]
    matcher = Matcher(
        ["//trade[" + " or ".join(f"@sym = 'S{one}'" for one in some) + "]" for some in chosen],
        engine="native",
    )
    there = {chance.randrange(100_000) for _ in range(3_000)}
    content = "".join(f"<trade sym='S{one}'/>" for one in there)
    decision = matcher.decide(f"<feed>{content}</feed>".encode())
    assert not decision.undecided
    assert len(decision.matches) == sum(not there.isdisjoint(some) for some in chosen)
    details = matcher.statistics().details
    assert isinstance(details, NativeStatistics)
    assert details.steps == 0
