"""Explanations name the first thing that fails, and where."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, Said, documents, subscriptions
from twigcast.errors import DocumentError, PatternError
from twigcast.language.pattern import Pattern
from twigcast.matching import explain

FEED = b"""<feed xmlns='urn:n' xmlns:x='urn:x'>
 <item id='1' x:lang='en'><title>Gold up</title><price>12</price></item>
 <item id='2'><title>Oil down</title></item>
</feed>"""
ORDERS = b"""<orders>
 <order id='1' state='new'><Item>a</Item><qty>5</qty></order>
 <order id='2' state='open'><qty>x</qty></order>
 <other><item/></other>
</orders>"""


@THOROUGH
@given(subscriptions(), documents())
def test_the_verdict_is_the_oracles_and_every_miss_has_a_reason(said: Said, content: bytes) -> None:
    explanation = explain(said.text, content, NAMESPACES)
    assert explanation.matches == oracle(said.oracle, content, NAMESPACES)
    if not explanation.matches:
        assert explanation.failed
        assert explanation.reasons


def test_a_match_tells_where_it_is() -> None:
    explanation = explain("order/qty", ORDERS)
    assert explanation.matches
    assert (explanation.place, explanation.line) == ("/orders/order[1]/qty", 2)
    assert "2 nodes found" in explanation.text


def test_the_first_step_that_leads_nowhere_is_named() -> None:
    explanation = explain("//order[@state='open']/item/name", ORDERS)
    assert explanation.failed == "item"
    assert (explanation.place, explanation.line) == ("/orders/order[2]", 3)
    assert "there is only qty" in explanation.reasons
    assert explanation.hints == ("item occurs elsewhere: /orders/other/item (line 4)",)


def test_the_first_predicate_that_nothing_passes_is_named_with_the_value_found() -> None:
    explanation = explain("//order[@id][@state='closed']/qty", ORDERS)
    assert explanation.failed == "[@state = 'closed']"
    assert explanation.place == "/orders/order[1]"
    assert "@state is 'new' there" in explanation.reasons


def test_the_closest_node_is_the_one_that_passes_most_of_a_conjunction() -> None:
    explanation = explain("//order[@state='open' and qty > 3]", ORDERS)
    assert explanation.place == "/orders/order[2]"
    assert explanation.reasons[-1] == "qty is 'x' there"


@pytest.mark.parametrize(
    ("xpath", "hint"),
    [
        ("//item", "item is there, in namespace urn:n: write *:item, or bind a prefix to urn:n"),
        ("/feed", "feed is there, in namespace urn:n: write *:feed, or bind a prefix to urn:n"),
        (
            "//n:item[@lang]",
            "@lang is there, in namespace urn:x: write @*:lang, or bind a prefix to urn:x",
        ),
        ("//n:item/@n:id", "@id is there, in no namespace: write @id"),
    ],
)
def test_a_name_in_another_namespace_is_pointed_out(xpath: str, hint: str) -> None:
    assert hint in explain(xpath, FEED, {"n": "urn:n"}).hints


def test_the_closest_node_is_one_that_has_the_name_in_another_namespace() -> None:
    feed = b"<feed><item><x/></item><item><d:date xmlns:d='urn:d'/></item></feed>"
    explanation = explain("//item/date", feed)
    assert explanation.place == "/feed/item[2]"
    assert "date is there, in namespace urn:d" in explanation.hints[0]


def test_the_value_is_shown_as_it_is_with_its_white_space() -> None:
    reasons = explain("//qty[. = '5']", b"<qty> 5 </qty>").reasons
    assert reasons[1:] == ("the value is ' 5 ' there",)


def test_an_axis_that_leads_upwards_has_no_children_to_offer() -> None:
    explanation = explain("//qty/parent::item", ORDERS)
    assert not any("there is only" in reason for reason in explanation.reasons)


def test_a_misspelt_name_brings_a_suggestion() -> None:
    hints = explain("//n:item/n:titel", FEED, {"n": "urn:n"}).hints
    assert hints == ("did you mean n:title?",)


def test_all_alternatives_of_an_or_are_explained() -> None:
    reasons = explain("//order[contains(qty, '9') or Item = 'z']", ORDERS).reasons
    assert reasons[1:] == ("qty is '5' there", "Item is 'a' there")


def test_what_must_not_be_there_is_shown() -> None:
    reasons = explain("//order[not(qty)]", ORDERS).reasons
    assert reasons[1] == "qty is there, though it must not be: /orders/order[1]/qty (line 2)"


@pytest.mark.parametrize(
    ("xpath", "reasons"),
    [
        ("(order)[@id = '9']", ("predicate [@id = '9'] holds for none of ",)),
        ("(order)/nothing", ("step nothing leads nowhere from ",)),
        (
            "(order | nothing)/qty/price",
            ("step price leads nowhere from ", "step nothing finds nothing anywhere"),
        ),
        ("(none)/qty", ("step none finds nothing anywhere",)),
    ],
)
def test_parentheses_are_followed_to_what_fails_inside(
    xpath: str, reasons: tuple[str, ...]
) -> None:
    explanation = explain(xpath, ORDERS)
    assert explanation.matches is False
    for reason in reasons:
        assert any(one.startswith(reason) for one in explanation.reasons), explanation.text


def test_the_value_of_the_node_itself_is_shown_by_name() -> None:
    reasons = explain("//qty[. = '7']", ORDERS).reasons
    assert reasons[1:] == ("the value is '5' there",)


@pytest.mark.parametrize(
    "xpath", ["//c//descendant-or-self::node()[b]", "//c//descendant-or-self::node()[not(b)][b]"]
)
def test_a_predicate_on_what_two_slashes_stand_for_is_named(xpath: str) -> None:
    explanation = explain(xpath, b"<a>x<c/></a>")
    assert explanation.matches is False
    assert explanation.failed == "[b]"


def test_a_canonical_pattern_can_be_explained_too() -> None:
    assert explain(Pattern.parse("//order[@id='1']"), ORDERS).matches


def test_an_expression_that_costs_too_much_is_undecided() -> None:
    wide = b"<r>" + b"<a/>" * 20_000 + b"</r>"
    explanation = explain("//a[count(following::a) > 20000]", wide)
    assert explanation.matches is None
    assert explanation.text.startswith("undecided: ")


def test_the_parts_are_there_for_programs() -> None:
    parts = explain("/orders/order[3]", ORDERS).as_json()
    assert parts["matches"] is False
    assert parts["failed"] == "[3]"
    assert parts["place"] == "/orders/order[1]"


def test_unreadable_input_is_an_error() -> None:
    with pytest.raises(PatternError):
        explain("//order[", ORDERS)
    with pytest.raises(DocumentError):
        explain("//order", b"<orders>")


def test_a_place_names_comments_and_processing_instructions_as_what_they_are() -> None:
    content = "<a><!--c--><?p?><b/><?p x?></a>"
    places = [
        explain(xpath, content).place
        for xpath in ("//comment()", "//processing-instruction()", "//b/following-sibling::node()")
    ]
    assert places == [
        "/a/comment()", "/a/processing-instruction()[1]", "/a/processing-instruction()[2]",
    ]  # fmt: skip
