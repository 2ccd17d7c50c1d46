"""The strings that libxml2 has for nodes; what tests make of them is in the language.

The text nodes of an element are found by walking its children. XPath's ``text()`` gives the same,
but libxml2 then sorts them, and walks back over all comments in front of each to do so: a quarter
of a million short texts between comments would take it minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from lxml import etree
from lxml.etree import _Element

string_value = cast("Callable[[_Element], str]", etree.XPath("string()", smart_strings=False))
"""The string-value of an element."""


def own_texts(element: _Element) -> Iterator[str]:
    """The text nodes right below an element, empty ones included; no two are side by side.

    >>> list(own_texts(etree.XML("<a>1<b>2</b><c/>3<!-- 4 -->5</a>")))
    ['1', '3', '5']
    """
    if element.text is not None:
        yield element.text
    for child in element:
        if child.tail is not None:
            yield child.tail
