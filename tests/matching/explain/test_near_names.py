"""Names that another name may be a slip of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.matching.explain.near_names import nearest_name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Title", "title"), ("TITLE", "title"), ("Id", "id"),
        ("pub_date", "pub-date"), ("pubDate", "pub-date"),
        ("titles", "title"), ("title", "titles"), ("categories", "category"), ("box", "boxes"),
        ("klass", "class"), ("tilte", "title"), ("titel", "title"), ("colour", "color"),
        ("organisation", "organization"), ("adress", "address"), ("date", "data"),
        ("desc", "description"), ("author", "auth"), ("DocumentCurencyCod", "DocumentCurrencyCode"),
    ],
)  # fmt: skip
def test_a_slip_of_the_hand_or_the_memory_is_recognised(name: str, other: str) -> None:
    assert nearest_name(name, ["unlike", other]) == other


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("id", "di"), ("a", "b"), ("A", "a"), ("id", "ids"),
        ("row", "now"), ("cbc", "cac"), ("tr", "td"),
        ("order", "other"), ("item", "time"), ("name", "names-of-them-all"), ("offer", "order"),
        ("Invoice", "InvoiceCurrencyCode"), ("Item", "ItemLocation"), ("articleinfo", "article"),
        ("price", "place"), ("title", "subtitle"), ("para", "parameterentity"), ("same", "same"),
        ("p" * 61, "p" * 60),
    ],
)  # fmt: skip
def test_what_is_far_fetched_is_no_slip(name: str, other: str) -> None:
    assert nearest_name(name, [other]) is None


def test_the_nearest_of_several_is_proposed_and_the_first_of_equals() -> None:
    assert nearest_name("titles", ["titled", "Titles", "title"]) == "Titles"
    assert nearest_name("titles", ["titled", "title"]) == "title"
    assert nearest_name("color", ["colon", "colour"]) == "colon"
    assert nearest_name("color", []) is None


@given(st.text("abc-_", max_size=9), st.text("abc-_", max_size=9))
def test_both_ways_are_as_near(one: str, two: str) -> None:
    assert (nearest_name(one, [two]) is None) == (nearest_name(two, [one]) is None)
