"""What an expression may cost is known before libxml2 is asked.

Each expression of ``RUNAWAYS`` keeps libxml2 busy for longer than it may, most of them for seconds
and some for hours, on a document of less than a megabyte: by nodes that are no elements, by
namespaces, by long or repetitive texts.
"""

from __future__ import annotations

import pytest

from tests.engines import NATIVE
from tests.matching.residual.large_documents import (
    Maker,
    alike,
    attributes,
    attributes_inside,
    comments,
    identified,
    instructions,
    instructions_in_front,
    levels,
    namespaces,
    text_of_one_letter,
    texts,
)
from twigcast.language import Document, Pattern
from twigcast.matching import Matcher
from twigcast.matching.residual.cost import expression_cost, expression_of
from twigcast.matching.residual.document_stats import sizes_of
from twigcast.matching.residual.libxml2 import COST_MAX, COST_NODES


def cost(xpath: str, content: bytes) -> float:
    return expression_cost(expression_of(Pattern.parse(xpath)), sizes_of(Document.parse(content)))


RUNAWAYS = [
    ("//node()[count(preceding-sibling::node()) = 99999999]", instructions),
    ("//node()[count(preceding-sibling::node()) = 99999999]", instructions_in_front),
    ("//node()[count(following::node()) = 99999999]", comments),
    ("//comment()[count(preceding-sibling::comment()) = 99999999]", comments),
    ("(//node())[last()] = 'q'", instructions),
    ("//@*[count(../@*) = 99999999]", attributes),
    ("//@* != //@*", attributes),
    ("//@*[count(self::node() | ../@*) = 99999999]", attributes),
    ("//*[count(namespace::*) = 99999999]", namespaces),
    ("count(//namespace::*) = 5", namespaces),
    ("//b[count(preceding::text()) = 99999999]", texts),
    ("//text()[count(../text()) = 99999999]", texts),
    ("count(//text() | //b) = 7", texts),
    ("//node()[normalize-space(..) = 'q']", texts),
    (f"concat({','.join(['/'] * 60)}) = 'q'", text_of_one_letter),
    (f"substring-before(/, '{'a' * 2_000}b') = 'q'", text_of_one_letter),
    (f"contains(concat(/, /), '{'a' * 2_000}b')", text_of_one_letter),
    (f"translate(/, '{'é' * 1_000}', '') = 'q'", text_of_one_letter),
    ("//*[sum(.//b) = 7]", levels),
    ("//*[count(.//*[count(.//*) = 7]) = 7]", levels),
    ("//*[count(*:zz[position() = 7]/ancestor::*:zz) = count(.//*:b)]", levels),
    ("//b = //c", alike),
    ("//a[b = c]", alike),
    ("//@x != //@y", alike),
    ("//*[lang('en')]", attributes_inside),
    ("count(//@*[lang(.)]) = 7", attributes_inside),
    ("id(/) = 'q'", identified),
    ("//b[id(..)]", identified),
]


@pytest.mark.parametrize(("xpath", "document"), RUNAWAYS)
@pytest.mark.usefixtures("without_kernel")
def test_what_would_keep_libxml2_busy_is_undecided(xpath: str, document: Maker) -> None:
    matcher = Matcher([xpath], engine="lxml")
    assert matcher.decide(document(20_000)).undecided == (1,)


@NATIVE
@pytest.mark.parametrize(("xpath", "document"), RUNAWAYS)
def test_libxml2_is_not_asked_what_would_keep_it_busy_and_the_kernel_decides(
    xpath: str, document: Maker
) -> None:
    content = document(20_000)
    matcher = Matcher([xpath], engine="lxml")
    assert matcher.decide(content) == Matcher([xpath], engine="native").decide(content)
    assert not matcher.statistics().details.by_libxml2 or cost(xpath, content) <= 10 * COST_MAX


@pytest.mark.parametrize(("xpath", "document"), RUNAWAYS)
@pytest.mark.usefixtures("without_kernel")
def test_the_same_on_a_small_document_is_decided(xpath: str, document: Maker) -> None:
    matcher = Matcher([xpath], engine="lxml")
    assert matcher.decide(document(100)).undecided == ()


@pytest.mark.parametrize(
    "document",
    [
        instructions, instructions_in_front, comments, attributes, namespaces, texts,
        text_of_one_letter, levels, identified,
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "xpath",
    [
        "//b[2]", "//a[count(b) = 7]", "//b[@i = @j]", "//b[. = 'q'][2]", "string(/a/@x) = 'q'",
        "//b[position() = last() and . = 'q']", "count(/a/b) = 7", "//*[lang('en')]",
        "/a/b[7]/following-sibling::*[1][self::c]", "//a[string-length(@x) > 7]",
    ],
)  # fmt: skip
def test_ordinary_expressions_are_decided_whatever_the_document(
    xpath: str, document: Maker
) -> None:
    content = document(20_000)
    nodes = sizes_of(Document.parse(content)).nodes
    assert cost(xpath, content) <= COST_MAX * (1 + nodes / COST_NODES)


@pytest.mark.usefixtures("without_kernel")
def test_an_exact_pattern_is_decided_at_any_cost() -> None:
    matcher = Matcher(engine="lxml")
    matcher.add(1, f"contains(/, '{'a' * 2_000}b')")
    matcher.add(2, f"contains(/, '{'a' * 2_000}')")
    assert matcher.decide(text_of_one_letter(20_000)).matches == (2,)
    assert matcher.statistics().details.walked == 2


@pytest.mark.parametrize(
    ("xpath", "growth"),
    [
        ("//node()[@x][2]", 1),
        ("//b[. = 'q'][2]", 1),
        ("//node()[count(preceding-sibling::node()) = 7]", 2),
        ("//node()[following::node() = 'q']", 2),
        ("//node()[count(preceding::node()[following::b]) = 7]", 3),
        ("//node()[count(preceding::node()[following::node()]) = 7]", 2),
    ],
)
def test_the_estimate_grows_as_the_work_does(xpath: str, growth: int) -> None:
    small, large = cost(xpath, texts(1_000)), cost(xpath, texts(2_000))
    assert 0.9 * 2**growth < large / small < 1.1 * 2**growth


def test_a_namespace_node_costs_as_much_as_many_visits_since_it_is_copied() -> None:
    assert cost("count(//b/namespace::*) = 9", texts(1_000)) > 50 * 1_000
    assert cost("count(//b/namespace::*) = 9", texts(200_000)) > COST_MAX
    assert cost("count(//b/@*) = 9", texts(200_000)) <= COST_MAX
