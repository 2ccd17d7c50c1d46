"""What made a document match: nodes, operands and values, as libxml2 has them."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import Mock

import pytest
from hypothesis import given
from lxml import etree

from tests.engines import EVERY_ENGINE
from tests.oracle import oracle_tree
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.errors import DocumentError
from twigcast.language import Document, Pattern
from twigcast.language.condition.writer import Libxml2Writer
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.language.xpath.parser import parse_expression
from twigcast.matching import Matcher
from twigcast.matching.explain import finding
from twigcast.matching.explain.finding import NODES_MAX, TEXT_CHARACTERS_MAX, Finding
from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX

ORDERS = b"""<orders>
  <order state='open'><total>120</total></order>
  <order state='open'><total>80</total></order>
  <order><total>5</total><!-- late --></order>
</orders>"""


def found(xpath: str, content: bytes = ORDERS, **prefixes: str) -> Any:  # noqa: ANN401
    return Matcher({"it": (xpath, prefixes)}).find(content)["it"]


def paths(xpath: str, content: bytes = ORDERS, **prefixes: str) -> list[str | None]:
    return [node.path for node in found(xpath, content, **prefixes).nodes]


# Paths.


def test_a_path_gives_its_nodes_with_path_line_and_text() -> None:
    first, second = found("//order[@state]").nodes
    assert (first.path, first.line, first.text) == ("/orders/order[1]", 2, "120")
    assert (second.path, second.line, second.text) == ("/orders/order[2]", 3, "80")


def test_a_relative_path_at_top_level_may_begin_anywhere() -> None:
    assert paths("order/total") == [f"/orders/order[{number}]/total" for number in (1, 2, 3)]


def test_the_nodes_are_those_of_the_expression_as_it_was_written() -> None:
    # The canonical text of both is the same, '//a[b]/c'; what they select is not.
    content = b"<a><b/><c/></a>"
    matcher = Matcher({1: "//a[c][b]", 2: "//a[b]/c", 3: "//a[c]/b"})
    nodes = {one: [node.path for node in what.nodes] for one, what in matcher.find(content).items()}
    assert nodes == {1: ["/a"], 2: ["/a/c"], 3: ["/a/b"]}


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_pattern_is_looked_for_by_its_canonical_text(engine: str) -> None:
    content = b"<a><b/><c/></a>"
    given = Matcher({1: Pattern("//a[c][b]"), 2: "//b[last() = 1]"}, engine=engine)
    texts = Matcher({1: "//a[c][b]", 2: "//b[last() = 1]"}, engine=engine, keep_texts=False)
    for matcher in (given, texts, Matcher.from_buffer(given.to_bytes(), engine=engine)):
        finding = matcher.find(content)[1]
        assert (finding.xpath, finding.nodes[0].path) == ("//a[b]/c", "/a/c")
        assert matcher.find(content)[2].nodes[0].path == "/a/b"


def test_at_most_ten_nodes_are_told_and_whether_there_are_more() -> None:
    assert NODES_MAX == 10
    for number, more in ((10, False), (11, True), (500, True)):
        finding = found("//b", b"<a>" + b"<b/>" * number + b"</a>")
        assert [node.path for node in finding.nodes] == [f"/a/b[{n}]" for n in range(1, 11)]
        assert finding.more is more


def test_attributes_texts_and_comments_are_nodes_too() -> None:
    assert paths("//@state") == ["/orders/order[1]/@state", "/orders/order[2]/@state"]
    assert paths("//total/text()")[:1] == ["/orders/order[1]/total/text()"]
    assert paths("//comment()") == ["/orders/order[3]/comment()"]
    mixed = b"<a>one<b/>two<?pi x?>three<?pi y?></a>"
    assert paths("//text()", mixed) == ["/a/text()[1]", "/a/text()[2]", "/a/text()[3]"]
    assert paths("//processing-instruction()[2]", mixed) == ["/a/processing-instruction()[2]"]
    assert [node.text for node in found("//text()", mixed).nodes] == ["one", "two", "three"]
    (namespace,) = found("/a/namespace::p", b"<a xmlns:p='urn:p'/>").nodes
    assert (namespace.path, namespace.text) == ("namespace::p", "urn:p")


def test_the_document_itself_is_a_node() -> None:
    for xpath in ("/", "/self::node()", "//b/ancestor::node()[last()]", "//b/../.."):
        node = found(xpath, b"<a>x<b/></a>").nodes[0]
        assert (node.path, node.line, node.text) == ("/", 1, "x")
    assert paths("//b/ancestor::node()", b"<a><b/></a>") == ["/", "/a"]


def test_nodes_of_the_internal_subset_are_not_taken_for_the_document() -> None:
    content = b"<!DOCTYPE a [<!--x--><?t x?><!ENTITY e 'y<b/>'>]><a>&e;</a>"
    for last in ("self::node()", "descendant-or-self::node()"):
        for first in ("//processing-instruction()", "//comment()"):
            assert paths(f"{first}/{last}", content) == [None]
    assert paths("//processing-instruction()/self::node() | /", content) == ["/", None]


def test_namespaces_are_written_by_the_subscribers_prefix_or_in_full() -> None:
    content = b"<n:a xmlns:n='urn:p' xmlns:o='urn:o'><o:b n:x='1'/></n:a>"
    assert paths("//p:a", content, p="urn:p") == ["/p:a"]
    assert paths("//*:b", content, p="urn:p") == ["/p:a/{urn:o}b"]
    assert paths("//@p:x", content, p="urn:p") == ["/p:a/{urn:o}b/@p:x"]
    assert paths("//@xml:lang", b"<a xml:lang='de'/>") == ["/a/@xml:lang"]


def test_long_texts_are_cut() -> None:
    (node,) = found("/a", b"<a>" + b"x" * 1_000 + b"</a>").nodes
    assert node.text == "x" * TEXT_CHARACTERS_MAX + "…"


# Other expressions.


def test_and_tells_every_operand() -> None:
    finding = found("//order[@state] and //total > 100 and count(//order) = 3")
    assert finding.kind == "and"
    assert [part.kind for part in finding.parts] == ["nodes", "value", "value"]
    assert finding.parts[0].xpath == "//order[@state]"
    assert len(finding.parts[0].nodes) == 2
    assert (finding.parts[2].xpath, finding.parts[2].value) == ("count(//order) = 3", True)


def test_or_tells_the_operands_that_are_true() -> None:
    finding = found("//nothing or //total[. > 100] or (//order and //nobody) or not(//nobody)")
    assert finding.kind == "or"
    assert [part.xpath for part in finding.parts] == ["//total[. > 100]", "not(//nobody)"]
    assert finding.parts[0].nodes[0].path == "/orders/order[1]/total"
    nested = found("//nothing or (//order and not(//nobody))")
    ((both),) = nested.parts
    assert (both.kind, [part.kind for part in both.parts]) == ("and", ["nodes", "value"])


def test_anything_else_tells_its_value() -> None:
    assert found("count(//order)").value == 3.0
    assert found("string(//total)").value == "120"
    assert found("not(//nobody)").value is True
    assert found("//total = 80").value is True
    assert found("'a text'").value == "a text"


def test_prefixes_stand_in_operands_as_the_subscriber_wrote_them() -> None:
    finding = found("/p:a and //p:b", b"<a xmlns='urn:p'><b/></a>", p="urn:p")
    assert [part.xpath for part in finding.parts] == ["/p:a", "//p:b"]


# Against the oracle.


def _by_oracle(xpath: str, content: bytes) -> Any:  # noqa: ANN401
    """libxml2's own value of an expression at the document node."""
    evaluate = etree.XPath(xpath, namespaces=NAMESPACES, regexp=False)
    return evaluate(oracle_tree(content))


