"""What is there instead: names nearby, other namespaces, values and places."""

from __future__ import annotations

import pytest

from tests.matching.explain.examples import ORDERS, TABLE
from twigcast.matching import explain

FEED = b"""<feed xmlns='urn:n' xmlns:x='urn:x'>
 <item id='1' x:lang='en'><title>Gold up</title><price>12</price></item>
 <item id='2'><title>Oil down</title></item>
</feed>"""


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


def test_the_value_is_shown_as_it_is_with_its_white_space() -> None:
    reasons = explain("//qty[. = '5']", b"<qty> 5 </qty>").reasons
    assert reasons[1:] == ("the value is ' 5 ' there",)


def test_an_axis_that_leads_upwards_has_no_children_to_offer() -> None:
    explanation = explain("//qty/parent::item", ORDERS)
    assert not any("there is only" in reason for reason in explanation.reasons)


def test_a_misspelt_name_brings_a_suggestion() -> None:
    hints = explain("//n:item/n:titel", FEED, {"n": "urn:n"}).hints
    assert hints == ("n:titel is nowhere; did you mean n:title?",)


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


def test_a_place_names_comments_and_processing_instructions_as_what_they_are() -> None:
    content = "<a><!--c--><?p?><b/><?p x?></a>"
    places = [
        explain(xpath, content).place
        for xpath in ("//comment()", "//processing-instruction()", "//b/following-sibling::node()")
    ]
    assert places == [
        "/a/comment()", "/a/processing-instruction()[1]", "/a/processing-instruction()[2]",
    ]  # fmt: skip
