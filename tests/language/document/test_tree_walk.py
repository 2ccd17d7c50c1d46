"""A walk through a tree meets the nodes that libxml2 has, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import example, given
from lxml import etree

from tests.oracle import oracle_tree
from tests.strategies import documents
from twigcast.language.document.tree_walk import Event, walk_texts


def by_libxml2(element: etree._Element, *, remarks: bool) -> Iterator[Event]:
    yield element
    for node in cast("list[etree._Element | str]", element.xpath("node()")):
        if not isinstance(node, etree._Element):
            yield str(node)
        elif isinstance(cast("object", node.tag), str):
            yield from by_libxml2(node, remarks=remarks)
        elif remarks:
            yield node
    yield None


@pytest.mark.parametrize("remarks", [False, True])
@example(content=b"<a><![CDATA[]]><b><![CDATA[]]></b></a>")
@given(content=documents())
def test_elements_texts_and_ends_are_met_as_libxml2_has_them(
    *, remarks: bool, content: bytes
) -> None:
    root = oracle_tree(content).getroot()
    assert list(walk_texts(root, remarks=remarks)) == list(by_libxml2(root, remarks=remarks))


def test_a_tree_may_be_deep_and_what_stands_beside_it_is_not_met() -> None:
    root = etree.XML("<a>" * 250 + "x" + "</a>" * 250)
    inner = next(root.iter())[0]
    inner.tail = "behind"
    met = list(walk_texts(inner))
    assert [one for one in met if isinstance(one, str)] == ["x"]
    assert len(met) == 2 * 249 + 1