def _shape(node: Any) -> tuple[int | None, str]:  # noqa: ANN401
    """Line and text of a node, as lxml has them."""
    if isinstance(node, tuple):
        return None, node[1]
    if isinstance(node, etree._Element):
        tag: object = node.tag
        text = node.xpath("string()") if isinstance(tag, str) else node.text or ""
        return cast("int | None", node.sourceline), str(text)
    return node.getparent().sourceline, str(node)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(subscriptions(), documents())
def test_nodes_and_values_are_those_of_the_oracle(
    engine: str, said: ExpressionPair, content: bytes
) -> None:
    matcher = Matcher({"it": (said.text, NAMESPACES)}, engine=engine)
    findings = matcher.find(content)
    decision = matcher.decide(content)
    assert tuple(findings) == decision.matches
    assert findings.undecided == decision.undecided
    for found in findings.values():
        _check_against_oracle(found, said, content)


def _check_against_oracle(found: Finding, said: ExpressionPair, content: bytes) -> None:
    if found.kind == "nodes" and said.oracle.startswith("/"):
        expected = _by_oracle(said.oracle, content)
        nodes = [node for node in found.nodes if node.path != "/"]
        shown = [(node.line, node.text) for node in nodes]
        assert shown == [_shape(node) for node in expected[: len(nodes)]]
        assert found.more or len(nodes) == len(expected)
        document = Document.parse(content)
        for node, by_oracle in zip(nodes, expected, strict=False):
            if etree.iselement(by_oracle):
                assert node.path is not None
                assert _evaluated(node.path, document) == [
                    by_oracle.getroottree().getpath(by_oracle)
                ]


