"""Warnings of what XPath 1.0 takes otherwise than it is meant."""

from __future__ import annotations

import pytest
from lxml import etree

from twigcast.errors import PatternError
from twigcast.language.cautions import CAUTIONS_MAX, cautions_of

_END = "; XPath 2.0 would compare the value: for that write "


@pytest.mark.parametrize(
    ("text", "caution"),
    [
        ("//a[b = true()]", f"b = true() holds in XPath 1.0 where there is b{_END}b = 'true'"),
        (
            "//a[@b = false()]",
            f"@b = false() holds in XPath 1.0 where there is no @b{_END}@b = 'false'",
        ),
        (
            "//a[b != true()]",
            f"b != true() holds in XPath 1.0 where there is no b{_END}b = 'false'",
        ),
        ("//a[b != false()]", f"b != false() holds in XPath 1.0 where there is b{_END}b = 'true'"),
        (
            "//a[true() = b/c]",
            f"true() = b/c holds in XPath 1.0 where there is b/c{_END}b/c = 'true'",
        ),
        ("//a[. = true()]", f". = true() holds in XPath 1.0 of every node{_END}. = 'true'"),
        ("//a[. = false()]", f". = false() holds in XPath 1.0 of no node{_END}. = 'false'"),
        (
            "//p:a = true()",
            f"//p:a = true() holds in XPath 1.0 where there is //p:a{_END}//p:a = 'true'",
        ),
    ],
)
def test_nodes_compared_with_a_truth_value_bring_a_caution(text: str, caution: str) -> None:
    assert cautions_of(text, {"p": "urn:p"}) == (caution,)


@pytest.mark.parametrize(
    "text",
    [
        "//a[not(b = true())]",
        "//a[c[count(d[b = true()]) > 1]/e]",
        "(//a | //c)[b = true()]",
        "id(a[b = true()])/c",
        "//c = 1 or concat('x', string(a[b = true()])) = 'x'",
        "-count(a[b = true()]) < 0",
    ],
)
def test_it_is_found_wherever_it_stands(text: str) -> None:
    assert [one.split(" holds")[0] for one in cautions_of(text)] == ["b = true()"]


@pytest.mark.parametrize(
    "text",
    [
        "//a[b = 'true']", "//a[boolean(b) = true()]", "//a[count(b) = true()]", "//a[true()]",
        "//a[contains(b, 'x') = false()]", "//a[b > true()]", "//a[b = not(c)]", "true() = false()",
        "//a[string(b) = true()]",
    ],
)  # fmt: skip
def test_other_comparisons_bring_none(text: str) -> None:
    assert cautions_of(text) == ()


@pytest.mark.parametrize(
    "content", ["<a/>", "<a><b/></a>", "<a><b>true</b></a>", "<a><b>false</b></a>"]
)
@pytest.mark.parametrize("comparison", ["b = true()", "b = false()", "b != true()", "false() != b"])
def test_what_a_caution_says_of_xpath_1_is_what_libxml2_does(comparison: str, content: str) -> None:
    (caution,) = cautions_of(f"/a[{comparison}]")
    root = etree.fromstring(content)
    there = root.find("b") is not None
    assert root.xpath(f"boolean({comparison})") == (there if "there is b" in caution else not there)
    asked = root.xpath(caution.rpartition("write ")[2])
    assert asked == (root.findtext("b") == ("true" if "'true'" in caution else "false"))


def test_a_caution_is_said_once_and_there_are_not_too_many() -> None:
    assert len(cautions_of("//a[b = true() or c[b = true()]]")) == 1
    many = " or ".join(f"b{number} = true()" for number in range(60))
    assert len(cautions_of(f"//a[{many}]")) == CAUTIONS_MAX


def test_an_expression_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(PatternError):
        cautions_of("//a[b = true()")
