"""Walks over trees of lxml in document order: elements, their texts, their ends.

lxml's ``iterwalk`` does the same, but takes quadratic time where many comments or processing
instructions follow each other, and so does libxml2 for an XPath of all texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from lxml.etree import _Element

Event: TypeAlias = "_Element | str | None"
"""An element where it starts, a text, or None where the innermost open element ends."""


def walk_texts(root: _Element, *, remarks: bool = False) -> Iterator[Event]:
    """The elements and text nodes of an element, in document order.

    Text nodes are those of libxml2, empty ones included; no two are side by side. With ``remarks``
    there are comments and processing instructions, too, whose ``tag`` is no string.

    >>> from lxml import etree
    >>> walk = walk_texts(etree.XML("<a>1<b/>2<!-- 3 -->4</a>"))
    >>> [one if one is None or isinstance(one, str) else one.tag for one in walk]
    ['a', '1', 'b', None, '2', '4', None]
    """
    yield root
    if root.text is not None:
        yield root.text
    open_elements = [root]
    children = [iter(root)]
    while children:
        for child in children[-1]:
            tag: object = child.tag  # A function where it is no element.
            if isinstance(tag, str):
                yield child
                if child.text is not None:
                    yield child.text
                open_elements.append(child)
                children.append(iter(child))
                break
            if remarks:
                yield child
            if child.tail is not None:
                yield child.tail
        else:
            children.pop()
            ended = open_elements.pop()
            yield None
            if children and ended.tail is not None:
                yield ended.tail