def _evaluated(path: str, document: Document) -> list[str]:
    """Where a path of ours leads."""
    writer = Libxml2Writer()
    text, _ = writer.expression(parse_expression(path, NAMESPACES, CANONICAL_LIMITS))
    nodes: Any = etree.XPath(text, namespaces=writer.namespaces)(document.tree)
    return [document.tree.getpath(node) for node in nodes]


# Bounds.


def test_all_findings_together_cost_no_more_than_they_may() -> None:
    content = b"<r>" + b"".join(b"<a>%d</a>" % number for number in range(500)) + b"</r>"
    rules = {number: f"//a[. = '{number}']" for number in range(100)}
    whole = Matcher(rules).find(content)
    bounded = Matcher(rules, document_cost_max=1_000_000).find(content)
    assert list(bounded) == list(whole) == list(range(100))
    kinds = [finding.kind for finding in bounded.values()]
    looked = kinds.count("nodes")
    assert 10 < looked < 40
    assert kinds == ["nodes"] * looked + ["costly"] * (100 - looked)
    assert [bounded[one] for one in range(looked)] == [whole[one] for one in range(looked)]
    assert bounded[99].xpath == "//a[. = '99']"


def test_what_is_not_looked_at_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=parse_expression)
    monkeypatch.setattr(finding, "parse_expression", read)
    rules = {number: f"//a[{number} or b]" for number in range(1, 200)}
    told = Matcher(rules, document_cost_max=1_000_000).find(b"<a/>")
    assert len(told) == 199
    assert read.call_count == 1_000_000 // finding._LOOKING


def test_operands_count_and_equal_expressions_count_once() -> None:
    content = b"<r>" + b"<a/>" * 2_000 + b"</r>"
    ors = {number: f"//a[not(x{number})] or //y" for number in range(200)}
    findings = Matcher(ors, document_cost_max=10_000_000).find(content)
    assert len(findings) == 200
    assert [part.kind for part in findings[0].parts] == ["nodes"]
    assert findings[199].kind == "costly"
    some = sum(finding.kind != "costly" for finding in findings.values())
    alone = Matcher({number: one[:-7] for number, one in ors.items()}, document_cost_max=10_000_000)
    assert 0 < some < sum(one.kind != "costly" for one in alone.find(content).values()) < 200
    same = Matcher(dict.fromkeys(range(200), "//a"), document_cost_max=1_000_000).find(content)
    assert {one.kind for one in same.values()} == {"nodes"}


