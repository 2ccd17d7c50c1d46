"""All engines give the same answers, and leave the same pairs undecided.

With the kernel it is the kernel that says what is undecided, whichever engine is asked; without it
the pairs may differ, and the answers never.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines import NATIVE
from tests.matching.test_bounded_work import BUDGETS, expressions, trees
from tests.oracle import by_oracle, oracle_tree
from twigcast.matching import Decision, Matcher
from twigcast.matching.residual.libxml2 import COST_MAX

GENRES = ("ubl-cii", "html", "jats", "docbook")
FEW_STEPS = 100

Rules = dict[int, tuple[str, dict[str, str]]]


def rules_of(folder: Path) -> Rules:
    lines = map(json.loads, (folder / "rules.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["id"]: (line["xpath"], line["namespaces"]) for line in lines}


def contents_of(folder: Path, data: Path) -> list[bytes]:
    lines = map(json.loads, (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines())
    return sorted(((data / line["document"]).read_bytes() for line in lines), key=len)


def matcher_of(rules: Rules, engine: str, *, cost_max: int) -> Matcher:
    matcher = Matcher(engine=engine, residual_cost_max=cost_max)
    for one, (xpath, namespaces) in rules.items():
        matcher.add(one, xpath, namespaces)
    return matcher


def compared(rules: Rules, contents: list[bytes], *, cost_max: int) -> tuple[int, int]:
    """Compare the engines; how many pairs match, and how many are undecided."""
    native = matcher_of(rules, "native", cost_max=cost_max)
    decisions = [native.decide(content) for content in contents]
    for engine in ("streaming", "lxml"):
        other = matcher_of(rules, engine, cost_max=cost_max)
        assert [other.decide(content) for content in contents] == decisions
    matches = sum(len(one.matches) for one in decisions)
    return matches, sum(len(one.undecided) for one in decisions)


@NATIVE
@pytest.mark.parametrize("genre", GENRES)
def test_engines_agree_on_rules_that_people_wrote(
    genre: str, shared_path: Callable[[str], Path]
) -> None:
    folder, data = shared_path("bench/rules") / genre, shared_path("data")
    rules = dict(list(rules_of(folder).items())[::9])
    contents = contents_of(folder, data)
    contents = [*contents[:2], contents[-1]]
    assert compared(rules, contents, cost_max=COST_MAX)[1] == 0
    few, undecided = compared(rules, contents, cost_max=20)
    assert few > 0
    assert undecided > 0


@NATIVE
@pytest.mark.deep
@pytest.mark.parametrize("cost_max", [FEW_STEPS, 10_000, COST_MAX])
@pytest.mark.parametrize("genre", GENRES)
def test_engines_agree_on_all_rules_that_people_wrote(
    genre: str, cost_max: int, shared_path: Callable[[str], Path]
) -> None:
    folder, data = shared_path("bench/rules") / genre, shared_path("data")
    matches, undecided = compared(rules_of(folder), contents_of(folder, data), cost_max=cost_max)
    assert matches > 0
    # Steps enough for some genres are too few for others; a hundred are for none.
    assert undecided == 0 if cost_max == COST_MAX else undecided > 0 or cost_max > FEW_STEPS


@NATIVE
@given(st.lists(expressions(), min_size=1, max_size=8, unique=True), trees())
def test_engines_agree_under_every_bound(xpaths: list[str], inside: str) -> None:
    content = f"<r>{inside}</r>".encode()
    groups = {number: [number] for number in range(1, len(xpaths) + 1)}
    for budget in BUDGETS:
        matchers = [
            Matcher(xpaths, engine=engine, residual_cost_max=budget, document_cost_max=budget)
            for engine in ("native", "streaming", "lxml")
        ]
        assert len({matcher.decide(content) for matcher in matchers}) == 1
        assert len({tuple(matcher.match_links(content, groups)) for matcher in matchers}) == 1
        assert len({matcher.decide(content, skip=[1]) for matcher in matchers}) == 1


@NATIVE
@pytest.mark.parametrize("budget", [1, 30, 1_000])
def test_engines_agree_on_what_the_kernel_could_not_even_look_for(budget: int) -> None:
    xpaths = ["//z[namespace::xml]", "//z[namespace::xml]/a", "//b", "//c[namespace::xml = 'x']"]
    content = b"<a><b/><c x='y'>t</c></a>"
    matchers = [
        Matcher(xpaths, engine=engine, residual_cost_max=budget, document_cost_max=budget)
        for engine in ("native", "streaming", "lxml")
    ]
    assert len({matcher.decide(content) for matcher in matchers}) == 1
    groups = {1: [1, 2], 2: [2, 4], 3: [3, 1], 4: [4]}
    assert len({tuple(matcher.match_links(content, groups)) for matcher in matchers}) == 1


@NATIVE
@pytest.mark.parametrize("engine", ["native", "streaming", "lxml"])
def test_what_is_undecided_does_not_depend_on_who_else_asks(engine: str) -> None:
    content = b"<r>" + b"<a i='1'><b/></a>" * 400 + b"</r>"
    rules = [
        "//a[count(preceding-sibling::a) = 5]",
        "//a[preceding::a/@i != following::a/@i]",
        "//a[7]",
        "//b[count(../../a) = 400]",
        "//a[b]",
    ]
    together = Matcher(rules, engine=engine, residual_cost_max=1_000).decide(content)
    alone = [
        Matcher([rule], engine=engine, residual_cost_max=1_000).decide(content) for rule in rules
    ]
    assert together.undecided == tuple(n for n, one in enumerate(alone, 1) if one.undecided)
    assert together.matches == tuple(n for n, one in enumerate(alone, 1) if one.matches)
    assert together.undecided


SMALL = (
    "//a[2]", "//a[count(b) > 1]/c", "//b[. = preceding::b]", "//c[ancestor::a[@k]]",
    "(//a | //b)[last()]/c", "//a[not(following-sibling::a)]", "//b[contains(string(..), 'xy')]",
    "//a[not(/r/b)]", "count(//b) = 3", "//a[sum(b) > 2]", "//comment()", "//namespace::*",
    "//*[name() = local-name()]", "string(//b) = 'x'", "id('q')", "//text()[. = 'y']",
)  # fmt: skip


@NATIVE
@given(trees())
def test_without_the_kernel_the_answers_are_the_same(inside: str) -> None:
    content = f"<!DOCTYPE r [<!--c-->]><r>{inside}</r>".encode()
    tree = oracle_tree(content)
    right = tuple(n for n, xpath in enumerate(SMALL, 1) if by_oracle(xpath, tree, {}))
    decisions = {
        Matcher(SMALL, engine=one).decide(content) for one in ("streaming", "lxml", "native")
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("twigcast.matching.engines.native.AVAILABLE", False)
        patched.setattr("twigcast.matching.matcher.AVAILABLE", False)
        decisions |= {Matcher(SMALL, engine=one).decide(content) for one in ("streaming", "lxml")}
    assert decisions == {Decision(right, ())}


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("genre", GENRES)
def test_without_the_kernel_rules_that_people_wrote_are_answered_as_known(
    genre: str, shared_path: Callable[[str], Path]
) -> None:
    folder, data = shared_path("bench/rules") / genre, shared_path("data")
    rules = dict(list(rules_of(folder).items())[::9])
    lines = [*map(json.loads, (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines())]
    for engine in ("streaming", "lxml"):
        matcher = matcher_of(rules, engine, cost_max=COST_MAX)
        for line in sorted(lines, key=lambda it: (data / it["document"]).stat().st_size)[:3]:
            decision = matcher.decide((data / line["document"]).read_bytes())
            known = [one for one in line["matches"] if one in rules]
            assert [*decision.matches] == [one for one in known if one not in decision.undecided]
            assert len(decision.undecided) < len(rules) / 50
