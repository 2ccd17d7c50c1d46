"""Explanations name the first thing that fails, and where."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.errors import DocumentError, PatternError
from twigcast.language.pattern import Pattern
from twigcast.matching import explain
from twigcast.matching.explain.story import REASONS_MAX

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
def test_the_verdict_is_the_oracles_and_every_miss_has_a_reason(
    said: ExpressionPair, content: bytes
) -> None:
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
        ("//item", "item is there, in namespace urn:n: write n:item"),
        ("/feed", "feed is there, in namespace urn:n: write n:feed"),
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
    assert hints == ("n:titel is nowhere; did you mean n:title?",)


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


TABLE = b"""<!DOCTYPE table PUBLIC '-//OASIS//DTD DITA Topic//EN' 'topic.dtd'>
<table id='t'>
 <row role='header'><entry>1</entry></row>
 <row><entry class='num small'>2</entry><entry/></row>
</table>"""


@pytest.mark.parametrize(
    ("xpath", "place", "said"),
    [
        # Reverse axes.
        ("//*[../@role = 'cell']", "/table/row[1]/entry", ["../@role is 'header' there"]),
        (
            "//entry[ancestor::tables]",
            "/table/row[1]/entry",
            ["ancestor::tables is not there", "ancestor::* is only table, row there"],
        ),
        (
            "//entry[parent::row/preceding-sibling::row/@state]",
            "/table/row[2]/entry[1]",
            ["step @state leads nowhere from 1 node reached by parent::row/preceding-sibling::row"],
        ),
        (
            "//table[../@role]",
            "/table",
            ["step @role leads nowhere from the document node reached by .."],
        ),
        # Functions.
        (
            "//entry[contains(concat(' ', @klass, ' '), ' num ')]",
            "/table/row[1]/entry",
            ["concat(' ', @klass, ' ') is '  ' there", "@klass is not there"],
        ),
        (
            "//entry[contains(concat(' ', @class, ' '), ' large ')]",
            "/table/row[2]/entry[1]",
            ["concat(' ', @class, ' ') is ' num small ' there", "@class is 'num small' there"],
        ),
        (
            "//row[string-length(normalize-space(entry)) > 4]",
            "/table/row[1]",
            ["string-length(normalize-space(entry)) is 1 there", "entry is '1' there"],
        ),
        (
            "//row[count(entries) > 0]",
            "/table/row[1]",
            ["count(entries) is 0 there", "entries is not there", "there is only entry"],
        ),
        ("//row[sum(entry) + 1 > 4]", "/table/row[1]", ["sum(entry) + 1 is 2 there"]),
        ("//*[local-name() = 'cell']", "/table", ["local-name() is 'table' there"]),
        ("//row[starts-with(@role, 'f') = true()]", "/table/row[1]", ["@role is 'header' there"]),
        (
            "//row[not(entry or @id)]",
            "/table/row[1]",
            ["entry is there, though it must not be: /table/row[1]/entry (line 3)"],
        ),
        ("//row[id('x')]", "/table/row[1]", ["id('x') finds nothing there"]),
        ("//row[id(@role)/a]", "/table/row[1]", ["@role is 'header' there"]),
        # Parentheses.
        (
            "(//row)[last()][@role]",
            "/table/row[2]",
            ["predicate [@role] holds for none of 1 node reached by (//row)[last()]"],
        ),
        # Predicates inside predicates have a place of their own.
        (
            "//table[row[@role = 'footer']]",
            "/table",
            ["@role is 'header' at /table/row[1] (line 3)"],
        ),
    ],
)
def test_functions_and_axes_are_looked_into(xpath: str, place: str, said: list[str]) -> None:
    explanation = explain(xpath, TABLE)
    assert explanation.place == place
    assert [one for one in said if one not in explanation.reasons] == [], explanation.text


def test_a_name_that_is_nowhere_is_told_with_one_that_may_be_meant() -> None:
    hints = explain("//entry[contains(concat(' ', @klass, ' '), ' num ')]", TABLE).hints
    assert hints == ("@klass is nowhere; did you mean @class?",)


@pytest.mark.parametrize("xpath", ["//row[@colsep]", "//@colsep", "//row[contains(@colsep, '1')]"])
def test_a_dtd_that_may_have_supplied_an_attribute_is_named(xpath: str) -> None:
    said = "the DTD topic.dtd is not read: if it supplies @colsep, that is why it is missing"
    assert said in explain(xpath, TABLE).hints
    without = TABLE[TABLE.index(b"<table") :]
    assert not any("DTD" in hint for hint in explain(xpath, without).hints)
    internal = b"<!DOCTYPE table [<!ELEMENT row ANY>]>" + without
    assert not any("DTD" in hint for hint in explain(xpath, internal).hints)


@pytest.mark.parametrize("xpath", ["//rows", "//row/title", "//row[@role = 'x']", "//row[@Role]"])
def test_a_dtd_supplies_neither_elements_nor_what_is_there_under_another_name(xpath: str) -> None:
    assert not any("DTD" in hint for hint in explain(xpath, TABLE).hints)


def test_nodes_compared_with_a_truth_value_bring_what_to_write_instead() -> None:
    (hint,) = explain("//row[1][@role = false()]", TABLE).hints
    assert hint.endswith("for that write @role = 'false'")


def test_of_many_alternatives_the_first_few_are_told() -> None:
    many = " | ".join(f"//a{number}" for number in range(200))
    explanation = explain(many, TABLE)
    assert len(explanation.reasons) == REASONS_MAX
    assert explanation.reasons[-1] == "… and more of this kind"


def test_a_place_has_a_number_among_all_that_its_step_leads_to() -> None:
    content = b"<a><b xmlns='urn:x'/><b xmlns='urn:y'><c/></b></a>"
    assert explain("//*:c", content).place == "/a/*:b[2]/*:c"


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
