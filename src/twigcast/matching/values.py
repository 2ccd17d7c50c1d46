"""The strings that libxml2 has for nodes; what tests make of them is in the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _Element, _ElementUnicodeResult

__all__ = ["all_texts", "string_value"]

string_value = cast("Callable[[_Element], str]", etree.XPath("string()", smart_strings=False))
"""The string-value of an element."""

all_texts = cast("Callable[[_Element], list[_ElementUnicodeResult]]", etree.XPath("//text()"))
"""The text nodes of a document, as libxml2 has them; each tells the node it follows or begins."""
