"""Conditions decided by walking through the document, in a bounded number of steps."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from lxml import etree

from tests.engines import EVERY_ENGINE
from tests.matching.test_bounded_work import chain
from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.language.condition.model import Label, ValueTest
from twigcast.language.condition.value_tests import passes
from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching import Matcher
from twigcast.matching.residual import tree_walk as walk
from twigcast.matching.residual.libxml2 import COST_NODES, DOCUMENT_COST_MAX
from twigcast.matching.residual.string_values import string_value
from twigcast.matching.residual.tree_walk import holds


@THOROUGH
@given(subscriptions(exact=True), documents())
def test_exact_patterns_can_be_decided_by_walking(
    expression: ExpressionPair, content: bytes
) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assume(pattern.exact)
    assert holds(pattern.condition, Document.parse(content)) == oracle(
        expression.oracle, content, NAMESPACES
    )


def denials(levels: int) -> str:
    return "//a" + "[not(.//a" * levels + ")]" * levels


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("xpath", [denials(8), denials(7), chain(7), chain(40)])
def test_negations_inside_each_other_are_decided_on_nested_elements(
    engine: str, xpath: str
) -> None:
    content = b"<r>" + b"<a>" * 60 + b"</a>" * 60 + b"</r>"
    decision = Matcher([xpath], engine=engine).decide(content)
    assert (decision.matches, decision.undecided) == ((1,), ())


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
