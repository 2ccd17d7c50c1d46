"""Advice on texts that are no XPath of any version."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import refused


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("contains(a)", "it is contains(text, part)"),
        ("substring(a)", "it is substring(text, from, length)"),
        ("//a]", "there is no '[' that this ']' closes"),
        ("count(a))", "there is no '(' that this ')' closes"),
        ("folowing::a", "did you mean following::?"),
        ("//a[$x = 1]", "write the value itself instead of $x"),
        ("text(.) = 'x'", "the text of an element with all below it is string(a)"),
        ('a = "x', 'put " behind the text'),
        ("//a[. = 'it's']", "a text that has ' in it stands in double quotes"),
        ("//", "/ alone matches every document, //* every document that has an element"),
        ("$.a.b", "this looks like JSONPath; the XPath for it is //a/b"),
        ("$..b[0]['c']", "this looks like JSONPath; the XPath for it is //b[1]/c"),
        ("div#main > a", "a CSS selector; the XPath for it is //div[@id = 'main']/a"),
        (".new", "//*[contains(concat(' ', normalize-space(@class), ' '), ' new ')]"),
        ("ul li:last-child", "//ul//li[not(following-sibling::*)]"),
        ("^foo.*bar$", "this looks like a regular expression"),
        ("storm warning", "contains(., 'storm warning'), for elements //storm//warning"),
        ("<a>x</a>", "this looks like XML"),
        ("e:f(a)", "XPath 1.0 has no functions with a prefix"),
        ("//a[b = ('x', $y)]", "write the value itself instead of $y"),
        ("//a[analyse-string(b, 'x')]", "XPath 1.0 has nothing like it"),
        ("//z:a", "write *:a for any namespace, or bind the prefix: --namespace z=URI"),
        ("//z:a[b eq 'x']", "write *:a for any namespace"),
    ],
)
def test_other_mistakes_have_advice(text: str, hint: str) -> None:
    found = refused(text).hint
    assert found is not None
    assert hint in found


def test_words_that_name_no_element_are_not_proposed_as_a_path() -> None:
    assert refused("x² wide").hint == "to look for words write contains(., 'x² wide')"
