"""What an expression may cost is known before libxml2 is asked.

Each expression of ``RUNAWAYS`` keeps libxml2 busy for longer than it may, most of them for seconds
and some for hours, on a document of less than a megabyte: by nodes that are no elements, by
namespaces, by long or repetitive texts.
"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable

import pytest
from hypothesis import assume, given

from tests.engines import NATIVE
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.language import Document, Pattern
from twigcast.language.condition.model import Kind, Label
from twigcast.matching import Matcher
from twigcast.matching.residual.cost import expression_cost, expression_of
from twigcast.matching.residual.document_stats import SCALES, scale, sizes_at_scale, sizes_of
from twigcast.matching.residual.libxml2 import COST_MAX, COST_NODES, Residuals
from twigcast.matching.residual.tree_walk import ConditionWalk

Maker = Callable[[int], bytes]


def cost(xpath: str, content: bytes) -> float:
    return expression_cost(expression_of(Pattern.parse(xpath)), sizes_of(Document.parse(content)))


def inside(content: bytes) -> bytes:
    return b"<a>%s</a>" % content


def instructions(n: int) -> bytes:
    return inside(b"<?p?>" * n)


def instructions_in_front(n: int) -> bytes:
    return b"<?p?>" * n + b"<a/>"


def comments(n: int) -> bytes:
    return inside(b"<!--c-->" * n)


def attributes(n: int) -> bytes:
    each = b" ".join(b"x%d=''" % place for place in range(n // 20))
    return inside(b"<b %s/>" % each * 100)


def namespaces(n: int) -> bytes:
    declared = b" ".join(b"xmlns:n%d='u%d'" % (place, place) for place in range(n // 10))
    return b"<a %s>%s</a>" % (declared, b"<b/>" * n)


def texts(n: int) -> bytes:
    return inside(b"t<b/>" * n)


def text_of_one_letter(n: int) -> bytes:
    return inside(b"a" * (50 * n))


def levels(n: int) -> bytes:
    depth = min(250, max(1, n // 80))
    return b"<a>" * depth + b"<b>7</b>" * n + b"</a>" * depth


def attributes_inside(n: int) -> bytes:
    depth = min(250, max(1, n // 80))
    each = b" ".join(b"x%d=''" % place for place in range(min(200, n // 20)))
    return b"<a %s>" % each * depth + b"<b/>" * n + b"<b xml:lang='de'/>" + b"</a>" * depth


def alike(n: int) -> bytes:
    front = b"p" * n
    pair = b"<b x='%s'>%s%d</b><c y='%s'>%sx%d</c>"
    places = range(n // 20)
    return inside(
        b"".join(
            pair % (front[::20], front[::20], place, front[::20], front[::20], place)
            for place in places
        )
    )


def identified(n: int) -> bytes:
    elements = b"".join(b"<b i='n%d'>n%d </b>" % (place, place) for place in range(n))
    return b"<!DOCTYPE a [<!ATTLIST b i ID #IMPLIED>]>" + inside(elements)


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


# Sizes.


def test_nodes_of_every_kind_are_counted() -> None:
    content = (
        b"<?p?><!--c--><a x='1' y='2'><!--c--><!--c--><?p?><b xmlns='uvw' z=''>text</b>"
        b"<a><a>t</a></a></a><!--c-->"
    )
    sizes = sizes_of(Document.parse(content))
    assert sizes.nodes == 15
    assert sizes.depth >= 3
    assert sizes.namespaces == 2
    assert sizes.breadth >= 5
    assert sizes.between >= 3
    assert sizes.count(Label(Kind.ELEMENT, "", "a")) == 3


def test_texts_from_entities_count_as_they_are_read() -> None:
    entity = b"<!DOCTYPE a [<!ENTITY e '%s'>]><a x='&e;'>&e;&e;&e;</a>" % (b"x" * 1_000)
    assert sizes_of(Document.parse(entity)).characters >= 4_000


def test_a_document_that_nobody_holds_is_not_held_by_its_sizes() -> None:
    document = Document.parse(texts(5))
    sizes_of(document)
    scale(document)
    gone = weakref.ref(document)
    del document
    gc.collect()
    assert gone() is None


@THOROUGH
@given(subscriptions(), documents())
def test_no_document_costs_more_than_the_largest_of_its_scale(
    said: ExpressionPair, content: bytes
) -> None:
    document = Document.parse(content)
    expression = expression_of(Pattern.parse(said.text, NAMESPACES))
    assume(scale(document) < math.inf)
    least = next(one for one in SCALES if scale(document) <= one)
    assert expression_cost(expression, sizes_of(document)) <= expression_cost(
        expression, sizes_at_scale(least)
    )


def test_a_deep_document_and_one_with_many_namespaces_have_no_scale() -> None:
    assert scale(Document.parse(levels(800))) < math.inf
    assert scale(Document.parse(levels(2_000))) == math.inf
    assert scale(Document.parse(namespaces(1_000))) == math.inf


def test_a_step_of_walking_weighs_as_much_as_python_takes_for_it() -> None:
    pattern = Pattern.parse("//a[not(.//b)]/c")
    document = Document.parse(b"<r>" + b"<a><d/></a>" * 200 + b"</r>")
    verdict, steps = ConditionWalk(document).holds(pattern.condition, 1_000_000)
    assert verdict is False
    # About 1.5 microseconds each, where libxml2 makes a visit in 5 to 10 nanoseconds.
    short = Residuals(cost_max=1, document_cost_max=140 * steps)
    assert short.verdict(pattern, document) is None
    assert Residuals(cost_max=1, document_cost_max=300 * steps).verdict(pattern, document) is False