def _nested(inside: bytes, levels: int = 100) -> bytes:
    """Elements ``a0``, ``a1`` and so on inside each other."""
    opened = b"".join(b"<a%d>" % number for number in range(levels))
    return opened + inside + b"".join(b"</a%d>" % number for number in reversed(range(levels)))


@pytest.mark.parametrize("inside", [b"<b/>" * 5_000 + b"x", b"x" * 200_000])
def test_reading_texts_counts(inside: bytes) -> None:
    rules = {number: f"//a{number}" for number in range(100)}
    content = _nested(inside)
    ample = Matcher(rules).find(content)
    assert {one.kind for one in ample.values()} == {"nodes"}
    assert {one.nodes[0].text[0] for one in ample.values()} == {"x"}
    # The elements alone would be found for this: the same without the texts.
    document = Document.parse(content)
    bounded = finding.Finder(document, cost_max=COST_MAX, document_cost_max=3_700_000)
    kinds = [bounded.finding(xpath, {}).kind for xpath in rules.values()]
    looked = kinds.count("nodes")
    assert 10 < looked < 90
    assert kinds == ["nodes"] * looked + ["costly"] * (100 - looked)


@pytest.mark.parametrize("xpath", ["//a0", "//a0/text()", "//a0/@b", "//a0/comment()", "//a0/.."])
def test_one_expression_reads_no_more_than_it_may(xpath: str) -> None:
    long = b"x" * 100_000
    content = b"<r><a0 b='%b'>%b<!--%b--></a0></r>" % (long, long, long)
    for cost_max, kind in ((100_000, "nodes"), (3_000, "costly")):
        finder = finding.Finder(
            Document.parse(content), cost_max=cost_max, document_cost_max=DOCUMENT_COST_MAX
        )
        assert finder.finding(xpath, {}).kind == kind


@pytest.mark.parametrize(
    "inside",
    [
        b"one<b>two<!-- no --></b>three<?no no?>four",
        b"<b/>" * 2_000 + b"far",
        b"<b>" * 200 + b"deep" + b"</b>" * 200 + b"x" * 500,
        b"<b>1</b>\n" * 3_000,
        b"&e;<b>&e;</b>&e;",
        b"before&unknown;<b>behind</b>",
        b"",
    ],
)
def test_the_front_of_a_text_is_the_front_of_the_string_value(inside: bytes) -> None:
    content = b"<!DOCTYPE r SYSTEM 'r.dtd' [<!ENTITY e 'x<c>y</c>'>]><r>%b</r>" % inside
    (node,) = found("/r", content).nodes
    expected = str(Document.parse(content).tree.xpath("string(/r)"))
    assert node.text == expected[:200] + "…" * (len(expected) > 200)


def test_siblings_are_numbered_once() -> None:
    content = b"<r>" + b"".join(b"<a>%d</a>" % number for number in range(50)) + b"<b/></r>"
    finder = finding.Finder(Document.parse(content), cost_max=10**9, document_cost_max=10**9)
    (last,) = finder.finding("//a[last()]", {}).nodes
    assert last.path == "/r/a[50]"
    numbered = dict(finder._numbers)
    assert len(numbered) == 52
    assert [finder.finding(f"//a[{one}]", {}).nodes[0].path for one in (1, 25)] == [
        "/r/a[1]", "/r/a[25]",
    ]  # fmt: skip
    assert finder.finding("//b", {}).nodes[0].path == "/r/b"
    assert finder._numbers == numbered


