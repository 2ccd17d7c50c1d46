"""The page of the demo: its numbers, its pictures, and its width on a telephone."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.cli.demo.pages import elements, style_of, words
from twigcast.cli.demo.html_report import report
from twigcast.cli.demo.summary import DemoSummary

pytest.importorskip("pyspark")


def test_the_page_needs_nothing_from_elsewhere(summary: DemoSummary) -> None:
    page = report(summary)
    found = elements(page)
    assert not {"script", "link", "iframe", "img"} & {str(element.tag) for element in found}
    assert not any({"src", "href", "srcset"} & set(element.attrib) for element in found)
    assert not re.search(r"url[(]|@import|https?:", page)


def test_every_picture_of_the_page_says_what_it_shows(summary: DemoSummary) -> None:
    pictures = [element for element in elements(report(summary)) if element.tag == "svg"]
    told_by = [picture.get("aria-label") or picture.get("aria-hidden") for picture in pictures]
    assert len(pictures) == 6
    assert all(told_by)


def test_the_page_tells_the_numbers_and_escapes_what_strangers_wrote(summary: DemoSummary) -> None:
    page = report(summary)
    text = words(page)
    assert "20.0%of the crossings of flooding" in text
    assert "2 dead letters, no rejected subscription" in text
    assert "there were 8 crossings, none needless" in text
    assert "13 of the 20 documents matched no subscription." in text
    assert "the same 9 deliveries came out" in text
    assert "//a[. < 3][b]" in text
    assert "<d>.xml" in text
    assert "<d>" not in page
    assert "Fen &amp; Co" in page
    assert "$" not in text


def test_the_page_has_a_row_for_each_strategy(summary: DemoSummary) -> None:
    rows = [element for element in elements(report(summary)) if element.tag == "tr"]
    told_rows = [
        [" ".join("".join(map(str, cell.itertext())).split()) for cell in row] for row in rows
    ]
    assert ["flooding", "nothing & more", "40", "80.0%", "2.0", "0"] in told_rows
    assert ["best", "something", "8", "none", "0.4", "4"] in told_rows


def test_the_page_does_without_a_near_miss(summary: DemoSummary) -> None:
    page = report(replace(summary, near_miss=None))
    assert "did not match" not in page


def test_nothing_on_the_page_is_wider_than_a_telephone(summary: DemoSummary) -> None:
    page = report(summary)
    metas = [e for e in elements(page) if e.tag == "meta" and e.get("name") == "viewport"]
    assert [meta.get("content") for meta in metas] == ["width=device-width, initial-scale=1"]
    style = style_of(page, narrow=True)
    pixels = {"px": 1, "rem": 16, "em": 16}
    widths = [
        float(number) * pixels[unit]
        for number, unit in re.findall(r"(?<!max-)width:\s*([\d.]+)(px|rem|em)", style)
    ]
    assert widths
    assert max(widths) <= 360
    sized = [e for e in elements(page) if e.tag in {"svg", "table", "div", "pre"}]
    assert not any({"width", "height"} & set(element.attrib) for element in sized)


def test_every_table_can_be_scrolled_and_every_picture_scales(summary: DemoSummary) -> None:
    found = elements(report(summary))
    tables = [element for element in found if element.tag == "table"]
    assert len(tables) == 3
    for element in tables:
        parent = element.getparent()
        assert parent is not None
        assert "wide" in (parent.get("class") or "").split()
        assert parent.get("aria-label")
    assert ".wide { overflow-x: auto; }" in style_of(report(summary), narrow=True)
    pictures = [element for element in found if element.tag == "svg"]
    assert all(picture.get("viewBox") for picture in pictures)


def test_on_a_telephone_each_figure_of_a_strategy_has_its_label(summary: DemoSummary) -> None:
    labelled = [cell.get("data-label") for cell in elements(report(summary)) if cell.tag == "td"]
    labels = [label for label in labelled if label]
    assert labels == ["crossings", "needless", "MB", "routes"] * len(summary.traffic)
