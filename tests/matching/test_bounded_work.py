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
from twigcast.language import Document, Pattern
from twigcast.language.condition.model import Label, ValueTest
from twigcast.language.condition.value_tests import passes
from twigcast.matching import Matcher
from twigcast.matching.engines.native import AVAILABLE, NativeStatistics
from twigcast.matching.residual import tree_walk as walk
from twigcast.matching.residual.libxml2 import COST_NODES, DOCUMENT_COST_MAX
from twigcast.matching.residual.string_values import string_value

SUM_OF_VISITS = 2_000_000
SUM = 100_000 if AVAILABLE else SUM_OF_VISITS
"""Less than a hundred expressions about 300 elements take, in steps of the kernel or in visits."""

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


def denials(levels: int) -> str:
    return "//a" + "[not(.//a" * levels + ")]" * levels


def chain(levels: int) -> str:
    return "//a[not(.//a" + "//a" * levels + "//b)]"


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("xpath", [denials(8), denials(7), chain(7), chain(40)])
def test_negations_inside_each_other_are_decided_on_nested_elements(
    engine: str, xpath: str
) -> None:
    content = b"<r>" + b"<a>" * 60 + b"</a>" * 60 + b"</r>"
    decision = Matcher([xpath], engine=engine).decide(content)
    assert (decision.matches, decision.undecided) == ((1,), ())


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
def test_beyond_the_sum_the_dearest_residuals_are_open_and_all_cheaper_ones_answered(
    engine: str,
) -> None:
    dear = {n: f"//a[count(preceding-sibling::a) = {n + 5}]" for n in range(1, 101)}
    cheap = {n: f"/r/a[{n}]" for n in range(101, 151)}
    content = b"<r>" + b"<a/>" * 300 + b"</r>"
    matcher = Matcher({**dear, **cheap}, engine=engine, document_cost_max=SUM)
    decision = matcher.decide(content)
    assert set(cheap) <= set(decision.matches)
    assert 10 < len(decision.undecided) < 100
    assert set(decision.undecided) <= set(dear)
    assert matcher.statistics().details.costly_documents == 1
    # Who came first does not matter, nor what the matcher read before.
    turned = dict(reversed({**dear, **cheap}.items()))
    again = Matcher(turned, engine=engine, document_cost_max=SUM)
    again.match(b"<r><a/><a/></r>")
    assert again.decide(content) == matcher.decide(content) == decision


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_equal_expressions_count_once(engine: str) -> None:
    same = dict.fromkeys(range(200), "//a[count(preceding-sibling::a) = 5]")
    content = b"<r>" + b"<a/>" * 300 + b"</r>"
    matcher = Matcher(same, engine=engine, document_cost_max=SUM)
    assert matcher.decide(content).matches == tuple(range(200))


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


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("engine", ["streaming", "lxml"])
def test_texts_that_walking_reads_count_and_cheap_answers_stand(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth, read = 200, []

    def reading(element: etree._Element) -> str:
        value = string_value(element)
        read.append(len(value))
        return value

    monkeypatch.setattr(walk, "string_value", reading)
    nested = "<b>" * depth + "<c/>" + "y 7" * 100_000 + "</b>" * depth
    rules: dict[int | str, str] = {
        number: f"//b[contains(.//b, '7y{number}')]" for number in range(20)
    }
    matcher = Matcher(rules | {"c": "//b/c", "none": "//b[d]"}, engine=engine)
    decision = matcher.decide(f"<r>{nested}</r>".encode())
    assert decision.matches == ("c",)
    assert decision.undecided == tuple(rules)
    steps = DOCUMENT_COST_MAX / 150
    # Each of them reads one text too many before it notices.
    assert sum(read) <= steps * 256 + len(rules) * max(read)


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("engine", ["streaming", "lxml"])
def test_elements_without_a_text_count_where_a_value_is_read(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = 0

    def reading(element: etree._Element) -> str:
        nonlocal passed
        passed += sum(1 for _ in element.iter())
        return string_value(element)

    monkeypatch.setattr(walk, "string_value", reading)
    nested = "<a>" * 100 + "<a/>" + "<b/><!---->" * 10_000 + "</a>" * 100
    rules = {number: f"//a[contains(a, '{number}')]" for number in range(3)}
    short = Matcher(rules, engine=engine, residual_cost_max=100_000, document_cost_max=3_000_000)
    decision = short.decide(f"<r>{nested}</r>")
    assert decision.undecided == tuple(rules)
    times = 1 + 20_200 / COST_NODES
    assert passed <= 3_000_000 * times / 150 * 64 + 20_000


LEAVES = {
    "texts": ("//a[.//text() = 'y']", "x<!---->" * 1_000),
    "texts, tried one after another": ("//a[.//text()[. = 'y' or . = 'z']]", "x<!---->" * 1_000),
    "first of the texts": ("//a[contains(.//text()[. = 'y'], 'y')]", "x<!---->" * 1_000),
    "attributes": ("//a[.//@* = 'y']", "<b" + "".join(f" c{n}=''" for n in range(200)) + "/>"),
    "first of many steps": (
        f"//a[contains({'//a' * 60}//b, 'y')]".replace("(//", "("),
        "<c/>" * 99,
    ),
}


@pytest.mark.parametrize("kind", LEAVES)
def test_walking_counts_each_node_and_label_that_it_looks_at(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def looking(node: etree._Element | walk.LeafNode, label: Label) -> bool:
        nonlocal looks
        looks += 1
        return has(node, label)

    has = walk._has
    monkeypatch.setattr(walk, "_has", looking)
    xpath, inside = LEAVES[kind]
    document = Document.parse(f"<r>{'<a>' * 80}{inside}{'</a>' * 80}</r>")
    verdict, steps = walk.ConditionWalk(document).holds(Pattern.parse(xpath).condition, 10_000_000)
    assert verdict is False
    assert looks <= 2 * steps
    assert walk.ConditionWalk(document).holds(Pattern.parse(xpath).condition, steps - 1)[0] is None


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("engine", ["streaming", "lxml"])
def test_a_text_that_many_elements_lead_to_is_searched_once(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested: list[str] = []

    def passing(test: ValueTest, value: str) -> bool:
        tested.append(value)
        return passes(test, value)

    monkeypatch.setattr(walk, "passes", passing)
    depth = 150
    nested = "<a>" * depth + "<b>" + "y 7" * 50_000 + "</b>" + "</a>" * depth
    rules = ["//a[contains(.//b, 'yy')]", "//a[contains(.//b, '7y 7')]"]
    matcher = Matcher(rules, engine=engine, residual_cost_max=1_000_000)
    assert matcher.decide(f"<r>{nested}</r>".encode()).matches == (2,)
    assert matcher.statistics().details.walked == 2
    assert len([value for value in tested if len(value) > 1_000]) == 2


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
