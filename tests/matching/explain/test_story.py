"""The first step, predicate or part that fails, and the closest node."""

from __future__ import annotations

import pytest

from tests.matching.explain.examples import ORDERS, TABLE
from twigcast.matching import explain
from twigcast.matching.explain.story import REASONS_MAX


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


def test_the_closest_node_is_one_that_has_the_name_in_another_namespace() -> None:
    feed = b"<feed><item><x/></item><item><d:date xmlns:d='urn:d'/></item></feed>"
    explanation = explain("//item/date", feed)
    assert explanation.place == "/feed/item[2]"
    assert "date is there, in namespace urn:d" in explanation.hints[0]


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
