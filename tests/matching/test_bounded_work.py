"""All subscriptions of a document together are bounded: what is answered is right, the rest told.

The work is counted in steps and visits, so no test here looks at a clock. libxml2 says what is
right; the dearest pairs are the ones that are left open, never a cheap one beside them.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.engines import EVERY_ENGINE
from twigcast.matching import Matcher
from twigcast.matching.engines.native import AVAILABLE, NativeStatistics
from twigcast.matching.residual.libxml2 import DOCUMENT_COST_MAX

BUDGETS = (0, 100, 3_000, 100_000, 3_000_000, DOCUMENT_COST_MAX)

needs_kernel = pytest.mark.skipif(not AVAILABLE, reason="the kernel is not installed")

names = st.sampled_from("ab*")
words = st.sampled_from(["x", "xy", "y", "", "yx"])


def predicates() -> st.SearchStrategy[str]:
    steps = st.tuples(st.sampled_from(["", ".//"]), names).map("".join)
    plain = st.one_of(
        steps,
        st.just("@k"),
        words.map(lambda word: f"contains(., '{word}')"),
        words.map(lambda word: f"starts-with(@k, '{word}')"),
        words.map(lambda word: f". = '{word}'"),
        st.tuples(steps, words).map(lambda it: f"string({it[0]}) = '{it[1]}'"),
        st.tuples(steps, words).map(lambda it: f"contains(string({it[0]}), '{it[1]}')"),
        st.just("count(*) > 1"),
        st.just("position() = 2"),
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            inner.map(lambda one: f"not({one})"),
            st.tuples(inner, inner).map(lambda both: f"({both[0]} and {both[1]})"),
            st.tuples(inner, inner).map(lambda both: f"({both[0]} or {both[1]})"),
            st.tuples(steps, inner).map(lambda both: f"{both[0]}[{both[1]}]"),
        ),
        max_leaves=6,
    )


def expressions() -> st.SearchStrategy[str]:
    return st.tuples(names, predicates(), names).map(lambda it: f"//{it[0]}[{it[1]}]//{it[2]}") | (
        st.tuples(names, predicates()).map(lambda it: f"//{it[0]}[{it[1]}]")
    )


def trees() -> st.SearchStrategy[str]:
    """Deep documents over few names."""
    leaves = st.sampled_from(["", "x", "y", "<b k='xy'/>", "<a/>", "<a k='y'>xy</a>"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from("ab"), inner).map(lambda it: f"<{it[0]}>{it[1]}</{it[0]}>"),
            st.tuples(st.integers(1, 40), inner).map(
                lambda it: "<a>" * it[0] + it[1] + "</a>" * it[0]
            ),
            st.tuples(inner, inner).map("".join),
        ),
        max_leaves=8,
    )


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(st.lists(expressions(), min_size=1, max_size=8, unique=True), trees())
@example(["//a[.//a[string(.//a) = 'x']]//a"], "<a>" * 54 + "</a>" * 54)
def test_answers_are_right_whatever_the_bound_and_a_lower_one_leaves_more_open(
    engine: str, xpaths: list[str], inside: str
) -> None:
    content = f"<r>{inside}</r>".encode()
    tree = etree.fromstring(content).getroottree()
    right = {number for number, xpath in enumerate(xpaths) if tree.xpath(f"boolean({xpath})")}
    before = set(range(len(xpaths)))
    for budget in BUDGETS:
        # The bound of each expression by itself would leave some open under every sum.
        matcher = Matcher(
            dict(enumerate(xpaths)),
            engine=engine,
            document_cost_max=budget,
            residual_cost_max=budget,
        )
        decision = matcher.decide(content)
        undecided = set(decision.undecided)
        assert set(decision.matches) == right - undecided
        assert undecided <= before
        before = undecided
        rows = matcher.match_batch(pa.array([content], pa.binary()))
        assert rows.column("matches").to_pylist() == [list(decision.matches)]
        assert rows.column("undecided").to_pylist() == [list(decision.undecided)]
        linked = matcher.match_links(content, {number: [number] for number in range(len(xpaths))})
        assert set(linked) >= right
    assert not before


def chain(levels: int) -> str:
    return "//a[not(.//a" + "//a" * levels + "//b)]"


@needs_kernel
def test_steps_grow_with_parts_and_nodes_and_not_with_their_powers() -> None:
    def steps(levels: int, depth: int) -> int:
        matcher = Matcher([chain(levels)], engine="native")
        matcher.match(b"<a>" * depth + b"</a>" * depth)
        details = matcher.statistics().details
        assert isinstance(details, NativeStatistics)
        return details.steps

    assert steps(40, 60) < 12 * steps(4, 60)
    assert steps(8, 240) < 12 * steps(8, 30)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_exact_pair_that_is_open_counts_as_a_match_of_its_link(engine: str) -> None:
    content = b"<r>" + b"<a>" * 200 + b"</a>" * 200 + b"</r>"
    open_one = Matcher({"dear": chain(7), "no": "//z"}, engine=engine, document_cost_max=5_000)
    assert open_one.decide(content).undecided == ("dear",)
    assert open_one.match_links(content, {"x": ["dear"], "y": ["no"]}) == ["x"]


@needs_kernel
def test_many_needles_in_one_long_text_are_found_in_one_pass() -> None:
    rules = {n: f"//a[contains(., 'zz{n:05}')]" for n in range(300)}
    content = b"<a>" * 100 + b"z" * 20_000 + b"zz00007" + b"</a>" * 100
    matcher = Matcher(rules, engine="native", document_cost_max=10_000_000)
    assert matcher.match(content) == [7]
    details = matcher.statistics().details
    assert isinstance(details, NativeStatistics)
    assert (details.abandoned, details.verified) == (0, 0)


@needs_kernel
def test_paths_with_too_much_to_learn_are_looked_at_one_by_one() -> None:
    paths = {
        n: "//" + "".join("ab"[n >> k & 1] + ("/" if k % 3 else "//") for k in range(10)) + "c"
        for n in range(512)
    }
    inside = "".join("<a>" if n * n % 7 % 2 else "<b>" for n in range(200))
    outside = "".join("</a>" if n * n % 7 % 2 else "</b>" for n in reversed(range(200)))
    whole = [Matcher(paths, engine="native"), Matcher(paths, engine="lxml")]
    short = Matcher(paths, engine="native", document_cost_max=1_000_000)
    for middle, is_cheap in (("", True), ("<c/>", False)):
        content = f"<r>{inside}{middle}{outside}</r>".encode()
        right = [one.match(content) for one in whole]
        assert right[0] == right[1]
        decision = short.decide(content)
        assert set(decision.matches) | set(decision.undecided) >= set(right[0])
        assert set(decision.matches) <= set(right[0])
        assert not (is_cheap and decision.undecided)
    details = short.statistics().details
    assert isinstance(details, NativeStatistics)
    assert details.abandoned == 2


@needs_kernel
def test_long_needles_are_not_made_ready_at_any_cost() -> None:
    letters = "abcdefgh"
    needles = [(letters[n // 8] + letters[n % 8]) * 1_900 + "z" for n in range(64)]
    rules = {n: f"//b[contains(., '{needle}')]" for n, needle in enumerate(needles)}
    content = f"<a>{'<b>x</b>' * 300}<b>{needles[9]}</b></a>"
    for document_cost_max, abandoned in ((1_000_000, 1), (64_000_000, 0)):
        matcher = Matcher(rules, engine="native", document_cost_max=document_cost_max)
        assert matcher.decide(content) == Matcher(rules, engine="lxml").decide(content)
        details = matcher.statistics().details
        assert isinstance(details, NativeStatistics)
        assert details.abandoned == abandoned
