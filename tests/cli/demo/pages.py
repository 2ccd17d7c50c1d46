"""A page taken apart: its elements, its words, its tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _Element


def elements(page: str) -> list[_Element]:
    """Every element of a page, which is written so that a strict parser can read it too."""
    return list(etree.fromstring(page.encode()).iter("*"))


def words(page: str) -> str:
    body = etree.fromstring(page.encode()).find("body")
    assert body is not None
    return " ".join("".join(map(str, body.itertext())).split())


def table(page: str, first_heading: str) -> list[list[str]]:
    """The rows below the headings of the table whose first heading is this one."""
    for found in elements(page):
        rows = [
            [" ".join("".join(map(str, cell.itertext())).split()) for cell in row]
            for row in found.iter("tr")
        ]
        if found.tag == "table" and rows[0][0] == first_heading:
            return rows[1:]
    raise AssertionError(f"no table begins with {first_heading}")


def style_of(page: str, *, narrow: bool) -> str:
    """The style sheet as it applies to a telephone (or to everything)."""
    (style,) = (element.text or "" for element in elements(page) if element.tag == "style")
    blocks = re.findall(r"@media \((\w+-width): [^)]*\) \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", style)
    assert {"min-width", "max-width"} <= set(blocks)
    if narrow:
        style = re.sub(r"@media \(min-width: [^)]*\) \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", style)
    return style
