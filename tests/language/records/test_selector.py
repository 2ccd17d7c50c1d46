"""A name or a path says which elements are records."""

from __future__ import annotations

import pytest

from twigcast.errors import UsageError
from twigcast.language.records.selector import RecordSelector

PAGE = ("urn:w", "page")


@pytest.mark.parametrize(
    ("text", "selected", "others"),
    [
        ("page", [[("", "page")], [PAGE, ("", "page")]], [[PAGE], [("", "page"), ("", "x")]]),
        ("{urn:w}page", [[PAGE], [("", "a"), PAGE]], [[("", "page")], [("urn:v", "page")]]),
        ("*:page", [[PAGE], [("", "page")]], [[("", "pages")]]),
        ("/*/page", [[PAGE, ("", "page")]], [[("", "page")], [PAGE, PAGE, ("", "page")]]),
        ("a//*:page", [[("", "a"), PAGE], [PAGE, ("", "a"), PAGE, PAGE]], [[PAGE, ("", "a")]]),
        ("/a/b", [[("", "a"), ("", "b")]], [[("", "a"), ("", "a"), ("", "b")], [("", "b")]]),
        ("//a/b", [[("", "a"), ("", "a"), ("", "b")]], [[("", "a"), ("", "x"), ("", "b")]]),
        ("/*", [[PAGE]], [[PAGE, PAGE]]),
        ("doc.a", [[("", "doc.a")]], [[("", "doc")]]),
        ("w:page", [[PAGE]], [[("", "page")]]),
    ],
)
def test_a_path_selects_what_it_would_in_a_subscription(
    text: str, selected: list[list[tuple[str, str]]], others: list[list[tuple[str, str]]]
) -> None:
    selector = RecordSelector.parse(text, {"w": "urn:w"})
    assert all(selector.selects(path) for path in selected)
    assert not any(selector.selects(path) for path in others)


def test_the_name_that_all_records_have_is_known() -> None:
    assert RecordSelector.parse("a/*:page").local == "page"
    assert RecordSelector.parse("/a/*").local is None


@pytest.mark.parametrize(
    "text",
    ["", "a[b]", "a[1]", "@a", "a/@b", "a|b", "text()", "/", "a/..", ".", "a/", "self::a", "a b",
     "(a)", "q:page", "a = 1", "'a'"],
)  # fmt: skip
def test_what_is_no_path_of_names_is_a_slip(text: str) -> None:
    with pytest.raises(UsageError, match="a record is "):
        RecordSelector.parse(text)
