"""What an expression may cost is known before libxml2 is asked.

Each expression of ``RUNAWAYS`` keeps libxml2 busy for longer than it may, most of them for seconds
and some for hours, on a document of less than a megabyte: by nodes that are no elements, by
namespaces, by long or repetitive texts.
"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import _Element

from tests.strategies import NAMESPACES, THOROUGH, Said, documents, subscriptions
from twigcast.language import Document, Pattern
from twigcast.language.condition.model import Kind, Label
from twigcast.language.document import tree_walk
from twigcast.language.document.tree_walk import Event
from twigcast.matching import Matcher
from twigcast.matching.residual import document_stats as sizes
from twigcast.matching.residual.cost import condition_cost
from twigcast.matching.residual.document_stats import SCALES, scale, sizes_at_scale, sizes_of
from twigcast.matching.residual.libxml2 import COST_MAX, Residuals
from twigcast.matching.residual.searching import looking_for, looking_in
from twigcast.matching.residual.tree_walk import Walk

Maker = Callable[[int], bytes]


def cost(xpath: str, content: bytes) -> float:
    return condition_cost(Pattern.parse(xpath).condition, sizes_of(Document.parse(content)))


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
    return b"<a %s>" % each * depth + b"<b/>" * n + b"</a>" * depth


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
def test_what_would_keep_libxml2_busy_is_undecided(xpath: str, document: Maker) -> None:
    matcher = Matcher(engine="lxml")
    matcher.add(1, xpath)
    assert matcher.decide(document(20_000)).undecided == (1,)


@pytest.mark.parametrize(("xpath", "document"), RUNAWAYS)
def test_the_same_on_a_small_document_is_decided(xpath: str, document: Maker) -> None:
    matcher = Matcher(engine="lxml")
    matcher.add(1, xpath)
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
    assert cost(xpath, document(20_000)) <= COST_MAX


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
        ("//node()[count(preceding::node()[following::node()]) = 7]", 3),
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
    assert (sizes.nodes, sizes.elements, sizes.attributes) == (12, 4, 3)
    assert (sizes.attributes_each, sizes.depth, sizes.namespaces) == (2, 3, 2)
    assert sizes.namespace_length == 3
    assert sizes.breadth >= 5
    assert sizes.between >= 3
    label = Label(Kind.ELEMENT, "", "a")
    assert (sizes.count(label), sizes.nested(label)) == (3, 3)


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
def test_no_document_costs_more_than_the_largest_of_its_scale(said: Said, content: bytes) -> None:
    document = Document.parse(content)
    condition = Pattern.parse(said.text, NAMESPACES).condition
    least = next(one for one in SCALES if scale(document) <= one)
    assert condition_cost(condition, sizes_of(document)) <= condition_cost(
        condition, sizes_at_scale(least)
    )


def test_a_deep_document_and_one_with_many_namespaces_have_no_scale() -> None:
    assert scale(Document.parse(levels(800))) < math.inf
    assert scale(Document.parse(levels(2_000))) == math.inf
    assert scale(Document.parse(namespaces(1_000))) == math.inf


# Looking for one string in another.


def test_a_string_that_overlaps_with_itself_is_costly_to_look_for() -> None:
    assert looking_for("needle") == looking_for("n")
    assert looking_for("a" * 100) > 20 * looking_for("needle")
    assert looking_for("ab" * 50) > 10 * looking_for("needle")


@given(st.text(alphabet="ab", min_size=1, max_size=30))
def test_looking_in_a_text_costs_at_least_its_length(text: str) -> None:
    assert looking_in(text) >= looking_in("a") / 2 * len(text)


@pytest.mark.parametrize("doctype", [b"", b"<!DOCTYPE a []>"])
def test_many_namespaces_of_one_element_are_not_walked(
    doctype: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = b" ".join(b"xmlns:p%d='urn:%d'" % (one, one) for one in range(10_001))
    document = Document.parse(doctype + b"<a " + declared + b"/>")
    monkeypatch.setattr("twigcast.matching.residual.document_stats.etree.iterwalk", None)
    assert sizes._namespaces(document) > 10_001
    assert sizes._namespace_length(document) >= len(document.content)


def test_the_later_a_position_the_fewer_nodes_can_be_left_at_it() -> None:
    document = Document.parse(b"<r>" + b"<a><b/></a>" * 5_000 + b"</r>")
    sizes = sizes_of(document)

    def cost(xpath: str) -> float:
        return condition_cost(Pattern.parse(xpath).condition, sizes)

    assert cost("//a[100][b]") < cost("//a[10][b]") < cost("//a[1][b]")
    assert cost("//a[100][b]") < cost("//a[1][b]") / 2
    assert cost("//a[0][b]") == cost("//a[0.5][b]") == cost("//a[1][b]")
    assert cost(f"//a[{'9' * 400}][b]") <= cost("//a[1][b]")


def test_a_step_of_walking_weighs_as_much_as_python_takes_for_it() -> None:
    pattern = Pattern.parse("//a[not(.//b)]/c")
    document = Document.parse(b"<r>" + b"<a><d/></a>" * 200 + b"</r>")
    verdict, steps = Walk(document).holds(pattern.condition, 1_000_000)
    assert verdict is False
    # About 1.5 microseconds each, where libxml2 makes a visit in 5 to 10 nanoseconds.
    short = Residuals(cost_max=1, document_cost_max=149 * steps)
    assert short.verdict(pattern, document) is None
    assert Residuals(cost_max=1, document_cost_max=300 * steps).verdict(pattern, document) is False


def test_long_values_are_looked_for_once_however_many_expressions_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walks = 0

    def walk_texts(root: _Element) -> Iterator[Event]:
        nonlocal walks
        walks += 1
        return tree_walk.walk_texts(root)

    monkeypatch.setattr(sizes, "walk_texts", walk_texts)
    content = inside(b"<b>xx</b><c>x</c>" * 2_000)
    matcher = Matcher([f"//b[substring-before(., ../c) = '{n}']" for n in range(20)])
    assert len(matcher.decide(content).undecided) == 20
    assert walks == 1


def test_the_longest_values_are_those_of_libxml2() -> None:
    content = "<a>x<b>éé<!--cc-->y<c q='12' r='€'/></b>z<b/></a>"
    known = sizes_of(Document.parse(content))
    longest = {
        local: known.longest(Label(Kind.ELEMENT, "", local)) for local in ("a", "b", "c", "d")
    }
    assert longest == {"a": 7, "b": 5, "c": 0, "d": 0}
    assert known.longest(Label(Kind.ATTRIBUTE, "", "q")) == len("€".encode())