def test_what_was_too_costly_to_decide_is_undecided_here_as_well() -> None:
    matcher = Matcher(
        {"wide": "//a[count(following::a/namespace::*) > 3]", "sure": "//a"},
        residual_cost_max=10_000,
    )
    findings = matcher.find(b"<r>" + b"<a/>" * 300 + b"</r>")
    assert (list(findings), findings.undecided) == (["sure"], ("wide",))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_nodes_that_would_cost_too_much_are_not_looked_for(engine: str) -> None:
    matcher = Matcher({1: "//a//a//a", 2: "//none or //a//a//a or /a"}, engine=engine)
    deep = b"<a>" * 200 + b"<a/>" * 30_000 + b"</a>" * 200
    findings = matcher.find(deep)
    assert findings[1].kind == "costly"
    assert [part.kind for part in findings[2].parts] == ["costly", "nodes"]
    assert "too costly" in str(findings)


def test_a_document_that_cannot_be_read_is_refused_and_counted() -> None:
    matcher = Matcher(["//a"])
    with pytest.raises(DocumentError):
        matcher.find(b"<a>")
    statistics = matcher.statistics()
    assert (statistics.documents, statistics.refused) == (1, 1)


def test_skipped_subscriptions_are_not_found() -> None:
    assert list(Matcher({"a": "//order", 2: "//total"}).find(ORDERS, skip=["a"])) == [2]


# For the eye.


def test_findings_read_well() -> None:
    matcher = Matcher({"dear": "//total[. > 100]", "many": "count(//order) > 2 and //@state"})
    findings = matcher.find(ORDERS)
    assert repr(findings) == "<Findings: 2 subscriptions>"
    assert str(findings).splitlines() == [
        "dear: //total[. > 100]",
        "  /orders/order[1]/total (line 2): 120",
        "many: count(//order) > 2 and //@state",
        "  count(//order) > 2 is true",
        "  //@state",
        "    /orders/order[1]/@state (line 2): open",
        "    /orders/order[2]/@state (line 3): open",
    ]


def test_findings_are_a_table_in_a_notebook_with_everything_escaped() -> None:
    hostile = "<script>alert('x')</script>"
    matcher = Matcher({hostile: "//a[. != '<b>']", 2: "//a"})
    tree = etree.Element("a")
    tree.text = hostile
    shown = matcher.find(tree)._repr_html_() + matcher.find(tree)[2]._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;alert" in shown


def test_a_table_has_a_bounded_number_of_rows() -> None:
    matcher = Matcher([f"//b[@n < {number}]" for number in range(2, 100)])
    content = b"<a>" + b"".join(b"<b n='%d'/>" % number for number in range(100)) + b"</a>"
    shown = matcher.find(content)._repr_html_()
    assert shown.count("<tr>") < 110
    assert "more</td>" in shown


def test_a_finding_is_told_to_programs_as_json() -> None:
    assert found("//total[. > 100] and 1").as_json() == {
        "xpath": "//total[. > 100] and 1",
        "kind": "and",
        "parts": [
            {
                "xpath": "//total[. > 100]",
                "kind": "nodes",
                "nodes": [{"path": "/orders/order[1]/total", "line": 2, "text": "120"}],
                "more": False,
            },
            {"xpath": "1", "kind": "value", "value": 1.0},
        ],
    }


def test_values_are_written_as_xpath_writes_them_and_json_can_hold_them() -> None:
    assert str(found("1 div 0")) == "1 div 0 is Infinity"
    assert str(found("0.0000001 + 0")).endswith(" is 0.0000001")
    assert found("-1 div 0").as_json()["value"] == "-Infinity"
    assert found("1 div 2").as_json()["value"] == 0.5


def test_the_texts_of_an_element_are_counted_once() -> None:
    content = Document.parse("<a>" + "x<b/>" * 20 + "</a>")
    finder = finding.Finder(content, cost_max=COST_MAX, document_cost_max=DOCUMENT_COST_MAX)
    root = content.tree.getroot()
    assert finder.text_numbers(root) is finder.text_numbers(root)
    rules = {number: f"/a/text()[{number}]" for number in range(1, 21)}
    nodes = Matcher(rules).find(content)
    assert [nodes[number].nodes[0].path for number in rules] == list(rules.values())
